/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of agent/managers and of agent/nic with them, on helpers that do not run.
 */
#include "agent/nic.h"

#include <string.h>

#include <glib/gstdio.h>

#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "tests/agent/child-double.h"
#include "tests/agent/netns.h"

#define NONE_HELD "[Match]\nName=nicpass-agent-holds-none\n\n[Link]\nUnmanaged=yes\n"

/* Asked before it lets go of a NIC, afterwards, and when it has it back. */
static const NpTestHelper all_well[] = {
    {"show left", 0, "100 (connected)\n", ""},
    {"show left", 0, "10 (unmanaged)\n", ""},
    {"show left", 0, "20 (unavailable)\n", ""},
    {"show right", 0, "100 (connected)\n", ""},
    {"show right", 0, "10 (unmanaged)\n", ""},
    {"show right", 0, "20 (unavailable)\n", ""},
    {NULL},
};

/* A folder with everything that a machine with both managers has. */
typedef struct {
    char *dir, *file;
    NpManagersPaths paths;
    NpLink left, right;
} Machine;

static void
machine_make(Machine *machine)
{
    g_autoptr(GError) error = NULL;
    machine->dir = g_dir_make_tmp("nicpass-XXXXXX", &error);
    g_assert_no_error(error);
    machine->file = g_build_filename(machine->dir, "05.network", NULL);
    g_assert_true(g_file_set_contents(machine->file, "", 0, NULL));
    machine->paths = (NpManagersPaths){
        .nmcli = "/bin/true",
        .networkctl = "/bin/false",
        .systemctl = "/bin/cat",
        .nm_run_dir = machine->dir,
        .networkd_run_dir = machine->dir,
        .network_file = machine->file,
    };
    machine->left = (NpLink){.ifindex = 5,
                             .name = "left",
                             .has_mac = true,
                             .has_permanent_mac = true,
                             .mac = {{2, 0, 0, 0, 0, 1}},
                             .permanent_mac = {{2, 0, 0, 0, 1, 1}}};
    machine->right =
        (NpLink){.ifindex = 6, .name = "right", .has_mac = true, .mac = {{2, 0, 0, 0, 0, 2}}};
}

static void
machine_clear(Machine *machine)
{
    (void) g_remove(machine->file); /* some tests did */
    g_assert_cmpint(g_rmdir(machine->dir), ==, 0);
    g_free(machine->file);
    g_free(machine->dir);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Machine, machine_clear)

static void
assert_file(const Machine *machine, const char *part)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(machine->file, &text, NULL, NULL));
    if (!strstr(text, part))
        g_error("no '%s' in '%s'", part, text);
}

typedef struct {
    unsigned count;
    GError *error;
} Outcome;

static void
take_outcome(const GError *error, gpointer data)
{
    Outcome *outcome = data;
    outcome->count++;
    g_clear_error(&outcome->error);
    outcome->error = error ? g_error_copy(error) : NULL;
}

static void
drain(void)
{
    while (g_main_context_iteration(NULL, FALSE))
        continue;
}

static void
test_both_managers_are_told(void)
{
    static const NpTestHelper given_back[] = {{"STATE", 0, "20 (unavailable)\n", ""}, {NULL}};
    g_auto(Machine) machine = {0};
    machine_make(&machine);
    np_test_helpers(all_well);
    g_autoptr(NpManagers) managers = np_managers_new(&machine.paths);
    Outcome outcome = {0};
    np_managers_hold(managers, &machine.left, take_outcome, &outcome);
    g_assert_cmpuint(outcome.count, ==, 0);
    g_assert_true(np_managers_busy(managers));
    drain();
    g_assert_cmpuint(outcome.count, ==, 1);
    g_assert_no_error(outcome.error);
    g_assert_false(np_managers_busy(managers));
    g_assert_cmpstr(np_test_helper_lines(), ==,
                    "/bin/cat is-active --quiet systemd-networkd.service\n"
                    "/bin/false reload\n"
                    "/bin/true --get-values GENERAL.STATE device show left\n"
                    "/bin/true device set left managed no\n"
                    "/bin/true --get-values GENERAL.STATE device show left\n");
    assert_file(&machine, "[Match]\nPermanentMACAddress=02:00:00:00:01:01\n");
    np_managers_hold(managers, &machine.right, take_outcome, &outcome);
    drain();
    assert_file(&machine, "[Match]\nMACAddress=02:00:00:00:00:01 02:00:00:00:00:02\n");
    np_test_helpers(given_back);
    np_managers_release(managers, &machine.left, take_outcome, &outcome);
    np_managers_release(managers, &machine.right, take_outcome, &outcome);
    drain();
    g_assert_cmpuint(outcome.count, ==, 4);
    g_assert_no_error(outcome.error);
    g_assert_cmpstr(np_test_helper_lines(), ==,
                    "/bin/cat is-active --quiet systemd-networkd.service\n"
                    "/bin/false reload\n"
                    "/bin/true device set left managed yes\n"
                    "/bin/true --get-values GENERAL.STATE device show left\n"
                    "/bin/cat is-active --quiet systemd-networkd.service\n"
                    "/bin/false reload\n"
                    "/bin/true device set right managed yes\n"
                    "/bin/true --get-values GENERAL.STATE device show right\n");
    assert_file(&machine, NONE_HELD);
}

static void
test_unmanaged_before_stays_unmanaged(void)
{
    static const NpTestHelper rows[][3] = {
        {{"is-active", 3, "", ""}, {"GENERAL.STATE", 0, "10 (unmanaged)\n", ""}, {NULL}},
        {{"is-active", 3, "", ""}, {"GENERAL.STATE", 8, "", "not running"}, {NULL}},
        {{"is-active", 3, "", ""}, {"GENERAL.STATE", 10, "", "no such device"}, {NULL}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_auto(Machine) machine = {0};
        machine_make(&machine);
        np_test_helpers(rows[i]);
        g_autoptr(NpManagers) managers = np_managers_new(&machine.paths);
        Outcome outcome = {0};
        np_managers_hold(managers, &machine.left, take_outcome, &outcome);
        np_managers_release(managers, &machine.left, take_outcome, &outcome);
        drain();
        g_assert_no_error(outcome.error);
        g_assert_cmpuint(outcome.count, ==, 2);
        g_assert_null(strstr(np_test_helper_lines(), "device set"));
        g_assert_null(strstr(np_test_helper_lines(), "reload"));
    }
}

static void
test_absent_managers_are_left_alone(void)
{
    g_auto(Machine) machine = {0};
    machine_make(&machine);
    machine.paths.nm_run_dir = "/nonexistent";
    machine.paths.networkctl = "/nonexistent";
    np_test_helpers(all_well);
    g_autoptr(NpManagers) managers = np_managers_new(&machine.paths);
    Outcome outcome = {0};
    np_managers_hold(managers, &machine.left, take_outcome, &outcome);
    g_assert_cmpuint(outcome.count, ==, 1);
    g_assert_no_error(outcome.error);
    g_assert_cmpstr(np_test_helper_lines(), ==, "");
}

static void
test_failures_are_told(void)
{
    static const struct {
        NpTestHelper helpers[5];
        bool no_file;
        const char *says;
        NpError code;
    } rows[] = {
        {{{"is-active", -1}, {NULL}}, false, "exec failed", NP_ERROR_IO},
        {{{"is-active", -2}, {NULL}}, false, "no end after 10 s", NP_ERROR_TIMEOUT},
        {{{"reload", 1, "", "Access \033denied\n"}, {NULL}},
         false,
         "Access \\x1bdenied",
         NP_ERROR_FAILED},
        {{{"STATE", 2, "", "broken"}, {NULL}}, false, "broken", NP_ERROR_FAILED},
        {{{"STATE", 0, "30 (x)", ""}, {"device set", 1, "", "not authorized"}, {NULL}},
         false,
         "not authorized",
         NP_ERROR_FAILED},
        {{{"STATE", 0, "100 (connected)", ""}, {NULL}}, false, "polkit", NP_ERROR_DENIED},
        {{{"STATE", 0, "100 (connected)", ""}, {"STATE", 2, "", "broken"}, {NULL}},
         false,
         "broken",
         NP_ERROR_FAILED},
        {{{"STATE", 0, "100 (connected)", ""},
          {"STATE", 0, "100 (connected)", ""},
          {"device set", 0, "", ""},
          {"device set", 1, "", "not authorized"},
          {NULL}},
         false,
         "not authorized",
         NP_ERROR_FAILED},
        {{{NULL}}, true, "tmpfiles.d", NP_ERROR_NOT_FOUND},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_auto(Machine) machine = {0};
        machine_make(&machine);
        if (rows[i].no_file)
            g_assert_cmpint(g_remove(machine.file), ==, 0);
        np_test_helpers(rows[i].helpers);
        g_autoptr(NpManagers) managers = np_managers_new(&machine.paths);
        Outcome outcome = {0};
        np_managers_hold(managers, &machine.left, take_outcome, &outcome);
        drain();
        g_assert_cmpuint(outcome.count, ==, 1);
        g_assert_nonnull(outcome.error);
        if (outcome.error->code != (int) rows[i].code ||
            !strstr(outcome.error->message, rows[i].says))
            g_error("row %zu: %d: %s", i, outcome.error->code, outcome.error->message);
        g_clear_error(&outcome.error);
    }
}

#define ASK "/bin/true --get-values GENERAL.STATE device show left\n"
#define SET "/bin/true device set left managed no\n"

/* nmcli's exit status says nothing of a refusal when its call is what starts polkit's daemon. */
static void
test_a_set_without_effect_is_repeated(void)
{
    static const NpTestHelper late[] = {{"is-active", 3, "", ""},
                                        {"STATE", 0, "100 (connected)\n", ""},
                                        {"STATE", 0, "100 (connected)\n", ""},
                                        {"STATE", 0, "110 (deactivating)\n", ""},
                                        {"STATE", 0, "10 (unmanaged)\n", ""},
                                        {NULL}};
    static const NpTestHelper back[] = {{"is-active", 3, "", ""},
                                        {"STATE", 0, "10 (unmanaged)\n", ""},
                                        {"STATE", 0, "20 (unavailable)\n", ""},
                                        {NULL}};
    g_auto(Machine) machine = {0};
    machine_make(&machine);
    np_test_helpers(late);
    g_autoptr(NpManagers) managers = np_managers_new(&machine.paths);
    Outcome outcome = {0};
    np_managers_hold(managers, &machine.left, take_outcome, &outcome);
    drain();
    g_assert_no_error(outcome.error);
    g_assert_cmpuint(outcome.count, ==, 1);
    g_assert_nonnull(strstr(np_test_helper_lines(), ASK SET ASK SET ASK SET ASK));
    np_test_helpers(back);
    np_managers_release(managers, &machine.left, take_outcome, &outcome);
    drain();
    g_assert_no_error(outcome.error);
    g_assert_nonnull(strstr(np_test_helper_lines(),
                            "managed yes\n" ASK "/bin/true device set left managed yes\n" ASK));
}

static void
test_a_set_that_never_takes_is_given_back(void)
{
    static const NpTestHelper never[] = {{"STATE", 0, "100 (connected)\n", ""}, {NULL}};
    g_auto(Machine) machine = {0};
    machine_make(&machine);
    np_test_helpers(never);
    g_autoptr(NpManagers) managers = np_managers_new(&machine.paths);
    Outcome outcome = {0};
    np_managers_hold(managers, &machine.left, take_outcome, &outcome);
    drain();
    g_assert_error(outcome.error, NP_ERROR, NP_ERROR_DENIED);
    g_assert_cmpstr(
        outcome.error->message, ==,
        "keep network managers off 'left': NetworkManager still manages it (state "
        "'100 (connected)') although nmcli reported success 10 times: polkit may not "
        "let this user do so (check 'systemctl status polkit', the agent's polkit rule, "
        "and 'Not authorized' in NetworkManager's journal)");
    np_managers_release(managers, &machine.left, take_outcome, &outcome);
    drain();
    g_assert_no_error(outcome.error);
    g_assert_nonnull(strstr(np_test_helper_lines(), "device set left managed yes"));
}

static void
test_managers_that_go_meanwhile_are_off(void)
{
    static const NpTestHelper rows[][4] = {
        {{"STATE", 0, "100 (connected)", ""}, {"STATE", 8, "", "not running"}, {NULL}},
        {{"STATE", 0, "100 (connected)", ""}, {"STATE", 10, "", "no such device"}, {NULL}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_auto(Machine) machine = {0};
        machine_make(&machine);
        np_test_helpers(rows[i]);
        g_autoptr(NpManagers) managers = np_managers_new(&machine.paths);
        Outcome outcome = {0};
        np_managers_hold(managers, &machine.left, take_outcome, &outcome);
        drain();
        g_assert_cmpuint(outcome.count, ==, 1);
        g_assert_no_error(outcome.error);
    }
}

static void
test_a_name_is_never_an_option(void)
{
    g_auto(Machine) machine = {0};
    machine_make(&machine);
    np_test_helpers(all_well);
    g_autoptr(NpManagers) managers = np_managers_new(&machine.paths);
    Outcome outcome = {0};
    g_strlcpy(machine.left.name, "-a", sizeof(machine.left.name));
    np_managers_hold(managers, &machine.left, take_outcome, &outcome);
    drain();
    g_assert_error(outcome.error, NP_ERROR, NP_ERROR_UNSUPPORTED);
    g_assert_nonnull(strstr(outcome.error->message, "'-a'"));
    g_assert_nonnull(strstr(outcome.error->message, "ip link set"));
    g_assert_null(strstr(np_test_helper_lines(), "-a\n"));
    g_assert_null(strstr(np_test_helper_lines(), " -a "));
    np_managers_release(managers, &machine.left, take_outcome, &outcome);
    drain();
    g_assert_no_error(outcome.error);
    assert_file(&machine, NONE_HELD);
}

static void
test_freed_between_two_looks(void)
{
    static const NpTestHelper never[] = {{"STATE", 0, "100 (connected)\n", ""}, {NULL}};
    g_auto(Machine) machine = {0};
    machine_make(&machine);
    machine.paths.again_ms = 3600000;
    np_test_helpers(never);
    NpManagers *managers = np_managers_new(&machine.paths);
    Outcome outcome = {0};
    np_managers_hold(managers, &machine.left, take_outcome, &outcome);
    drain();
    g_assert_true(np_managers_busy(managers));
    np_managers_free(managers);
    drain();
    g_assert_cmpuint(outcome.count, ==, 0);
}

static void
test_freed_managers_are_silent(void)
{
    g_auto(Machine) machine = {0};
    machine_make(&machine);
    np_test_helpers(all_well);
    NpManagers *managers = np_managers_new(&machine.paths);
    Outcome outcome = {0};
    np_managers_hold(managers, &machine.left, take_outcome, &outcome);
    np_managers_hold(managers, &machine.right, take_outcome, &outcome);
    np_managers_free(managers);
    drain();
    g_assert_cmpuint(outcome.count, ==, 0);
}

/* From here on: NICs with managers. */

typedef struct {
    unsigned answers, errors;
    char *text;
} Answers;

static void
take_answer(json_t *ok, const GError *error, gpointer data)
{
    Answers *answers = data;
    answers->answers++;
    g_free(answers->text);
    answers->text = error ? g_strdup(error->message) : np_json_line(ok);
    answers->errors += error != NULL;
    json_decref(ok);
}

static json_t *
nic_fields(const char *address)
{
    return json_pack("{s:s, s:s, s:b}", "mac", "02:00:00:00:00:01", "address", address, "up", true);
}

static void
test_requests_wait_for_their_turn(void)
{
    g_auto(Machine) machine = {0};
    machine_make(&machine);
    np_test_veth_make();
    g_autofree char *before = np_test_net_state();
    np_test_helpers(all_well);
    g_autoptr(NpNics) nics = np_nics_new_with(np_managers_new(&machine.paths));
    g_autoptr(json_t) first = nic_fields("198.18.0.1/24"), second = nic_fields("198.18.0.2/24");
    g_autoptr(json_t) all = json_object();
    Answers answers = {0};
    np_nics_set(nics, first, take_answer, &answers);
    np_nics_set(nics, second, take_answer, &answers);
    np_test_assert_net_state(before); /* nothing before the managers are off */
    drain();
    g_assert_cmpuint(answers.answers, ==, 2);
    g_assert_cmpuint(answers.errors, ==, 0);
    g_autofree char *now = np_test_ip_output("-o addr show dev left");
    g_assert_nonnull(strstr(now, "198.18.0.2/24"));
    np_nics_restore(nics, all, take_answer, &answers);
    drain();
    g_assert_cmpstr(answers.text, ==, "{\"restored\":1}");
    g_assert_nonnull(strstr(np_test_helper_lines(), "device set left managed yes"));
    assert_file(&machine, NONE_HELD);
    g_free(answers.text);
}

static void
test_refused_managers_leave_the_nic(void)
{
    static const NpTestHelper refused[] = {
        {"STATE", 0, "100 (connected)", ""}, {"managed no", 1, "", "not authorized"}, {NULL}};
    g_auto(Machine) machine = {0};
    machine_make(&machine);
    np_test_veth_make();
    g_autofree char *before = np_test_net_state();
    np_test_helpers(refused);
    g_autoptr(NpNics) nics = np_nics_new_with(np_managers_new(&machine.paths));
    g_autoptr(json_t) fields = nic_fields("198.18.0.1/24");
    Answers answers = {0};
    np_nics_set(nics, fields, take_answer, &answers);
    drain();
    g_assert_cmpuint(answers.errors, ==, 1);
    g_assert_nonnull(strstr(answers.text, "not authorized"));
    np_test_assert_net_state(before);
    assert_file(&machine, NONE_HELD);
    g_free(answers.text);
}

static void
test_end_of_session_does_not_wait(void)
{
    g_auto(Machine) machine = {0};
    machine_make(&machine);
    np_test_veth_make();
    np_test_ip("link set left up");
    np_test_ip("link set left down");
    g_autofree char *before = np_test_net_state();
    np_test_helpers(all_well);
    g_autoptr(NpNics) nics = np_nics_new_with(np_managers_new(&machine.paths));
    g_autoptr(json_t) first = nic_fields("198.18.0.1/24"), second = nic_fields("198.18.0.2/24");
    Answers answers = {0};
    np_nics_set(nics, first, take_answer, &answers);
    drain();
    g_assert_cmpuint(answers.errors, ==, 0);
    np_nics_restore_all(nics);
    np_test_assert_net_state(before);
    /* a request caught while its helper runs, and one that waits behind it */
    np_nics_set(nics, second, take_answer, &answers);
    np_nics_set(nics, first, take_answer, &answers);
    np_nics_restore_all(nics);
    g_assert_cmpuint(answers.answers, ==, 3);
    g_assert_cmpuint(answers.errors, ==, 2);
    np_nics_settle(nics);
    np_test_assert_net_state(before);
    g_assert_cmpuint(answers.answers, ==, 3);
    g_assert_true(g_str_has_suffix(np_test_helper_lines(), "device set left managed yes\n" ASK));
    assert_file(&machine, NONE_HELD);
    /* and freed while a helper runs */
    np_nics_set(nics, first, take_answer, &answers);
    np_nics_free(g_steal_pointer(&nics));
    g_assert_cmpuint(answers.answers, ==, 4);
    drain();
    g_assert_cmpuint(answers.answers, ==, 4);
    g_free(answers.text);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/managers/both-are-told", test_both_managers_are_told);
    g_test_add_func("/managers/unmanaged-before-stays-unmanaged",
                    test_unmanaged_before_stays_unmanaged);
    g_test_add_func("/managers/absent-are-left-alone", test_absent_managers_are_left_alone);
    g_test_add_func("/managers/failures-are-told", test_failures_are_told);
    g_test_add_func("/managers/a-set-without-effect-is-repeated",
                    test_a_set_without_effect_is_repeated);
    g_test_add_func("/managers/a-set-that-never-takes-is-given-back",
                    test_a_set_that_never_takes_is_given_back);
    g_test_add_func("/managers/that-go-meanwhile-are-off", test_managers_that_go_meanwhile_are_off);
    g_test_add_func("/managers/a-name-is-never-an-option", test_a_name_is_never_an_option);
    g_test_add_func("/managers/freed-between-two-looks", test_freed_between_two_looks);
    g_test_add_func("/managers/freed-are-silent", test_freed_managers_are_silent);
    if (np_test_netns_enter()) {
        g_test_add_func("/managers/requests-wait-for-their-turn",
                        test_requests_wait_for_their_turn);
        g_test_add_func("/managers/refused-leave-the-nic", test_refused_managers_leave_the_nic);
        g_test_add_func("/managers/end-of-session-does-not-wait",
                        test_end_of_session_does_not_wait);
    }
    return g_test_run();
}
