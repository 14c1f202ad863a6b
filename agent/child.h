/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Child: one helper process of the agent, from exec to reaping, with a watchdog.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <glib.h>

typedef struct NpChild NpChild;

/* What is left of a child once it was reaped and its output read to the end. Borrowed in the
 * callback. */
typedef struct {
    int wait_status; /* as from wait4() */
    struct rusage usage;
    bool timed_out;        /* the watchdog killed it */
    bool killed;           /* np_child_kill was called */
    const char *out, *err; /* NUL-terminated; cut at the limits */
    size_t out_size, err_size;
    bool out_cut;
} NpChildResult;

/* Called from the main loop exactly once a child, after which the child is freed. */
typedef void (*NpChildDone)(NpChild *child, const NpChildResult *result, gpointer data);

/* Called with each complete line the child writes to stdout while it lives (nullable); such lines
 * are in result->out as well. */
typedef void (*NpChildLine)(NpChild *child, const char *line, gpointer data);

/* Must be called once, before any thread exists: takes SIGCHLD through a signalfd. */
void np_child_setup(void);

/* Starts argv[0] (an absolute path or, for this program itself, a bare name; no shell, only
 * descriptors 0 to 2, empty environment but PATH and LC_ALL=C, PDEATHSIG SIGKILL) bound to one CPU
 * (-1: any). watchdog_ms from now it gets SIGKILL. Throws IO when exec fails. */
NpChild *np_child_spawn(const char *const *argv, int cpu, int64_t watchdog_ms, size_t out_max,
                        NpChildLine line, NpChildDone done, gpointer data, GError **error);

/* Queues text for the child's stdin (a few KiB at most). close: then close it. */
void np_child_write(NpChild *child, const char *text, bool close);

/* Sets the watchdog anew: watchdog_ms from now. */
void np_child_set_watchdog(NpChild *child, int64_t watchdog_ms);

/* SIGKILL; done still follows. */
void np_child_kill(NpChild *child);

pid_t np_child_pid(const NpChild *child);

/* CPU time used so far, all threads, in ns; -1 when it is gone. From the process's CPU clock
 * (clock_getcpuclockid(3)), the same accounting as rusage but readable at any moment. */
int64_t np_child_cpu_ns(const NpChild *child);
