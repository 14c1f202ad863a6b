/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Run: the engine against fake agents: order, resumption, every way an end can fail.
 */
#include "lib/bench/run.h"

#include <signal.h>

#include <glib/gstdio.h>

#include "lib/base/error.h"
#include "tests/fake/fake-agent.h"

#define SENDER_MAC   "02:00:00:00:00:01"
#define RECEIVER_MAC "02:00:00:00:00:02"

static const char scenario_text[] = "[scenario]\n"
                                    "processes = 1, 2\nblocks = 1\nruns = 1\n"
                                    "omit = 1\nwindow = 2\ntail = 1\nidle = 1\n"
                                    "[topology direct]\nlink = direct\n"
                                    "[topology bridge]\nlink = bridge\n";

/* The stage under test: which faults its agents have, and what became of them. */
static struct {
    FakeFault sender_fault, receiver_fault;
    bool boot_fails;
    unsigned boots, halts, byes;
    FakeAgent *sender, *receiver;
} stage;

static void
fill_end(NpEnd *end, FakeAgent *agent, const char *name, const char *mac, NpPeerEvent event,
         gpointer data)
{
    end->peer = np_peer_new(fake_agent_take_fd(agent), name, event, data);
    end->endpoint = g_strdup("fake");
    end->mac = g_strdup(mac);
    end->address = g_strdup("198.18.0.2");
    end->cidr = g_strdup("198.18.0.2/24");
}

static bool
stage_boot(const NpTopology *topology, NpPeerEvent event, gpointer data, NpBoot *ret_boot,
           GError **error)
{
    stage.boots++;
    stage.sender = fake_agent_new(stage.sender_fault, SENDER_MAC, 1e9);
    stage.receiver = fake_agent_new(stage.receiver_fault, RECEIVER_MAC, 1e9);
    fake_agent_pair(stage.sender, stage.receiver);
    ret_boot->shared_kernel = true;
    if (stage.boot_fails)
        return np_throw(error, NP_ERROR_DENIED, "not here");
    fill_end(&ret_boot->sender, stage.sender, "sender", SENDER_MAC, event, data);
    fill_end(&ret_boot->receiver, stage.receiver, "receiver", RECEIVER_MAC, event, data);
    return true;
}

static void
stage_halt(NpBoot *boot)
{
    stage.halts++;
    stage.byes +=
        fake_agent_count(stage.sender, NP_VERB_BYE) + fake_agent_count(stage.receiver, NP_VERB_BYE);
    g_clear_pointer(&stage.sender, fake_agent_free);
    g_clear_pointer(&stage.receiver, fake_agent_free);
}

static const NpStage fake_stage = {stage_boot, stage_halt};

typedef struct {
    char *folder;
    NpBenchResult result;
    json_t *records;
    GError *error;
    bool done;
} Outcome;

static void
outcome_clear(Outcome *outcome)
{
    g_autofree char *file = g_build_filename(outcome->folder, NP_RECORDS_FILE, NULL);
    g_remove(file);
    g_rmdir(outcome->folder);
    g_free(outcome->folder);
    json_decref(outcome->records);
    g_clear_error(&outcome->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Outcome, outcome_clear)

/* Runs the scenario into the outcome's folder (made when NULL) and reads its records. */
static void
bench(Outcome *outcome, FakeFault sender_fault, FakeFault receiver_fault)
{
    GError *error = NULL;
    if (!outcome->folder)
        outcome->folder = g_dir_make_tmp("nicpass-run-XXXXXX", &error);
    g_assert_no_error(error);
    stage.sender_fault = sender_fault;
    stage.receiver_fault = receiver_fault;
    stage.boots = stage.halts = stage.byes = 0;
    g_autoptr(NpScenario) scenario = np_scenario_parse("test.ini", scenario_text, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(NpRecords) records = np_records_open(outcome->folder, scenario->digest, &error);
    g_assert_no_error(error);
    g_clear_error(&outcome->error);
    outcome->done =
        np_bench(scenario, 7, &fake_stage, records, NULL, NULL, &outcome->result, &outcome->error);
    json_decref(outcome->records);
    outcome->records = np_records_read(outcome->folder, NULL);
    g_assert_cmpuint(stage.halts, ==, stage.boots);
}

static void
assert_all(const Outcome *outcome, size_t count, bool valid, const char *rule)
{
    g_assert_cmpuint(json_array_size(outcome->records), ==, count);
    size_t index;
    json_t *record;
    json_array_foreach(outcome->records, index, record)
    {
        const json_t *cause = json_array_get(json_object_get(record, "causes"), 0);
        g_assert_cmpint(np_json_bool(record, "valid", !valid), ==, valid);
        g_assert_cmpstr(np_json_string(cause, "rule", NULL), ==, rule);
    }
}

static void
healthy_ends_give_one_valid_record_a_run(void)
{
    g_auto(Outcome) outcome = {NULL};
    bench(&outcome, FAKE_HEALTHY, FAKE_HEALTHY);
    g_assert_no_error(outcome.error);
    g_assert_true(outcome.done);
    assert_all(&outcome, 4, true, NULL);
    g_assert_cmpuint(outcome.result.done, ==, 4);
    g_assert_cmpuint(stage.boots, ==, 2); /* one a topology: its runs share a boot */
    g_assert_cmpuint(stage.byes, ==, 4);
}

static void
goodput_is_the_receivers_bytes_in_the_window(void)
{
    g_auto(Outcome) outcome = {NULL};
    bench(&outcome, FAKE_HEALTHY, FAKE_HEALTHY);
    size_t index;
    json_t *record;
    json_array_foreach(outcome.records, index, record)
    {
        double bps = np_json_real(json_object_get(record, "totals"), "goodput_bps", 0);
        double expected = 1e9 * (double) np_json_int(record, "processes", 0);
        g_assert_cmpfloat_with_epsilon(bps / expected, 1.0, 1e-6);
    }
}

static void
finished_runs_are_not_repeated(void)
{
    g_auto(Outcome) outcome = {NULL};
    bench(&outcome, FAKE_HEALTHY, FAKE_HEALTHY);
    bench(&outcome, FAKE_HEALTHY, FAKE_HEALTHY);
    g_assert_cmpuint(outcome.result.skipped, ==, 4);
    g_assert_cmpuint(outcome.result.done, ==, 0);
    g_assert_cmpuint(stage.boots, ==, 0);
    assert_all(&outcome, 4, true, NULL);
}

static void
an_agent_that_dies_invalidates_its_run_and_the_next_gets_a_fresh_boot(void)
{
    g_auto(Outcome) outcome = {NULL};
    bench(&outcome, FAKE_DIES_ON_GO, FAKE_HEALTHY);
    g_assert_no_error(outcome.error);
    g_assert_cmpuint(outcome.result.invalid, ==, 4);
    g_assert_cmpuint(stage.boots, ==, 4);
    assert_all(&outcome, 4, false, "failure");
}

static void
a_process_that_fails_invalidates_its_run(void)
{
    g_auto(Outcome) outcome = {NULL};
    bench(&outcome, FAKE_HEALTHY, FAKE_PROCESS_FAILS);
    g_assert_no_error(outcome.error);
    assert_all(&outcome, 4, false, "process-failed");
}

static void
invalid_runs_are_done_again_and_kept(void)
{
    g_auto(Outcome) outcome = {NULL};
    bench(&outcome, FAKE_PROCESS_FAILS, FAKE_HEALTHY);
    bench(&outcome, FAKE_HEALTHY, FAKE_HEALTHY);
    g_assert_cmpuint(outcome.result.done, ==, 4);
    g_assert_cmpuint(outcome.result.invalid, ==, 0);
    g_assert_cmpuint(json_array_size(outcome.records), ==, 8);
}

static void
a_refused_server_is_the_runs_cause(void)
{
    g_auto(Outcome) outcome = {NULL};
    bench(&outcome, FAKE_HEALTHY, FAKE_PORT_BUSY);
    g_assert_no_error(outcome.error);
    assert_all(&outcome, 4, false, "failure");
    const json_t *record = json_array_get(outcome.records, 0);
    const json_t *cause = json_array_get(json_object_get(record, "causes"), 0);
    g_assert_cmpstr(np_json_string(cause, "text", NULL), ==, "receiver: port 5201 is in use");
}

static void
traffic_that_misses_the_nic_is_invalid(void)
{
    g_auto(Outcome) outcome = {NULL};
    bench(&outcome, FAKE_HEALTHY, FAKE_WRONG_NIC);
    assert_all(&outcome, 4, false, "counters");
}

static void
a_nic_that_cannot_be_set_up_stops_everything(void)
{
    g_auto(Outcome) outcome = {NULL};
    bench(&outcome, FAKE_HEALTHY, FAKE_REFUSES_NIC);
    g_assert_false(outcome.done);
    g_assert_error(outcome.error, NP_ERROR, NP_ERROR_NOT_FOUND);
    g_assert_true(g_str_has_prefix(outcome.error->message, "topology '"));
    g_assert_cmpuint(outcome.result.done, ==, 0);
}

static void
a_boot_that_fails_is_halted_once(void)
{
    g_auto(Outcome) outcome = {NULL};
    stage.boot_fails = true;
    bench(&outcome, FAKE_HEALTHY, FAKE_HEALTHY);
    stage.boot_fails = false;
    g_assert_error(outcome.error, NP_ERROR, NP_ERROR_DENIED);
    g_assert_cmpuint(stage.halts, ==, 1);
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* as in every program of ours */
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/run/healthy", healthy_ends_give_one_valid_record_a_run);
    g_test_add_func("/run/goodput", goodput_is_the_receivers_bytes_in_the_window);
    g_test_add_func("/run/resume", finished_runs_are_not_repeated);
    g_test_add_func("/run/agent-dies",
                    an_agent_that_dies_invalidates_its_run_and_the_next_gets_a_fresh_boot);
    g_test_add_func("/run/process-fails", a_process_that_fails_invalidates_its_run);
    g_test_add_func("/run/invalid-again", invalid_runs_are_done_again_and_kept);
    g_test_add_func("/run/port-busy", a_refused_server_is_the_runs_cause);
    g_test_add_func("/run/wrong-nic", traffic_that_misses_the_nic_is_invalid);
    g_test_add_func("/run/nic-refused", a_nic_that_cannot_be_set_up_stops_everything);
    g_test_add_func("/run/boot-fails", a_boot_that_fails_is_halted_once);
    return g_test_run();
}
