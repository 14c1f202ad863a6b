/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Judge: the sanity rules applied to one run. See end.h and rules.h.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/bench/end.h"
#include "lib/bench/rules.h"

static void G_GNUC_PRINTF(3, 4) add(json_t *list, const char *rule, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    json_t *object = json_object();
    np_record_set_text(object, "rule", rule);
    np_record_set_text(object, "text", text);
    json_array_append_new(list, object);
}

static const char *
name_of(const NpEnd *end)
{
    return end->side->endpoint ? end->side->endpoint : "?";
}

static void
judge_processes(const NpEnd *end, unsigned wanted, bool must_be_there, json_t *causes)
{
    const GArray *cuts = end->window->processes;
    for (unsigned i = 0; i < cuts->len; i++) {
        const json_t *event = g_array_index(cuts, NpProcessCut, i).event;
        if (np_json_bool(event, "ok", false))
            continue;
        const json_t *error = json_object_get(event, "error");
        add(causes, NP_RULE_PROCESS_FAILED,
            "%s (%s), %s process %" PRId64 " on port %" PRId64 ": %s", end->data, name_of(end),
            end->role, np_json_int(event, "index", -1), np_json_int(event, "port", 0),
            np_json_string(error, "text", "no reason given"));
    }
    if (must_be_there && cuts->len < wanted)
        add(causes, NP_RULE_PROCESS_FAILED, "%s (%s): only %u of %u %s processes reported back",
            end->data, name_of(end), cuts->len, wanted, end->role);
}

static void
judge_window(const NpResult *result, const NpEnd *end, json_t *causes)
{
    const GArray *cuts = end->window->processes;
    double wanted_ms = (double) (result->to_ns - result->from_ns) / NP_NS_PER_MS;
    for (unsigned i = 0; i < cuts->len; i++) {
        const NpProcessCut *cut = &g_array_index(cuts, NpProcessCut, i);
        double covered_ms = (double) cut->inside_ns / NP_NS_PER_MS;
        if (end->window->covered || covered_ms >= wanted_ms * 0.999)
            continue;
        add(causes, NP_RULE_WINDOW_NOT_COVERED,
            "%s (%s), process %" PRId64 ": its intervals cover %.0f of the window's %.0f ms",
            end->data, name_of(end), np_json_int(cut->event, "index", -1), covered_ms, wanted_ms);
    }
}

static void
judge_counters(const NpEnd *end, json_t *causes, json_t *flags)
{
    double moved = np_end_rate_bps(end) / 8, nic = np_end_nic_rate(end);
    double other = np_end_other_rate(end);
    if (nic < 0)
        add(causes, NP_RULE_COUNTERS, "%s (%s): no counters of the NIC under test, %s", end->data,
            name_of(end), end->side->mac ? end->side->mac : "whose MAC is not known");
    else if (nic < NP_RULE_COUNTERS_SHARE * moved)
        add(causes, NP_RULE_COUNTERS,
            "%s (%s): NIC %s counted %.1f %% of the bytes that iperf moved", end->data,
            name_of(end), end->side->mac, 100 * nic / moved);
    if (moved > 0 && other > NP_RULE_OTHER_NIC_SHARE * moved)
        add(flags, NP_RULE_OTHER_NIC, "%s (%s): NIC %s carried %.1f %% of what iperf moved",
            end->data, name_of(end), end->other_mac, 100 * other / moved);
}

/* What is wrong with the CPU figures of a machine. */
static void
judge_cpu(const NpResult *result, const NpEnd *end, const char *who, json_t *flags)
{
    const NpCpuUse *use = &end->use;
    double late = (double) MAX(llabs(end->edges.from_off_ns), llabs(end->edges.to_off_ns));
    if (late > NP_RULE_LATE_SHARE * (double) (result->to_ns - result->from_ns))
        add(flags, NP_RULE_SAMPLES_LATE, "%s: a CPU sample is %.0f ms off the window's edge", who,
            late / NP_NS_PER_MS);
    if (use->total_off)
        add(flags, NP_RULE_TIME_OFF, "%s: CPU times add up to %.1f %% of the time that passed", who,
            100 * (1 + use->total_error));
    if (use->steal_share > NP_RULE_STEAL_SHARE)
        add(flags, NP_RULE_STEAL, "%s: %.1f %% of its CPU time was stolen", who,
            100 * use->steal_share);
    if (use->hottest_share > NP_RULE_SATURATED_SHARE)
        add(flags, NP_RULE_CPU_SATURATED, "%s: CPU %u was busy for %.0f %% of the window", who,
            use->hottest, 100 * use->hottest_share);
    if (!end->has_idle)
        add(flags, NP_RULE_NO_IDLE, "%s: no idle baseline", who);
    else if (end->idle.busy_cores > NP_RULE_NOISY_SHARE * use->busy_cores)
        add(flags, NP_RULE_NOISY, "%s: %.2f cores were busy before the load, %.2f under it", who,
            end->idle.busy_cores, use->busy_cores);
}

static void
judge_versions(const NpEnd *sender, const NpEnd *receiver, json_t *flags)
{
    static const char *const names[] = {"agent", "iperf"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        const char *one = np_json_string(sender->side->hello, names[i], "unknown");
        const char *other = np_json_string(receiver->side->hello, names[i], "unknown");
        if (strcmp(one, other) != 0)
            add(flags, NP_RULE_VERSIONS_DIFFER, "%s: %s on the sender, %s on the receiver",
                names[i], one, other);
    }
}

static void
judge_traffic(const NpResult *result, const NpEnd *sender, const NpEnd *receiver,
              double per_million, json_t *flags)
{
    const NpWindow *window = receiver->window;
    double skew_ms = (double) MAX(window->skew_ns, sender->window->skew_ns) / NP_NS_PER_MS;
    if (result->run->processes > 1 && skew_ms > (double) result->scenario->omit_ms / 2)
        add(flags, NP_RULE_SKEW, "the first and the last process started %.0f ms apart", skew_ms);
    if (result->scenario->window_ms < NP_RULE_SHORT_WINDOW_MS)
        add(flags, NP_RULE_SHORT_WINDOW, "the window is %g s",
            (double) result->scenario->window_ms / 1000);
    if (per_million > NP_RULE_RETRANSMITS_LIMIT)
        add(flags, NP_RULE_RETRANSMITS, "%.2f %% of the segments were sent again",
            per_million / 10000);
    if (window->packets > 0 && window->lost > NP_RULE_LOSS_SHARE * window->packets)
        add(flags, NP_RULE_LOSS, "%.2f %% of the datagrams were lost",
            100 * window->lost / window->packets);
    if (window->processes->len > 1 && window->bytes > 0 && window->fairness < NP_RULE_FAIRNESS)
        add(flags, NP_RULE_UNFAIR, "the fairness of the processes' shares is %.2f",
            window->fairness);
}

void
np_judge(const NpResult *result, const NpEnd *sender, const NpEnd *receiver,
         double retransmits_per_million, json_t *causes, json_t *flags)
{
    const NpEnd *const ends[] = {sender, receiver};
    if (result->failure)
        add(causes, NP_RULE_FAILURE, "%s", result->failure->message);
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
        judge_processes(ends[i], result->run->processes, !result->failure, causes);
    if (result->failure)
        return; /* the rest would only repeat that nothing was measured */
    if (result->from_ns <= 0 || result->to_ns <= result->from_ns) {
        add(causes, NP_RULE_WINDOW_NOT_COVERED, "the window never began");
        return;
    }
    if (receiver->window->covered && !(receiver->window->bytes > 0))
        add(causes, NP_RULE_PROCESS_FAILED, "no byte arrived at the receiver (%s) in the window",
            name_of(receiver));
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
        judge_window(result, ends[i], causes);
        if (ends[i]->has_use)
            judge_counters(ends[i], causes, flags);
        else
            add(causes, NP_RULE_NO_SAMPLES, "%s (%s): no CPU samples at the edges of the window",
                ends[i]->data, name_of(ends[i]));
        if (ends[i]->has_use && !(result->shared_kernel && i > 0))
            judge_cpu(result, ends[i], result->shared_kernel ? "this kernel" : ends[i]->data,
                      flags);
    }
    judge_versions(sender, receiver, flags);
    judge_traffic(result, sender, receiver, retransmits_per_million, flags);
}
