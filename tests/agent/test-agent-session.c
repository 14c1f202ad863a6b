/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * The agent's sessions and requests, from outside, over a unix socket.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/fd.h"
#include "tests/agent/agent-client.h"

static void
test_hello_tells_versions_and_the_clock(void)
{
    g_autoptr(Agent) agent = agent_new(NULL);
    g_autoptr(Host) host = host_connect(agent);
    g_autoptr(json_t) first = host_hello(host, "session-1");
    g_assert_cmpint(np_json_int(first, "protocol", 0), ==, NP_PROTO_VERSION);
    g_assert_cmpstr(np_json_string(first, "agent", ""), ==, NP_VERSION);
    g_assert_nonnull(np_json_string(first, "iperf", NULL));
    g_autoptr(json_t) second = host_hello(host, "session-1");
    g_assert_cmpint(np_json_int(second, "now_ns", 0), >, np_json_int(first, "now_ns", 0));
}

static void
test_bad_lines_get_an_error_and_change_nothing(void)
{
    static const struct {
        const char *line, *code, *part;
        int64_t id;
    } rows[] = {
        {"nonsense", "protocol", "not JSON", 0},
        {"[1,2]", "protocol", "not an object", 0},
        {"{\"id\":5,\"verb\":\"explode\"}", "unsupported", "explode", 5},
        {"{\"id\":6,\"verb\":\"info\",\"colour\":1}", "protocol", "colour", 6},
        {"{\"id\":7,\"verb\":\"serve\",\"ports\":[0],\"watchdog_ms\":1}", "protocol", "ports", 7},
        {"{\"id\":8,\"verb\":\"serve\",\"ports\":[],\"watchdog_ms\":1}", "protocol", "ports", 8},
        {"{\"id\":9,\"verb\":\"load\",\"action\":\"stop\"}", "protocol", "stop", 9},
        {"{\"id\":10,\"verb\":\"cancel\"}", "protocol", "job", 10},
        {"{\"verb\":\"info\"}", "protocol", "id", 0},
        {"{\"id\":-3,\"verb\":\"info\"}", "protocol", "id", 0},
        {"{\"id\":11,\"id\":12,\"verb\":\"info\"}", "protocol", "duplicate", 0},
        {"\xff\xfe{}", "protocol", "", 0},
    };
    g_autoptr(Agent) agent = agent_new(NULL);
    g_autoptr(Host) host = host_connect(agent);
    json_decref(host_hello(host, "session-1"));
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        host_write(host, rows[i].line);
        host_write(host, "\n");
        g_autoptr(json_t) message = host_read(host);
        g_test_message("%s", rows[i].line);
        g_assert_cmpint(np_json_int(message, "id", -1), ==, rows[i].id);
        g_assert_nonnull(strstr(error_text(message, rows[i].code), rows[i].part));
    }
    json_decref(host_ok(host, NP_VERB_INFO, NULL));
}

static void
test_an_overlong_line_is_dropped_to_its_end(void)
{
    g_autoptr(Agent) agent = agent_new(NULL);
    g_autoptr(Host) host = host_connect(agent);
    json_decref(host_hello(host, "session-1"));
    g_autofree char *line = g_strnfill(3 * NP_PROTO_LINE_MAX, 'x');
    host_write(host, line);
    host_write(host, "\n");
    g_autoptr(json_t) message = host_read(host);
    g_assert_cmpint(np_json_int(message, "id", -1), ==, 0);
    g_assert_nonnull(strstr(error_text(message, "protocol"), "longer"));
    json_decref(host_ok(host, NP_VERB_INFO, NULL));
}

static void
test_verbs_before_hello_are_refused(void)
{
    g_autoptr(Agent) agent = agent_new(NULL);
    g_autoptr(Host) host = host_connect(agent);
    g_autoptr(json_t) message = host_reply(host, host_send(host, NP_VERB_INFO, NULL));
    g_assert_nonnull(strstr(error_text(message, "protocol"), "hello"));
    g_assert_true(json_is_null(json_object_get(message, "session")));
}

static void
test_each_connection_needs_its_own_hello(void)
{
    g_autoptr(Agent) agent = agent_new(NULL);
    Host *first = host_connect(agent);
    json_decref(host_hello(first, "session-1"));
    host_free(first);
    g_autoptr(Host) second = host_connect(agent);
    host_refused(second, NP_VERB_INFO, NULL, "protocol");
    json_decref(host_hello(second, "session-1"));
    json_decref(host_ok(second, NP_VERB_INFO, NULL));
}

static void
test_another_protocol_version_is_refused_under_the_session_asked_for(void)
{
    g_autoptr(Agent) agent = agent_new(NULL);
    g_autoptr(Host) host = host_connect(agent);
    json_decref(host_hello(host, "session-1"));
    g_clear_pointer(&host->session, g_free);
    g_autoptr(json_t) message = host_reply(
        host, host_send(host, NP_VERB_HELLO,
                        json_pack("{s:i, s:s}", "protocol", 99, "session", "session-2")));
    g_assert_nonnull(strstr(error_text(message, "unsupported"), "99"));
    g_assert_cmpstr(np_json_string(message, "session", NULL), ==, "session-2");
    host->session = g_strdup("session-1"); /* which has not ended */
    json_decref(host_ok(host, NP_VERB_INFO, NULL));
}

static void
test_a_half_line_of_an_earlier_connection_is_forgotten(void)
{
    g_autoptr(Agent) agent = agent_new(NULL);
    static const char half[] = "{\"id\":1,\"verb\":\"hel";
    for (size_t cut = 1; cut <= strlen(half); cut++) {
        Host *first = host_connect(agent);
        g_autofree char *part = g_strndup(half, cut);
        host_write(first, part);
        host_free(first);
        g_autoptr(Host) second = host_connect(agent);
        host_write(second, "{\"id\":77,\"verb\":\"info\"}\n"); /* whole: nothing stands before it */
        g_autoptr(json_t) message = host_reply(second, 77);
        g_assert_nonnull(strstr(error_text(message, "protocol"), "hello"));
    }
}

static void
test_a_second_host_is_told_busy_and_the_first_keeps_working(void)
{
    g_autoptr(Agent) agent = agent_new(NULL);
    g_autoptr(Host) first = host_connect(agent);
    json_decref(host_hello(first, "session-1"));
    g_autoptr(Host) second = host_connect(agent);
    g_autoptr(json_t) message = host_read(second);
    g_assert_nonnull(strstr(error_text(message, "busy"), "another host"));
    g_assert_null(host_read(second));
    json_decref(host_ok(first, NP_VERB_INFO, NULL));
}

static void
test_every_verb_reaches_its_function(void)
{
    g_autoptr(Agent) agent = agent_new(NULL);
    g_autoptr(Host) host = host_connect(agent);
    json_decref(host_hello(host, "session-1"));
    g_autoptr(json_t) info = host_ok(host, NP_VERB_INFO, NULL);
    g_assert_nonnull(np_json_string(info, "kernel", NULL));
    g_autofree char *nic = host_error(host, NP_VERB_NIC_SET,
                                      json_pack("{s:s}", "mac", "02:de:ad:be:ef:99"), "not-found");
    g_assert_nonnull(strstr(nic, "02:de:ad:be:ef:99"));
    g_autoptr(json_t) restored = host_ok(host, NP_VERB_NIC_RESTORE, NULL);
    g_assert_cmpint(np_json_int(restored, "restored", -1), ==, 0);
    host_refused(host, NP_VERB_CPU, json_pack("{s:s}", "action", "stop"), "not-found");
    json_decref(host_ok(host, NP_VERB_CPU,
                        json_pack("{s:s, s:i}", "action", "start", "period_ms", 3600000)));
    g_autoptr(json_t) sample = host_event(host, "sample");
    g_assert_cmpint(np_json_int(sample, "now_ns", 0), >, 0);
    host_refused(host, NP_VERB_CPU, json_pack("{s:s, s:i}", "action", "start", "period_ms", 100),
                 "busy");
    g_autoptr(json_t) stopped = host_ok(host, NP_VERB_CPU, json_pack("{s:s}", "action", "stop"));
    g_assert_cmpint(np_json_int(stopped, "samples", 0), ==, 2);
    json_decref(host_ok(host, NP_VERB_CANCEL, json_pack("{s:i}", "job", 4711)));
    json_decref(host_ok(host, NP_VERB_BYE, NULL));
    g_clear_pointer(&host->session, g_free);
    host_refused(host, NP_VERB_INFO, NULL, "protocol");
    json_decref(host_hello(host, "session-1"));
}

/* The sampler belongs to the session: whether it still runs tells whether the session lives. */
static void
start_sampler(Host *host)
{
    json_decref(host_ok(host, NP_VERB_CPU,
                        json_pack("{s:s, s:i}", "action", "start", "period_ms", 3600000)));
}

static void
test_the_same_session_continues_and_another_begins_anew(void)
{
    g_autoptr(Agent) agent = agent_new(NULL);
    Host *first = host_connect(agent);
    json_decref(host_hello(first, "session-1"));
    start_sampler(first);
    host_free(first);
    Host *second = host_connect(agent);
    json_decref(host_hello(second, "session-1"));
    host_refused(second, NP_VERB_CPU, json_pack("{s:s, s:i}", "action", "start", "period_ms", 100),
                 "busy");
    json_decref(host_hello(second, "session-2"));
    host_refused(second, NP_VERB_CPU, json_pack("{s:s}", "action", "stop"), "not-found");
    host_free(second);
}

/* What it is that happens: a server is killed. The agent has reaped it and so has reported it once
 * there is no such process any more, not even a dead one. */
static void
test_what_happens_while_the_host_is_away_is_kept_for_it(void)
{
    g_autoptr(Agent) agent = agent_new(NULL);
    Host *first = host_connect(agent);
    json_decref(host_hello(first, "session-1"));
    json_decref(host_ok(first, NP_VERB_SERVE,
                        json_pack("{s:[i], s:i}", "ports", free_port(), "watchdog_ms", WAIT_MS)));
    host_free(first);
    g_autoptr(GArray) children = agent_children(agent->pid);
    int server = process_open(g_array_index(children, pid_t, 0));
    kill(g_array_index(children, pid_t, 0), SIGKILL);
    process_wait(server);
    g_autoptr(Host) second = host_connect(agent);
    host_send(second, NP_VERB_INFO, NULL);
    g_autoptr(json_t) stranger = host_read(second); /* who has not said hello hears nothing of it */
    g_assert_nonnull(strstr(error_text(stranger, "protocol"), "hello"));
    json_decref(host_hello(second, "session-1"));
    g_autoptr(json_t) process = host_event(second, "process");
    g_assert_nonnull(strstr(error_text(process, "failed"), "signal 9"));
    json_decref(host_event(second, "end"));
}

static void
test_a_session_ends_when_its_host_stays_away(void)
{
    static const char *const args[] = {"--gone-ms", "50", NULL};
    g_autoptr(Agent) agent = agent_new(args);
    Host *first = host_connect(agent);
    json_decref(host_hello(first, "session-1"));
    json_decref(host_ok(first, NP_VERB_SERVE,
                        json_pack("{s:[i], s:i}", "ports", free_port(), "watchdog_ms", WAIT_MS)));
    start_sampler(first);
    g_autoptr(GArray) children = agent_children(agent->pid);
    g_assert_cmpuint(children->len, ==, 1);
    int server = process_open(g_array_index(children, pid_t, 0));
    host_free(first);
    process_wait(server);
    g_autoptr(Host) second = host_connect(agent);
    json_decref(host_hello(second, "session-1"));
    host_refused(second, NP_VERB_CPU, json_pack("{s:s}", "action", "stop"), "not-found");
}

/* A host that connects but never greets does not keep a session alive. */
static void
test_a_silent_host_does_not_keep_a_session(void)
{
    static const char *const args[] = {"--gone-ms", "50", NULL};
    g_autoptr(Agent) agent = agent_new(args);
    Host *first = host_connect(agent);
    json_decref(host_hello(first, "session-1"));
    json_decref(host_ok(first, NP_VERB_SERVE,
                        json_pack("{s:[i], s:i}", "ports", free_port(), "watchdog_ms", WAIT_MS)));
    g_autoptr(GArray) children = agent_children(agent->pid);
    int server = process_open(g_array_index(children, pid_t, 0));
    host_free(first);
    Host *silent = host_connect(agent);
    process_wait(server);
    host_free(silent);
}

/* Asks without reading until the agent has had enough of it. */
static void
test_a_host_that_does_not_read_is_dropped(void)
{
    g_autoptr(Agent) agent = agent_new(NULL);
    Host *first = host_connect(agent);
    json_decref(host_hello(first, "session-1"));
    g_assert_true(np_fd_set_nonblocking(first->fd, NULL));
    static const char line[] =
        "{\"id\":9,\"verb\":\"hello\",\"protocol\":1,\"session\":\"session-1\"}\n";
    for (;;) {
        struct pollfd room = {.fd = first->fd, .events = POLLOUT};
        g_assert_cmpint(poll(&room, 1, WAIT_MS), ==, 1);
        ssize_t written = write(first->fd, line, strlen(line));
        if (written < 0 && errno == EPIPE)
            break;
        if (written < 0)
            g_assert_cmpint(errno, ==, EAGAIN);
    }
    host_free(first);
    g_autoptr(Host) second = host_connect(agent);
    json_decref(host_hello(second, "session-1"));
}

static void
test_the_socket_is_private_and_a_stale_one_is_replaced(void)
{
    g_autoptr(Agent) agent = agent_new(NULL);
    struct stat status;
    g_assert_cmpint(stat(agent->path, &status), ==, 0);
    g_assert_cmpuint(status.st_mode & 0777, ==, 0600);
    kill(agent->pid, SIGKILL);
    agent_wait(agent);
    g_assert_cmpint(stat(agent->path, &status), ==, 0);
    agent_start(agent, NULL);
    g_autoptr(Host) host = host_connect(agent);
    json_decref(host_hello(host, "session-1"));
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/session/hello-tells-versions-and-the-clock",
                    test_hello_tells_versions_and_the_clock);
    g_test_add_func("/session/bad-lines-get-an-error-and-change-nothing",
                    test_bad_lines_get_an_error_and_change_nothing);
    g_test_add_func("/session/an-overlong-line-is-dropped-to-its-end",
                    test_an_overlong_line_is_dropped_to_its_end);
    g_test_add_func("/session/verbs-before-hello-are-refused", test_verbs_before_hello_are_refused);
    g_test_add_func("/session/each-connection-needs-its-own-hello",
                    test_each_connection_needs_its_own_hello);
    g_test_add_func("/session/another-protocol-version-is-refused-under-the-session-asked-for",
                    test_another_protocol_version_is_refused_under_the_session_asked_for);
    g_test_add_func("/session/a-half-line-of-an-earlier-connection-is-forgotten",
                    test_a_half_line_of_an_earlier_connection_is_forgotten);
    g_test_add_func("/session/a-second-host-is-told-busy-and-the-first-keeps-working",
                    test_a_second_host_is_told_busy_and_the_first_keeps_working);
    g_test_add_func("/session/every-verb-reaches-its-function",
                    test_every_verb_reaches_its_function);
    g_test_add_func("/session/the-same-session-continues-and-another-begins-anew",
                    test_the_same_session_continues_and_another_begins_anew);
    g_test_add_func("/session/what-happens-while-the-host-is-away-is-kept-for-it",
                    test_what_happens_while_the_host_is_away_is_kept_for_it);
    g_test_add_func("/session/a-session-ends-when-its-host-stays-away",
                    test_a_session_ends_when_its_host_stays_away);
    g_test_add_func("/session/a-silent-host-does-not-keep-a-session",
                    test_a_silent_host_does_not_keep_a_session);
    g_test_add_func("/session/a-host-that-does-not-read-is-dropped",
                    test_a_host_that_does_not_read_is_dropped);
    g_test_add_func("/session/the-socket-is-private-and-a-stale-one-is-replaced",
                    test_the_socket_is_private_and_a_stale_one_is_replaced);
    return g_test_run();
}
