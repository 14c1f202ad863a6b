/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Rules: see rules.h.
 */
#include "lib/bench/rules.h"

#include <glib.h>

static const NpRule rules[] = {
    {NP_RULE_FAILURE, true, "the run could not be carried out"},
    {NP_RULE_PROCESS_FAILED, true, "an iperf process failed or is missing"},
    {NP_RULE_WINDOW_NOT_COVERED, true, "a process did not run for the whole window"},
    {NP_RULE_NO_SAMPLES, true, "there is no CPU sample for both edges of the window"},
    {NP_RULE_COUNTERS, true,
     "the NIC under test counted less than 95 % of iperf's bytes: the traffic went another way"},
    {NP_RULE_OTHER_NIC, false, "another NIC carried more than 2 % of the traffic"},
    {NP_RULE_SAMPLES_LATE, false,
     "CPU was sampled more than 2 % of the window away from its edges"},
    {NP_RULE_TIME_OFF, false, "the kernel's CPU times do not add up to the time that passed"},
    {NP_RULE_STEAL, false,
     "the hypervisor kept more than 1 % of the CPU time back: costs do not compare"},
    {NP_RULE_SKEW, false, "the processes started so far apart that slow start reaches the window"},
    {NP_RULE_VERSIONS_DIFFER, false, "agent or iperf have other versions on the two ends"},
    {NP_RULE_SHORT_WINDOW, false, "the window is shorter than 10 s: CPU figures are coarse"},
    {NP_RULE_RETRANSMITS, false, "more than 0.1 % of the segments were sent again"},
    {NP_RULE_LOSS, false, "more than 0.1 % of the datagrams were lost"},
    {NP_RULE_UNFAIR, false, "the processes' shares differ much (Jain's fairness below 0.9)"},
    {NP_RULE_CPU_SATURATED, false, "a CPU was busy for over 95 % of the time: it may be the limit"},
    {NP_RULE_NO_IDLE, false, "there is no idle baseline: the cost includes what runs anyway"},
    {NP_RULE_NOISY, false,
     "over 10 % of the busy cores were busy without load too: costs are uncertain"},
};

const NpRule *
np_rules(size_t *ret_count)
{
    *ret_count = G_N_ELEMENTS(rules);
    return rules;
}

const NpRule *
np_rule_find(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++)
        if (g_strcmp0(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}
