/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Process: see process.h.
 *
 * A one-off server closes and opens its listener around a test, so a client that comes at the wrong
 * moment is refused or told "busy" although nothing is wrong; hence the further tries.
 */
#include "agent/process.h"

#include <string.h>

#include "agent/child.h"
#include "agent/iperf.h"
#include "agent/result.h"
#include "lib/base/error.h"

#define OUT_MAX  (32 * 1024 * 1024)
#define PAUSE_MS 100 /* times the tries made, before the next */

struct NpProcess {
    bool server, went;
    char *target;
    unsigned port;
    int cpu;
    int64_t watchdog_ms;
    json_t *job;
    const NpProcessEvents *events;
    gpointer data;

    NpChild *child; /* NULL between two tries */
    int tries;
    int64_t start_ns, reset_ns;
    char *cause;
    guint timer;  /* to the next try, or to being over */
    json_t *last; /* fields of the try before; over's when the timer ends it */
};

static void
process_free(NpProcess *process)
{
    g_clear_handle_id(&process->timer, g_source_remove);
    json_decref(process->job);
    json_decref(process->last);
    g_free(process->target);
    g_free(process->cause);
    g_free(process);
}

static void
process_over(NpProcess *process)
{
    process->events->over(process, g_steal_pointer(&process->last), process->data);
    process_free(process);
}

static gboolean
over_now(gpointer data)
{
    NpProcess *process = data;
    process->timer = 0;
    process_over(process);
    return G_SOURCE_REMOVE;
}

/* A line of the worker or, to be passed over, of libiperf. */
static void
take_line(NpChild *child, const char *line, gpointer data)
{
    NpProcess *process = data;
    if (!g_str_has_prefix(line, NP_IPERF_LINE))
        return;
    g_autoptr(json_t) note = np_json_parse_object(line, strlen(line), NULL);
    const char *what = np_json_string(note, "worker", "");
    if (strcmp(what, "armed") == 0 && process->went) {
        np_child_write(child, "go\n", true);
    } else if (strcmp(what, "armed") == 0) {
        process->events->armed(process, process->data);
    } else if (strcmp(what, "start") == 0) {
        process->start_ns = np_json_int(note, "now_ns", -1);
    } else if (strcmp(what, "reset") == 0) {
        process->reset_ns = np_json_int(note, "now_ns", -1);
    } else if (strcmp(what, "end") == 0) {
        g_free(process->cause);
        process->cause = g_strdup(np_json_string(note, "cause", "other"));
    }
}

static gboolean try_again(gpointer data);

static void
take_result(NpChild *child, const NpChildResult *result, gpointer data)
{
    NpProcess *process = data;
    const NpResultContext context = {.server = process->server,
                                     .target = process->target,
                                     .port = process->port,
                                     .start_ns = process->start_ns,
                                     .reset_ns = process->reset_ns,
                                     .cause = process->cause};
    bool again;
    json_t *fields = json_pack("{s:i, s:I, s:i}", "port", (int) process->port, "pid",
                               (json_int_t) np_child_pid(child), "tries", process->tries);
    g_autoptr(json_t) judged = np_result_new(result, &context, &again);
    json_object_update(fields, judged);
    process->child = NULL;
    json_decref(process->last);
    process->last = fields;
    if (again && process->tries < NP_PROCESS_TRIES)
        process->timer = g_timeout_add((guint) (PAUSE_MS * process->tries), try_again, process);
    else
        process_over(process);
}

static bool
start_child(NpProcess *process, GError **error)
{
    static const char *const argv[] = {NP_IPERF_NAME, NP_IPERF_VERB, NULL};
    process->start_ns = process->reset_ns = -1;
    g_clear_pointer(&process->cause, g_free);
    process->child = np_child_spawn(argv, process->cpu, process->watchdog_ms, OUT_MAX, take_line,
                                    take_result, process, error);
    if (!process->child)
        return false;
    process->tries++;
    g_autofree char *job = np_json_line(process->job);
    np_child_write(process->child, job, false);
    np_child_write(process->child, "\n", process->server);
    return true;
}

static gboolean
try_again(gpointer data)
{
    NpProcess *process = data;
    g_autoptr(GError) problem = NULL;
    process->timer = 0;
    if (!start_child(process, &problem)) {
        np_result_set_error(process->last, problem);
        process_over(process);
    }
    return G_SOURCE_REMOVE;
}

NpProcess *
np_process_start(const NpProcessSpec *spec, const NpProcessEvents *events, gpointer data,
                 GError **error)
{
    NpProcess *process = g_new0(NpProcess, 1);
    process->server = spec->server;
    process->target = g_strdup(spec->target);
    process->port = spec->port;
    process->cpu = spec->cpu;
    process->watchdog_ms = spec->watchdog_ms;
    process->job = json_incref((json_t *) (uintptr_t) spec->job);
    process->events = events;
    process->data = data;
    if (start_child(process, error))
        return process;
    process_free(process);
    return NULL;
}

void
np_process_go(NpProcess *process)
{
    process->went = true;
    if (!process->child)
        return;
    np_child_set_watchdog(process->child, process->watchdog_ms);
    np_child_write(process->child, "go\n", true);
}

void
np_process_set_watchdog(NpProcess *process, int64_t watchdog_ms)
{
    if (process->child)
        np_child_set_watchdog(process->child, watchdog_ms);
}

void
np_process_stop(NpProcess *process)
{
    if (process->child) {
        np_child_kill(process->child);
        return;
    }
    g_autoptr(GError) problem = NULL;
    np_throw(&problem, NP_ERROR_INTERRUPTED, "the iperf process was stopped between two tries");
    np_result_set_error(process->last, problem);
    g_clear_handle_id(&process->timer, g_source_remove);
    process->timer = g_idle_add(over_now, process);
}

int64_t
np_process_cpu_ns(const NpProcess *process)
{
    return process->child ? np_child_cpu_ns(process->child) : -1;
}
