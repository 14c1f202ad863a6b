/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of rows and reports.
 */
#include "lib/bench/report.h"

#include <string.h>

#include "lib/bench/record.h"
#include "lib/bench/rows.h"
#include "lib/bench/table.h"
#include "tests/unit/golden.h"

/* What is alike in the records of one set. */
typedef struct {
    bool shared_kernel, udp, short_window;
} Setting;

/* One run: what it measured. */
typedef struct {
    unsigned block;
    const char *topology; /* the first is "direct" */
    unsigned processes;
    double gbps, cost;
    unsigned repeat;
    const char *cause, *flag; /* nullable rules */
} Run;

static json_t *
end_of(const Setting *setting, const char *name, const Run *run)
{
    json_t *end = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:f}", "endpoint", name, "agent",
                            "0.1.0", "iperf", "3.12", "kernel", "6.1.0-13-amd64", "distribution",
                            "Debian GNU/Linux 12 (bookworm)", "cpu_model", "Example CPU 3000",
                            "cpus", 4, "worker_cores", run->gbps / 25);
    if (!setting->shared_kernel) {
        json_object_set_new(end, "cost_cores_per_10g", json_real(run->cost / 2));
        json_object_set_new(end, "cpu",
                            json_pack("{s:f}", "busy_cores", run->cost * run->gbps / 20));
    }
    if (!setting->udp)
        json_object_set_new(end, "processes", json_pack("[{s:s}]", "congestion", "cubic"));
    return end;
}

static json_t *
rules_of(const char *first, const char *second)
{
    json_t *rules = json_array();
    const char *const names[] = {first, second};
    for (size_t i = 0; i < 2; i++)
        if (names[i])
            json_array_append_new(rules, json_pack("{s:s, s:s}", "rule", names[i], "text",
                                                   "what was seen in this run, in a few words"));
    return rules;
}

static json_t *
record_of(const Setting *setting, const Run *run)
{
    g_autofree char *key = g_strdup_printf("b%u/%s/p%u/forward/r%u", run->block, run->topology,
                                           run->processes, run->repeat);
    g_autofree char *started =
        g_strdup_printf("2026-01-02T03:%02u:%02uZ", run->block, run->processes);
    bool baseline = strcmp(run->topology, "direct") == 0;
    json_t *record = json_pack(
        "{s:i, s:s, s:s, s:{s:s, s:s}, s:i, s:i, s:s, s:i, s:b, s:s, s:i, s:s, s:s, s:i, s:s, s:b}",
        "schema", NP_RECORD_SCHEMA, "key", key, "nicpass", "0.1.0", "scenario", "name", "local",
        "title", "Direct link against bridge, inside this machine", "seed", 42, "block",
        (int) run->block, "topology", run->topology, "topology_index", baseline ? 0 : 1, "baseline",
        baseline, "link", run->topology, "processes", (int) run->processes, "direction", "forward",
        "protocol", setting->udp ? "udp" : "tcp", "repeat", (int) run->repeat, "started", started,
        "shared_kernel", setting->shared_kernel);
    json_object_set_new(record, "settings",
                        json_pack("{s:i, s:i, s:i, s:i, s:I}", "streams", 1, "omit_ms", 1000,
                                  "window_ms", setting->short_window ? 5000 : 30000, "tail_ms",
                                  1000, "rate_bps", (json_int_t) (setting->udp ? 1000000000 : 0)));
    json_t *totals =
        json_pack("{s:f, s:i, s:f, s:f, s:i}", "goodput_bps", run->gbps * 1e9, "retransmits", 50,
                  "retransmits_per_million", run->gbps, "fairness", 0.98, "skew_ns", 1500000);
    if (setting->udp) {
        json_object_del(totals, "retransmits_per_million");
        json_object_set_new(totals, "lost", json_integer(12));
        json_object_set_new(totals, "packets", json_integer(100000));
    }
    json_object_set_new(record, "totals", totals);
    if (setting->shared_kernel)
        json_object_set_new(record, "machine",
                            json_pack("{s:f, s:f, s:f}", "busy_cores",
                                      run->cost * run->gbps / 10 + 0.02, "idle_cores", 0.02,
                                      "cost_cores_per_10g", run->cost));
    json_object_set_new(record, "sender", end_of(setting, "local", run));
    json_object_set_new(record, "receiver", end_of(setting, "remote", run));
    json_object_set_new(record, "valid", json_boolean(!run->cause));
    json_object_set_new(record, "causes", rules_of(run->cause, NULL));
    json_object_set_new(record, "flags",
                        rules_of(run->flag, setting->short_window ? "short-window" : NULL));
    return record;
}

static json_t *
records_of(const Setting *setting, const Run *runs, size_t count)
{
    json_t *records = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(records, record_of(setting, &runs[i]));
    return records;
}

static const Run one_block[] = {
    {1, "bridge", 4, 27.32, 1.412, 1, NULL, "cpu-saturated"},
    {1, "bridge", 1, 20.11, 0.988, 1, NULL, NULL},
    {1, "bridge", 2, 25.64, 1.203, 1, NULL, NULL},
    {1, "direct", 2, 31.05, 0.981, 1, NULL, NULL},
    {1, "direct", 1, 23.41, 0.834, 1, NULL, NULL},
    {1, "direct", 4, 33.87, 1.139, 1, NULL, "cpu-saturated"},
};

/* Six blocks of two runs: one process clearly differs, two are equal in throughput, four are too
 * noisy to tell; one invalid run was repeated and one was not. */
static json_t *
six_blocks(void)
{
    const Setting setting = {.shared_kernel = true};
    static const double noise[] = {0.2, -0.7, 0.9, -0.3, -0.8, 0.6,
                                   0.1, -0.5, 0.8, 0.4,  -0.6, -0.1};
    json_t *records = json_array();
    for (unsigned i = 0; i < 12; i++) {
        unsigned block = i / 2 + 1, repeat = i % 2 + 1;
        double drift = 0.1 * block, d = noise[i], b = noise[11 - i];
        const Run runs[] = {
            {block, "direct", 1, 23.4 + drift + 0.2 * d, 0.83, repeat, NULL, NULL},
            {block, "bridge", 1, 20.1 + drift + 0.2 * b, 1.02 + 0.01 * b, repeat, NULL, NULL},
            {block, "direct", 2, 31.0 + drift + 0.1 * d, 0.98 + 0.01 * d, repeat, NULL, NULL},
            {block, "bridge", 2, 31.1 + drift + 0.1 * b, 0.90 + 0.01 * b, repeat, NULL,
             block == 3 ? "retransmits" : NULL},
            {block, "direct", 4, 33 + 3 * d, 1.1 + 0.1 * d, repeat, NULL, NULL},
            {block, "bridge", 4, 32.7 + 3 * b, 1.1 + 0.2 * b, repeat,
             i == 11 ? "window-not-covered" : NULL, i == 4 ? "steal" : NULL},
        };
        if (i == 5)
            json_array_append_new(
                records, record_of(&setting, &(Run){3, "bridge", 1, 2, 9, 2, "counters", NULL}));
        for (size_t k = 0; k < G_N_ELEMENTS(runs); k++)
            json_array_append_new(records, record_of(&setting, &runs[k]));
    }
    return records;
}

static json_t *
two_machines(void)
{
    const Setting setting = {.udp = true};
    const Run runs[] = {
        {1, "direct", 2, 1.95, 2.1, 1, NULL, NULL},
        {1, "direct", 2, 1.97, 2.2, 2, NULL, NULL},
        {1, "bridge", 2, 1.91, 2.9, 1, NULL, "other-nic"},
        {1, "bridge", 2, 1.90, 2.8, 2, NULL, NULL},
    };
    return records_of(&setting, runs, G_N_ELEMENTS(runs));
}

static json_t *
nothing_valid(void)
{
    const Setting setting = {.shared_kernel = true, .short_window = true};
    const Run runs[] = {
        {1, "direct", 1, 0, 0, 1, "failure", NULL},
        {1, "bridge", 1, 0, 0, 1, "process-failed", NULL},
    };
    return records_of(&setting, runs, G_N_ELEMENTS(runs));
}

static void
check_widths(const char *text, unsigned limit)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (unsigned i = 0; lines[i]; i++) {
        g_test_message("%s", lines[i]);
        g_assert_cmpuint(np_text_width(lines[i]), <=, limit);
        g_assert_false(g_str_has_suffix(lines[i], " "));
    }
}

static void
check_report(json_t *records, const char *name, unsigned width)
{
    const struct {
        NpReportFormat format;
        const char *suffix;
    } formats[] = {{NP_REPORT_TABLE, "txt"}, {NP_REPORT_TSV, "tsv"}, {NP_REPORT_JSON, "json"}};
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_autofree char *text = np_report(records, formats[i].format, false);
        g_autofree char *file = g_strdup_printf("report-%s.%s", name, formats[i].suffix);
        golden_check(file, text);
        if (formats[i].format == NP_REPORT_TABLE)
            check_widths(text, width);
    }
    json_decref(records);
}

static void
test_golden_one_block(void)
{
    const Setting setting = {.shared_kernel = true, .short_window = true};
    check_report(records_of(&setting, one_block, G_N_ELEMENTS(one_block)), "one-block", 80);
}

static void
test_golden_six_blocks(void)
{
    check_report(six_blocks(), "six-blocks", 100);
}

static void
test_golden_two_machines(void)
{
    check_report(two_machines(), "two-machines", 100);
}

static void
test_golden_nothing_valid(void)
{
    check_report(nothing_valid(), "nothing-valid", 80);
}

static void
test_no_records(void)
{
    g_autoptr(json_t) none = json_array();
    g_autofree char *text = np_report(none, NP_REPORT_TABLE, true);
    g_assert_cmpstr(text, ==, "No runs are recorded yet.\n");
    g_autofree char *json = np_report(none, NP_REPORT_JSON, false);
    g_assert_nonnull(strstr(json, "\"rows\": []"));
}

static void
test_verdicts_of_rows(void)
{
    g_autoptr(json_t) records = six_blocks();
    g_autoptr(GPtrArray) rows = np_rows_new(records);
    g_assert_cmpuint(rows->len, ==, 6);
    const NpRow *clear = rows->pdata[1], *equal = rows->pdata[3], *noisy = rows->pdata[5];
    const NpRow *base = rows->pdata[0];
    g_assert_cmpstr(base->topology, ==, "direct");
    g_assert_true(base->baseline && base->gbps_ratio.n == 0);
    g_assert_cmpint(clear->gbps_verdict, ==, NP_VERDICT_WORSE);
    g_assert_cmpint(clear->cost_verdict, ==, NP_VERDICT_WORSE);
    g_assert_cmpuint(clear->invalid, ==, 1);
    g_assert_cmpuint(clear->runs, ==, 12);
    g_assert_cmpuint(clear->gbps.n, ==, 6); /* boots, not runs */
    g_assert_cmpint(equal->gbps_verdict, ==, NP_VERDICT_EQUIVALENT);
    g_assert_cmpint(equal->cost_verdict, ==, NP_VERDICT_BETTER);
    g_assert_cmpuint(np_row_flagged(equal, "retransmits"), ==, 2);
    g_assert_cmpint(noisy->gbps_verdict, ==, NP_VERDICT_UNDECIDED);
    g_assert_cmpuint(noisy->more_blocks, >, 0);
    g_assert_cmpuint(noisy->runs, ==, 11);
}

/* Drift from block to block widens the means' intervals but not the paired ratio's. */
static void
test_pairing_removes_drift(void)
{
    const Setting setting = {.shared_kernel = true};
    g_autoptr(json_t) records = json_array();
    for (unsigned block = 1; block <= 6; block++) {
        double speed = 10 + block;
        const Run runs[] = {
            {block, "direct", 1, speed, 1, 1, NULL, NULL},
            {block, "bridge", 1, speed * (0.9 + 0.001 * block), 1, 1, NULL, NULL},
        };
        for (size_t i = 0; i < 2; i++)
            json_array_append_new(records, record_of(&setting, &runs[i]));
    }
    g_autoptr(GPtrArray) rows = np_rows_new(records);
    const NpRow *base = rows->pdata[0], *other = rows->pdata[1];
    g_assert_true(other->gbps.lo < base->gbps.hi && base->gbps.lo < other->gbps.hi);
    g_assert_cmpint(other->gbps_verdict, ==, NP_VERDICT_WORSE);
}

static void
test_hostile_records(void)
{
    g_autoptr(json_t) records = json_loads(
        "[{}, 7, null, {\"valid\":true}, {\"valid\":true,\"key\":\"k\\u001b[2J\",\"topology\":"
        "\"\\u001b]0;x\\u0007\",\"totals\":{\"goodput_bps\":-1e308},\"flags\":[3],\"causes\":{}},"
        "{\"valid\":true,\"totals\":{\"goodput_bps\":1e308},\"machine\":{\"cost_cores_per_10g\":"
        "1e308},"
        "\"shared_kernel\":true,\"block\":9223372036854775807}]",
        0, NULL);
    g_assert_nonnull(records);
    for (int format = NP_REPORT_TABLE; format <= NP_REPORT_JSON; format++) {
        g_autofree char *text = np_report(records, (NpReportFormat) format, false);
        g_assert_null(strchr(text, '\033'));
        g_assert_true(g_utf8_validate(text, -1, NULL));
    }
}

static void
test_colour_changes_nothing_else(void)
{
    g_autoptr(json_t) records = six_blocks();
    g_autofree char *plain = np_report(records, NP_REPORT_TABLE, false);
    g_autofree char *coloured = np_report(records, NP_REPORT_TABLE, true);
    g_autoptr(GRegex) codes = g_regex_new("\033\\[[0-9]+m", 0, 0, NULL);
    g_autofree char *stripped = g_regex_replace_literal(codes, coloured, -1, 0, "", 0, NULL);
    g_assert_cmpstr(plain, !=, coloured);
    g_assert_cmpstr(plain, ==, stripped);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/report/golden-one-block", test_golden_one_block);
    g_test_add_func("/report/golden-six-blocks", test_golden_six_blocks);
    g_test_add_func("/report/golden-two-machines", test_golden_two_machines);
    g_test_add_func("/report/golden-nothing-valid", test_golden_nothing_valid);
    g_test_add_func("/report/no-records", test_no_records);
    g_test_add_func("/report/verdicts-of-rows", test_verdicts_of_rows);
    g_test_add_func("/report/pairing-removes-drift", test_pairing_removes_drift);
    g_test_add_func("/report/hostile-records", test_hostile_records);
    g_test_add_func("/report/colour-changes-nothing-else", test_colour_changes_nothing_else);
    return g_test_run();
}
