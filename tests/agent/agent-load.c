/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Agent load: see agent-load.h.
 */
#include "tests/agent/agent-load.h"

#include <string.h>
#include <time.h>

static Side
side_new(const char *session)
{
    Side side = {.agent = agent_new(NULL)};
    side.host = host_connect(side.agent);
    json_decref(host_hello(side.host, session));
    return side;
}

Pair *
pair_new(void)
{
    Pair *pair = g_new(Pair, 1);
    *pair = (Pair){side_new("the-server"), side_new("the-client")};
    return pair;
}

static void
side_clear(Side *side)
{
    g_clear_pointer(&side->host, host_free);
    g_clear_pointer(&side->agent, agent_free);
}

void
pair_free(Pair *pair)
{
    side_clear(&pair->client);
    side_clear(&pair->server);
    g_free(pair);
}

json_t *
free_ports(unsigned count)
{
    json_t *ports = json_array();
    while (json_array_size(ports) < count) {
        json_t *port = json_integer(free_port());
        bool known = false;
        for (size_t i = 0; i < json_array_size(ports); i++)
            known = known || json_equal(json_array_get(ports, i), port);
        if (known)
            json_decref(port);
        else
            json_array_append_new(ports, port);
    }
    return ports;
}

static json_t *
with(json_t *fields, json_t *more)
{
    if (more)
        json_object_update(fields, more);
    json_decref(more);
    return fields;
}

static int64_t
begun(Host *host, int64_t job)
{
    g_autoptr(json_t) reply = host_reply(host, job);
    const char *text = np_json_string(json_object_get(reply, "error"), "text", NULL);
    g_assert_cmpstr(text, ==, NULL);
    return job;
}

int64_t
job_serve(Host *host, json_t *ports, json_t *more)
{
    json_t *fields = json_pack("{s:O, s:i}", "ports", ports, "watchdog_ms", WAIT_MS);
    return begun(host, host_send(host, NP_VERB_SERVE, with(fields, more)));
}

int64_t
job_send_arm(Host *host, json_t *ports, json_t *more)
{
    json_t *fields = json_pack("{s:s, s:s, s:O, s:i, s:i, s:i, s:i}", "action", "arm", "target",
                               "127.0.0.1", "ports", ports, "seconds", 1, "interval_ms", 100,
                               "watchdog_ms", WAIT_MS, "rate_bps", 100000000);
    return host_send(host, NP_VERB_LOAD, with(fields, more));
}

int64_t
job_arm(Host *host, json_t *ports, json_t *more)
{
    return begun(host, job_send_arm(host, ports, more));
}

void
job_go(Host *host, int64_t job, int64_t at_ns)
{
    json_decref(host_ok(host, NP_VERB_LOAD,
                        json_pack("{s:s, s:I, s:I}", "action", "go", "job", (json_int_t) job,
                                  "at_ns", (json_int_t) at_ns)));
}

json_t *
job_events(Host *host, int64_t job, unsigned count)
{
    json_t *events = json_array();
    GQueue others = G_QUEUE_INIT;
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(events, json_null());
    for (;;) {
        json_t *message = host_read(host);
        const char *event = np_json_string(message, "event", "");
        g_assert_nonnull(message);
        if (np_json_int(message, "job", 0) != job) {
            g_queue_push_tail(&others, message);
        } else if (strcmp(event, "process") == 0) {
            size_t index = (size_t) np_json_int(message, "index", -1);
            g_assert_true(json_is_null(json_array_get(events, index)));
            json_array_set_new(events, index, message);
        } else {
            g_assert_cmpstr(event, ==, "end");
            json_decref(message);
            break;
        }
    }
    for (unsigned i = 0; i < count; i++)
        g_assert_true(json_is_object(json_array_get(events, i)));
    while (!g_queue_is_empty(&others))
        g_queue_push_head(&host->messages, g_queue_pop_tail(&others));
    return events;
}

json_t *
job_event(Host *host, int64_t job)
{
    g_autoptr(json_t) events = job_events(host, job, 1);
    return json_incref(json_array_get(events, 0));
}

pid_t
only_child(const Side *side)
{
    g_autoptr(GArray) children = agent_children(side->agent->pid);
    g_assert_cmpuint(children->len, ==, 1);
    return g_array_index(children, pid_t, 0);
}

static int64_t
at(const json_t *intervals, const char *column, size_t i)
{
    const json_t *value = json_array_get(json_object_get(intervals, column), i);
    g_assert_true(json_is_integer(value));
    return json_integer_value(value);
}

/* Returns the end of the last. */
static int64_t
check_intervals(const json_t *event)
{
    const json_t *intervals = json_object_get(event, "intervals");
    size_t count = json_array_size(json_object_get(intervals, "end_us"));
    int64_t bytes = 0, last_us = 0;
    const char *name;
    json_t *column;
    g_assert_cmpuint(count, >=, 1);
    g_assert_cmpuint(count, <=, NP_PROTO_INTERVALS_MAX);
    json_object_foreach((json_t *) (uintptr_t) intervals, name, column)
        g_assert_cmpuint(json_array_size(column), ==, count);
    for (size_t i = 0; i < count; i++) {
        g_assert_cmpint(at(intervals, "start_us", i), >=, last_us);
        last_us = at(intervals, "end_us", i);
        g_assert_cmpint(last_us, >, at(intervals, "start_us", i));
        g_assert_cmpint(at(intervals, "bytes", i), >=, 0);
        bytes += at(intervals, "bytes", i);
    }
    g_assert_cmpint(bytes, >, 0);
    g_assert_cmpint(np_json_int(event, "bytes", -1), ==, bytes);
    return last_us;
}

void
check_process(const json_t *event, int64_t from_ns, int64_t to_ns)
{
    g_autofree char *line = np_json_line(event);
    g_test_message("%.2000s", line);
    int64_t start_ns = np_json_int(event, "start_ns", 0);
    g_assert_true(np_json_bool(event, "ok", false));
    g_assert_null(json_object_get(event, "error"));
    g_assert_cmpint(np_json_int(event, "pid", 0), >, 1);
    g_assert_cmpint(np_json_int(event, "tries", 0), >=, 1);
    g_assert_cmpint(start_ns, >=, from_ns);
    g_assert_cmpint(start_ns + check_intervals(event) * NP_NS_PER_US, <=, to_ns);
    g_assert_cmpint(np_json_int(event, "user_us", -1), >=, 0);
    g_assert_cmpint(np_json_int(event, "user_us", 0) + np_json_int(event, "system_us", 0), >, 0);
    g_assert_cmpint(np_json_int(event, "max_rss_kib", 0), >, 0);
    g_assert_cmpint(np_json_int(event, "streams", 0), >=, 1);
    g_assert_nonnull(np_json_string(event, "protocol", NULL));
}

void
check_failure(const json_t *event, const char *code, const char *text)
{
    g_autofree char *line = np_json_line(event);
    g_test_message("%.2000s", line);
    g_assert_false(np_json_bool(event, "ok", true));
    g_assert_nonnull(strstr(error_text(event, code), text));
}

int64_t
process_cpu_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec used;
    g_assert_cmpint(clock_getcpuclockid(pid, &clock), ==, 0);
    g_assert_cmpint(clock_gettime(clock, &used), ==, 0);
    return (int64_t) used.tv_sec * NP_NS_PER_S + used.tv_nsec;
}

typedef struct {
    pid_t pid;
    int64_t cpu_ns;
} Threshold;

static bool
has_used(gconstpointer data)
{
    const Threshold *threshold = data;
    return process_cpu_ns(threshold->pid) >= threshold->cpu_ns;
}

void
wait_used(pid_t pid, int64_t cpu_ns)
{
    const Threshold threshold = {pid, cpu_ns};
    wait_until(has_used, &threshold, "a load's CPU time");
}

Running
load_running(Pair *pair, json_t *more)
{
    g_autoptr(json_t) ports = free_ports(1);
    json_t *endless = json_pack("{s:i, s:i}", "seconds", 600, "rate_bps", 0);
    Running running = {.serve = job_serve(pair->server.host, ports, NULL)};
    running.load = job_arm(pair->client.host, ports, with(endless, more));
    running.server = only_child(&pair->server);
    running.client = only_child(&pair->client);
    int64_t server_ns = process_cpu_ns(running.server), client_ns = process_cpu_ns(running.client);
    job_go(pair->client.host, running.load, 0);
    wait_used(running.server, server_ns + MOVING_CPU_NS);
    wait_used(running.client, client_ns + MOVING_CPU_NS);
    return running;
}
