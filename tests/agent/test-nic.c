/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of agent/nic, nicset, nicstate, nicaddress and nicroute on this kernel, in a network
 * namespace. ip(8) sets up and tells the state, so that our own reading is checked as well.
 */
#include "agent/nic.h"

#include <string.h>

#include "lib/base/error.h"
#include "tests/agent/netns.h"

#define LEFT "02:00:00:00:00:01"

typedef struct {
    unsigned count;
    json_t *ok;
    GError *error;
} Answer;

static void
answer_clear(Answer *answer)
{
    json_decref(answer->ok);
    g_clear_error(&answer->error);
    *answer = (Answer){0};
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Answer, answer_clear)

static void
take_answer(json_t *ok, const GError *error, gpointer data)
{
    Answer *answer = data;
    g_assert_cmpint(ok != NULL, !=, error != NULL);
    answer->count++;
    answer->ok = ok;
    answer->error = error ? g_error_copy(error) : NULL;
}

static json_t *
fields_new(const char *text)
{
    g_autofree char *json = g_strdup(text);
    g_strdelimit(json, "'", '"');
    g_autoptr(GError) error = NULL;
    json_t *fields = np_json_parse_object(json, strlen(json), &error);
    g_assert_no_error(error);
    return fields;
}

/* Without managers, answers come at once. */
static void
ask(NpNics *nics, bool set, const char *text, Answer *answer)
{
    g_autoptr(json_t) fields = fields_new(text);
    answer_clear(answer);
    (set ? np_nics_set : np_nics_restore)(nics, fields, take_answer, answer);
    g_assert_cmpuint(answer->count, ==, 1);
}

static void
set_ok(NpNics *nics, const char *text)
{
    g_auto(Answer) answer = {0};
    ask(nics, true, text, &answer);
    g_assert_no_error(answer.error);
    g_assert_cmpstr(np_json_string(answer.ok, "name", ""), ==, "left");
}

static void
restore_ok(NpNics *nics, const char *text, int count)
{
    g_auto(Answer) answer = {0};
    ask(nics, false, text, &answer);
    g_assert_no_error(answer.error);
    g_assert_cmpint(np_json_int(answer.ok, "restored", -1), ==, count);
}

static void
assert_address(const char *text, bool there)
{
    g_autofree char *now = np_test_ip_output("-o addr show dev left");
    if ((strstr(now, text) != NULL) != there)
        g_error("'%s' is %s in: %s", text, there ? "not" : "still", now);
}

/* A NIC with all that can be lost. */
static void
make_rich_nic(void)
{
    static const char *const steps[] = {
        "link set right up",
        "link set left mtu 1480 up",
        "addr add 10.9.0.1/24 brd 10.9.0.255 dev left label left:a",
        "addr add 10.9.0.2/24 dev left",
        "addr add 10.8.0.1 peer 10.8.0.2/32 dev left scope link",
        "addr add 10.7.0.1/24 dev left metric 300 noprefixroute",
        "addr add fe80::1/64 dev left nodad",
        "addr add fd00:1::1/64 dev left nodad",
        "addr add fd00:1::2/64 dev left nodad noprefixroute",
        "route add 10.7.0.0/24 dev left proto kernel scope link src 10.7.0.1 metric 100",
        "route add 10.200.0.9 dev left scope link",
        "route add 10.201.0.0/16 via 10.200.0.9 dev left proto static mtu 1300",
        "route add default via 10.9.0.254 dev left metric 50",
        "route add 10.77.0.0/16 via 10.9.0.253 dev left proto static table 100",
        "-6 route add default via fe80::2 dev left metric 77",
        "-6 route add fd00:5::/64 via fd00:1::9 dev left table 100",
    };
    np_test_veth_make();
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++)
        np_test_ip(steps[i]);
    np_test_wait_for_state("LOWER_UP> mtu 1480 qdisc noqueue state UP");
    np_test_wait_for_state("LOWER_UP> mtu 1500 qdisc noqueue state UP");
    np_test_wait_for_state("local fe80::1 dev left");
    np_test_wait_for_state("local fd00:1::1 dev left");
    np_test_wait_for_state("local fd00:1::2 dev left");
}

static void
test_restore_brings_back_everything(void)
{
    static const char *const rows[] = {
        "{'mac':'" LEFT "','address':'198.18.0.1/24','mtu':1400,'up':true}",
        "{'mac':'" LEFT "','address':'fd00:18::1/64'}",
        "{'mac':'" LEFT "','address':'10.9.0.2/24'}",
        "{'mac':'" LEFT "','address':'10.9.0.77/24'}",
        "{'mac':'" LEFT "','up':false}",
        "{'mac':'" LEFT "','up':false,'address':'198.18.0.1/30','mtu':9000}",
        "{'mac':'" LEFT "','mtu':1000}",
        "{'mac':'" LEFT "'}",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        make_rich_nic();
        g_autofree char *before = np_test_net_state();
        g_autoptr(NpNics) nics = np_nics_new(false);
        set_ok(nics, rows[i]);
        if (i + 1 < G_N_ELEMENTS(rows)) {
            g_autofree char *between = np_test_net_state();
            g_assert_cmpstr(between, !=, before);
        }
        restore_ok(nics, "{}", 1);
        np_test_assert_net_state(before);
        restore_ok(nics, "{}", 0);
    }
}

static void
test_first_state_of_a_session_counts(void)
{
    make_rich_nic();
    g_autofree char *before = np_test_net_state();
    g_autoptr(NpNics) nics = np_nics_new(false);
    set_ok(nics, "{'mac':'" LEFT "','address':'198.18.0.1/24','mtu':1400}");
    assert_address("198.18.0.1/24", true);
    assert_address("10.9.0.1/24", false);
    assert_address("fd00:1::1/64", true);
    set_ok(nics, "{'mac':'" LEFT "','address':'198.18.0.2/24','up':false}");
    set_ok(nics, "{'mac':'" LEFT "','address':'fd00:18::1/64','up':true}");
    assert_address("198.18.0.1/24", false);
    assert_address("198.18.0.2/24", true);
    assert_address("fd00:18::1/64", true);
    restore_ok(nics, "{'mac':'02:00:00:00:00:02'}", 0);
    restore_ok(nics, "{'mac':'" LEFT "'}", 1);
    np_test_assert_net_state(before);
}

static void
test_down_nic_is_down_again(void)
{
    np_test_veth_make();
    np_test_ip("link set left up"); /* its first time up gives it a queueing discipline for ever */
    np_test_ip("link set left down");
    np_test_ip("addr add 10.9.0.1/24 dev left");
    np_test_ip("addr add fd00:1::1/64 dev left nodad");
    g_autofree char *before = np_test_net_state();
    g_autoptr(NpNics) nics = np_nics_new(false);
    set_ok(nics, "{'mac':'" LEFT "','address':'198.18.0.1/24','up':true}");
    np_nics_restore_all(nics);
    np_test_assert_net_state(before);
}

static void
test_failure_half_way_changes_nothing(void)
{
    static const struct {
        const char *text, *says;
        NpError code;
    } rows[] = {
        /* the MTU takes IPv6 and all its addresses away before the new one is refused */
        {"{'mac':'" LEFT "','mtu':1200,'up':true,'address':'fd00:18::1/64'}", "add address",
         NP_ERROR_IO},
        /* down, then an address that the kernel refuses when the others are gone already */
        {"{'mac':'" LEFT "','mtu':1400,'up':false,'address':'ff02::1/64'}", "add address",
         NP_ERROR_IO},
        /* the kernel says yes and does nothing, when the others are gone already */
        {"{'mac':'" LEFT "','address':'0.0.0.0/0'}", "did not stay", NP_ERROR_IO},
        {"{'mac':'" LEFT "','mtu':67}", "is not from 68 to", NP_ERROR_CONFIG},
        {"{'mac':'" LEFT "','mtu':1400,'address':'10.0.0.1'}", "10.0.0.1", NP_ERROR_CONFIG},
        {"{'mac':'02:00:00:00:00:09'}", "no network card has MAC", NP_ERROR_NOT_FOUND},
        {"{'mac':'02-00-00-00-00-09'}", "02-00", NP_ERROR_CONFIG},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        make_rich_nic();
        g_autofree char *before = np_test_net_state();
        g_autoptr(NpNics) nics = np_nics_new(false);
        g_auto(Answer) answer = {0};
        ask(nics, true, rows[i].text, &answer);
        if (!answer.error)
            g_error("row %zu: no error", i);
        if (answer.error->code != (int) rows[i].code ||
            !strstr(answer.error->message, rows[i].says))
            g_error("row %zu: %d: %s", i, answer.error->code, answer.error->message);
        np_test_assert_net_state(before);
        restore_ok(nics, "{}", 0);
    }
}

static void
test_failure_goes_back_one_step_only(void)
{
    make_rich_nic();
    g_autofree char *first = np_test_net_state();
    g_autoptr(NpNics) nics = np_nics_new(false);
    set_ok(nics, "{'mac':'" LEFT "','address':'198.18.0.1/24','mtu':1400}");
    g_autofree char *second = np_test_net_state();
    g_auto(Answer) answer = {0};
    ask(nics, true, "{'mac':'" LEFT "','mtu':1200,'address':'fd00:18::1/64'}", &answer);
    g_assert_nonnull(answer.error);
    np_test_assert_net_state(second);
    restore_ok(nics, "{}", 1);
    np_test_assert_net_state(first);
}

static void
test_copies_of_the_mac_are_passed_over(void)
{
    np_test_veth_make();
    np_test_ip("link add br0 address " LEFT " type bridge");
    np_test_ip("link add link left name mv0 address " LEFT " type macvlan mode bridge");
    g_autoptr(NpNics) nics = np_nics_new(false);
    set_ok(nics, "{'mac':'" LEFT "','up':true}");
    restore_ok(nics, "{}", 1);
    np_test_ip("link del mv0");
    np_test_ip("link set left master br0");
    g_auto(Answer) answer = {0};
    ask(nics, true, "{'mac':'" LEFT "','up':true}", &answer);
    g_assert_error(answer.error, NP_ERROR, NP_ERROR_BUSY);
    g_assert_nonnull(strstr(answer.error->message, "br0"));
    np_test_ip("link del br0");
}

static void
test_two_nics_with_one_mac_are_named(void)
{
    np_test_veth_make();
    np_test_ip("link set right address " LEFT);
    g_autoptr(NpNics) nics = np_nics_new(false);
    g_auto(Answer) answer = {0};
    ask(nics, true, "{'mac':'" LEFT "','up':true}", &answer);
    g_assert_error(answer.error, NP_ERROR, NP_ERROR_CONFIG);
    g_assert_nonnull(strstr(answer.error->message, "'left'"));
    g_assert_nonnull(strstr(answer.error->message, "'right'"));
}

static void
test_renamed_nic_is_still_the_one(void)
{
    make_rich_nic();
    g_autoptr(NpNics) nics = np_nics_new(false);
    set_ok(nics, "{'mac':'" LEFT "','address':'198.18.0.1/24'}");
    np_test_ip("link set left down");
    np_test_ip("link set left name renamed");
    np_test_ip("link set renamed up");
    restore_ok(nics, "{}", 1);
    g_autofree char *addresses = np_test_ip_output("-o addr show dev renamed");
    g_assert_nonnull(strstr(addresses, "10.9.0.1/24"));
    g_assert_null(strstr(addresses, "198.18.0.1/24"));
    np_test_ip("link set renamed down");
    np_test_ip("link set renamed name left");
}

static void
test_vanished_nic_is_fine(void)
{
    make_rich_nic();
    g_autoptr(NpNics) nics = np_nics_new(false);
    set_ok(nics, "{'mac':'" LEFT "','address':'198.18.0.1/24'}");
    np_test_ip("link del left");
    restore_ok(nics, "{}", 1);
}

static void
test_lifetimes_go_on(void)
{
    np_test_veth_make();
    np_test_ip("link set left up");
    np_test_ip("addr add 10.9.0.1/24 dev left valid_lft 5000 preferred_lft 4000");
    g_autoptr(NpNics) nics = np_nics_new(false);
    set_ok(nics, "{'mac':'" LEFT "','address':'198.18.0.1/24'}");
    assert_address("10.9.0.1/24", false);
    restore_ok(nics, "{}", 1);
    assert_address("10.9.0.1/24", true);
    g_autofree char *now = np_test_ip_output("-o addr show dev left");
    g_assert_null(strstr(now, "forever"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    static const struct {
        const char *name;
        GTestFunc run;
    } tests[] = {
        {"/nic/restore-brings-back-everything", test_restore_brings_back_everything},
        {"/nic/first-state-of-a-session-counts", test_first_state_of_a_session_counts},
        {"/nic/down-nic-is-down-again", test_down_nic_is_down_again},
        {"/nic/failure-half-way-changes-nothing", test_failure_half_way_changes_nothing},
        {"/nic/failure-goes-back-one-step-only", test_failure_goes_back_one_step_only},
        {"/nic/copies-of-the-mac-are-passed-over", test_copies_of_the_mac_are_passed_over},
        {"/nic/two-nics-with-one-mac-are-named", test_two_nics_with_one_mac_are_named},
        {"/nic/renamed-nic-is-still-the-one", test_renamed_nic_is_still_the_one},
        {"/nic/vanished-nic-is-fine", test_vanished_nic_is_fine},
        {"/nic/lifetimes-go-on", test_lifetimes_go_on},
    };
    if (!np_test_netns_enter()) {
        g_print("1..0 # SKIP no network namespace allowed\n");
        return 0;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add_func(tests[i].name, tests[i].run);
    return g_test_run();
}
