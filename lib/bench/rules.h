/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Rules: the named reasons why a run does not count, or counts with a remark.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *name;    /* as in a record's causes and flags */
    bool invalidates;    /* a cause: the run does not count */
    const char *meaning; /* a sentence for people, without a full stop */
} NpRule;

#define NP_RULE_FAILURE            "failure"
#define NP_RULE_PROCESS_FAILED     "process-failed"
#define NP_RULE_WINDOW_NOT_COVERED "window-not-covered"
#define NP_RULE_NO_SAMPLES         "no-samples"
#define NP_RULE_COUNTERS           "counters"
#define NP_RULE_OTHER_NIC          "other-nic"
#define NP_RULE_SAMPLES_LATE       "samples-late"
#define NP_RULE_TIME_OFF           "time-off"
#define NP_RULE_STEAL              "steal"
#define NP_RULE_SKEW               "skew"
#define NP_RULE_VERSIONS_DIFFER    "versions-differ"
#define NP_RULE_SHORT_WINDOW       "short-window"
#define NP_RULE_RETRANSMITS        "retransmits"
#define NP_RULE_LOSS               "loss"
#define NP_RULE_UNFAIR             "unfair"
#define NP_RULE_CPU_SATURATED      "cpu-saturated"
#define NP_RULE_NO_IDLE            "no-idle"
#define NP_RULE_NOISY              "noisy"

/* Every rule, causes first; ret_count may not be NULL. */
const NpRule *np_rules(size_t *ret_count);

/* The rule of a name, or NULL for one this version does not know. */
const NpRule *np_rule_find(const char *name);

/* The limits, where a rule has one. */
#define NP_RULE_COUNTERS_SHARE    0.95
#define NP_RULE_OTHER_NIC_SHARE   0.02
#define NP_RULE_STEAL_SHARE       0.01
#define NP_RULE_SATURATED_SHARE   0.95
#define NP_RULE_SHORT_WINDOW_MS   10000
#define NP_RULE_RETRANSMITS_LIMIT 1000 /* per million segments */
#define NP_RULE_LOSS_SHARE        0.001
#define NP_RULE_FAIRNESS          0.9
#define NP_RULE_NOISY_SHARE       0.1  /* of the cores busy under load */
#define NP_RULE_LATE_SHARE        0.02 /* of the window */
