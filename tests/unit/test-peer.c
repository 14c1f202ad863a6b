/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Peer: resynchronisation, errors, loss and clock, against a fake agent.
 */
#include "lib/proto/peer.h"

#include <signal.h>

#include "lib/base/error.h"
#include "tests/fake/fake-agent.h"

#define MAC         "02:00:00:00:00:01"
#define PATIENCE_MS 10000 /* far beyond what a healthy answer takes */

static json_t *
greet(FakeAgent *agent, NpPeer **ret_peer, int64_t timeout_ms, GError **error)
{
    *ret_peer = np_peer_new(fake_agent_take_fd(agent), "sender", NULL, NULL);
    return np_peer_hello(*ret_peer, timeout_ms, error);
}

static void
hello_returns_the_agents_versions(void)
{
    g_autoptr(FakeAgent) agent = fake_agent_new(FAKE_HEALTHY, MAC, 1e9);
    g_autoptr(NpPeer) peer = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) ok = greet(agent, &peer, PATIENCE_MS, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(np_json_string(ok, "iperf", NULL), ==, "3.12");
}

/* data: what the stream holds besides the answer. */
static void
what_is_no_answer_is_dropped(gconstpointer data)
{
    g_autoptr(FakeAgent) agent = fake_agent_new((FakeFault) GPOINTER_TO_INT(data), MAC, 1e9);
    g_autoptr(NpPeer) peer = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) ok = greet(agent, &peer, PATIENCE_MS, &error);
    g_assert_no_error(error);
    g_assert_cmpint(np_json_int(ok, "protocol", 0), ==, NP_PROTO_VERSION);
}

static void
another_protocol_version_is_told_apart(void)
{
    g_autoptr(FakeAgent) agent = fake_agent_new(FAKE_OLD_PROTOCOL, MAC, 1e9);
    g_autoptr(NpPeer) peer = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_null(greet(agent, &peer, PATIENCE_MS, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_UNSUPPORTED);
    g_assert_true(g_str_has_prefix(error->message, "sender: "));
}

static void
silence_is_a_timeout(void)
{
    g_autoptr(FakeAgent) agent = fake_agent_new(FAKE_SILENT, MAC, 1e9);
    g_autoptr(NpPeer) peer = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_null(greet(agent, &peer, 1, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_TIMEOUT);
    g_assert_false(np_peer_gone(peer));
}

/* An agent that connecting anew leads to. */
typedef struct {
    FakeAgent *agent; /* NULL: there is none */
    unsigned count;
} Door;

static int
open_door(gpointer data, GError **error)
{
    Door *door = data;
    door->count++;
    if (door->agent)
        return fake_agent_take_fd(door->agent);
    np_throw(error, NP_ERROR_NOT_FOUND, "no socket");
    return -1;
}

/* What a hello to an agent with this fault gives when the door leads on. The silence allowed is
 * over at once for a silent agent, and never for others. */
static json_t *
greet_through_door(FakeFault first, Door *door, int64_t timeout_ms, NpPeer **ret_peer,
                   FakeAgent **ret_agent, GError **error)
{
    *ret_agent = fake_agent_new(first, MAC, 1e9);
    *ret_peer = np_peer_new(fake_agent_take_fd(*ret_agent), "sender", NULL, NULL);
    np_peer_set_reopen(*ret_peer, first == FAKE_SILENT ? 1 : PATIENCE_MS, open_door, door);
    return np_peer_hello(*ret_peer, timeout_ms, error);
}

static void
a_silent_channel_is_opened_anew(void)
{
    static const int64_t timeouts[] = {PATIENCE_MS, -1};
    for (size_t i = 0; i < G_N_ELEMENTS(timeouts); i++) {
        g_autoptr(FakeAgent) first = NULL, second = fake_agent_new(FAKE_STALE_BYTES, MAC, 1e9);
        g_autoptr(NpPeer) peer = NULL;
        g_autoptr(GError) error = NULL;
        Door door = {second, 0};
        g_autoptr(json_t) ok =
            greet_through_door(FAKE_SILENT, &door, timeouts[i], &peer, &first, &error);
        g_assert_no_error(error);
        g_assert_nonnull(ok);
        g_assert_cmpuint(door.count, ==, 1);
        json_decref(np_peer_call(peer, NP_VERB_INFO, NULL, PATIENCE_MS, &error));
        g_assert_no_error(error);
        g_assert_cmpuint(fake_agent_count(second, NP_VERB_INFO), ==, 1);
    }
}

static void
it_is_opened_anew_once(void)
{
    g_autoptr(FakeAgent) first = NULL, second = fake_agent_new(FAKE_SILENT, MAC, 1e9);
    g_autoptr(NpPeer) peer = NULL;
    g_autoptr(GError) error = NULL;
    Door door = {second, 0};
    g_assert_null(greet_through_door(FAKE_SILENT, &door, 2, &peer, &first, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_TIMEOUT);
    g_assert_cmpuint(door.count, ==, 1);
    g_assert_false(np_peer_gone(peer));
}

static void
it_is_not_opened_anew_without_need_or_time(void)
{
    g_autoptr(GError) error = NULL;
    for (int i = 0; i < 3; i++) {
        static const FakeFault faults[] = {FAKE_HEALTHY, FAKE_OLD_PROTOCOL, FAKE_SILENT};
        g_autoptr(FakeAgent) first = NULL;
        g_autoptr(NpPeer) peer = NULL;
        Door door = {NULL, 0};
        g_autoptr(json_t) ok =
            greet_through_door(faults[i], &door, faults[i] == FAKE_SILENT ? 1 : 2 * PATIENCE_MS,
                               &peer, &first, &error);
        g_assert_cmpint(ok != NULL, ==, faults[i] == FAKE_HEALTHY);
        g_assert_cmpint(error != NULL, ==, faults[i] != FAKE_HEALTHY);
        g_assert_cmpuint(door.count, ==, 0);
        g_clear_error(&error);
    }
}

static void
a_door_that_stays_shut_says_why(void)
{
    g_autoptr(FakeAgent) first = NULL;
    g_autoptr(NpPeer) peer = NULL;
    g_autoptr(GError) error = NULL;
    Door door = {NULL, 0};
    g_assert_null(greet_through_door(FAKE_SILENT, &door, PATIENCE_MS, &peer, &first, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_NOT_FOUND);
    g_assert_cmpstr(error->message, ==,
                    "sender: no answer for 1 ms, and to connect anew: no socket");
    g_assert_true(np_peer_gone(peer));
}

static void
an_error_of_the_agent_keeps_its_code(void)
{
    g_autoptr(FakeAgent) agent = fake_agent_new(FAKE_REFUSES_NIC, MAC, 1e9);
    g_autoptr(NpPeer) peer = NULL;
    g_autoptr(GError) error = NULL;
    json_decref(greet(agent, &peer, PATIENCE_MS, &error));
    g_assert_no_error(error);
    json_t *fields = json_pack("{s:s}", "mac", MAC);
    g_assert_null(np_peer_call(peer, NP_VERB_NIC_SET, fields, PATIENCE_MS, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_NOT_FOUND);
    g_assert_cmpstr(error->message, ==, "sender: no NIC has this MAC");
}

static void
a_lost_agent_ends_the_wait(void)
{
    FakeAgent *agent = fake_agent_new(FAKE_HEALTHY, MAC, 1e9);
    g_autoptr(NpPeer) peer = NULL;
    g_autoptr(GError) error = NULL;
    json_decref(greet(agent, &peer, PATIENCE_MS, &error));
    g_assert_no_error(error);
    fake_agent_free(agent);
    g_assert_null(np_peer_call(peer, NP_VERB_INFO, NULL, PATIENCE_MS, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_PROTOCOL);
    g_assert_true(np_peer_gone(peer));
}

static void
the_clock_of_an_agent_in_this_process_is_ours(void)
{
    g_autoptr(FakeAgent) agent = fake_agent_new(FAKE_HEALTHY, MAC, 1e9);
    g_autoptr(NpPeer) peer = NULL;
    g_autoptr(GError) error = NULL;
    json_decref(greet(agent, &peer, PATIENCE_MS, &error));
    int64_t offset_ns, error_ns;
    g_assert_true(np_peer_clock_offset(peer, &offset_ns, &error_ns, &error));
    g_assert_cmpint(ABS(offset_ns), <=, error_ns);
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* as in every program of ours */
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/peer/hello", hello_returns_the_agents_versions);
    g_test_add_data_func("/peer/stale-bytes", GINT_TO_POINTER(FAKE_STALE_BYTES),
                         what_is_no_answer_is_dropped);
    g_test_add_data_func("/peer/echo", GINT_TO_POINTER(FAKE_ECHOES), what_is_no_answer_is_dropped);
    g_test_add_func("/peer/old-protocol", another_protocol_version_is_told_apart);
    g_test_add_func("/peer/silence", silence_is_a_timeout);
    g_test_add_func("/peer/silent-channel-is-opened-anew", a_silent_channel_is_opened_anew);
    g_test_add_func("/peer/opened-anew-once", it_is_opened_anew_once);
    g_test_add_func("/peer/not-opened-anew-without-need-or-time",
                    it_is_not_opened_anew_without_need_or_time);
    g_test_add_func("/peer/shut-door-says-why", a_door_that_stays_shut_says_why);
    g_test_add_func("/peer/agent-error", an_error_of_the_agent_keeps_its_code);
    g_test_add_func("/peer/lost", a_lost_agent_ends_the_wait);
    g_test_add_func("/peer/clock", the_clock_of_an_agent_in_this_process_is_ours);
    return g_test_run();
}
