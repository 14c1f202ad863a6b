/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * The agent's serve and load verbs with real iperf processes on loopback, and everything that can
 * go wrong with them.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/fd.h"
#include "tests/agent/agent-client.h"

#define LONG_S 30 /* a load that a test ends by other means */
/* CPU time of one thread that takes longer than two intervals to use up. */
#define LOADED_NS 250000000

typedef struct {
    Agent *agent;
    Host *host;
    unsigned port;
    int64_t server, client; /* jobs */
    pid_t server_pid;
} Fixture;

static void
setup(Fixture *fixture, gconstpointer data)
{
    fixture->agent = agent_new(NULL);
    fixture->host = host_connect(fixture->agent);
    fixture->port = free_port();
    json_decref(host_hello(fixture->host, "session-1"));
}

static void
teardown(Fixture *fixture, gconstpointer data)
{
    host_free(fixture->host);
    agent_free(fixture->agent);
}

static json_t *
serve_fields(unsigned port)
{
    return json_pack("{s:[i], s:i}", "ports", (int) port, "watchdog_ms", WAIT_MS);
}

static json_t *
arm_fields(unsigned port, int seconds)
{
    return json_pack("{s:s, s:s, s:[i], s:i, s:i, s:i}", "action", "arm", "target", "127.0.0.1",
                     "ports", (int) port, "seconds", seconds, "interval_ms", 100, "watchdog_ms",
                     WAIT_MS);
}

static void
assert_ok(Host *host, int64_t id)
{
    g_autoptr(json_t) message = host_reply(host, id);
    const char *text = np_json_string(json_object_get(message, "error"), "text", NULL);
    g_assert_cmpstr(text, ==, NULL);
}

static int64_t
begin(Host *host, NpVerb verb, json_t *fields)
{
    int64_t id = host_send(host, verb, fields);
    assert_ok(host, id);
    return id;
}

static void
go(Host *host, int64_t job)
{
    json_decref(
        host_ok(host, NP_VERB_LOAD,
                json_pack("{s:s, s:I, s:i}", "action", "go", "job", (json_int_t) job, "at_ns", 0)));
}

static void
serve(Fixture *fixture)
{
    fixture->server = begin(fixture->host, NP_VERB_SERVE, serve_fields(fixture->port));
    g_autoptr(GArray) children = agent_children(fixture->agent->pid);
    g_assert_cmpuint(children->len, ==, 1);
    fixture->server_pid = g_array_index(children, pid_t, 0);
}

static void
arm(Fixture *fixture, int seconds)
{
    fixture->client = begin(fixture->host, NP_VERB_LOAD, arm_fields(fixture->port, seconds));
}

/* The process event of a job; other jobs' are kept. */
static json_t *
process_of(Host *host, int64_t job)
{
    GQueue others = G_QUEUE_INIT;
    json_t *event;
    while (np_json_int(event = host_event(host, "process"), "job", 0) != job)
        g_queue_push_tail(&others, event);
    while ((others.length))
        g_queue_push_head(&host->messages, g_queue_pop_tail(&others));
    return event;
}

static void
await_ends(Host *host, unsigned count)
{
    while (count-- > 0)
        json_decref(host_event(host, "end"));
}

/* Waits for samples until some process of the job has used CPU time: it has moved data for a while.
 */
static void
await_load(Host *host, int64_t job)
{
    bool loaded = false;
    json_decref(
        host_ok(host, NP_VERB_CPU, json_pack("{s:s, s:i}", "action", "start", "period_ms", 100)));
    while (!loaded) {
        g_autoptr(json_t) sample = host_event(host, "sample");
        size_t index;
        json_t *row;
        json_array_foreach(json_object_get(sample, "processes"), index, row)
        {
            loaded |= json_integer_value(json_array_get(row, 0)) == job &&
                      json_integer_value(json_array_get(row, 2)) > LOADED_NS;
        }
    }
    json_decref(host_ok(host, NP_VERB_CPU, json_pack("{s:s}", "action", "stop")));
}

static size_t
interval_count(const json_t *process)
{
    return json_array_size(json_object_get(json_object_get(process, "intervals"), "bytes"));
}

/* The columns are of one length, the intervals join without gaps, their bytes add up. */
static void
check_intervals(const json_t *process)
{
    const json_t *intervals = json_object_get(process, "intervals");
    const json_t *start = json_object_get(intervals, "start_us");
    const json_t *end = json_object_get(intervals, "end_us");
    const json_t *bytes = json_object_get(intervals, "bytes");
    int64_t sum = 0;
    g_assert_cmpuint(json_array_size(start), ==, json_array_size(bytes));
    g_assert_cmpuint(json_array_size(end), ==, json_array_size(bytes));
    for (size_t i = 0; i < json_array_size(bytes); i++) {
        int64_t from = json_integer_value(json_array_get(start, i));
        if (i > 0)
            g_assert_cmpint(from, ==, json_integer_value(json_array_get(end, i - 1)));
        g_assert_cmpint(json_integer_value(json_array_get(end, i)), >, from);
        sum += json_integer_value(json_array_get(bytes, i));
    }
    g_assert_cmpint(np_json_int(process, "bytes", 0), ==, sum);
}

static void
test_a_load_is_told_from_both_ends(Fixture *fixture, gconstpointer data)
{
    serve(fixture);
    arm(fixture, 1);
    int64_t asked_ns = 0;
    g_autoptr(json_t) hello = host_hello(fixture->host, "session-1");
    asked_ns = np_json_int(hello, "now_ns", 0) + 100000000;
    json_decref(host_ok(fixture->host, NP_VERB_LOAD,
                        json_pack("{s:s, s:I, s:I}", "action", "go", "job",
                                  (json_int_t) fixture->client, "at_ns", (json_int_t) asked_ns)));
    g_autoptr(json_t) client = process_of(fixture->host, fixture->client);
    g_autoptr(json_t) server = process_of(fixture->host, fixture->server);
    await_ends(fixture->host, 2);
    const json_t *ends[] = {client, server};
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
        g_assert_true(np_json_bool(ends[i], "ok", false));
        check_intervals(ends[i]);
        g_assert_cmpint(np_json_int(ends[i], "bytes", 0), >, 0);
        g_assert_cmpint(np_json_int(ends[i], "start_ns", 0), >=, asked_ns);
        g_assert_cmpint(np_json_int(ends[i], "tries", 0), ==, 1);
        g_assert_cmpint(np_json_int(ends[i], "port", 0), ==, fixture->port);
        g_assert_cmpstr(np_json_string(ends[i], "protocol", ""), ==, "tcp");
        g_assert_cmpint(np_json_int(ends[i], "user_us", 0) + np_json_int(ends[i], "system_us", 0),
                        >, 0);
        g_assert_null(json_object_get(ends[i], "error"));
    }
    g_assert_nonnull(json_object_get(json_object_get(client, "intervals"), "retransmits"));
    g_assert_cmpuint(interval_count(client), >=, 9);
    g_assert_cmpint(np_json_int(server, "pid", 0), ==, fixture->server_pid);
}

static void
test_reverse_udp_streams_and_omit_are_told(Fixture *fixture, gconstpointer data)
{
    serve(fixture);
    json_t *fields = arm_fields(fixture->port, 1);
    g_autoptr(json_t) more =
        json_pack("{s:s, s:I, s:i, s:i, s:b, s:[i], s:i}", "protocol", "udp", "rate_bps",
                  (json_int_t) 80000000, "streams", 2, "omit", 1, "reverse", 1, "cpus", 0,
                  "source_port", 20000 + (int) (fixture->port % 10000));
    json_object_update(fields, more);
    fixture->client = begin(fixture->host, NP_VERB_LOAD, fields);
    go(fixture->host, fixture->client);
    g_autoptr(json_t) client = process_of(fixture->host, fixture->client);
    g_autoptr(json_t) server = process_of(fixture->host, fixture->server);
    g_assert_true(np_json_bool(client, "ok", false));
    g_assert_true(np_json_bool(server, "ok", false));
    check_intervals(client);
    g_assert_cmpstr(np_json_string(client, "protocol", ""), ==, "udp");
    g_assert_cmpint(np_json_int(client, "streams", 0), ==, 2);
    const json_t *intervals = json_object_get(client, "intervals");
    g_assert_nonnull(json_object_get(intervals, "lost")); /* this end receives */
    g_assert_nonnull(json_object_get(intervals, "packets"));
    /* What was omitted is not there, but counts in the times. */
    g_assert_cmpint(json_integer_value(json_array_get(json_object_get(intervals, "start_us"), 0)),
                    >=, 1000000);
    /* The rate is the process's, not the stream's: 10 MB of 1 s, with room for bursts. */
    g_assert_cmpint(np_json_int(client, "bytes", 0), <, 15000000);
}

static void
test_a_load_outlives_a_lost_host_of_the_same_session(Fixture *fixture, gconstpointer data)
{
    serve(fixture);
    arm(fixture, 1);
    go(fixture->host, fixture->client);
    host_free(fixture->host);
    fixture->host = host_connect(fixture->agent);
    json_decref(host_hello(fixture->host, "session-1"));
    g_autoptr(json_t) client = process_of(fixture->host, fixture->client);
    g_autoptr(json_t) server = process_of(fixture->host, fixture->server);
    g_assert_true(np_json_bool(client, "ok", false));
    g_assert_true(np_json_bool(server, "ok", false));
    await_ends(fixture->host, 2);
}

static void
test_a_new_session_ends_the_old_ones_load_first(Fixture *fixture, gconstpointer data)
{
    serve(fixture);
    arm(fixture, LONG_S);
    go(fixture->host, fixture->client);
    await_load(fixture->host, fixture->client);
    host_free(fixture->host);
    fixture->host = host_connect(fixture->agent);
    json_decref(host_hello(fixture->host, "session-2"));
    g_autoptr(GArray) children = agent_children(fixture->agent->pid);
    g_assert_cmpuint(children->len, ==, 0);
    serve(fixture); /* on the same port, at once */
    json_decref(host_ok(fixture->host, NP_VERB_BYE, NULL));
    g_autoptr(GArray) after = agent_children(fixture->agent->pid);
    g_assert_cmpuint(after->len, ==, 0);
}

static void
test_a_killed_client_is_told_by_both_ends(Fixture *fixture, gconstpointer data)
{
    serve(fixture);
    arm(fixture, LONG_S);
    go(fixture->host, fixture->client);
    await_load(fixture->host, fixture->client);
    g_autoptr(GArray) children = agent_children(fixture->agent->pid);
    g_assert_cmpuint(children->len, ==, 2);
    kill(g_array_index(children, pid_t, 1), SIGKILL);
    g_autoptr(json_t) client = process_of(fixture->host, fixture->client);
    g_assert_nonnull(strstr(error_text(client, "failed"), "killed by signal 9"));
    g_autoptr(json_t) server = process_of(fixture->host, fixture->server);
    g_assert_false(np_json_bool(server, "ok", true));
    g_assert_nonnull(strstr(error_text(server, "protocol"), "client"));
    await_ends(fixture->host, 2);
}

static void
test_a_killed_server_leaves_its_client_a_cause_and_its_intervals(Fixture *fixture,
                                                                 gconstpointer data)
{
    serve(fixture);
    arm(fixture, LONG_S);
    go(fixture->host, fixture->client);
    await_load(fixture->host, fixture->client);
    kill(fixture->server_pid, SIGKILL);
    g_autoptr(json_t) client = process_of(fixture->host, fixture->client);
    g_assert_nonnull(strstr(error_text(client, "protocol"), "went away"));
    g_assert_cmpuint(interval_count(client), >, 0);
    check_intervals(client);
    await_ends(fixture->host, 2);
}

static void
test_a_frozen_server_ends_by_the_watchdog(Fixture *fixture, gconstpointer data)
{
    serve(fixture);
    json_t *fields = arm_fields(fixture->port, 1);
    json_object_set_new(fields, "watchdog_ms", json_integer(1500));
    fixture->client = begin(fixture->host, NP_VERB_LOAD, fields);
    kill(fixture->server_pid, SIGSTOP);
    go(fixture->host, fixture->client);
    g_autoptr(json_t) client = process_of(fixture->host, fixture->client);
    g_assert_nonnull(strstr(error_text(client, "timeout"), "watchdog"));
    json_decref(host_ok(fixture->host, NP_VERB_CANCEL,
                        json_pack("{s:I}", "job", (json_int_t) fixture->server)));
    g_autoptr(json_t) server = process_of(fixture->host, fixture->server);
    g_assert_nonnull(error_text(server, "interrupted"));
    await_ends(fixture->host, 2);
}

static void
test_no_server_is_refused_after_three_tries(Fixture *fixture, gconstpointer data)
{
    arm(fixture, 1);
    go(fixture->host, fixture->client);
    g_autoptr(json_t) client = process_of(fixture->host, fixture->client);
    g_assert_nonnull(strstr(error_text(client, "not-found"), "Connection refused"));
    g_assert_cmpint(np_json_int(client, "tries", 0), ==, 3);
    g_assert_null(json_object_get(client, "start_ns"));
    await_ends(fixture->host, 1);
}

static void
test_a_server_that_serves_another_is_busy_after_three_tries(Fixture *fixture, gconstpointer data)
{
    serve(fixture);
    arm(fixture, LONG_S);
    go(fixture->host, fixture->client);
    await_load(fixture->host, fixture->client);
    json_t *fields = arm_fields(fixture->port, 1);
    json_object_set_new(fields, "target", json_string("127.0.0.2")); /* the same server */
    int64_t second = begin(fixture->host, NP_VERB_LOAD, fields);
    go(fixture->host, second);
    g_autoptr(json_t) process = process_of(fixture->host, second);
    g_assert_nonnull(error_text(process, "busy"));
    g_assert_cmpint(np_json_int(process, "tries", 0), ==, 3);
    g_autoptr(GArray) children = agent_children(fixture->agent->pid);
    g_assert_cmpuint(children->len, ==, 2); /* the first pair goes on */
}

static void
test_ports_in_use_are_named(Fixture *fixture, gconstpointer data)
{
    serve(fixture);
    g_autofree char *name = g_strdup_printf("port %u", fixture->port);
    g_autofree char *ours =
        host_error(fixture->host, NP_VERB_SERVE, serve_fields(fixture->port), "busy");
    g_assert_nonnull(strstr(ours, name));
    g_assert_nonnull(strstr(ours, "job"));
    np_autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    g_assert_cmpint(bind(fd, (const struct sockaddr *) &address, sizeof(address)), ==, 0);
    g_assert_cmpint(listen(fd, 1), ==, 0);
    g_assert_cmpint(getsockname(fd, (struct sockaddr *) &address, &size), ==, 0);
    g_autofree char *theirs =
        host_error(fixture->host, NP_VERB_SERVE, serve_fields(ntohs(address.sin_port)), "busy");
    g_assert_nonnull(strstr(theirs, "another program"));
    arm(fixture, 1);
    g_autofree char *twice =
        host_error(fixture->host, NP_VERB_LOAD, arm_fields(fixture->port, 1), "busy");
    g_assert_nonnull(strstr(twice, name));
}

static void
test_requests_that_cannot_work_are_refused(Fixture *fixture, gconstpointer data)
{
    static const struct {
        const char *fields, *part;
    } rows[] = {
        {"{\"target\":\"localhost\"}", "localhost"},
        {"{\"protocol\":\"xyz\"}", "xyz"},
        {"{\"protocol\":\"udp\"}", "rate_bps"},
        {"{\"source_port\":65535,\"streams\":2}", "source_port"},
        {"{\"seconds\":86400,\"interval_ms\":100}", "interval_ms"},
        {"{\"ports\":[7001,7001]}", "7001"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        json_t *fields = arm_fields(fixture->port, 1);
        g_autoptr(json_t) more = json_loads(rows[i].fields, 0, NULL);
        json_object_update(fields, more);
        g_autofree char *text = host_error(fixture->host, NP_VERB_LOAD, fields, "config");
        g_test_message("%s", text);
        g_assert_nonnull(strstr(text, rows[i].part));
    }
    json_t *fields = arm_fields(fixture->port, 1);
    json_object_set_new(fields, "cpus", json_pack("[i]", 8191));
    g_autoptr(json_t) message =
        host_reply(fixture->host, host_send(fixture->host, NP_VERB_LOAD, fields));
    g_assert_nonnull(json_object_get(message, "error"));
    g_autoptr(GArray) children = agent_children(fixture->agent->pid);
    g_assert_cmpuint(children->len, ==, 0);
}

static void
test_go_needs_an_armed_load(Fixture *fixture, gconstpointer data)
{
    Host *host = fixture->host;
    host_refused(host, NP_VERB_LOAD,
                 json_pack("{s:s, s:i, s:i}", "action", "go", "job", 4711, "at_ns", 0),
                 "not-found");
    serve(fixture);
    host_refused(host, NP_VERB_LOAD,
                 json_pack("{s:s, s:I, s:i}", "action", "go", "job", (json_int_t) fixture->server,
                           "at_ns", 0),
                 "protocol");
    arm(fixture, LONG_S);
    host_refused(host, NP_VERB_LOAD,
                 json_pack("{s:s, s:I, s:I}", "action", "go", "job", (json_int_t) fixture->client,
                           "at_ns", (json_int_t) INT64_MAX),
                 "config");
    go(host, fixture->client);
    host_refused(host, NP_VERB_LOAD,
                 json_pack("{s:s, s:I, s:i}", "action", "go", "job", (json_int_t) fixture->client,
                           "at_ns", 0),
                 "protocol");
}

static void
test_a_cancelled_load_says_so(Fixture *fixture, gconstpointer data)
{
    serve(fixture);
    arm(fixture, LONG_S);
    json_decref(host_ok(fixture->host, NP_VERB_CANCEL,
                        json_pack("{s:I}", "job", (json_int_t) fixture->client)));
    g_autoptr(json_t) client = process_of(fixture->host, fixture->client);
    g_assert_nonnull(error_text(client, "interrupted"));
    g_assert_cmpuint(interval_count(client), ==, 0);
    await_ends(fixture->host, 1);
}

/* The agent's end, and whether its children are gone with it. */
static void
end_agent(Fixture *fixture, int signal_number)
{
    serve(fixture);
    arm(fixture, LONG_S);
    go(fixture->host, fixture->client);
    await_load(fixture->host, fixture->client);
    g_autoptr(GArray) children = agent_children(fixture->agent->pid);
    int ends[2];
    g_assert_cmpuint(children->len, ==, G_N_ELEMENTS(ends));
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
        ends[i] = process_open(g_array_index(children, pid_t, i));
    kill(fixture->agent->pid, signal_number);
    int status = agent_wait(fixture->agent);
    if (signal_number == SIGKILL) {
        g_assert_true(WIFSIGNALED(status));
    } else {
        g_assert_cmpint(status, ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) { /* they were reaped before it ended */
            struct pollfd state = {.fd = ends[i], .events = POLLIN};
            g_assert_cmpint(poll(&state, 1, 0), ==, 1);
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
        process_wait(ends[i]);
}

static void
test_sigterm_during_a_load_leaves_no_process(Fixture *fixture, gconstpointer data)
{
    end_agent(fixture, SIGTERM);
}

static void
test_sigint_during_a_load_leaves_no_process(Fixture *fixture, gconstpointer data)
{
    end_agent(fixture, SIGINT);
}

static void
test_a_killed_agent_leaves_no_process(Fixture *fixture, gconstpointer data)
{
    end_agent(fixture, SIGKILL);
}

static void
add(const char *name, void (*test)(Fixture *fixture, gconstpointer data))
{
    g_autofree char *path = g_strconcat("/load/", name, NULL);
    g_test_add(path, Fixture, NULL, setup, test, teardown);
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    g_test_init(&argc, &argv, NULL);
    add("a-load-is-told-from-both-ends", test_a_load_is_told_from_both_ends);
    add("reverse-udp-streams-and-omit-are-told", test_reverse_udp_streams_and_omit_are_told);
    add("a-load-outlives-a-lost-host-of-the-same-session",
        test_a_load_outlives_a_lost_host_of_the_same_session);
    add("a-new-session-ends-the-old-ones-load-first",
        test_a_new_session_ends_the_old_ones_load_first);
    add("a-killed-client-is-told-by-both-ends", test_a_killed_client_is_told_by_both_ends);
    add("a-killed-server-leaves-its-client-a-cause-and-its-intervals",
        test_a_killed_server_leaves_its_client_a_cause_and_its_intervals);
    add("a-frozen-server-ends-by-the-watchdog", test_a_frozen_server_ends_by_the_watchdog);
    add("no-server-is-refused-after-three-tries", test_no_server_is_refused_after_three_tries);
    add("a-server-that-serves-another-is-busy-after-three-tries",
        test_a_server_that_serves_another_is_busy_after_three_tries);
    add("ports-in-use-are-named", test_ports_in_use_are_named);
    add("requests-that-cannot-work-are-refused", test_requests_that_cannot_work_are_refused);
    add("go-needs-an-armed-load", test_go_needs_an_armed_load);
    add("a-cancelled-load-says-so", test_a_cancelled_load_says_so);
    add("sigterm-during-a-load-leaves-no-process", test_sigterm_during_a_load_leaves_no_process);
    add("sigint-during-a-load-leaves-no-process", test_sigint_during_a_load_leaves_no_process);
    add("a-killed-agent-leaves-no-process", test_a_killed_agent_leaves_no_process);
    return g_test_run();
}
