/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Rows: see rows.h.
 */
#include "lib/bench/rows.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef double (*Figure)(const json_t *record);

static double
figure_at(const json_t *record, const char *part, const char *key)
{
    return np_json_real(json_object_get(record, part), key, NAN);
}

double
np_record_gbps(const json_t *record)
{
    return figure_at(record, "totals", "goodput_bps") / 1e9;
}

double
np_record_retransmits(const json_t *record)
{
    return figure_at(record, "totals", "retransmits_per_million");
}

double
np_record_lost(const json_t *record)
{
    return figure_at(record, "totals", "lost") / figure_at(record, "totals", "packets");
}

double
np_record_sender_cores(const json_t *record)
{
    return figure_at(record, "sender", "worker_cores");
}

double
np_record_receiver_cores(const json_t *record)
{
    return figure_at(record, "receiver", "worker_cores");
}

/* A figure of one kernel, or of the sender's and the receiver's together. */
static double
machine_figure(const json_t *record, const char *key, const char *part)
{
    if (np_json_bool(record, "shared_kernel", false))
        return figure_at(record, "machine", strcmp(part, "idle") == 0 ? "idle_cores" : key);
    const json_t *sender = json_object_get(record, "sender");
    const json_t *receiver = json_object_get(record, "receiver");
    if (*part == '\0')
        return np_json_real(sender, key, NAN) + np_json_real(receiver, key, NAN);
    return figure_at(sender, part, key) + figure_at(receiver, part, key);
}

double
np_record_busy(const json_t *record)
{
    return machine_figure(record, "busy_cores", "cpu");
}

double
np_record_idle(const json_t *record)
{
    return machine_figure(record, "busy_cores", "idle");
}

double
np_record_cost(const json_t *record)
{
    return machine_figure(record, "cost_cores_per_10g", "");
}

/* A block's mean of a figure. */
typedef struct {
    int64_t block;
    double sum;
    unsigned n;
} BlockMean;

static BlockMean *
find_block(GArray *means, int64_t block)
{
    for (unsigned i = 0; i < means->len; i++)
        if (g_array_index(means, BlockMean, i).block == block)
            return &g_array_index(means, BlockMean, i);
    return NULL;
}

/* The blocks' means (BlockMean) of a figure, in file order. */
static GArray *
block_means(const NpRow *row, Figure figure)
{
    GArray *means = g_array_new(FALSE, FALSE, sizeof(BlockMean));
    for (unsigned i = 0; i < row->records->len; i++) {
        const json_t *record = row->records->pdata[i];
        double value = figure(record);
        if (!isfinite(value))
            continue;
        const BlockMean fresh = {np_json_int(record, "block", 0), 0, 0};
        if (!find_block(means, fresh.block))
            g_array_append_val(means, fresh);
        BlockMean *mean = find_block(means, fresh.block);
        mean->sum += value;
        mean->n++;
    }
    return means;
}

/* The figure's values by block, or by run when there is only one block. */
static GArray *
values_of(const NpRow *row, Figure figure, bool by_block)
{
    GArray *values = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) means = block_means(row, figure);
    for (unsigned i = 0; by_block && i < means->len; i++) {
        const BlockMean *mean = &g_array_index(means, BlockMean, i);
        double value = mean->sum / mean->n;
        g_array_append_val(values, value);
    }
    for (unsigned i = 0; !by_block && i < row->records->len; i++) {
        double value = figure(row->records->pdata[i]);
        if (isfinite(value))
            g_array_append_val(values, value);
    }
    return values;
}

static NpEstimate
estimate_of(const NpRow *row, Figure figure)
{
    g_autoptr(GArray) values = values_of(row, figure, row->blocks > 1);
    return np_stats_estimate((const double *) values->data, values->len);
}

static double
mean_of(const NpRow *row, Figure figure)
{
    NpEstimate estimate = estimate_of(row, figure);
    return estimate.n > 0 ? estimate.mean : NAN;
}

/* Paired where both have the block; unpaired when they have none in common. */
static NpRatio
ratio_of(const NpRow *row, const NpRow *base, Figure figure)
{
    g_autoptr(GArray) means = block_means(row, figure), base_means = block_means(base, figure);
    g_autoptr(GArray) a = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) b = g_array_new(FALSE, FALSE, sizeof(double));
    for (unsigned i = 0; i < means->len; i++) {
        const BlockMean *mean = &g_array_index(means, BlockMean, i);
        const BlockMean *other = find_block(base_means, mean->block);
        double value = mean->sum / mean->n, base_value = other ? other->sum / other->n : 0;
        if (!other)
            continue;
        g_array_append_val(a, value);
        g_array_append_val(b, base_value);
    }
    if (a->len > 0)
        return np_stats_ratio_paired((const double *) a->data, (const double *) b->data, a->len);
    g_autoptr(GArray) all = values_of(row, figure, true);
    g_autoptr(GArray) base_all = values_of(base, figure, true);
    return np_stats_ratio_welch((const double *) all->data, all->len,
                                (const double *) base_all->data, base_all->len);
}

static void
row_free(gpointer data)
{
    NpRow *row = data;
    g_ptr_array_unref(row->records);
    g_free(row);
}

static bool
same_step(const NpRow *a, const NpRow *b)
{
    return a->processes == b->processes && strcmp(a->direction, b->direction) == 0 &&
           strcmp(a->protocol, b->protocol) == 0;
}

/* The row that the record belongs to; made when it is the first. */
static NpRow *
row_for(GPtrArray *rows, const json_t *record)
{
    NpRow wanted = {
        .topology = np_json_string(record, "topology", "?"),
        .link = np_json_string(record, "link", "?"),
        .direction = np_json_string(record, "direction", "?"),
        .protocol = np_json_string(record, "protocol", "?"),
        .topology_index = np_json_int(record, "topology_index", 0),
        .mtu = np_json_int(record, "mtu", 0),
        .processes = np_json_int(record, "processes", 0),
        .baseline = np_json_bool(record, "baseline", false),
    };
    for (unsigned i = 0; i < rows->len; i++) {
        NpRow *row = rows->pdata[i];
        if (same_step(row, &wanted) && strcmp(row->topology, wanted.topology) == 0)
            return row;
    }
    NpRow *row = g_new(NpRow, 1);
    *row = wanted;
    row->records = g_ptr_array_new();
    g_ptr_array_add(rows, row);
    return row;
}

static int
compare_rows(gconstpointer a, gconstpointer b)
{
    const NpRow *first = *(const NpRow *const *) a, *second = *(const NpRow *const *) b;
    int order = strcmp(first->protocol, second->protocol);
    if (order == 0)
        order = strcmp(first->direction, second->direction);
    if (order == 0)
        order = (first->processes > second->processes) - (first->processes < second->processes);
    if (order == 0)
        order = (first->topology_index > second->topology_index) -
                (first->topology_index < second->topology_index);
    return order ? order : strcmp(first->topology, second->topology);
}

/* Adds a valid record, in place of an earlier one with its key. */
static void
add_record(GPtrArray *records, const json_t *record)
{
    const char *key = np_json_string(record, "key", "");
    for (unsigned i = 0; i < records->len; i++) {
        if (strcmp(np_json_string(records->pdata[i], "key", ""), key) == 0) {
            records->pdata[i] = (gpointer) (uintptr_t) record;
            return;
        }
    }
    g_ptr_array_add(records, (gpointer) (uintptr_t) record);
}

static void
fill_row(NpRow *row)
{
    row->runs = row->records->len;
    g_autoptr(GArray) means = block_means(row, np_record_gbps);
    row->blocks = means->len;
    row->within_boot = row->blocks == 1;
    row->gbps = estimate_of(row, np_record_gbps);
    row->cost = estimate_of(row, np_record_cost);
    row->retransmits_per_million = mean_of(row, np_record_retransmits);
    row->lost_share = mean_of(row, np_record_lost);
    row->sender_cores = mean_of(row, np_record_sender_cores);
    row->receiver_cores = mean_of(row, np_record_receiver_cores);
    row->busy_cores = mean_of(row, np_record_busy);
    row->idle_cores = mean_of(row, np_record_idle);
}

/* Holm's correction over the ratios at this offset in the rows. */
static void
correct(GPtrArray *rows, size_t offset)
{
    g_autoptr(GArray) p = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GPtrArray) ratios = g_ptr_array_new();
    for (unsigned i = 0; i < rows->len; i++) {
        NpRatio *ratio = (NpRatio *) (gpointer) ((char *) rows->pdata[i] + offset);
        if (ratio->n < 2)
            continue;
        g_array_append_val(p, ratio->p);
        g_ptr_array_add(ratios, ratio);
    }
    np_stats_holm((double *) p->data, p->len);
    for (unsigned i = 0; i < ratios->len; i++)
        ((NpRatio *) ratios->pdata[i])->p = g_array_index(p, double, i);
}

static void
decide(NpRow *row)
{
    row->gbps_verdict = np_stats_verdict(&row->gbps_ratio, NP_DELTA_THROUGHPUT, true);
    row->cost_verdict = np_stats_verdict(&row->cost_ratio, NP_DELTA_COST, false);
    if (row->gbps_verdict == NP_VERDICT_UNDECIDED)
        row->more_blocks = np_stats_more(&row->gbps_ratio, NP_DELTA_THROUGHPUT);
    if (row->cost_verdict == NP_VERDICT_UNDECIDED)
        row->more_blocks = MAX(row->more_blocks, np_stats_more(&row->cost_ratio, NP_DELTA_COST));
}

static void
compare_with_baselines(GPtrArray *rows)
{
    const NpRow *base = NULL;
    unsigned group = 0;
    for (unsigned i = 0; i < rows->len; i++) {
        NpRow *row = rows->pdata[i];
        bool fresh = i == 0 || !same_step(row, rows->pdata[i - 1]);
        group += i > 0 && fresh;
        row->group = group;
        if (fresh)
            base = row->baseline ? row : NULL;
        if (!base || row == base)
            continue;
        row->gbps_ratio = ratio_of(row, base, np_record_gbps);
        row->cost_ratio = ratio_of(row, base, np_record_cost);
    }
    correct(rows, offsetof(NpRow, gbps_ratio));
    correct(rows, offsetof(NpRow, cost_ratio));
    for (unsigned i = 0; i < rows->len; i++)
        decide(rows->pdata[i]);
}

GPtrArray *
np_rows_new(const json_t *records)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(row_free);
    size_t index;
    json_t *record;
    json_array_foreach(records, index, record)
    {
        NpRow *row = row_for(rows, record);
        if (np_json_bool(record, "valid", false))
            add_record(row->records, record);
        else
            row->invalid++;
    }
    g_ptr_array_sort(rows, compare_rows);
    for (unsigned i = 0; i < rows->len; i++)
        fill_row(rows->pdata[i]);
    compare_with_baselines(rows);
    return rows;
}

unsigned
np_row_flagged(const NpRow *row, const char *rule)
{
    unsigned count = 0;
    for (unsigned i = 0; i < row->records->len; i++) {
        const json_t *flags = json_object_get(row->records->pdata[i], "flags");
        size_t index;
        json_t *flag;
        json_array_foreach(flags, index, flag)
        {
            if (strcmp(np_json_string(flag, "rule", ""), rule) == 0) {
                count++;
                break;
            }
        }
    }
    return count;
}
