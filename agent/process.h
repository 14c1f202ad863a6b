/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Process: one iperf worker of a job, with its further tries.
 */
#pragma once

#include "lib/base/json.h"

typedef struct NpProcess NpProcess;

typedef struct {
    bool server;
    const char *target; /* a client's server; copied */
    unsigned port;
    int cpu; /* to be bound to; -1: any */
    int64_t watchdog_ms;
    const json_t *job; /* the worker's job (agent/iperf.h); a reference is kept */
} NpProcessSpec;

/* Called from the main loop. */
typedef struct {
    void (*armed)(NpProcess *process, gpointer data); /* a client waits for its go */
    /* It is reaped and will not be tried again; fields (transfer full): those of the process event
     * but the job's id and the index. The process is freed afterwards. Exactly once. */
    void (*over)(NpProcess *process, json_t *fields, gpointer data);
} NpProcessEvents;

/* Starts it under a watchdog of watchdog_ms. events is kept, not copied. Throws what keeps it from
 * starting. */
NpProcess *np_process_start(const NpProcessSpec *spec, const NpProcessEvents *events, gpointer data,
                            GError **error);

/* Starts an armed client's load; its watchdog counts anew. From here on a client that is refused or
 * meets a busy server is tried again, NP_PROCESS_TRIES times in all. */
void np_process_go(NpProcess *process);

/* Sets the watchdog anew, for a go that is still to come. */
void np_process_set_watchdog(NpProcess *process, int64_t watchdog_ms);

/* Kills it; over follows. */
void np_process_stop(NpProcess *process);

/* CPU time used so far in ns; -1 between two tries. */
int64_t np_process_cpu_ns(const NpProcess *process);

#define NP_PROCESS_TRIES 3
