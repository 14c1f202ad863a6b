/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * CPU: see cpu.h.
 */
#include "lib/bench/cpu.h"

#include <math.h>

#include "lib/base/clock.h"

#define CPUS_MAX      8192
#define TOTAL_ALLOWED 0.02
#define TICKS_ALLOWED 2 /* a CPU: both edges fall inside a tick */

const char *
np_cpu_mode_name(NpCpuMode mode)
{
    static const char *const names[NP_CPU_MODES] = {
        [NP_CPU_USER] = "user",     [NP_CPU_NICE] = "nice",   [NP_CPU_SYSTEM] = "system",
        [NP_CPU_IRQ] = "irq",       [NP_CPU_STEAL] = "steal", [NP_CPU_SOFTIRQ] = "softirq",
        [NP_CPU_IOWAIT] = "iowait", [NP_CPU_IDLE] = "idle",
    };
    return names[mode];
}

static int64_t
sample_time(const json_t *sample)
{
    return np_json_int(sample, "now_ns", 0);
}

static const json_t *
nearest_edge(const json_t *samples, int64_t moment_ns)
{
    const json_t *best = NULL;
    double best_distance = INFINITY;
    size_t index;
    json_t *sample;
    json_array_foreach(samples, index, sample)
    {
        /* In double: hostile times must not overflow. */
        double distance = fabs((double) sample_time(sample) - (double) moment_ns);
        if (np_json_bool(sample, "edge", false) && distance < best_distance) {
            best = sample;
            best_distance = distance;
        }
    }
    return best;
}

static bool
in_order(const json_t *from, const json_t *to)
{
    return from && to && sample_time(from) > 0 && sample_time(to) > sample_time(from);
}

bool
np_cpu_edges(const json_t *samples, int64_t from_ns, int64_t to_ns, NpCpuEdges *ret_edges)
{
    const json_t *from = nearest_edge(samples, from_ns), *to = nearest_edge(samples, to_ns);
    if (!in_order(from, to) || from_ns <= 0 || to_ns <= 0)
        return false;
    *ret_edges = (NpCpuEdges){from, to, sample_time(from) - from_ns, sample_time(to) - to_ns};
    return true;
}

bool
np_cpu_ends(const json_t *samples, NpCpuEdges *ret_edges)
{
    size_t count = json_array_size(samples);
    const json_t *from = json_array_get(samples, 0);
    const json_t *to = count ? json_array_get(samples, count - 1) : NULL;
    if (!in_order(from, to))
        return false;
    *ret_edges = (NpCpuEdges){from, to, 0, 0};
    return true;
}

static double
wall_seconds(const NpCpuEdges *edges)
{
    return (double) (sample_time(edges->to) - sample_time(edges->from)) / NP_NS_PER_S;
}

static double
number_at(const json_t *array, size_t index)
{
    return json_number_value(json_array_get(array, index));
}

/* One CPU's seconds by mode into seconds; returns its busy time. */
static double
one_cpu(const json_t *from, const json_t *to, double hz, double *seconds, unsigned *clamped)
{
    double busy = 0;
    for (unsigned mode = 0; mode < NP_CPU_MODES; mode++) {
        double ticks = number_at(to, mode) - number_at(from, mode);
        if (ticks < 0) {
            ticks = 0; /* iowait may go down, says proc_stat(5) */
            (*clamped)++;
        }
        seconds[mode] += ticks / hz;
        if (mode < NP_CPU_STEAL)
            busy += ticks / hz;
    }
    return busy;
}

bool
np_cpu_use(const NpCpuEdges *edges, NpCpuUse *ret_use)
{
    const json_t *from = json_object_get(edges->from, "cpu");
    const json_t *to = json_object_get(edges->to, "cpu");
    double hz = np_json_real(edges->to, "hz", 0);
    NpCpuUse use = {.wall_s = wall_seconds(edges)};
    use.cpus = (unsigned) MIN(MIN(json_array_size(from), json_array_size(to)), CPUS_MAX);
    if (use.cpus == 0 || !(use.wall_s > 0) || !(hz > 0))
        return false;
    for (unsigned cpu = 0; cpu < use.cpus; cpu++) {
        double busy = one_cpu(json_array_get(from, cpu), json_array_get(to, cpu), hz, use.seconds,
                              &use.clamped);
        use.busy_cores += busy / use.wall_s;
        if (busy / use.wall_s > use.hottest_share) {
            use.hottest = cpu;
            use.hottest_share = busy / use.wall_s;
        }
    }
    double total = 0, expected = use.wall_s * use.cpus;
    for (unsigned mode = 0; mode < NP_CPU_MODES; mode++)
        total += use.seconds[mode];
    use.hottest_share = MIN(use.hottest_share, 1);
    use.steal_share = use.seconds[NP_CPU_STEAL] / expected;
    use.total_error = total / expected - 1;
    use.total_off =
        fabs(total - expected) > TOTAL_ALLOWED * expected + TICKS_ALLOWED * use.cpus / hz;
    *ret_use = use;
    return true;
}

/* The element of an array of arrays whose first two numbers are these. */
static const json_t *
find_worker(const json_t *workers, double job, double index)
{
    size_t i;
    json_t *worker;
    json_array_foreach(workers, i, worker)
    {
        if (number_at(worker, 0) == job && number_at(worker, 1) == index)
            return worker;
    }
    return NULL;
}

bool
np_cpu_workers(const NpCpuEdges *edges, double *ret_cores, unsigned *ret_count)
{
    const json_t *before = json_object_get(edges->from, "processes");
    double spent_ns = 0;
    unsigned count = 0;
    size_t i;
    json_t *worker;
    json_array_foreach(json_object_get(edges->to, "processes"), i, worker)
    {
        const json_t *earlier = find_worker(before, number_at(worker, 0), number_at(worker, 1));
        if (!earlier)
            continue;
        spent_ns += MAX(number_at(worker, 2) - number_at(earlier, 2), 0);
        count++;
    }
    if (count == 0 || !(wall_seconds(edges) > 0))
        return false;
    *ret_cores = spent_ns / NP_NS_PER_S / wall_seconds(edges);
    *ret_count = count;
    return true;
}

static const char *
nic_mac(const json_t *nic)
{
    const char *mac = json_string_value(json_array_get(nic, 0));
    return mac ? mac : "";
}

/* NICs stand in the same order in every sample of one agent, but one may come or go: the nth of a
 * MAC belongs to the nth. */
static const json_t *
same_nic(const json_t *nics, const char *mac, unsigned nth)
{
    size_t i;
    json_t *nic;
    json_array_foreach(nics, i, nic)
    {
        if (g_ascii_strcasecmp(nic_mac(nic), mac) == 0 && nth-- == 0)
            return nic;
    }
    return NULL;
}

/* The busiest NIC whose MAC is (same) or is not mac. */
static bool
busiest(const NpCpuEdges *edges, const char *mac, bool same, NpNicUse *ret_use,
        const char **ret_mac)
{
    const json_t *before = json_object_get(edges->from, "nics");
    const json_t *nics = json_object_get(edges->to, "nics");
    double most = -1;
    for (size_t i = 0; i < json_array_size(nics); i++) {
        const json_t *nic = json_array_get(nics, i);
        const char *its = nic_mac(nic);
        unsigned nth = 0;
        for (size_t j = 0; j < i; j++)
            nth += g_ascii_strcasecmp(nic_mac(json_array_get(nics, j)), its) == 0;
        const json_t *earlier = same_nic(before, its, nth);
        if (!earlier || (g_ascii_strcasecmp(its, mac) == 0) != same)
            continue;
        double moved[4];
        for (unsigned k = 0; k < 4; k++)
            moved[k] = MAX(number_at(nic, k + 1) - number_at(earlier, k + 1), 0);
        if (moved[0] + moved[1] <= most)
            continue;
        most = moved[0] + moved[1];
        *ret_use = (NpNicUse){moved[0], moved[1], moved[2], moved[3]};
        if (ret_mac)
            *ret_mac = its;
    }
    return most >= 0;
}

bool
np_nic_use(const NpCpuEdges *edges, const char *mac, NpNicUse *ret_use)
{
    return mac && busiest(edges, mac, true, ret_use, NULL);
}

bool
np_nic_use_other(const NpCpuEdges *edges, const char *mac, NpNicUse *ret_use, const char **ret_mac)
{
    return mac && busiest(edges, mac, false, ret_use, ret_mac);
}
