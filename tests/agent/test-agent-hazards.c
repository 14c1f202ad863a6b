/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * What can go wrong with a load, from outside, over the loopback: whatever it is, each process has
 * its event with the cause, and nothing is left behind.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "tests/agent/agent-load.h"

static void
check_no_children(const Side *side)
{
    g_autoptr(GArray) children = agent_children(side->agent->pid);
    g_assert_cmpuint(children->len, ==, 0);
}

/* Less than the agent waits for a host that is gone, and more than a load of 2 s takes. */
#define SHORT_WATCHDOG_MS 20000

/* libiperf has once been seen to hang at the end of such a load on a busy machine. What the agent
 * promises is an end with its cause, and that the host hears of it. */
static void
test_a_host_gone_in_mid_load_gets_the_results_later(void)
{
    g_autoptr(Pair) pair = pair_new();
    int64_t from_ns = np_clock_ns();
    Running running =
        load_running(pair, json_pack("{s:i, s:i}", "seconds", 2, "watchdog_ms", SHORT_WATCHDOG_MS));
    g_clear_pointer(&pair->client.host, host_free);
    process_wait_reaped(running.client);
    pair->client.host = host_connect(pair->client.agent);
    json_decref(host_hello(pair->client.host, "the-client"));
    g_autoptr(json_t) loaded = job_event(pair->client.host, running.load);
    if (json_object_get(loaded, "error")) {
        check_failure(loaded, "timeout", "watchdog");
        return;
    }
    g_autoptr(json_t) served = job_event(pair->server.host, running.serve);
    check_process(loaded, from_ns, np_clock_ns());
    check_process(served, from_ns, np_clock_ns());
}

static void
test_another_session_finds_nothing_of_the_old_one(void)
{
    g_autoptr(Pair) pair = pair_new();
    (void) load_running(pair, NULL);
    json_decref(host_hello(pair->client.host, "somebody-else"));
    check_no_children(&pair->client);
    json_decref(host_hello(pair->server.host, "somebody-else"));
    check_no_children(&pair->server);
    /* Nor does it hear of it: the next message is the answer to this. */
    int64_t id = host_send(pair->client.host, NP_VERB_INFO, NULL);
    g_autoptr(json_t) message = host_read(pair->client.host);
    g_assert_cmpint(np_json_int(message, "id", 0), ==, id);
}

static void
test_a_killed_client_is_told_with_its_signal(void)
{
    g_autoptr(Pair) pair = pair_new();
    Running running = load_running(pair, NULL);
    g_assert_cmpint(kill(running.client, SIGKILL), ==, 0);
    g_autoptr(json_t) loaded = job_event(pair->client.host, running.load);
    g_autoptr(json_t) served = job_event(pair->server.host, running.serve);
    check_failure(loaded, "failed", "signal 9");
    check_failure(served, "protocol", "other end");
}

/* Its client's intervals so far are told all the same: one thread takes longer than two of them to
 * use so much CPU time. */
static void
test_a_killed_server_is_a_peer_that_went_away(void)
{
    g_autoptr(Pair) pair = pair_new();
    Running running = load_running(pair, NULL);
    wait_used(running.client, process_cpu_ns(running.client) + 250 * NP_NS_PER_MS);
    g_assert_cmpint(kill(running.server, SIGKILL), ==, 0);
    g_autoptr(json_t) loaded = job_event(pair->client.host, running.load);
    g_autoptr(json_t) served = job_event(pair->server.host, running.serve);
    check_failure(served, "failed", "signal 9");
    check_failure(loaded, "protocol", "other end");
    g_assert_cmpint(np_json_int(loaded, "bytes", 0), >, 0);
}

static void
test_a_missing_server_is_refused_three_times(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_autoptr(json_t) ports = free_ports(1);
    int64_t load = job_arm(pair->client.host, ports, NULL);
    job_go(pair->client.host, load, 0);
    g_autoptr(json_t) loaded = job_event(pair->client.host, load);
    g_autofree char *port = g_strdup_printf("127.0.0.1 port %" JSON_INTEGER_FORMAT,
                                            json_integer_value(json_array_get(ports, 0)));
    check_failure(loaded, "not-found", port);
    g_assert_cmpint(np_json_int(loaded, "tries", 0), ==, 3);
    g_assert_null(json_object_get(loaded, "start_ns"));
    g_assert_null(json_object_get(loaded, "bytes"));
}

/* The second client comes to the same server by another of the loopback's addresses. */
static void
test_an_occupied_server_is_busy_after_three_tries(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_autoptr(json_t) ports = free_ports(1);
    job_serve(pair->server.host, ports, NULL);
    pid_t server = only_child(&pair->server);
    int64_t idle_ns = process_cpu_ns(server);
    int64_t first =
        job_arm(pair->client.host, ports, json_pack("{s:i, s:i}", "seconds", 600, "rate_bps", 0));
    job_go(pair->client.host, first, 0);
    wait_used(server, idle_ns + MOVING_CPU_NS);
    int64_t second = job_arm(pair->client.host, ports, json_pack("{s:s}", "target", "127.0.0.2"));
    job_go(pair->client.host, second, 0);
    g_autoptr(json_t) refused = job_event(pair->client.host, second);
    check_failure(refused, "busy", "127.0.0.2");
    g_assert_cmpint(np_json_int(refused, "tries", 0), ==, 3);
    json_decref(
        host_ok(pair->client.host, NP_VERB_CANCEL, json_pack("{s:I}", "job", (json_int_t) first)));
    g_autoptr(json_t) cancelled = job_event(pair->client.host, first);
    check_failure(cancelled, "interrupted", "on request");
}

/* A stopped process answers nothing, and its kernel goes on acknowledging. */
static void
test_a_frozen_peer_is_ended_by_the_watchdog(void)
{
    g_autoptr(Pair) pair = pair_new();
    Running running =
        load_running(pair, json_pack("{s:i, s:i}", "seconds", 2, "watchdog_ms", 3500));
    g_assert_cmpint(kill(running.server, SIGSTOP), ==, 0);
    g_autoptr(json_t) loaded = job_event(pair->client.host, running.load);
    check_failure(loaded, "timeout", "watchdog");
    /* The other one is stopped for good; killing reaches it all the same. */
    json_decref(host_ok(pair->server.host, NP_VERB_CANCEL,
                        json_pack("{s:I}", "job", (json_int_t) running.serve)));
    g_autoptr(json_t) served = job_event(pair->server.host, running.serve);
    check_failure(served, "interrupted", "on request");
}

static void
test_a_server_that_nobody_uses_is_ended_by_the_watchdog(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_autoptr(json_t) ports = free_ports(1);
    int64_t serve = job_serve(pair->server.host, ports, json_pack("{s:i}", "watchdog_ms", 500));
    g_autoptr(json_t) served = job_event(pair->server.host, serve);
    check_failure(served, "timeout", "watchdog");
    check_no_children(&pair->server);
}

static void
test_cancel_interrupts_and_ends(void)
{
    g_autoptr(Pair) pair = pair_new();
    Running running = load_running(pair, NULL);
    const struct {
        Host *host;
        int64_t job;
    } rows[] = {{pair->client.host, running.load}, {pair->server.host, running.serve}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        int64_t id = host_send(rows[i].host, NP_VERB_CANCEL,
                               json_pack("{s:I}", "job", (json_int_t) rows[i].job));
        g_autoptr(json_t) event = job_event(rows[i].host, rows[i].job);
        if (i == 0) /* the server may have ended by itself, its client being gone */
            check_failure(event, "interrupted", "on request");
        g_autoptr(json_t) reply = host_reply(rows[i].host, id);
        g_assert_nonnull(json_object_get(reply, "ok"));
    }
    check_no_children(&pair->client);
    check_no_children(&pair->server);
}

/* Both requests are there at once, so that the second comes before the first is answered. */
static void
test_cancel_of_a_job_that_waits_is_its_answer(void)
{
    g_autoptr(Pair) pair = pair_new();
    Host *host = pair->server.host;
    g_autofree char *lines =
        g_strdup_printf("{\"id\":101,\"verb\":\"serve\",\"ports\":[%u],\"watchdog_ms\":%d}\n"
                        "{\"id\":102,\"verb\":\"cancel\",\"job\":101}\n"
                        "{\"id\":103,\"verb\":\"info\"}\n",
                        free_port(), WAIT_MS);
    host_write(host, lines);
    json_decref(host_reply(host, 102));
    g_autoptr(json_t) reply = host_reply(host, 101);
    g_assert_nonnull(strstr(error_text(reply, "interrupted"), "cancelled"));
    check_no_children(&pair->server);
    json_decref(host_reply(host, 103));
    g_assert_cmpuint(g_queue_get_length(&host->messages), ==, 0); /* no event */
}

static void
test_an_armed_job_can_be_cancelled(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_autoptr(json_t) ports = free_ports(2);
    int64_t load = job_arm(pair->client.host, ports, NULL);
    json_decref(
        host_ok(pair->client.host, NP_VERB_CANCEL, json_pack("{s:I}", "job", (json_int_t) load)));
    g_autoptr(json_t) events = job_events(pair->client.host, load, 2);
    for (size_t i = 0; i < 2; i++)
        check_failure(json_array_get(events, i), "interrupted", "on request");
}

static void
test_a_signal_in_mid_load_leaves_no_child(void)
{
    static const int signals[] = {SIGTERM, SIGINT}; /* to the client's agent, to the server's */
    g_autoptr(Pair) pair = pair_new();
    Running running = load_running(pair, NULL);
    const struct {
        Agent *agent;
        pid_t child;
    } rows[] = {{pair->client.agent, running.client}, {pair->server.agent, running.server}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_assert_cmpint(kill(rows[i].agent->pid, signals[i]), ==, 0);
        int status = agent_wait(rows[i].agent);
        g_assert_true(WIFEXITED(status));
        g_assert_cmpint(WEXITSTATUS(status), ==, 0);
        g_assert_cmpint(kill(rows[i].child, 0), ==, -1);
        g_assert_cmpint(errno, ==, ESRCH);
        g_assert_cmpint(access(rows[i].agent->path, F_OK), ==, -1);
    }
}

/* What even a killed agent does not leave behind. */
static void
test_children_die_with_their_agent(void)
{
    g_autoptr(Pair) pair = pair_new();
    Running running = load_running(pair, NULL);
    int child = process_open(running.client);
    g_assert_cmpint(kill(pair->client.agent->pid, SIGKILL), ==, 0);
    agent_wait(pair->client.agent);
    process_wait(child);
}

static void
test_bye_kills(void)
{
    g_autoptr(Pair) pair = pair_new();
    (void) load_running(pair, NULL);
    json_decref(host_ok(pair->client.host, NP_VERB_BYE, NULL));
    check_no_children(&pair->client);
    json_decref(host_ok(pair->server.host, NP_VERB_BYE, NULL));
    check_no_children(&pair->server);
    g_assert_cmpuint(g_queue_get_length(&pair->client.host->messages), ==, 0);
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hazards/a-host-gone-in-mid-load-gets-the-results-later",
                    test_a_host_gone_in_mid_load_gets_the_results_later);
    g_test_add_func("/hazards/another-session-finds-nothing-of-the-old-one",
                    test_another_session_finds_nothing_of_the_old_one);
    g_test_add_func("/hazards/a-killed-client-is-told-with-its-signal",
                    test_a_killed_client_is_told_with_its_signal);
    g_test_add_func("/hazards/a-killed-server-is-a-peer-that-went-away",
                    test_a_killed_server_is_a_peer_that_went_away);
    g_test_add_func("/hazards/a-missing-server-is-refused-three-times",
                    test_a_missing_server_is_refused_three_times);
    g_test_add_func("/hazards/an-occupied-server-is-busy-after-three-tries",
                    test_an_occupied_server_is_busy_after_three_tries);
    g_test_add_func("/hazards/a-frozen-peer-is-ended-by-the-watchdog",
                    test_a_frozen_peer_is_ended_by_the_watchdog);
    g_test_add_func("/hazards/a-server-that-nobody-uses-is-ended-by-the-watchdog",
                    test_a_server_that_nobody_uses_is_ended_by_the_watchdog);
    g_test_add_func("/hazards/cancel-interrupts-and-ends", test_cancel_interrupts_and_ends);
    g_test_add_func("/hazards/cancel-of-a-job-that-waits-is-its-answer",
                    test_cancel_of_a_job_that_waits_is_its_answer);
    g_test_add_func("/hazards/an-armed-job-can-be-cancelled", test_an_armed_job_can_be_cancelled);
    g_test_add_func("/hazards/a-signal-in-mid-load-leaves-no-child",
                    test_a_signal_in_mid_load_leaves_no_child);
    g_test_add_func("/hazards/children-die-with-their-agent", test_children_die_with_their_agent);
    g_test_add_func("/hazards/bye-kills", test_bye_kills);
    return g_test_run();
}
