/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Record: one run as a JSON object. See record.h; the file of records is in records.c.
 */
#include "lib/bench/record.h"

#include <math.h>

#include "lib/bench/end.h"

static void
set_integer(json_t *object, const char *key, double value)
{
    if (isfinite(value) && value >= 0 && value < 9e18)
        json_object_set_new(object, key, json_integer(llround(value)));
}

static json_t *
settings_to_json(const NpScenario *s)
{
    json_t *object = json_pack("{s:i, s:I, s:I, s:I, s:I, s:b, s:b, s:i, s:i}", "streams",
                               (int) s->streams, "omit_ms", (json_int_t) s->omit_ms, "window_ms",
                               (json_int_t) s->window_ms, "tail_ms", (json_int_t) s->tail_ms,
                               "idle_ms", (json_int_t) s->idle_ms, "zerocopy", s->zerocopy, "pin",
                               s->pin, "blocks", (int) s->blocks, "runs", (int) s->runs);
    json_object_set_new(object, "rate_bps", json_integer((json_int_t) s->rate_bps));
    json_object_set_new(object, "window_bytes", json_integer((json_int_t) s->window_bytes));
    np_record_set_text(object, "congestion", s->congestion);
    return object;
}

/* Where the run stands in the scenario. */
static json_t *
record_begin(const NpResult *result)
{
    const NpScenario *scenario = result->scenario;
    const NpRun *run = result->run;
    const NpTopology *topology = scenario->topologies->pdata[run->topology];
    json_t *record = json_object(), *about = json_object();
    json_object_set_new(record, "schema", json_integer(NP_RECORD_SCHEMA));
    np_record_set_text(record, "key", run->key);
    np_record_set_text(record, "nicpass", NP_VERSION);
    np_record_set_text(about, "name", scenario->name);
    np_record_set_text(about, "title", scenario->title);
    np_record_set_text(about, "digest", scenario->digest);
    json_object_set_new(record, "scenario", about);
    json_object_set_new(record, "settings", settings_to_json(scenario));
    json_object_set_new(record, "seed", json_integer((json_int_t) result->seed));
    json_object_set_new(record, "block", json_integer(run->block));
    np_record_set_text(record, "topology", topology->name);
    json_object_set_new(record, "topology_index", json_integer(run->topology));
    json_object_set_new(record, "baseline", json_boolean(run->topology == 0));
    np_record_set_text(record, "link", np_link_name(topology->link));
    if (topology->mtu)
        json_object_set_new(record, "mtu", json_integer(topology->mtu));
    json_object_set_new(record, "processes", json_integer(run->processes));
    np_record_set_text(record, "direction", np_direction_name(run->direction));
    np_record_set_text(record, "protocol", scenario->udp ? "udp" : "tcp");
    json_object_set_new(record, "repeat", json_integer(run->repeat));
    json_object_set_new(record, "source_port", json_integer(run->source_port));
    np_record_set_text(record, "started", result->started);
    json_object_set_new(record, "shared_kernel", json_boolean(result->shared_kernel));
    if (result->from_ns > 0)
        json_object_set_new(record, "window",
                            json_pack("{s:I, s:I}", "from_ns", (json_int_t) result->from_ns,
                                      "to_ns", (json_int_t) result->to_ns));
    return record;
}

/* The first mss that a process of the window names, 0 when none does. */
static int64_t
mss_of(const NpWindow *window)
{
    for (unsigned i = 0; i < window->processes->len; i++) {
        int64_t mss =
            np_json_int(g_array_index(window->processes, NpProcessCut, i).event, "mss", 0);
        if (mss > 0)
            return mss;
    }
    return 0;
}

/* Retransmits per million segments, -1 when unknown. */
static double
per_million(const NpWindow *sent, int64_t mss)
{
    if (sent->retransmits < 0 || mss <= 0 || !(sent->bytes > 0))
        return -1;
    return sent->retransmits / (sent->bytes / (double) mss) * 1e6;
}

/* Cores for each 10 Gbit/s after the idle baseline, which is 0 when unknown. */
static double
cost_of(double busy_cores, double idle_cores, double goodput_bps)
{
    return goodput_bps > 0 ? MAX(busy_cores - idle_cores, 0) * 10 / (goodput_bps / 1e9) : NAN;
}

static double
idle_of(const NpEnd *end)
{
    return end->has_idle ? end->idle.busy_cores : 0;
}

/* One kernel's CPU counts once, whichever agent sampled it. */
static json_t *
machine_to_json(const NpEnd *end, double goodput_bps)
{
    json_t *object = json_object();
    json_object_set_new(object, "cpus", json_integer(end->use.cpus));
    np_record_set_real(object, "busy_cores", end->use.busy_cores);
    if (end->has_idle)
        np_record_set_real(object, "idle_cores", end->idle.busy_cores);
    np_record_set_real(object, "cost_cores_per_10g",
                       cost_of(end->use.busy_cores, idle_of(end), goodput_bps));
    return object;
}

static void
set_totals(json_t *record, const NpEnd *sender, const NpEnd *receiver, int64_t mss)
{
    const NpWindow *received = receiver->window, *sent = sender->window;
    double goodput = np_end_rate_bps(receiver), share;
    json_t *totals = json_object();
    set_integer(totals, "goodput_bps", goodput);
    set_integer(totals, "bytes", received->bytes);
    set_integer(totals, "retransmits", sent->retransmits);
    if (mss > 0)
        json_object_set_new(totals, "mss", json_integer(mss));
    share = per_million(sent, mss);
    if (share >= 0)
        np_record_set_real(totals, "retransmits_per_million", share);
    set_integer(totals, "lost", received->lost);
    set_integer(totals, "packets", received->packets);
    if (received->processes->len > 0)
        np_record_set_real(totals, "fairness", received->fairness);
    json_object_set_new(totals, "skew_ns", json_integer(received->skew_ns));
    json_object_set_new(record, "totals", totals);
}

/* One end's object with its cost, which is only its own on a kernel of its own. */
static void
set_end(json_t *record, const NpEnd *end, bool shared_kernel, double goodput_bps)
{
    json_t *object = np_end_to_json(end);
    if (end->has_use && !shared_kernel)
        np_record_set_real(object, "cost_cores_per_10g",
                           cost_of(end->use.busy_cores, idle_of(end), goodput_bps));
    json_object_set_new(record, end->data, object);
}

json_t *
np_record_new(const NpResult *result)
{
    bool reverse = result->run->direction == NP_DIRECTION_REVERSE;
    const NpSide *from = reverse ? &result->receiver : &result->sender;
    const NpSide *to = reverse ? &result->sender : &result->receiver;
    g_autoptr(NpEnd) sender = np_end_new(result, from, true);
    g_autoptr(NpEnd) receiver = np_end_new(result, to, false);
    int64_t mss = mss_of(sender->window) ? mss_of(sender->window) : mss_of(receiver->window);
    double goodput_bps = np_end_rate_bps(receiver);

    json_t *record = record_begin(result), *causes = json_array(), *flags = json_array();
    set_totals(record, sender, receiver, mss);
    const NpEnd *sampled = sender->has_use ? sender : receiver;
    if (result->shared_kernel && sampled->has_use)
        json_object_set_new(record, "machine", machine_to_json(sampled, goodput_bps));
    set_end(record, sender, result->shared_kernel, goodput_bps);
    set_end(record, receiver, result->shared_kernel, goodput_bps);
    np_judge(result, sender, receiver, per_million(sender->window, mss), causes, flags);
    json_object_set_new(record, "valid", json_boolean(json_array_size(causes) == 0));
    json_object_set_new(record, "causes", causes);
    json_object_set_new(record, "flags", flags);
    return record;
}
