/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Report: the formats for programs. See report.h; the table for people is in report-table.c.
 */
#include "lib/bench/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bench/report-table.h"
#include "lib/bench/rows.h"
#include "lib/bench/table.h"

/* The names of a list of rules, comma between. */
static char *
rule_names(const json_t *record, const char *list)
{
    GString *out = g_string_new(NULL);
    size_t index;
    json_t *item;
    json_array_foreach(json_object_get(record, list), index, item)
    {
        g_string_append_printf(out, "%s%s", out->len ? "," : "", np_json_string(item, "rule", "?"));
    }
    return g_string_free(out, FALSE);
}

/* Adds a cell of a line; what is not known stays empty. */
static void
tsv_text(GString *out, const char *text)
{
    g_autofree char *clean = np_text_clean(text);
    g_string_append_printf(out, "%s%s", out->len && out->str[out->len - 1] != '\n' ? "\t" : "",
                           clean);
}

static void
tsv_number(GString *out, double value, int digits)
{
    g_autofree char *text = isfinite(value) ? g_strdup_printf("%.*f", digits, value) : NULL;
    g_string_append_printf(out, "\t%s", text ? text : "");
}

static double
total(const json_t *record, const char *key)
{
    return np_json_real(json_object_get(record, "totals"), key, NAN);
}

static void
tsv_record(GString *out, const json_t *record)
{
    static const char *const words[] = {"topology", "link", "direction", "protocol", "started"};
    static const char *const numbers[] = {"block", "processes", "repeat"};
    g_autofree char *causes = rule_names(record, "causes"), *flags = rule_names(record, "flags");
    tsv_text(out, np_json_string(record, "key", "?"));
    g_string_append_printf(out, "\t%d", np_json_bool(record, "valid", false));
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        tsv_text(out, np_json_string(record, words[i], ""));
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        tsv_number(out, np_json_real(record, numbers[i], NAN), 0);
    tsv_number(out, total(record, "goodput_bps"), 0);
    tsv_number(out, total(record, "retransmits"), 0);
    tsv_number(out, np_record_retransmits(record), 1);
    tsv_number(out, np_record_lost(record), 6);
    tsv_number(out, np_record_sender_cores(record), 4);
    tsv_number(out, np_record_receiver_cores(record), 4);
    tsv_number(out, np_record_busy(record), 4);
    tsv_number(out, np_record_idle(record), 4);
    tsv_number(out, np_record_cost(record), 4);
    tsv_number(out, total(record, "fairness"), 4);
    tsv_number(out, total(record, "skew_ns") / 1e6, 3);
    g_string_append_printf(out, "\t%s\t%s\n", causes, flags);
}

static char *
report_tsv(const json_t *records)
{
    GString *out = g_string_new(
        "key\tvalid\ttopology\tlink\tdirection\tprotocol\tstarted\tblock\tprocesses\trepeat\t"
        "goodput_bps\tretransmits\tretransmits_per_million\tlost_share\tsender_worker_cores\t"
        "receiver_worker_cores\tbusy_cores\tidle_cores\tcost_cores_per_10g\tfairness\tskew_ms\t"
        "causes\tflags\n");
    size_t index;
    json_t *record;
    json_array_foreach(records, index, record)
    {
        tsv_record(out, record);
    }
    return g_string_free(out, FALSE);
}

static json_t *
number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *
estimate_to_json(const NpEstimate *estimate)
{
    if (estimate->n == 0)
        return json_null();
    json_t *object = json_object();
    json_object_set_new(object, "n", json_integer(estimate->n));
    json_object_set_new(object, "mean", number_or_null(estimate->mean));
    if (estimate->n > 1) {
        json_object_set_new(object, "lo", number_or_null(estimate->lo));
        json_object_set_new(object, "hi", number_or_null(estimate->hi));
        json_object_set_new(object, "sd", number_or_null(estimate->sd));
    }
    return object;
}

static json_t *
ratio_to_json(const NpRatio *ratio, NpVerdict verdict)
{
    if (ratio->n == 0)
        return json_null();
    json_t *object = json_object();
    json_object_set_new(object, "n", json_integer(ratio->n));
    json_object_set_new(object, "ratio", number_or_null(ratio->ratio));
    if (ratio->n > 1) {
        json_object_set_new(object, "lo", number_or_null(ratio->lo));
        json_object_set_new(object, "hi", number_or_null(ratio->hi));
        json_object_set_new(object, "p_holm", number_or_null(ratio->p));
    }
    json_object_set_new(object, "verdict", json_string(np_verdict_name(verdict)));
    return object;
}

static json_t *
row_to_json(const NpRow *row)
{
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:b, s:i, s:i, s:i, s:b}", "topology", row->topology, "link",
        row->link, "direction", row->direction, "protocol", row->protocol, "processes",
        (json_int_t) row->processes, "baseline", row->baseline, "runs", (int) row->runs, "invalid",
        (int) row->invalid, "blocks", (int) row->blocks, "within_boot", row->within_boot);
    const struct {
        const char *key;
        double value;
    } means[] = {
        {"retransmits_per_million", row->retransmits_per_million},
        {"lost_share", row->lost_share},
        {"sender_worker_cores", row->sender_cores},
        {"receiver_worker_cores", row->receiver_cores},
        {"busy_cores", row->busy_cores},
        {"idle_cores", row->idle_cores},
    };
    json_object_set_new(object, "goodput_gbps", estimate_to_json(&row->gbps));
    json_object_set_new(object, "cost_cores_per_10g", estimate_to_json(&row->cost));
    for (size_t i = 0; i < G_N_ELEMENTS(means); i++)
        json_object_set_new(object, means[i].key, number_or_null(means[i].value));
    json_object_set_new(object, "goodput_vs_baseline",
                        ratio_to_json(&row->gbps_ratio, row->gbps_verdict));
    json_object_set_new(object, "cost_vs_baseline",
                        ratio_to_json(&row->cost_ratio, row->cost_verdict));
    json_object_set_new(object, "more_blocks", json_integer(row->more_blocks));
    return object;
}

static char *
report_json(const json_t *records)
{
    static const char *const copied[] = {"key", "valid", "started", "causes", "flags"};
    g_autoptr(GPtrArray) rows = np_rows_new(records);
    g_autoptr(json_t) report = json_object();
    json_t *rows_json = json_array(), *runs = json_array();
    json_object_set_new(report, "schema", json_integer(NP_REPORT_SCHEMA));
    json_object_set(report, "scenario", json_object_get(json_array_get(records, 0), "scenario"));
    for (unsigned i = 0; i < rows->len; i++)
        json_array_append_new(rows_json, row_to_json(rows->pdata[i]));
    json_object_set_new(report, "rows", rows_json);
    size_t index;
    json_t *record;
    json_array_foreach(records, index, record)
    {
        json_t *run = json_object();
        for (size_t i = 0; i < G_N_ELEMENTS(copied); i++)
            json_object_set(run, copied[i], json_object_get(record, copied[i]));
        json_array_append_new(runs, run);
    }
    json_object_set_new(report, "runs", runs);
    char *dumped =
        json_dumps(report, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
    char *text = g_strconcat(dumped, "\n", NULL);
    free(dumped);
    return text;
}

char *
np_report(const json_t *records, NpReportFormat format, bool colour)
{
    switch (format) {
    case NP_REPORT_TABLE:
        return np_report_table(records, colour);
    case NP_REPORT_TSV:
        return report_tsv(records);
    case NP_REPORT_JSON:
        return report_json(records);
    }
    g_return_val_if_reached(g_strdup(""));
}
