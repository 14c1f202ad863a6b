/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Rows: records gathered by what was measured, with intervals, ratios to the baseline and verdicts.
 */
#pragma once

#include "lib/base/json.h"
#include "lib/bench/stats.h"

/* One topology at one step. Strings are borrowed from the records. Means over nothing are NAN. */
typedef struct {
    const char *topology, *link, *direction, *protocol;
    int64_t topology_index, mtu, processes;
    unsigned group;   /* rows with the same step, which are compared, stand together */
    bool baseline;    /* the first topology */
    unsigned runs;    /* valid ones */
    unsigned invalid; /* invalid ones, repeated since or not */
    unsigned blocks;  /* with a valid run */
    bool within_boot; /* one block: the intervals are over its runs */
    NpEstimate gbps;  /* goodput in Gbit/s */
    NpEstimate cost;  /* cores for each 10 Gbit/s */
    double retransmits_per_million, lost_share;
    double sender_cores, receiver_cores; /* of the iperf processes */
    double busy_cores, idle_cores;       /* of the shared kernel, or of both ends together */
    NpRatio gbps_ratio, cost_ratio;      /* to the baseline's; n is 0 for the baseline itself */
    NpVerdict gbps_verdict, cost_verdict;
    unsigned more_blocks; /* that an undecided verdict needs; 0 when none is undecided */
    GPtrArray *records;   /* const json_t *, the valid records, as in the file */
} NpRow;

/* Rows (NpRow *, transfer full) in the order of direction, processes and topology; the records must
 * outlive them. Of two valid records with one key the later counts. p-values are corrected after
 * Holm, over all ratios of throughput and over all of cost. Pure. */
GPtrArray *np_rows_new(const json_t *records);

/* Figures of one record; NAN when it has none. */
double np_record_gbps(const json_t *record);
double np_record_cost(const json_t *record);
double np_record_busy(const json_t *record);
double np_record_idle(const json_t *record);
double np_record_retransmits(const json_t *record); /* per million segments */
double np_record_lost(const json_t *record);        /* share of datagrams */
double np_record_sender_cores(const json_t *record);
double np_record_receiver_cores(const json_t *record);

/* How many of the row's valid runs bear the flag. */
unsigned np_row_flagged(const NpRow *row, const char *rule);
