/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Job: the serve and load verbs, each a set of iperf processes.
 */
#pragma once

#include "agent/nic.h"
#include "lib/proto/proto.h"

typedef struct NpJobs NpJobs;

/* Gets one event of a job (name, fields (transfer full)). */
typedef void (*NpJobEvent)(const char *event, json_t *fields, gpointer data);

/* np_child_setup must have been called. */
NpJobs *np_jobs_new(NpJobEvent event, gpointer data);

/* Call only when no job is left: see np_jobs_abandon. */
void np_jobs_free(NpJobs *jobs);

/* The verbs; request is a checked one and its id becomes the job's. The answer comes from the main
 * loop once every server listens or every client is armed, or with BUSY (a port is taken), CONFIG,
 * UNSUPPORTED (a congestion control), or what kept a process from starting; then no event follows.
 */
void np_jobs_serve(NpJobs *jobs, const NpRequest *request, NpAnswer answer, gpointer data);
void np_jobs_arm(NpJobs *jobs, const NpRequest *request, NpAnswer answer, gpointer data);

/* Throws NOT_FOUND for a job that is not there, PROTOCOL for one that cannot go (not a load, not
 * armed yet, gone already), CONFIG for a time too far ahead. */
bool np_jobs_go(NpJobs *jobs, const json_t *fields, GError **error);

/* Kills a job's processes; its events follow. Nothing when it is not there. */
void np_jobs_cancel(NpJobs *jobs, int64_t id);

/* Kills everything without any further event or, for whoever still waits for one, with the answer
 * INTERRUPTED, and calls gone (at once or from the main loop) when no process is left. */
void np_jobs_abandon(NpJobs *jobs, void (*gone)(gpointer data), gpointer data);

/* Live processes as [[job, index, cpu_ns] ..] (transfer full). */
json_t *np_jobs_processes(const NpJobs *jobs);
