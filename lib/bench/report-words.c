/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Report words: what stands above and below the table. See report-table.h.
 */
#include <math.h>
#include <string.h>

#include "lib/bench/report-table.h"
#include "lib/bench/rules.h"
#include "lib/bench/table.h"

#define INVALID_SHOWN 20

static void G_GNUC_PRINTF(4, 5)
    line(GString *out, const char *first, const char *rest, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    np_text_wrap(out, text, NP_REPORT_TEXT_WIDTH, first, rest);
}

/* The first valid record, or else the first. */
static const json_t *
typical(const json_t *records)
{
    size_t index;
    json_t *record;
    json_array_foreach(records, index, record)
    {
        if (np_json_bool(record, "valid", false))
            return record;
    }
    return json_array_get(records, 0);
}

static double
setting_seconds(const json_t *record, const char *key)
{
    return np_json_real(json_object_get(record, "settings"), key, 0) / 1000;
}

/* The links when all topologies have one, the pace, the buffers: what is the same in every run. */
static void
head_what(const json_t *records, const json_t *record, GString *out)
{
    const char *direction = np_json_string(record, "direction", "");
    size_t index;
    json_t *other;
    json_array_foreach(records, index, other)
    {
        if (strcmp(np_json_string(other, "direction", ""), direction) != 0)
            direction = "both ways";
    }
    const json_t *settings = json_object_get(record, "settings");
    const json_t *first =
        json_array_get(json_object_get(json_object_get(record, "sender"), "processes"), 0);
    g_autoptr(GString) text = g_string_new(np_json_string(record, "protocol", "?"));
    g_string_append_printf(text, " %s", direction);
    int64_t streams = np_json_int(settings, "streams", 1),
            rate = np_json_int(settings, "rate_bps", 0);
    g_string_append_printf(text, ", %" G_GINT64_FORMAT " stream%s a process", streams,
                           streams == 1 ? "" : "s");
    const char *congestion =
        np_json_string(first, "congestion", np_json_string(settings, "congestion", NULL));
    if (congestion)
        g_string_append_printf(text, ", %s", congestion);
    if (rate > 0)
        g_string_append_printf(text, ", paced to %g Mbit/s a process", (double) rate / 1e6);
    if (np_json_bool(settings, "zerocopy", false))
        g_string_append(text, ", zero copy");
    if (np_json_bool(settings, "pin", false))
        g_string_append(text, ", processes pinned to CPUs");
    g_string_append_printf(text, "; window %g s after %g s omitted, tail %g s",
                           setting_seconds(record, "window_ms"), setting_seconds(record, "omit_ms"),
                           setting_seconds(record, "tail_ms"));
    line(out, "  what   ", "         ", "%s", text->str);
}

static void
head_how(const json_t *records, const json_t *record, GString *out)
{
    int64_t blocks = 0, repeats = 0;
    const char *from = NULL, *to = NULL;
    size_t index, valid = 0;
    json_t *its;
    json_array_foreach(records, index, its)
    {
        const char *started = np_json_string(its, "started", NULL);
        blocks = MAX(blocks, np_json_int(its, "block", 0));
        repeats = MAX(repeats, np_json_int(its, "repeat", 0));
        valid += np_json_bool(its, "valid", false);
        from = started && (!from || strcmp(started, from) < 0) ? started : from;
        to = started && (!to || strcmp(started, to) > 0) ? started : to;
    }
    line(out, "  how    ", "         ",
         "%" G_GINT64_FORMAT " block%s of %" G_GINT64_FORMAT
         " run%s each, in shuffled order (seed %" G_GINT64_FORMAT
         "); %zu valid run%s from %s to %s",
         blocks, blocks == 1 ? "" : "s", repeats, repeats == 1 ? "" : "s",
         np_json_int(record, "seed", 0), valid, valid == 1 ? "" : "s", from ? from : "?",
         to ? to : "?");
}

static void
head_where(const json_t *record, const char *part, const char *label, GString *out)
{
    const json_t *end = json_object_get(record, part);
    g_autoptr(GString) text = g_string_new(np_json_string(end, "endpoint", "?"));
    const char *model = np_json_string(end, "cpu_model", NULL);
    const char *kernel = np_json_string(end, "kernel", NULL);
    const char *distribution = np_json_string(end, "distribution", NULL);
    int64_t cpus = np_json_int(end, "cpus", 0);
    if (model)
        g_string_append_printf(text, ", %s", model);
    if (cpus > 0)
        g_string_append_printf(text, ", %" G_GINT64_FORMAT " CPU%s", cpus, cpus == 1 ? "" : "s");
    if (kernel)
        g_string_append_printf(text, ", Linux %s", kernel);
    if (distribution)
        g_string_append_printf(text, ", %s", distribution);
    line(out, label, "         ", "%s", text->str);
}

void
np_report_head(const json_t *records, bool colour, GString *out)
{
    const json_t *record = typical(records), *scenario = json_object_get(record, "scenario");
    const json_t *sender = json_object_get(record, "sender");
    g_autofree char *title = np_text_clean(np_json_string(scenario, "title", "?"));
    bool shared = np_json_bool(record, "shared_kernel", false);
    np_text_style(out, title, NP_STYLE_STRONG, colour);
    g_string_append_c(out, '\n');
    head_what(records, record, out);
    head_how(records, record, out);
    head_where(record, "sender", shared ? "  where  " : "  sender ", out);
    if (!shared)
        head_where(record, "receiver", "  recvr  ", out);
    const char *iperf = np_json_string(sender, "iperf", "?");
    line(out, "  with   ", "         ", "nicpass %s, agent %s, iperf %s",
         np_json_string(record, "nicpass", "?"), np_json_string(sender, "agent", "?"),
         g_str_has_prefix(iperf, "iperf ") ? iperf + strlen("iperf ") : iperf);
    if (shared)
        line(out, "", "",
             "Both ends and the load generator share this one kernel: busy cores include both "
             "ends.");
}

static unsigned
count_valid(const GPtrArray *rows)
{
    unsigned count = 0;
    for (unsigned i = 0; i < rows->len; i++)
        count += ((const NpRow *) rows->pdata[i])->runs;
    return count;
}

static unsigned
count_flagged(const GPtrArray *rows, const char *rule)
{
    unsigned count = 0;
    for (unsigned i = 0; i < rows->len; i++)
        count += np_row_flagged(rows->pdata[i], rule);
    return count;
}

GPtrArray *
np_report_letters(const GPtrArray *rows)
{
    GPtrArray *letters = g_ptr_array_new();
    size_t count;
    const NpRule *rules = np_rules(&count);
    unsigned valid = count_valid(rows);
    for (size_t i = 0; i < count; i++) {
        unsigned flagged = count_flagged(rows, rules[i].name);
        if (flagged > 0 && flagged < valid)
            g_ptr_array_add(letters, (gpointer) (uintptr_t) rules[i].name);
    }
    return letters;
}

/* What the columns mean; only what stands in the table. */
static void
remark_columns(const json_t *records, const GPtrArray *rows, GString *out)
{
    bool shared = np_json_bool(typical(records), "shared_kernel", false);
    line(out, "", "  ",
         "send, recv: cores that the sender's and the receiver's iperf processes used; busy: all "
         "cores in use %s; cores/10G: busy cores without the idle baseline for each 10 Gbit/s.",
         shared ? "on this machine" : "on both ends together");
    double least = INFINITY, most = -INFINITY;
    bool marked = false, verdicts = false, one_boot = false, undecided = false;
    for (unsigned i = 0; i < rows->len; i++) {
        const NpRow *row = rows->pdata[i];
        least = isfinite(row->idle_cores) ? MIN(least, row->idle_cores) : least;
        most = isfinite(row->idle_cores) ? MAX(most, row->idle_cores) : most;
        marked |= row->gbps.n > 1;
        one_boot |= row->within_boot && row->gbps.n > 1;
        verdicts |= row->gbps_verdict != NP_VERDICT_NONE || row->cost_verdict != NP_VERDICT_NONE;
        undecided |=
            row->gbps_verdict == NP_VERDICT_UNDECIDED || row->cost_verdict == NP_VERDICT_UNDECIDED;
    }
    if (most - least >= 0.01)
        line(out, "", "  ", "Idle baseline: %.2f to %.2f busy cores.", least, most);
    else if (most >= least)
        line(out, "", "  ", "Idle baseline: %.2f busy cores.", most);
    if (marked)
        line(out, "", "  ", "±: half the 95 %% interval of the mean%s; '!': wider than wanted.",
             one_boot ? ", within one boot only: another boot may lie outside" : " over boots");
    if (verdicts)
        line(out, "", "  ",
             "✓ better, ✗ worse, = equal within %g %% of throughput or %g %% of cost%s.",
             100 * NP_DELTA_THROUGHPUT, 100 * NP_DELTA_COST,
             undecided ? ", ?N undecided: about N more blocks are needed" : "");
}

/* Flags in words: those of every run first, then those with letters. */
static void
remark_flags(const GPtrArray *rows, GString *out)
{
    size_t count;
    const NpRule *rules = np_rules(&count);
    unsigned valid = count_valid(rows), letter = 0;
    for (int with_letter = 0; with_letter <= 1; with_letter++) {
        for (size_t i = 0; i < count; i++) {
            unsigned flagged = count_flagged(rows, rules[i].name);
            if (flagged == 0 || (flagged < valid) != with_letter)
                continue;
            g_autofree char *first = with_letter ? g_strdup_printf("%c: ", (char) ('a' + letter++))
                                                 : g_strdup("Every run: ");
            g_autofree char *share =
                with_letter ? g_strdup_printf(" (%u of %u runs)", flagged, valid) : g_strdup("");
            line(out, first, "  ", "%s%s.", rules[i].meaning, share);
        }
    }
}

/* Whether a valid record with the key of an invalid one is there. */
static bool
made_good(const json_t *records, const char *key)
{
    size_t index;
    json_t *record;
    json_array_foreach(records, index, record)
    {
        if (np_json_bool(record, "valid", false) &&
            strcmp(np_json_string(record, "key", ""), key) == 0)
            return true;
    }
    return false;
}

/* Lists invalid runs; returns how many of them still lack a valid one. */
static unsigned
remark_invalid(const json_t *records, GString *out)
{
    unsigned listed = 0, lacking = 0;
    size_t index, k;
    json_t *record, *cause;
    json_array_foreach(records, index, record)
    {
        const char *key = np_json_string(record, "key", "?");
        if (np_json_bool(record, "valid", false))
            continue;
        bool good = made_good(records, key);
        lacking += !good;
        if (listed == 0)
            g_string_append(out, "\nInvalid runs, not in the table (xN in its notes: so many):\n");
        if (listed++ >= INVALID_SHOWN)
            continue;
        line(out, "  ", "    ", "%s%s", key, good ? " (repeated since)" : "");
        json_array_foreach(json_object_get(record, "causes"), k, cause)
        {
            line(out, "    ", "      ", "%s: %s", np_json_string(cause, "rule", "?"),
                 np_json_string(cause, "text", ""));
        }
    }
    if (listed > INVALID_SHOWN)
        g_string_append_printf(out, "  and %u more: see --format tsv\n", listed - INVALID_SHOWN);
    return lacking;
}

static void
remark_next(const json_t *records, const GPtrArray *rows, unsigned lacking, GString *out)
{
    g_autoptr(GString) next = g_string_new(NULL);
    unsigned blocks = 0, more = 0, flagged = count_flagged(rows, NP_RULE_SHORT_WINDOW);
    for (unsigned i = 0; i < rows->len; i++) {
        const NpRow *row = rows->pdata[i];
        blocks = MAX(blocks, row->blocks);
        more = MAX(more, row->more_blocks);
    }
    if (lacking > 0)
        line(next, "  - ", "    ",
             "%u run%s invalid: remove the cause and run the same command again; only what is "
             "missing is measured.",
             lacking, lacking == 1 ? " is" : "s are");
    if (blocks == 1)
        line(next, "  - ", "    ",
             "One block cannot tell a difference from chance: 6 or more can (--set blocks=6).");
    if (more >= NP_STATS_MORE_MAX)
        line(next, "  - ", "    ",
             "The undecided rows lie so near the limit that more blocks hardly help.");
    else if (more > 0)
        line(
            next, "  - ", "    ",
            "About %u more block%s would decide the undecided rows (--set blocks=%u, same folder).",
            more, more == 1 ? "" : "s", blocks + more);
    if (flagged > 0)
        line(next, "  - ", "    ",
             "For CPU figures that hold, take a longer window (--set window=30, another folder).");
    if (next->len)
        g_string_append_printf(out, "\nNext:\n%s", next->str);
}

void
np_report_remarks(const json_t *records, const GPtrArray *rows, bool colour, GString *out)
{
    if (count_valid(rows) == 0)
        np_text_style(out, "No run is valid: there is nothing to compare.\n", NP_STYLE_BAD, colour);
    else
        remark_columns(records, rows, out);
    remark_flags(rows, out);
    unsigned lacking = remark_invalid(records, out);
    remark_next(records, rows, lacking, out);
}
