/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Window: iperf's intervals of many processes cut to one common stretch of time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "lib/base/json.h"

/* What one process moved inside the window. Intervals wholly inside count whole, those that cross
 * an edge in proportion. */
typedef struct {
    const json_t *event;               /* the process event (borrowed) */
    bool started;                      /* it has a start and at least one interval */
    int64_t start_ns;                  /* on the agent's clock; 0 when not started */
    int64_t span_from_ns, span_to_ns;  /* its first interval's start, its last one's end */
    int64_t inside_ns;                 /* how much of the window its intervals cover */
    double bytes;                      /* moved inside the window */
    double retransmits, lost, packets; /* inside the window; -1 when iperf gave none */
    double all_bytes, all_retransmits; /* over every interval; all_retransmits -1 as above */
} NpProcessCut;

typedef struct {
    int64_t from_ns, to_ns; /* the stretch that was cut to: the window asked for, met with the spans
                               of every process that started; empty (to <= from): nothing */
    bool covered;           /* every process started and covers all of the window asked for */
    GArray *processes;      /* NpProcessCut, by index */
    double bytes;           /* all processes together */
    double retransmits, lost, packets; /* -1 when no process gave any */
    int64_t skew_ns;                   /* from the first process's start to the last one's */
    double fairness;                   /* Jain's, of the processes' bytes */
} NpWindow;

/* Cuts an array of process events (nullable) to the window on the agent's clock. Malformed parts of
 * an event count as absent. The events must outlive the result. Pure. */
NpWindow *np_window_cut(const json_t *events, int64_t from_ns, int64_t to_ns);
void np_window_free(NpWindow *window);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpWindow, np_window_free)
