/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Job: see job.h.
 */
#include "agent/job.h"

#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <glib-unix.h>

#include "agent/congestion.h"
#include "agent/listen.h"
#include "agent/process.h"
#include "agent/spec.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"

#define PROCESSES_MAX    256 /* of all jobs together */
#define LISTEN_PERIOD_MS 20
#define AHEAD_MAX_MS     600000

typedef struct {
    NpJobs *jobs;
    int64_t id;
    bool server;
    char *target;
    unsigned count, left;  /* processes, and how many of them are not over */
    unsigned *ports;       /* count of them */
    NpProcess **processes; /* NULL: not started, or over */
    unsigned armed;
    int64_t watchdog_ms;

    NpAnswer answer; /* NULL: answered */
    gpointer answer_data;
    GError *failure; /* what to answer once every process is over */
    bool silent;     /* no events any more */

    guint listen_timer, go_source;
    int go_fd;
    bool going;
} Job;

struct NpJobs {
    GPtrArray *jobs; /* Job, owned */
    NpJobEvent event;
    gpointer data;
    void (*gone)(gpointer data); /* nullable */
    gpointer gone_data;
};

static void
job_free(gpointer data)
{
    Job *job = data;
    g_clear_handle_id(&job->listen_timer, g_source_remove);
    g_clear_handle_id(&job->go_source, g_source_remove);
    np_fd_clear(&job->go_fd);
    g_clear_error(&job->failure);
    g_free(job->target);
    g_free(job->ports);
    g_free(job->processes);
    g_free(job);
}

NpJobs *
np_jobs_new(NpJobEvent event, gpointer data)
{
    NpJobs *jobs = g_new0(NpJobs, 1);
    jobs->jobs = g_ptr_array_new_with_free_func(job_free);
    jobs->event = event;
    jobs->data = data;
    return jobs;
}

void
np_jobs_free(NpJobs *jobs)
{
    if (!jobs)
        return;
    g_ptr_array_unref(jobs->jobs);
    g_free(jobs);
}

static Job *
job_find(const NpJobs *jobs, int64_t id)
{
    for (guint i = 0; i < jobs->jobs->len; i++) {
        Job *job = g_ptr_array_index(jobs->jobs, i);
        if (job->id == id)
            return job;
    }
    return NULL;
}

/* ## The end of a job */

static void
job_answer(Job *job, const GError *error)
{
    NpAnswer answer = job->answer;
    g_clear_handle_id(&job->listen_timer, g_source_remove);
    job->answer = NULL;
    if (answer)
        answer(error ? NULL : json_object(), error, job->answer_data);
}

/* Nothing of the job is left: the last words, and out of the list. */
static void
job_end(Job *job)
{
    NpJobs *jobs = job->jobs;
    if (job->answer)
        job_answer(job, job->failure);
    else if (!job->silent)
        jobs->event("end", json_pack("{s:I}", "job", (json_int_t) job->id), jobs->data);
    g_ptr_array_remove(jobs->jobs, job);
    if (jobs->jobs->len == 0 && jobs->gone) {
        void (*gone)(gpointer data) = jobs->gone;
        jobs->gone = NULL;
        gone(jobs->gone_data);
    }
}

static void
job_stop(Job *job)
{
    for (unsigned i = 0; i < job->count; i++)
        if (job->processes[i])
            np_process_stop(job->processes[i]);
}

/* Ends a job that was not answered yet: the answer comes when its ports are free again. */
static void
job_fail(Job *job, GError *failure)
{
    if (job->failure) {
        g_error_free(failure);
        return;
    }
    job->failure = failure;
    g_clear_handle_id(&job->listen_timer, g_source_remove);
    job_stop(job);
}

void
np_jobs_cancel(NpJobs *jobs, int64_t id)
{
    Job *job = job_find(jobs, id);
    if (!job)
        return;
    if (job->answer)
        job_fail(job, g_error_new(NP_ERROR, NP_ERROR_INTERRUPTED, "the job was cancelled"));
    else
        job_stop(job);
}

void
np_jobs_abandon(NpJobs *jobs, void (*gone)(gpointer data), gpointer data)
{
    if (jobs->jobs->len == 0) {
        gone(data);
        return;
    }
    jobs->gone = gone;
    jobs->gone_data = data;
    for (guint i = 0; i < jobs->jobs->len; i++) {
        Job *job = g_ptr_array_index(jobs->jobs, i);
        job->silent = true;
        np_jobs_cancel(jobs, job->id);
    }
}

/* ## Processes */

static unsigned
job_index(const Job *job, const NpProcess *process)
{
    unsigned index = 0;
    while (index < job->count && job->processes[index] != process)
        index++;
    return index;
}

static void
take_over(NpProcess *process, json_t *fields, gpointer data)
{
    Job *job = data;
    unsigned index = job_index(job, process);
    g_autoptr(json_t) result = fields;
    job->processes[index] = NULL;
    job->left--;
    if (job->answer && !job->failure) {
        GError *failure = NULL;
        if (json_object_get(result, "error"))
            np_error_from_json(json_object_get(result, "error"), &failure);
        else
            np_throw(&failure, NP_ERROR_FAILED, "port %u: iperf ended before it began",
                     job->ports[index]);
        job_fail(job, failure);
    } else if (!job->answer && !job->silent) {
        json_t *event = json_pack("{s:I, s:i}", "job", (json_int_t) job->id, "index", (int) index);
        json_object_update(event, result);
        job->jobs->event("process", event, job->jobs->data);
    }
    if (job->left == 0)
        job_end(job);
}

static void
take_armed(NpProcess *process, gpointer data)
{
    Job *job = data;
    if (++job->armed == job->count && !job->failure)
        job_answer(job, NULL);
}

static const NpProcessEvents process_events = {take_armed, take_over};

/* Answers once every port listens. There is no event for it, so a timer looks, only until then. */
static gboolean
look_for_listeners(gpointer data)
{
    Job *job = data;
    NpPorts ports;
    GError *problem = NULL;
    if (!np_listen_scan(&ports, &problem)) {
        job_fail(job, problem);
        return G_SOURCE_CONTINUE; /* removed already */
    }
    for (unsigned i = 0; i < job->count; i++)
        if (!np_ports_has(&ports, job->ports[i]))
            return G_SOURCE_CONTINUE;
    job_answer(job, NULL);
    return G_SOURCE_CONTINUE; /* removed already */
}

/* ## The beginning of a job */

static bool
check_room(const NpJobs *jobs, int64_t id, unsigned count, GError **error)
{
    unsigned running = 0;
    for (guint i = 0; i < jobs->jobs->len; i++)
        running += ((const Job *) g_ptr_array_index(jobs->jobs, i))->count;
    if (job_find(jobs, id))
        return np_throw(error, NP_ERROR_PROTOCOL, "id %" G_GINT64_FORMAT " is a running job's", id);
    if (running + count > PROCESSES_MAX)
        return np_throw(error, NP_ERROR_BUSY, "%u iperf processes run already, and at most %d may",
                        running, PROCESSES_MAX);
    return true;
}

/* No port that another job of this kind (and target) has. */
static bool
check_ports(const NpJobs *jobs, const Job *job, GError **error)
{
    for (guint k = 0; k < jobs->jobs->len; k++) {
        const Job *other = g_ptr_array_index(jobs->jobs, k);
        if (other->server != job->server || g_strcmp0(other->target, job->target) != 0)
            continue;
        for (unsigned i = 0; i < job->count; i++)
            for (unsigned j = 0; j < other->count; j++)
                if (job->ports[i] == other->ports[j])
                    return np_throw(error, NP_ERROR_BUSY,
                                    "port %u is used by job %" G_GINT64_FORMAT, job->ports[i],
                                    other->id);
    }
    return true;
}

/* A port that anybody listens on already would be taken for ours. */
static bool
check_listeners(const Job *job, GError **error)
{
    NpPorts ports;
    if (!np_listen_scan(&ports, error))
        return false;
    for (unsigned i = 0; i < job->count; i++)
        if (np_ports_has(&ports, job->ports[i]))
            return np_throw(error, NP_ERROR_BUSY,
                            "port %u is in use by another program: choose another or stop it",
                            job->ports[i]);
    return true;
}

static bool
check_load(const json_t *fields, GError **error)
{
    const char *congestion = np_json_string(fields, "congestion", NULL);
    return np_spec_check_load(fields, error) &&
           (!congestion || np_congestion_check(congestion, error));
}

static Job *
job_new(NpJobs *jobs, const NpRequest *request, bool server)
{
    const json_t *ports = json_object_get(request->fields, "ports");
    Job *job = g_new0(Job, 1);
    job->jobs = jobs;
    job->id = request->id;
    job->server = server;
    job->target = g_strdup(np_json_string(request->fields, "target", NULL));
    job->count = (unsigned) json_array_size(ports);
    job->ports = g_new0(unsigned, job->count);
    job->processes = g_new0(NpProcess *, job->count);
    job->watchdog_ms = np_json_int(request->fields, "watchdog_ms", 1);
    job->go_fd = -1;
    for (unsigned i = 0; i < job->count; i++)
        job->ports[i] = (unsigned) json_integer_value(json_array_get(ports, i));
    return job;
}

static void
job_start(Job *job, const json_t *fields)
{
    const json_t *cpus = json_object_get(fields, "cpus");
    size_t cpu_count = json_array_size(cpus);
    for (unsigned i = 0; i < job->count; i++) {
        g_autoptr(json_t) worker = np_spec_worker(fields, job->server, i);
        NpProcessSpec spec = {.server = job->server,
                              .target = job->target,
                              .port = job->ports[i],
                              .cpu = -1,
                              .watchdog_ms = job->watchdog_ms,
                              .job = worker};
        GError *problem = NULL;
        if (cpu_count)
            spec.cpu = (int) json_integer_value(json_array_get(cpus, i % cpu_count));
        job->processes[i] = np_process_start(&spec, &process_events, job, &problem);
        if (!job->processes[i]) {
            job_fail(job, problem);
            break;
        }
        job->left++;
    }
    if (job->left == 0)
        job_end(job);
    else if (job->server && !job->failure)
        job->listen_timer = g_timeout_add(LISTEN_PERIOD_MS, look_for_listeners, job);
}

static void
job_begin(NpJobs *jobs, const NpRequest *request, bool server, NpAnswer answer, gpointer data)
{
    g_autoptr(GError) problem = NULL;
    Job *job = job_new(jobs, request, server);
    if (!check_room(jobs, job->id, job->count, &problem) ||
        !np_spec_check_ports(request->fields, &problem) || !check_ports(jobs, job, &problem) ||
        !(server ? check_listeners(job, &problem) : check_load(request->fields, &problem))) {
        job_free(job);
        answer(NULL, problem, data);
        return;
    }
    job->answer = answer;
    job->answer_data = data;
    g_ptr_array_add(jobs->jobs, job);
    job_start(job, request->fields);
}

void
np_jobs_serve(NpJobs *jobs, const NpRequest *request, NpAnswer answer, gpointer data)
{
    job_begin(jobs, request, true, answer, data);
}

void
np_jobs_arm(NpJobs *jobs, const NpRequest *request, NpAnswer answer, gpointer data)
{
    job_begin(jobs, request, false, answer, data);
}

/* ## The start of a load */

static gboolean
go_now(gint fd, GIOCondition condition, gpointer data)
{
    Job *job = data;
    g_clear_handle_id(&job->go_source, g_source_remove);
    np_fd_clear(&job->go_fd);
    for (unsigned i = 0; i < job->count; i++)
        if (job->processes[i])
            np_process_go(job->processes[i]);
    return G_SOURCE_CONTINUE; /* removed already */
}

static bool
check_go(const Job *job, int64_t id, int64_t ahead_ms, GError **error)
{
    if (!job)
        return np_throw(error, NP_ERROR_NOT_FOUND, "there is no job %" G_GINT64_FORMAT, id);
    if (job->server || job->answer || job->going)
        return np_throw(error, NP_ERROR_PROTOCOL, "job %" G_GINT64_FORMAT " %s", id,
                        job->server   ? "serves and needs no go"
                        : job->answer ? "is not armed yet"
                                      : "has got its go already");
    if (ahead_ms > AHEAD_MAX_MS)
        return np_throw(error, NP_ERROR_CONFIG,
                        "at_ns: %" G_GINT64_FORMAT " s ahead of this clock, at most %d are allowed",
                        ahead_ms / 1000, AHEAD_MAX_MS / 1000);
    return true;
}

bool
np_jobs_go(NpJobs *jobs, const json_t *fields, GError **error)
{
    int64_t id = np_json_int(fields, "job", 0), at_ns = np_json_int(fields, "at_ns", 0);
    int64_t ahead_ms = MAX((at_ns - np_clock_ns()) / NP_NS_PER_MS, 0);
    Job *job = job_find(jobs, id);
    if (!check_go(job, id, ahead_ms, error))
        return false;
    at_ns = MAX(at_ns, 1); /* an all-zero time would disarm the timer */
    const struct itimerspec when = {
        .it_value = {.tv_sec = at_ns / NP_NS_PER_S, .tv_nsec = at_ns % NP_NS_PER_S}};
    job->go_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (job->go_fd < 0 || timerfd_settime(job->go_fd, TFD_TIMER_ABSTIME, &when, NULL) < 0) {
        np_throw_errno(error, errno, "timer");
        np_fd_clear(&job->go_fd);
        return false;
    }
    job->going = true;
    for (unsigned i = 0; i < job->count; i++)
        if (job->processes[i])
            np_process_set_watchdog(job->processes[i], ahead_ms + job->watchdog_ms);
    job->go_source = g_unix_fd_add_full(G_PRIORITY_HIGH, job->go_fd, G_IO_IN, go_now, job, NULL);
    return true;
}

json_t *
np_jobs_processes(const NpJobs *jobs)
{
    json_t *list = json_array();
    for (guint i = 0; i < jobs->jobs->len; i++) {
        const Job *job = g_ptr_array_index(jobs->jobs, i);
        for (unsigned k = 0; k < job->count; k++) {
            int64_t cpu_ns = job->processes[k] ? np_process_cpu_ns(job->processes[k]) : -1;
            if (cpu_ns >= 0)
                json_array_append_new(list, json_pack("[I, i, I]", (json_int_t) job->id, (int) k,
                                                      (json_int_t) cpu_ns));
        }
    }
    return list;
}
