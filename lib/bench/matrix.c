/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Matrix: blocks, boots and runs in their order. See matrix.h.
 */
#include "lib/bench/matrix.h"

#define PORTS_FIRST 20000
#define PORTS_COUNT 12000

static void
run_free(gpointer data)
{
    NpRun *run = data;
    g_free(run->key);
    g_free(run);
}

typedef enum { USE_ORDER, USE_BOOTS } Use;

/* One generator a block and use, so that a block's order does not depend on how many there are.
 * GRand is a Mersenne Twister, the same everywhere. */
static GRand *
generator_new(uint64_t seed, unsigned block, Use use)
{
    const guint32 words[] = {(guint32) (seed >> 32), (guint32) seed, block, use};
    return g_rand_new_with_seed_array(words, G_N_ELEMENTS(words));
}

static void
shuffle(GRand *generator, gpointer *items, unsigned count)
{
    for (unsigned i = count; i > 1; i--) {
        unsigned other = (unsigned) g_rand_int_range(generator, 0, (gint32) i);
        gpointer held = items[i - 1];
        items[i - 1] = items[other];
        items[other] = held;
    }
}

/* The topologies' indices in the order of a block. */
static GPtrArray *
block_order(const NpScenario *scenario, uint64_t seed, unsigned block)
{
    unsigned count = scenario->topologies->len;
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    for (unsigned i = 0; i < count; i++)
        g_ptr_array_add(order, GUINT_TO_POINTER(i));
    g_autoptr(GRand) generator = generator_new(seed, (block - 1) / 2 * 2 + 1, USE_ORDER);
    shuffle(generator, order->pdata, count);
    for (unsigned i = 0; block % 2 == 0 && i < count / 2; i++) {
        gpointer held = order->pdata[i];
        order->pdata[i] = order->pdata[count - 1 - i];
        order->pdata[count - 1 - i] = held;
    }
    return g_steal_pointer(&order);
}

/* Where the ports of a step start; *cursor is what the steps before it have used. */
static unsigned
take_ports(unsigned first, unsigned count, unsigned *cursor)
{
    unsigned start = (first + *cursor) % PORTS_COUNT;
    if (start + count > PORTS_COUNT) {
        *cursor += PORTS_COUNT - start;
        start = 0;
    }
    *cursor += count;
    return PORTS_FIRST + start;
}

/* The runs of one boot in the order of the scenario's lists, each with its ports. */
static GPtrArray *
boot_runs(const NpScenario *scenario, unsigned block, unsigned topology, unsigned first_port)
{
    g_autoptr(GPtrArray) runs = g_ptr_array_new();
    const NpTopology *which = scenario->topologies->pdata[topology];
    unsigned cursor = 0;
    for (unsigned p = 0; p < scenario->processes->len; p++) {
        for (unsigned d = 0; d < scenario->directions->len; d++) {
            for (unsigned r = 1; r <= scenario->runs; r++) {
                NpRun *run = g_new0(NpRun, 1);
                run->block = block;
                run->topology = topology;
                run->processes = g_array_index(scenario->processes, unsigned, p);
                run->direction = g_array_index(scenario->directions, NpDirection, d);
                run->repeat = r;
                run->source_port =
                    take_ports(first_port, run->processes * scenario->streams, &cursor);
                run->key = g_strdup_printf("b%u/%s/p%u/%s/r%u", block, which->name, run->processes,
                                           np_direction_name(run->direction), r);
                g_ptr_array_add(runs, run);
            }
        }
    }
    return g_steal_pointer(&runs);
}

GPtrArray *
np_matrix_expand(const NpScenario *scenario, uint64_t seed)
{
    GPtrArray *runs = g_ptr_array_new_with_free_func(run_free);
    for (unsigned block = 1; block <= scenario->blocks; block++) {
        g_autoptr(GPtrArray) order = block_order(scenario, seed, block);
        g_autoptr(GRand) generator = generator_new(seed, block, USE_BOOTS);
        unsigned first_port = (unsigned) g_rand_int_range(generator, 0, PORTS_COUNT);
        for (unsigned i = 0; i < order->len; i++) {
            g_autoptr(GPtrArray) boot =
                boot_runs(scenario, block, GPOINTER_TO_UINT(order->pdata[i]), first_port);
            shuffle(generator, boot->pdata, boot->len);
            g_ptr_array_extend(runs, boot, NULL, NULL);
        }
    }
    return runs;
}

int64_t
np_matrix_duration_ms(const NpScenario *scenario, const GPtrArray *runs)
{
    int64_t total = 0;
    const NpRun *before = NULL;
    for (unsigned i = 0; i < runs->len; i++) {
        const NpRun *run = runs->pdata[i];
        if (!before || before->block != run->block || before->topology != run->topology)
            total += scenario->idle_ms;
        total += scenario->omit_ms + scenario->window_ms + scenario->tail_ms;
        before = run;
    }
    return total;
}
