/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of records and of the rules that judge them.
 */
#include "lib/bench/record.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/error.h"
#include "lib/bench/rules.h"
#include "tests/unit/golden.h"
#include "tests/unit/run-data.h"

static double
number(json_t *record, const char *path)
{
    const json_t *value = run_data_at(record, path);
    g_assert_true(json_is_number(value));
    return json_number_value(value);
}

#define near(a, b) g_assert_cmpfloat_with_epsilon((a), (b), 1e-6 * fabs((double) (b)) + 1e-9)

static void
test_golden(void)
{
    g_autoptr(json_t) data = run_data();
    g_autoptr(json_t) record = run_data_record(data, "forward", "tcp", true, NULL);
    json_object_del(record, "nicpass"); /* the version changes */
    char *dumped =
        json_dumps(record, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
    g_autofree char *text = g_strconcat(dumped, "\n", NULL);
    free(dumped);
    golden_check("record.json", text);
}

/* The figures that follow from run.json by hand. */
static void
test_figures(void)
{
    g_autoptr(json_t) data = run_data();
    g_autoptr(json_t) record = run_data_record(data, "forward", "tcp", true, NULL);
    g_assert_true(np_json_bool(record, "valid", false));
    near(number(record, "totals/goodput_bps"), 14e9);
    near(number(record, "totals/bytes"), 1.75e9 * 5);
    near(number(record, "totals/retransmits"), 50);
    near(number(record, "totals/retransmits_per_million"), 50 / (1.75e9 * 5 / 1448) * 1e6);
    near(number(record, "totals/fairness"), 1.75 * 1.75 / (2 * (1 + 0.75 * 0.75)));
    near(number(record, "totals/skew_ns"), 200e6);
    near(number(record, "machine/busy_cores"), 1.5);
    near(number(record, "machine/idle_cores"), 0.02);
    near(number(record, "machine/cost_cores_per_10g"), 1.48 / 1.4);
    near(number(record, "sender/worker_cores"), 0.7);
    near(number(record, "receiver/worker_cores"), 0.9);
    near(number(record, "sender/processes/1/start_skew_ns"), 200e6);
    near(number(record, "sender/processes/1/goodput_bps"), 6e9);
    near(number(record, "sender/cpu/from_off_ns"), 1e6);
    g_assert_cmpstr(np_json_string(run_data_at(record, "sender"), "role", NULL), ==, "client");
    g_assert_null(run_data_at(record, "sender/cost_cores_per_10g"));
}

static void
test_two_kernels_cost_apart(void)
{
    g_autoptr(json_t) data = run_data();
    g_autoptr(json_t) record = run_data_record(data, "forward", "tcp", false, NULL);
    g_assert_null(run_data_at(record, "machine"));
    near(number(record, "sender/cost_cores_per_10g"), 1.48 / 1.4);
    near(number(record, "receiver/cost_cores_per_10g"), 1.48 / 1.4);
}

/* In reverse the client receives: the record's sender is the one whose bytes go out. */
static void
test_reverse_swaps_the_ends(void)
{
    g_autoptr(json_t) data = run_data();
    g_autoptr(json_t) swapped = json_object();
    json_object_set(swapped, "window", json_object_get(data, "window"));
    json_object_set(swapped, "sender", json_object_get(data, "receiver"));
    json_object_set(swapped, "receiver", json_object_get(data, "sender"));
    g_autoptr(json_t) record = run_data_record(swapped, "reverse", "tcp", true, NULL);
    g_assert_true(np_json_bool(record, "valid", false));
    g_assert_cmpstr(np_json_string(run_data_at(record, "sender"), "endpoint", NULL), ==, "a");
    g_assert_cmpstr(np_json_string(run_data_at(record, "sender"), "role", NULL), ==, "server");
    near(number(record, "totals/retransmits"), 50);
    near(number(record, "sender/worker_cores"), 0.7);
}

static bool
has_rule(const json_t *record, const char *list, const char *rule)
{
    size_t index;
    json_t *item;
    json_array_foreach(json_object_get(record, list), index, item)
    {
        g_assert_nonnull(np_rule_find(np_json_string(item, "rule", NULL)));
        g_assert_cmpstr(np_json_string(item, "text", ""), !=, "");
        if (strcmp(np_json_string(item, "rule", ""), rule) == 0)
            return true;
    }
    return false;
}

#define LOST "[9000, 9000, 9000, 9000, 9000, 9000, 9000]"
#define SENT "[100000, 100000, 100000, 100000, 100000, 100000, 100000]"

/* One thing spoilt, one rule that sees it. */
static const struct {
    const char *rule;
    const char *paths[3], *value; /* NULL: removed */
} spoilt[] = {
    {NP_RULE_PROCESS_FAILED, {"sender/processes/0/ok"}, "false"},
    {NP_RULE_PROCESS_FAILED, {"receiver/processes/1"}, NULL},
    {NP_RULE_PROCESS_FAILED, {"receiver/processes"}, NULL},
    {NP_RULE_PROCESS_FAILED,
     {"receiver/processes/0/intervals/bytes", "receiver/processes/1/intervals/bytes"},
     "[]"},
    {NP_RULE_WINDOW_NOT_COVERED, {"receiver/processes/0/intervals/end_us/5"}, "null"},
    {NP_RULE_WINDOW_NOT_COVERED, {"receiver/processes/0/intervals/start_us/2"}, NULL},
    {NP_RULE_WINDOW_NOT_COVERED, {"sender/processes/1/start_ns"}, "151900000000"},
    {NP_RULE_WINDOW_NOT_COVERED, {"sender/processes/1/start_ns"}, NULL},
    {NP_RULE_WINDOW_NOT_COVERED, {"window"}, NULL},
    {NP_RULE_WINDOW_NOT_COVERED, {"sender/offset_ns"}, "9223372036854775807"},
    {NP_RULE_NO_SAMPLES, {"sender/samples"}, NULL},
    {NP_RULE_NO_SAMPLES, {"receiver/samples/2/edge"}, "false"},
    {NP_RULE_NO_SAMPLES, {"receiver/samples/2/cpu"}, "[]"},
    {NP_RULE_NO_SAMPLES, {"receiver/samples/2/hz"}, "0"},
    {NP_RULE_COUNTERS, {"sender/mac"}, NULL},
    {NP_RULE_COUNTERS, {"sender/mac"}, "\"02:00:00:00:00:09\""},
    {NP_RULE_COUNTERS, {"receiver/samples/2/nics/0/1"}, "8000000000"},
    {NP_RULE_COUNTERS, {"sender/samples/2/nics/0/2"}, "8000000000"},
    {NP_RULE_OTHER_NIC, {"sender/samples/2/nics/1/2"}, "500000000"},
    {NP_RULE_SAMPLES_LATE, {"sender/samples/2/now_ns"}, "156150000000"},
    {NP_RULE_TIME_OFF, {"sender/samples/2/cpu/0/6"}, "1300"},
    {NP_RULE_STEAL, {"sender/samples/2/cpu/0/5"}, "12"},
    {NP_RULE_CPU_SATURATED, {"sender/samples/2/cpu/1/0"}, "590"},
    {NP_RULE_NO_IDLE, {"sender/idle"}, NULL},
    {NP_RULE_NOISY, {"sender/idle/1/cpu/0/0"}, "150"},
    {NP_RULE_SKEW, {"receiver/processes/0/start_ns"}, "80600000000"},
    {NP_RULE_VERSIONS_DIFFER, {"sender/hello/iperf"}, "\"iperf 3.16\""},
    {NP_RULE_VERSIONS_DIFFER, {"receiver/hello"}, NULL},
    {NP_RULE_SHORT_WINDOW, {NULL}, NULL},
    {NP_RULE_RETRANSMITS, {"sender/processes/0/intervals/retransmits"}, LOST},
    {NP_RULE_UNFAIR, {"receiver/processes/0/intervals/bytes"}, SENT},
    {NP_RULE_LOSS,
     {"receiver/processes/0/intervals/lost", "receiver/processes/1/intervals/lost"},
     LOST},
};

static void
test_rules(void)
{
    size_t count;
    const NpRule *rules = np_rules(&count);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < G_N_ELEMENTS(spoilt); i++) {
        g_autoptr(json_t) data = run_data();
        for (unsigned k = 0; k < 3 && spoilt[i].paths[k]; k++)
            run_data_set(data, spoilt[i].paths[k], spoilt[i].value);
        if (strcmp(spoilt[i].rule, NP_RULE_LOSS) == 0) {
            run_data_set(data, "receiver/processes/0/intervals/packets", SENT);
            run_data_set(data, "receiver/processes/1/intervals/packets", SENT);
        }
        g_test_message("%s: %s", spoilt[i].rule, spoilt[i].paths[0]);
        g_autoptr(json_t) record = run_data_record(data, "forward", "tcp", true, NULL);
        const NpRule *rule = np_rule_find(spoilt[i].rule);
        g_assert_true(has_rule(record, rule->invalidates ? "causes" : "flags", rule->name));
        g_assert_true(np_json_bool(record, "valid", true) == !rule->invalidates);
        g_hash_table_add(seen, (gpointer) (uintptr_t) rule->name);
    }
    for (size_t i = 0; i < count; i++) /* no rule without a run that breaks it */
        g_assert_true(g_hash_table_contains(seen, rules[i].name) ||
                      strcmp(rules[i].name, NP_RULE_FAILURE) == 0);
}

static void
test_good_run_breaks_no_other_rule(void)
{
    g_autoptr(json_t) data = run_data();
    g_autoptr(json_t) record = run_data_record(data, "forward", "tcp", true, NULL);
    g_assert_cmpuint(json_array_size(json_object_get(record, "causes")), ==, 0);
    g_assert_cmpuint(json_array_size(json_object_get(record, "flags")), ==, 1);
    g_assert_true(has_rule(record, "flags", NP_RULE_SHORT_WINDOW));
}

static void
test_failure_stands_alone(void)
{
    g_autoptr(json_t) nothing = json_object();
    g_autoptr(GError) failure = g_error_new(NP_ERROR, NP_ERROR_TIMEOUT, "no answer \xff");
    g_autoptr(json_t) record = run_data_record(nothing, "forward", "tcp", true, failure);
    g_assert_false(np_json_bool(record, "valid", true));
    g_assert_cmpuint(json_array_size(json_object_get(record, "causes")), ==, 1);
    g_assert_true(has_rule(record, "causes", NP_RULE_FAILURE));
}

/* Whatever single value an agent leaves out or gets wrong, there is a record. */
static void
spoil_each(json_t *whole, json_t *part, const char *wrong)
{
    json_t *spoiling = json_loads(wrong, JSON_DECODE_ANY, NULL);
    const char *key;
    json_t *value;
    void *next;
    size_t index;
    json_object_foreach_safe(part, next, key, value)
    {
        g_autoptr(json_t) kept = json_incref(value);
        spoil_each(whole, kept, wrong);
        json_object_set(part, key, spoiling);
        json_decref(run_data_record(whole, "forward", "tcp", true, NULL));
        json_object_set(part, key, kept);
    }
    json_array_foreach(part, index, value)
    {
        g_autoptr(json_t) kept = json_incref(value);
        if (index < 3)
            spoil_each(whole, kept, wrong);
        json_array_set(part, index, spoiling);
        json_decref(run_data_record(whole, "forward", "tcp", true, NULL));
        json_array_set(part, index, kept);
    }
    json_decref(spoiling);
}

static void
test_never_fails(void)
{
    static const char *const wrongs[] = {"null", "-1", "9223372036854775807", "1e308", "\"x\"",
                                         "[]",   "{}", "-9223372036854775807"};
    for (size_t i = 0; i < G_N_ELEMENTS(wrongs); i++) {
        g_autoptr(json_t) data = run_data();
        spoil_each(data, data, wrongs[i]);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/record/golden", test_golden);
    g_test_add_func("/record/figures", test_figures);
    g_test_add_func("/record/two-kernels-cost-apart", test_two_kernels_cost_apart);
    g_test_add_func("/record/reverse-swaps-the-ends", test_reverse_swaps_the_ends);
    g_test_add_func("/record/rules", test_rules);
    g_test_add_func("/record/good-run-breaks-no-other-rule", test_good_run_breaks_no_other_rule);
    g_test_add_func("/record/failure-stands-alone", test_failure_stands_alone);
    g_test_add_func("/record/never-fails", test_never_fails);
    return g_test_run();
}
