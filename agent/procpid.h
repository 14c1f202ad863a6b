/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Proc pid: what /proc tells of one process or thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#define NP_PID_MAX 4194304 /* PID_MAX_LIMIT of a 64-bit kernel */

/* Of /proc/PID/stat, whose format is proc_pid_stat(5)'s. */
typedef struct {
    bool kernel;    /* a kernel thread */
    uint64_t start; /* in ticks since boot: tells it from a later process of the same pid */
    uint64_t guest_ticks;
    bool has_guest; /* guest_ticks is there (Linux 2.6.24) */
    char comm[16];  /* its name, which may contain any byte but NUL */
} NpProcpid;

/* Parses "PID (name) S ..". Pure. */
bool np_procpid_parse(const char *text, NpProcpid *ret_stat);

/* The same of a process below dir ("/proc"); false when it is gone or hidden. */
bool np_procpid_read(const char *dir, uint64_t pid, NpProcpid *ret_stat);

/* The name of a process's thread (transfer full), NULL when it is gone. */
char *np_procpid_task_comm(const char *dir, uint64_t pid, uint64_t tid);

/* CPU time used by one thread in ns, from its schedstat: exact to the tick that it is in, for the
 * scheduler brings it up to date at every switch and tick. False when the thread is gone or the
 * kernel lacks CONFIG_SCHED_INFO (Linux, Documentation/scheduler/sched-stats.rst). */
bool np_procpid_task_cpu_ns(const char *dir, uint64_t pid, uint64_t tid, uint64_t *ret_ns);

/* Calls visit for every entry of a folder whose name begins with a number below NP_PID_MAX. A
 * folder that cannot be read has none. */
typedef void (*NpProcpidVisit)(uint64_t number, const char *name, gpointer data);
void np_procpid_each(const char *path, NpProcpidVisit visit, gpointer data);
