/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Window: see window.h.
 */
#include "lib/bench/window.h"

#include "lib/base/clock.h"
#include "lib/bench/stats.h"

/* Part of the window that a process's intervals may leave open: iperf's interval times are in µs
 * and its timer is late by some of them. */
#define GAP_ALLOWED 0.001

/* Agents' numbers are bounded before they are added up: about 292 years of ns fit. */
#define TIME_MAX_NS (INT64_MAX / 4)

void
np_window_free(NpWindow *window)
{
    if (!window)
        return;
    g_array_unref(window->processes);
    g_free(window);
}

/* An element of a series as a number, fallback when it is not there. */
static double
element(const json_t *series, size_t index, double fallback)
{
    const json_t *value = json_array_get(series, index);
    return json_is_number(value) ? json_number_value(value) : fallback;
}

/* Start and end of an interval on the agent's clock; false when they make no sense. */
static bool
interval_times(const json_t *intervals, size_t index, int64_t start_ns, int64_t *ret_from,
               int64_t *ret_to)
{
    double from = element(json_object_get(intervals, "start_us"), index, -1);
    double to = element(json_object_get(intervals, "end_us"), index, -1);
    double limit = (double) (TIME_MAX_NS / NP_NS_PER_US);
    if (!(from >= 0 && to > from && to < limit))
        return false;
    *ret_from = start_ns + (int64_t) from * NP_NS_PER_US;
    *ret_to = start_ns + (int64_t) to * NP_NS_PER_US;
    return *ret_to > *ret_from;
}

static size_t
interval_count(const json_t *intervals)
{
    return json_array_size(json_object_get(intervals, "start_us"));
}

static NpProcessCut
process_begin(const json_t *event)
{
    NpProcessCut cut = {.event = event, .retransmits = -1, .lost = -1, .packets = -1};
    const json_t *intervals = json_object_get(event, "intervals");
    int64_t start_ns = np_json_int(event, "start_ns", 0), from, to;
    if (start_ns <= 0 || start_ns > TIME_MAX_NS)
        return cut;
    for (size_t i = 0; i < interval_count(intervals); i++) {
        if (!interval_times(intervals, i, start_ns, &from, &to))
            continue;
        cut.span_from_ns = cut.started ? MIN(cut.span_from_ns, from) : from;
        cut.span_to_ns = cut.started ? MAX(cut.span_to_ns, to) : to;
        cut.started = true;
    }
    if (cut.started)
        cut.start_ns = start_ns;
    return cut;
}

static int64_t
overlap(int64_t from, int64_t to, int64_t other_from, int64_t other_to)
{
    return MAX(MIN(to, other_to) - MAX(from, other_from), 0);
}

/* Adds the part of a series that lies inside; the sum stays -1 while the series has nothing. */
static void
add_part(double *sum, const json_t *intervals, const char *name, size_t index, double part)
{
    const json_t *series = json_object_get(intervals, name);
    double value = element(series, index, -1);
    if (value >= 0)
        *sum = MAX(*sum, 0) + value * part;
}

static void
process_cut(NpProcessCut *cut, int64_t from_ns, int64_t to_ns, int64_t asked_from, int64_t asked_to)
{
    const json_t *intervals = json_object_get(cut->event, "intervals");
    int64_t from, to;
    cut->all_retransmits = -1;
    for (size_t i = 0; cut->started && i < interval_count(intervals); i++) {
        if (!interval_times(intervals, i, cut->start_ns, &from, &to))
            continue;
        double part = (double) overlap(from, to, from_ns, to_ns) / (double) (to - from);
        cut->inside_ns += overlap(from, to, asked_from, asked_to);
        add_part(&cut->bytes, intervals, "bytes", i, part);
        add_part(&cut->retransmits, intervals, "retransmits", i, part);
        add_part(&cut->lost, intervals, "lost", i, part);
        add_part(&cut->packets, intervals, "packets", i, part);
        add_part(&cut->all_bytes, intervals, "bytes", i, 1);
        add_part(&cut->all_retransmits, intervals, "retransmits", i, 1);
    }
}

static int
compare_index(gconstpointer a, gconstpointer b)
{
    int64_t first = np_json_int(((const NpProcessCut *) a)->event, "index", 0);
    int64_t second = np_json_int(((const NpProcessCut *) b)->event, "index", 0);
    return (first > second) - (first < second);
}

static void
add_known(double *sum, double value)
{
    if (value >= 0)
        *sum = MAX(*sum, 0) + value;
}

/* Meets the window with the spans and notes the skew. */
static void
meet_spans(NpWindow *window)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (unsigned i = 0; i < window->processes->len; i++) {
        const NpProcessCut *cut = &g_array_index(window->processes, NpProcessCut, i);
        if (!cut->started)
            continue;
        window->from_ns = MAX(window->from_ns, cut->span_from_ns);
        window->to_ns = MIN(window->to_ns, cut->span_to_ns);
        first = MIN(first, cut->start_ns);
        last = MAX(last, cut->start_ns);
    }
    window->skew_ns = last > first ? last - first : 0;
    if (last == INT64_MIN)
        window->to_ns = window->from_ns;
}

static void
sum_up(NpWindow *window, int64_t asked_ns)
{
    g_autoptr(GArray) bytes = g_array_new(FALSE, FALSE, sizeof(double));
    for (unsigned i = 0; i < window->processes->len; i++) {
        const NpProcessCut *cut = &g_array_index(window->processes, NpProcessCut, i);
        if (!cut->started || (double) cut->inside_ns < (double) asked_ns * (1 - GAP_ALLOWED))
            window->covered = false;
        window->bytes += cut->bytes;
        add_known(&window->retransmits, cut->retransmits);
        add_known(&window->lost, cut->lost);
        add_known(&window->packets, cut->packets);
        g_array_append_val(bytes, cut->bytes);
    }
    window->fairness = np_stats_fairness((const double *) bytes->data, bytes->len);
}

NpWindow *
np_window_cut(const json_t *events, int64_t from_ns, int64_t to_ns)
{
    NpWindow *window = g_new0(NpWindow, 1);
    window->processes = g_array_new(FALSE, FALSE, sizeof(NpProcessCut));
    window->from_ns = from_ns;
    window->to_ns = to_ns;
    window->retransmits = window->lost = window->packets = -1;
    size_t index;
    json_t *event;
    json_array_foreach(events, index, event)
    {
        NpProcessCut cut = process_begin(event);
        g_array_append_val(window->processes, cut);
    }
    g_array_sort(window->processes, compare_index);
    meet_spans(window);
    for (unsigned i = 0; i < window->processes->len; i++)
        process_cut(&g_array_index(window->processes, NpProcessCut, i), window->from_ns,
                    window->to_ns, from_ns, to_ns);
    window->covered = to_ns > from_ns && window->processes->len > 0;
    sum_up(window, to_ns - from_ns);
    return window;
}
