/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * End: see end.h.
 */
#include "lib/bench/end.h"

#include <math.h>
#include <string.h>

#include "lib/base/clock.h"

void
np_record_set_real(json_t *object, const char *key, double value)
{
    if (isfinite(value))
        json_object_set_new(object, key, json_real(value));
}

void
np_record_set_text(json_t *object, const char *key, const char *text)
{
    if (!text)
        return;
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    json_object_set_new(object, key, json_string(valid));
}

static void
set_rounded(json_t *object, const char *key, double value)
{
    if (isfinite(value) && fabs(value) < 9e18)
        json_object_set_new(object, key, json_integer(llround(value)));
}

/* A value that -1 marks as unknown. */
static void
set_known(json_t *object, const char *key, double value)
{
    if (value >= 0)
        set_rounded(object, key, value);
}

/* The window's edges on the agent's clock, 0 when it never began. */
static void
agent_window(const NpResult *result, const NpSide *side, int64_t *ret_from, int64_t *ret_to)
{
    *ret_from = *ret_to = 0;
    int64_t from, to;
    if (result->from_ns <= 0 || result->to_ns <= result->from_ns ||
        __builtin_add_overflow(result->from_ns, side->offset_ns, &from) ||
        __builtin_add_overflow(result->to_ns, side->offset_ns, &to) || from <= 0)
        return;
    *ret_from = from;
    *ret_to = to;
}

NpEnd *
np_end_new(const NpResult *result, const NpSide *side, bool sends)
{
    NpEnd *end = g_new0(NpEnd, 1);
    int64_t from, to;
    end->side = side;
    end->data = sends ? "sender" : "receiver";
    end->role = side == &result->sender ? "client" : "server";
    agent_window(result, side, &from, &to);
    end->window = np_window_cut(side->processes, from, to);
    NpCpuEdges idle;
    end->has_idle = np_cpu_ends(side->idle, &idle) && np_cpu_use(&idle, &end->idle);
    if (!np_cpu_edges(side->samples, from, to, &end->edges) || !np_cpu_use(&end->edges, &end->use))
        return end;
    end->has_use = true;
    end->has_workers = np_cpu_workers(&end->edges, &end->worker_cores, &end->workers);
    end->has_nic = np_nic_use(&end->edges, side->mac, &end->nic);
    end->has_other = np_nic_use_other(&end->edges, side->mac, &end->other, &end->other_mac);
    return end;
}

void
np_end_free(NpEnd *end)
{
    if (!end)
        return;
    np_window_free(end->window);
    g_free(end);
}

double
np_end_rate_bps(const NpEnd *end)
{
    int64_t length_ns = end->window->to_ns - end->window->from_ns;
    return length_ns > 0 ? end->window->bytes * 8 * NP_NS_PER_S / (double) length_ns : 0;
}

static double
nic_rate(const NpEnd *end, const NpNicUse *use)
{
    bool sends = strcmp(end->data, "sender") == 0;
    return (sends ? use->tx_bytes : use->rx_bytes) / end->use.wall_s;
}

double
np_end_nic_rate(const NpEnd *end)
{
    return end->has_nic ? nic_rate(end, &end->nic) : -1;
}

double
np_end_other_rate(const NpEnd *end)
{
    return end->has_other ? nic_rate(end, &end->other) : -1;
}

static json_t *
cpu_to_json(const NpEnd *end)
{
    const NpCpuUse *use = &end->use;
    json_t *object = json_object();
    np_record_set_real(object, "wall_s", use->wall_s);
    json_object_set_new(object, "cpus", json_integer(use->cpus));
    for (unsigned mode = 0; mode < NP_CPU_MODES; mode++) {
        g_autofree char *key = g_strconcat(np_cpu_mode_name((NpCpuMode) mode), "_s", NULL);
        np_record_set_real(object, key, use->seconds[mode]);
    }
    np_record_set_real(object, "busy_cores", use->busy_cores);
    np_record_set_real(object, "steal_share", use->steal_share);
    json_object_set_new(object, "hottest_cpu", json_integer(use->hottest));
    np_record_set_real(object, "hottest_share", use->hottest_share);
    json_object_set_new(object, "clamped", json_integer(use->clamped));
    np_record_set_real(object, "total_error", use->total_error);
    json_object_set_new(object, "from_off_ns", json_integer(end->edges.from_off_ns));
    json_object_set_new(object, "to_off_ns", json_integer(end->edges.to_off_ns));
    return object;
}

/* The NIC under test in the info reply (borrowed), or NULL. */
static const json_t *
find_nic(const NpSide *side)
{
    size_t index;
    json_t *nic;
    json_array_foreach(json_object_get(side->info, "nics"), index, nic)
    {
        const char *mac = np_json_string(nic, "mac", "");
        const char *permanent = np_json_string(nic, "permanent_mac", "");
        if (side->mac && (g_ascii_strcasecmp(mac, side->mac) == 0 ||
                          g_ascii_strcasecmp(permanent, side->mac) == 0))
            return nic;
    }
    return NULL;
}

/* Copies the named members (NULL-terminated) that are there. */
static void
copy_members(json_t *to, const json_t *from, const char *const *names)
{
    for (; *names; names++) {
        json_t *value = json_object_get(from, *names);
        if (value && !json_is_null(value))
            json_object_set_new(to, *names, json_deep_copy(value));
    }
}

static json_t *
nic_to_json(const NpEnd *end)
{
    static const char *const names[] = {"name", "driver",    "firmware",  "pci",      "speed_mbps",
                                        "mtu",  "queues_rx", "queues_tx", "offloads", NULL};
    json_t *object = json_object();
    np_record_set_text(object, "mac", end->side->mac);
    copy_members(object, find_nic(end->side), names);
    if (end->has_nic) {
        set_rounded(object, "rx_bytes", end->nic.rx_bytes);
        set_rounded(object, "tx_bytes", end->nic.tx_bytes);
        set_rounded(object, "rx_packets", end->nic.rx_packets);
        set_rounded(object, "tx_packets", end->nic.tx_packets);
    }
    return object;
}

static json_t *
process_to_json(const NpProcessCut *cut, double length_s, int64_t first_start_ns)
{
    static const char *const names[] = {"index",  "port",        "pid",        "ok",  "error",
                                        "stderr", "tries",       "congestion", "mss", "sndbuf",
                                        "rcvbuf", "max_rss_kib", NULL};
    json_t *object = json_object();
    copy_members(object, cut->event, names);
    np_record_set_real(object, "user_s", np_json_real(cut->event, "user_us", NAN) / 1e6);
    np_record_set_real(object, "system_s", np_json_real(cut->event, "system_us", NAN) / 1e6);
    if (cut->started) {
        json_object_set_new(object, "start_skew_ns", json_integer(cut->start_ns - first_start_ns));
        set_rounded(object, "bytes", cut->bytes);
        if (length_s > 0)
            set_rounded(object, "goodput_bps", cut->bytes * 8 / length_s);
        set_known(object, "retransmits", cut->retransmits);
        set_known(object, "lost", cut->lost);
        set_known(object, "packets", cut->packets);
        json_object_set_new(object, "intervals",
                            json_deep_copy(json_object_get(cut->event, "intervals")));
    }
    return object;
}

static json_t *
processes_to_json(const NpWindow *window)
{
    json_t *array = json_array();
    int64_t first = INT64_MAX;
    for (unsigned i = 0; i < window->processes->len; i++) {
        const NpProcessCut *cut = &g_array_index(window->processes, NpProcessCut, i);
        first = cut->started ? MIN(first, cut->start_ns) : first;
    }
    double length_s = (double) (window->to_ns - window->from_ns) / NP_NS_PER_S;
    for (unsigned i = 0; i < window->processes->len; i++)
        json_array_append_new(
            array,
            process_to_json(&g_array_index(window->processes, NpProcessCut, i), length_s, first));
    return array;
}

json_t *
np_end_to_json(const NpEnd *end)
{
    static const char *const hello_names[] = {"agent", "iperf", NULL};
    static const char *const info_names[] = {"kernel",       "distribution", "virtualisation",
                                             "cpu_model",    "cpus",         "hz",
                                             "clock_source", "sysctls",      NULL};
    json_t *object = json_object();
    np_record_set_text(object, "endpoint", end->side->endpoint);
    np_record_set_text(object, "role", end->role);
    copy_members(object, end->side->hello, hello_names);
    copy_members(object, end->side->info, info_names);
    json_object_set_new(object, "clock_offset_ns", json_integer(end->side->offset_ns));
    json_object_set_new(object, "clock_error_ns", json_integer(end->side->offset_error_ns));
    if (end->has_use)
        json_object_set_new(object, "cpu", cpu_to_json(end));
    if (end->has_idle) {
        json_t *idle = json_object();
        np_record_set_real(idle, "wall_s", end->idle.wall_s);
        np_record_set_real(idle, "busy_cores", end->idle.busy_cores);
        json_object_set_new(object, "idle", idle);
    }
    if (end->has_workers && end->workers == end->window->processes->len)
        np_record_set_real(object, "worker_cores", end->worker_cores);
    json_object_set_new(object, "nic", nic_to_json(end));
    json_object_set_new(object, "processes", processes_to_json(end->window));
    return object;
}
