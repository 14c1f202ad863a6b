/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * iperf: the worker, one process of one test, and the only place that knows libiperf.
 */
#pragma once

/* libiperf keeps state of the whole process, calls exit() and hangs with its peer, so it runs only
 * in a worker: this program again, started as `nicpass-iperf iperf-worker`.
 *
 *     stdin     one line: the job, {"role": "server"|"client", "port", "interval_ms", ...}
 *               client: then one line "go"
 *     stdout    {"worker":"armed"}            client: waits for its go
 *               {"worker":"start","now_ns"}   libiperf's interval clock begins (CLOCK_MONOTONIC)
 *               {"worker":"reset","now_ns"}   its omitted seconds are over, interval times restart
 *               libiperf's own JSON, over many lines
 *               {"worker":"end","cause"}      what kind of error that JSON tells of
 *     cause: "none", "listen", "connect", "busy", "peer", "other"
 *
 * Returns the exit status; errors that keep the worker from starting are on stderr. */
int np_iperf_worker(void);

/* Begins every line that is the worker's and not libiperf's. */
#define NP_IPERF_LINE "{\"worker\":\""

/* The hidden argument. */
#define NP_IPERF_VERB "iperf-worker"

/* What a worker is called in a list of processes: at most 15 bytes. */
#define NP_IPERF_NAME "nicpass-iperf"

/* libiperf's version, such as "3.12". */
const char *np_iperf_version(void);
