/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * End: what one end of a run did inside the window, figured out from its agent's messages.
 */
#pragma once

#include "lib/bench/cpu.h"
#include "lib/bench/record.h"
#include "lib/bench/window.h"

typedef struct {
    const NpSide *side; /* borrowed */
    const char *data;   /* "sender" or "receiver" of the bytes */
    const char *role;   /* "client" or "server" of iperf */
    NpWindow *window;   /* the iperf processes, cut */
    bool has_use, has_idle, has_workers, has_nic, has_other;
    NpCpuEdges edges;   /* of has_use, has_workers, has_nic, has_other */
    NpCpuUse use, idle; /* in the window; in the idle time of the boot */
    double worker_cores;
    unsigned workers;
    NpNicUse nic, other; /* the NIC under test; the busiest other one */
    const char *other_mac;
} NpEnd;

/* Works out one end. side must outlive it. */
NpEnd *np_end_new(const NpResult *result, const NpSide *side, bool sends);
void np_end_free(NpEnd *end);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpEnd, np_end_free)

/* Its object in the record (transfer full). Pure. */
json_t *np_end_to_json(const NpEnd *end);

/* Bits a second that its iperf processes moved; 0 when nothing is known. */
double np_end_rate_bps(const NpEnd *end);

/* Bytes a second by the NIC under test, in the direction of the data; -1 when unknown. The same for
 * the busiest other NIC. */
double np_end_nic_rate(const NpEnd *end);
double np_end_other_rate(const NpEnd *end);

/* Members of records: left out when the value is not finite, or NULL. */
void np_record_set_real(json_t *object, const char *key, double value);
void np_record_set_text(json_t *object, const char *key, const char *text);

/* The sanity rules: adds {rule, text} objects to causes (the run does not count) and flags. Pure.
 */
void np_judge(const NpResult *result, const NpEnd *sender, const NpEnd *receiver,
              double retransmits_per_million, json_t *causes, json_t *flags);
