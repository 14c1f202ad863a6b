/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Side: see side.h.
 */
#include "lib/bench/side.h"

#include <math.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/loop.h"

#define HELLO_TIMEOUT_MS 30000
#define CALL_TIMEOUT_MS  15000
#define SAMPLE_PERIOD_MS 1000

void
np_side_reset_run(NpBenchSide *side)
{
    json_decref(side->samples);
    json_decref(side->processes);
    side->samples = json_array();
    side->processes = json_array();
    side->job = 0;
    side->ended = side->failed = false;
}

void
np_side_clear(NpBenchSide *side)
{
    json_decref(side->hello);
    json_decref(side->info);
    json_decref(side->idle);
    json_decref(side->samples);
    json_decref(side->processes);
    *side = (NpBenchSide){0};
}

void
np_side_take_event(NpBenchSide *side, const char *event, const json_t *message)
{
    json_t *kept = (json_t *) (uintptr_t) message; /* an array takes a reference */
    if (strcmp(event, "sample") == 0) {
        json_array_append(side->samples, kept);
        return;
    }
    if (!side->job || np_json_int(message, "job", 0) != side->job)
        return;
    if (strcmp(event, "process") == 0) {
        json_array_append(side->processes, kept);
        side->failed = side->failed || !np_json_bool(message, "ok", false);
    } else if (strcmp(event, "end") == 0) {
        side->ended = true;
    }
}

static bool
call(const NpBenchSide *side, NpVerb verb, json_t *fields, GError **error)
{
    g_autoptr(json_t) ok = np_peer_call(side->end->peer, verb, fields, CALL_TIMEOUT_MS, error);
    return ok != NULL;
}

void
np_side_bye(const NpBenchSide *side)
{
    if (side->end && !np_peer_gone(side->end->peer))
        (void) call(side, NP_VERB_BYE, NULL, NULL);
}

bool
np_side_prepare(NpBenchSide *side, unsigned mtu, GError **error)
{
    NpEnd *end = side->end;
    side->hello = np_peer_hello(end->peer, HELLO_TIMEOUT_MS, error);
    if (!side->hello ||
        !np_peer_clock_offset(end->peer, &side->offset_ns, &side->offset_error_ns, error))
        return false;
    json_t *nic = json_pack("{s:s, s:s, s:b}", "mac", end->mac, "address", end->cidr, "up", true);
    if (mtu)
        json_object_set_new(nic, "mtu", json_integer(mtu));
    if (!call(side, NP_VERB_NIC_SET, nic, error))
        return false;
    side->info = np_peer_call(end->peer, NP_VERB_INFO, NULL, CALL_TIMEOUT_MS, error);
    return side->info != NULL;
}

bool
np_side_cpu_start(const NpBenchSide *side, int64_t from_ns, int64_t to_ns, GError **error)
{
    json_t *fields =
        json_pack("{s:s, s:i, s:[I, I]}", "action", "start", "period_ms", SAMPLE_PERIOD_MS, "at_ns",
                  (json_int_t) (from_ns + side->offset_ns), (json_int_t) (to_ns + side->offset_ns));
    return call(side, NP_VERB_CPU, fields, error);
}

bool
np_side_cpu_stop(const NpBenchSide *side, GError **error)
{
    return call(side, NP_VERB_CPU, json_pack("{s:s}", "action", "stop"), error);
}

bool
np_side_begin_job(NpBenchSide *side, NpVerb verb, json_t *fields, GError **error)
{
    side->job = np_peer_send(side->end->peer, verb, fields, error);
    if (!side->job)
        return false;
    g_autoptr(json_t) ok = np_peer_wait(side->end->peer, side->job, CALL_TIMEOUT_MS, error);
    if (!ok)
        side->job = 0;
    return ok != NULL;
}

bool
np_side_go(const NpBenchSide *side, int64_t at_ns, GError **error)
{
    json_t *fields = json_pack("{s:s, s:I, s:I}", "action", "go", "job", (json_int_t) side->job,
                               "at_ns", (json_int_t) (at_ns + side->offset_ns));
    return call(side, NP_VERB_LOAD, fields, error);
}

bool
np_side_job_over(const NpBenchSide *side)
{
    return !side->job || side->ended || np_peer_gone(side->end->peer);
}

static bool
job_over(gconstpointer data)
{
    return np_side_job_over(data);
}

void
np_side_end_job(NpBenchSide *side)
{
    if (np_side_job_over(side))
        return;
    json_t *fields = json_pack("{s:I}", "job", (json_int_t) side->job);
    if (call(side, NP_VERB_CANCEL, fields, NULL)) /* an agent that cannot is halted with its boot */
        (void) np_loop_wait(job_over, side, CALL_TIMEOUT_MS, "cancel", NULL);
}

/* Received bytes of the NIC under test in a sample, or -1. */
static int64_t
sample_rx_bytes(const json_t *sample, const char *mac)
{
    size_t index;
    json_t *nic;
    json_array_foreach(json_object_get(sample, "nics"), index, nic)
    {
        if (g_strcmp0(json_string_value(json_array_get(nic, 0)), mac) == 0)
            return json_integer_value(json_array_get(nic, 1));
    }
    return -1;
}

double
np_side_live_bps(const NpBenchSide *side)
{
    size_t count = json_array_size(side->samples);
    if (count < 2)
        return NAN;
    const json_t *last = json_array_get(side->samples, count - 1);
    const json_t *before = json_array_get(side->samples, count - 2);
    int64_t old_bytes = sample_rx_bytes(before, side->end->mac);
    int64_t bytes = sample_rx_bytes(last, side->end->mac) - old_bytes;
    int64_t ns = np_json_int(last, "now_ns", 0) - np_json_int(before, "now_ns", 0);
    return old_bytes >= 0 && bytes >= 0 && ns > 0 ? (double) bytes * 8e9 / (double) ns : NAN;
}

NpSide
np_side_result(const NpBenchSide *side)
{
    return (NpSide){
        .endpoint = side->end->endpoint,
        .mac = side->end->mac,
        .hello = side->hello,
        .info = side->info,
        .idle = side->idle,
        .samples = side->samples,
        .processes = side->processes,
        .offset_ns = side->offset_ns,
        .offset_error_ns = side->offset_error_ns,
    };
}
