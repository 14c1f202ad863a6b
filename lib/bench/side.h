/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Side: one end of a benchmark: its agent, what it said at boot, what it sends during a run.
 */
#pragma once

#include "lib/bench/run.h"

typedef struct {
    NpEnd *end;                         /* borrowed; NULL before the first boot */
    json_t *hello, *info, *idle;        /* of the boot: the agent's answers, samples while idle */
    json_t *samples, *processes;        /* of the run: arrays of events */
    int64_t offset_ns, offset_error_ns; /* the agent's clock minus ours, and how sure that is */
    int64_t job;                        /* id of the run's job, 0: none */
    bool ended;                         /* the job's end event has come */
    bool failed;                        /* a process event was not ok */
} NpBenchSide;

/* Forgets the run, or everything. */
void np_side_reset_run(NpBenchSide *side);
void np_side_clear(NpBenchSide *side);

/* Ends the session, so that the agent puts the NIC back. A lost agent is no error: its guest was
 * told to do the same when the host goes away. */
void np_side_bye(const NpBenchSide *side);

/* Files an event of the side's agent. */
void np_side_take_event(NpBenchSide *side, const char *event, const json_t *message);

/* Greets the agent, measures its clock, sets up its NIC (mtu in bytes, 0: as it is) and asks what
 * it is. */
bool np_side_prepare(NpBenchSide *side, unsigned mtu, GError **error);

/* Starts the sampler with edges at two moments of our clock; stops it. */
bool np_side_cpu_start(const NpBenchSide *side, int64_t from_ns, int64_t to_ns, GError **error);
bool np_side_cpu_stop(const NpBenchSide *side, GError **error);

/* Sends a request that begins a job (fields taken over) and waits until its processes are ready. */
bool np_side_begin_job(NpBenchSide *side, NpVerb verb, json_t *fields, GError **error);

/* Starts the armed load at a moment of our clock. */
bool np_side_go(const NpBenchSide *side, int64_t at_ns, GError **error);

/* Kills what is left of the job and waits until it has ended. */
void np_side_end_job(NpBenchSide *side);

/* Whether nothing more will come of the job. */
bool np_side_job_over(const NpBenchSide *side);

/* bit/s that the NIC under test took in between the last two samples, or NAN. */
double np_side_live_bps(const NpBenchSide *side);

/* What the record wants to know of the side. Everything stays the side's. */
NpSide np_side_result(const NpBenchSide *side);
