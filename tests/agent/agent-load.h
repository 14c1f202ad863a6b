/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Agent load: two agents on the loopback, one to serve and one to load, for the process tests.
 */
#pragma once

#include "lib/base/clock.h"
#include "tests/agent/agent-client.h"

/* An agent and a host that has said hello to it. */
typedef struct {
    Agent *agent;
    Host *host;
} Side;

typedef struct {
    Side server, client;
} Pair;

Pair *pair_new(void);
void pair_free(Pair *pair);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Pair, pair_free)

/* count different ports nobody uses at the moment (transfer full). */
json_t *free_ports(unsigned count);

/* The jobs; each returns its id. ports are borrowed. more (taken over, nullable): fields beside or
 * instead of the usual ones, which are a second at 100 Mbit/s in intervals of 100 ms with a
 * watchdog of WAIT_MS. */
int64_t job_serve(Host *host, json_t *ports, json_t *more);
int64_t job_arm(Host *host, json_t *ports, json_t *more);
void job_go(Host *host, int64_t job, int64_t at_ns);

/* job_arm without the waiting for its answer: the request's id is the job's. */
int64_t job_send_arm(Host *host, json_t *ports, json_t *more);

/* The process events of a job in the order of their index, read up to its end (transfer full). Each
 * index comes once, 0 to count - 1. Other messages are kept. */
json_t *job_events(Host *host, int64_t job, unsigned count);

/* The one process event of a job with one process (transfer full). */
json_t *job_event(Host *host, int64_t job);

/* The agent's one child. */
pid_t only_child(const Side *side);

/* Asserts that the event is of a test that went well between the two times: its intervals are in
 * order and add up, what it used and ran with is told. */
void check_process(const json_t *event, int64_t from_ns, int64_t to_ns);

/* Asserts that the event is of a test that failed like that; text is a part of the error's. */
void check_failure(const json_t *event, const char *code, const char *text);

/* CPU time that a process has used, in ns. */
int64_t process_cpu_ns(pid_t pid);

/* Waits until it has used that much. */
void wait_used(pid_t pid, int64_t cpu_ns);

/* More than starting and connecting takes: a process that has used that much since it was armed has
 * moved data. */
#define MOVING_CPU_NS (50 * NP_NS_PER_MS)

/* A load without end between the pair's sides, in its middle: both ends have moved data. Returns
 * once that was seen. */
typedef struct {
    int64_t serve, load;  /* job ids */
    pid_t server, client; /* the children */
} Running;

/* more: as for job_arm. */
Running load_running(Pair *pair, json_t *more);
