/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Report table: the table itself and the strips of dots. See report-table.h; the words around it
 * are in report-words.c.
 */
#include "lib/bench/report-table.h"

#include <math.h>
#include <string.h>

#include "lib/bench/strip.h"
#include "lib/bench/table.h"

#define STRIP_WIDTH 50

/* The wanted half widths of the intervals: wider ones get a '!'. */
#define WANTED_GBPS 0.025
#define WANTED_COST 0.05

typedef struct {
    NpTable *table;
    unsigned processes, direction, topology, link, mtu, gbps, gbps_ci, lost, sender, receiver, busy,
        cost, cost_ci, ratio, cost_ratio, flags;
    bool vary_direction, vary_topology, vary_link, vary_mtu;
    int gbps_digits, cost_digits;
    GPtrArray *letters;
} Layout;

/* Digits behind the point so that the largest value shows three or four in all. */
static int
digits_for(double largest)
{
    return largest >= 100 ? 1 : largest >= 1 ? 2 : largest >= 0.1 ? 3 : 4;
}

static void
find_what_varies(Layout *layout, const GPtrArray *rows)
{
    double most_gbps = 0, most_cost = 0;
    const NpRow *first = rows->pdata[0];
    for (unsigned i = 0; i < rows->len; i++) {
        const NpRow *row = rows->pdata[i];
        layout->vary_direction |= strcmp(row->direction, first->direction) != 0;
        layout->vary_topology |= strcmp(row->topology, first->topology) != 0;
        layout->vary_link |= strcmp(row->link, row->topology) != 0;
        layout->vary_mtu |= row->mtu != first->mtu;
        most_gbps = MAX(most_gbps, row->gbps.mean);
        most_cost = MAX(most_cost, row->cost.mean);
    }
    layout->gbps_digits = digits_for(most_gbps);
    layout->cost_digits = digits_for(most_cost);
}

static const char *
baseline_name(const GPtrArray *rows)
{
    for (unsigned i = 0; i < rows->len; i++)
        if (((const NpRow *) rows->pdata[i])->baseline)
            return ((const NpRow *) rows->pdata[i])->topology;
    return NULL;
}

static void
add_columns(Layout *layout, const GPtrArray *rows)
{
    NpTable *table = layout->table = np_table_new();
    const char *baseline = baseline_name(rows);
    g_autofree char *versus = baseline && strlen(baseline) <= 8 ? g_strconcat("vs ", baseline, NULL)
                                                                : g_strdup("vs base");
    layout->processes = np_table_column(table, "proc", true, false);
    layout->direction = np_table_column(table, "direction", false, false);
    layout->topology = np_table_column(table, "topology", false, false);
    layout->link = np_table_column(table, "link", false, false);
    layout->mtu = np_table_column(table, "mtu", true, false);
    layout->gbps = np_table_column(table, "Gbit/s", true, false);
    layout->gbps_ci = np_table_column(table, "±", false, true);
    layout->lost = np_table_column(
        table, strcmp(((const NpRow *) rows->pdata[0])->protocol, "udp") == 0 ? "lost %" : "retr/M",
        true, false);
    layout->sender = np_table_column(table, "send", true, false);
    layout->receiver = np_table_column(table, "recv", true, true);
    layout->busy = np_table_column(table, "busy", true, true);
    layout->cost = np_table_column(table, "cores/10G", true, false);
    layout->cost_ci = np_table_column(table, "±", false, true);
    layout->ratio = np_table_column(table, versus, true, false);
    layout->cost_ratio = np_table_column(table, "cost", true, true);
    layout->flags = np_table_column(table, "note", false, true);
}

static void G_GNUC_PRINTF(3, 4) put(const Layout *layout, unsigned column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    np_table_cell(layout->table, column, text, NP_STYLE_PLAIN);
}

/* A mean and its half width, or '-' when nothing is known. */
static void
put_estimate(const Layout *layout, unsigned column, unsigned ci, const NpEstimate *estimate,
             int digits, double wanted)
{
    if (estimate->n == 0 || !isfinite(estimate->mean)) {
        put(layout, column, "-");
        return;
    }
    put(layout, column, "%.*f", digits, estimate->mean);
    double half = estimate->hi - estimate->mean;
    if (estimate->n < 2)
        return;
    double least = pow(10, -digits);
    put(layout, ci, "±%s%.*f%s", half < least / 2 ? "<" : "", digits,
        half < least / 2 ? least : half, half > wanted * estimate->mean ? "!" : "");
}

static void
put_cores(const Layout *layout, unsigned column, double cores)
{
    if (isfinite(cores))
        put(layout, column, "%.2f", cores);
}

static void
put_verdict(const Layout *layout, unsigned column, const char *text, NpVerdict verdict,
            unsigned more_blocks)
{
    static const struct {
        const char *mark;
        NpStyle style;
    } looks[] = {
        [NP_VERDICT_NONE] = {"", NP_STYLE_PLAIN},
        [NP_VERDICT_BETTER] = {" ✓", NP_STYLE_GOOD},
        [NP_VERDICT_WORSE] = {" ✗", NP_STYLE_BAD},
        [NP_VERDICT_EQUIVALENT] = {" =", NP_STYLE_PLAIN},
        [NP_VERDICT_UNDECIDED] = {" ?", NP_STYLE_FAINT},
    };
    g_autofree char *more = verdict != NP_VERDICT_UNDECIDED ? g_strdup("")
                            : more_blocks >= NP_STATS_MORE_MAX
                                ? g_strdup_printf("%d+", NP_STATS_MORE_MAX)
                                : g_strdup_printf("%u", more_blocks);
    g_autofree char *cell = g_strconcat(text, looks[verdict].mark, more, NULL);
    np_table_cell(layout->table, column, cell, looks[verdict].style);
}

static void
put_ratios(const Layout *layout, const NpRow *row)
{
    if (row->baseline && layout->vary_topology)
        np_table_cell(layout->table, layout->ratio, "baseline", NP_STYLE_FAINT);
    if (row->gbps_ratio.n > 0) {
        g_autofree char *text = g_strdup_printf("%+.1f %%", 100 * (row->gbps_ratio.ratio - 1));
        put_verdict(layout, layout->ratio, text, row->gbps_verdict,
                    np_stats_more(&row->gbps_ratio, NP_DELTA_THROUGHPUT));
    }
    if (row->cost_ratio.n > 0) {
        double ratio = row->cost_ratio.ratio;
        g_autofree char *text =
            ratio < 1 ? g_strdup_printf("÷%.2f", 1 / ratio) : g_strdup_printf("×%.2f", ratio);
        put_verdict(layout, layout->cost_ratio, text, row->cost_verdict,
                    np_stats_more(&row->cost_ratio, NP_DELTA_COST));
    }
}

static void
put_flags(const Layout *layout, const NpRow *row)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (unsigned i = 0; i < layout->letters->len; i++)
        if (np_row_flagged(row, layout->letters->pdata[i]) > 0)
            g_string_append_c(text, (char) ('a' + i));
    if (row->invalid > 0)
        g_string_append_printf(text, "%sx%u", text->len ? " " : "", row->invalid);
    if (text->len)
        np_table_cell(layout->table, layout->flags, text->str, NP_STYLE_PLAIN);
}

static void
add_row(const Layout *layout, const NpRow *row, bool fresh)
{
    np_table_row(layout->table);
    if (fresh) {
        put(layout, layout->processes, "%" G_GINT64_FORMAT, row->processes);
        if (layout->vary_direction)
            put(layout, layout->direction, "%s", row->direction);
    }
    put(layout, layout->topology, "%s", row->topology);
    if (layout->vary_link)
        put(layout, layout->link, "%s", row->link);
    if (layout->vary_mtu && row->mtu > 0)
        put(layout, layout->mtu, "%" G_GINT64_FORMAT, row->mtu);
    put_estimate(layout, layout->gbps, layout->gbps_ci, &row->gbps, layout->gbps_digits,
                 WANTED_GBPS);
    if (strcmp(row->protocol, "udp") == 0) {
        if (isfinite(row->lost_share))
            put(layout, layout->lost, "%.3f", 100 * row->lost_share);
    } else if (isfinite(row->retransmits_per_million)) {
        put(layout, layout->lost, "%.*f", row->retransmits_per_million < 9.95 ? 1 : 0,
            row->retransmits_per_million);
    }
    put_cores(layout, layout->sender, row->sender_cores);
    put_cores(layout, layout->receiver, row->receiver_cores);
    put_cores(layout, layout->busy, row->busy_cores);
    if (row->runs > 0)
        put_estimate(layout, layout->cost, layout->cost_ci, &row->cost, layout->cost_digits,
                     WANTED_COST);
    put_ratios(layout, row);
    put_flags(layout, row);
}

static void
add_table(const GPtrArray *rows, bool colour, GString *out)
{
    Layout layout = {.letters = np_report_letters(rows)};
    find_what_varies(&layout, rows);
    add_columns(&layout, rows);
    for (unsigned i = 0; i < rows->len; i++) {
        const NpRow *row = rows->pdata[i];
        bool fresh = i == 0 || row->group != ((const NpRow *) rows->pdata[i - 1])->group;
        if (fresh && i > 0)
            np_table_row(layout.table);
        add_row(&layout, row, fresh);
    }
    g_autofree char *text = np_table_text(layout.table, colour);
    g_string_append_printf(out, "%s\n", text);
    np_table_free(layout.table);
    g_ptr_array_unref(layout.letters);
}

static GArray *
dots_of(const NpRow *row)
{
    GArray *dots = g_array_new(FALSE, FALSE, sizeof(double));
    for (unsigned i = 0; i < row->records->len; i++) {
        double value = np_record_gbps(row->records->pdata[i]);
        if (isfinite(value))
            g_array_append_val(dots, value);
    }
    return dots;
}

/* The strips of the rows from first to before end, on one scale. */
static void
add_strips(const GPtrArray *rows, unsigned first, unsigned end, GString *out)
{
    double min = INFINITY, max = -INFINITY;
    unsigned name_width = 0, most_runs = 0;
    const NpRow *row = rows->pdata[first];
    for (unsigned i = first; i < end; i++) {
        const NpRow *its = rows->pdata[i];
        g_autoptr(GArray) dots = dots_of(its);
        for (unsigned k = 0; k < dots->len; k++) {
            min = MIN(min, g_array_index(dots, double, k));
            max = MAX(max, g_array_index(dots, double, k));
        }
        name_width = MAX(name_width, (unsigned) strlen(its->topology));
        most_runs = MAX(most_runs, dots->len);
    }
    if (!(max > min) || most_runs < 2)
        return; /* one dot a row would only draw the table again */
    int digits = digits_for(max);
    g_string_append_printf(
        out, "Every run, %" G_GINT64_FORMAT " process%s, %s: %.*f to %.*f Gbit/s\n", row->processes,
        row->processes == 1 ? "" : "es", row->direction, digits, min, digits, max);
    for (unsigned i = first; i < end; i++) {
        const NpRow *its = rows->pdata[i];
        g_autoptr(GArray) dots = dots_of(its);
        g_autofree char *name = np_text_clean(its->topology);
        g_autofree char *strip = np_strip(dots, &its->gbps, min, max, STRIP_WIDTH);
        g_string_append_printf(out, "  %-*s |%s|\n", (int) name_width, name, strip);
    }
    g_string_append_c(out, '\n');
}

static void
add_all_strips(const GPtrArray *rows, GString *out)
{
    for (unsigned first = 0, end; first < rows->len; first = end) {
        const NpRow *row = rows->pdata[first];
        for (end = first + 1; end < rows->len; end++)
            if (((const NpRow *) rows->pdata[end])->group != row->group)
                break;
        add_strips(rows, first, end, out);
    }
}

char *
np_report_table(const json_t *records, bool colour)
{
    GString *out = g_string_new(NULL);
    g_autoptr(GPtrArray) rows = np_rows_new(records);
    if (rows->len == 0) {
        g_string_append(out, "No runs are recorded yet.\n");
        return g_string_free(out, FALSE);
    }
    np_report_head(records, colour, out);
    g_string_append_c(out, '\n');
    add_table(rows, colour, out);
    add_all_strips(rows, out);
    np_report_remarks(records, rows, colour, out);
    return g_string_free(out, FALSE);
}
