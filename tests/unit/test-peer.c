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
    g_test_add_func("/peer/agent-error", an_error_of_the_agent_keeps_its_code);
    g_test_add_func("/peer/lost", a_lost_agent_ends_the_wait);
    g_test_add_func("/peer/clock", the_clock_of_an_agent_in_this_process_is_ours);
    return g_test_run();
}
