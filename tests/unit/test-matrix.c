/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of the matrix.
 */
#include "lib/bench/matrix.h"

static NpScenario *
scenario(const char *const *overrides)
{
    g_autoptr(GError) error = NULL;
    NpScenario *s = np_scenario_parse(
        "m.ini",
        "[scenario]\nprocesses=1,4\ndirections=forward,reverse\nstreams=2\nblocks=4\nruns=3\n"
        "[topology a]\nlink=direct\n[topology b]\nlink=bridge\n[topology c]\nlink=bridge\n",
        overrides, &error);
    g_assert_no_error(error);
    return s;
}

static void
test_complete_and_grouped(void)
{
    g_autoptr(NpScenario) s = scenario(NULL);
    g_autoptr(GPtrArray) runs = np_matrix_expand(s, 1);
    g_autoptr(GHashTable) keys = g_hash_table_new(g_str_hash, g_str_equal);
    unsigned boots = 0;
    g_assert_cmpuint(runs->len, ==, 4 * 3 * 2 * 2 * 3);
    for (unsigned i = 0; i < runs->len; i++) {
        const NpRun *run = runs->pdata[i], *before = i ? runs->pdata[i - 1] : NULL;
        g_assert_true(g_hash_table_add(keys, run->key));
        boots += !before || before->block != run->block || before->topology != run->topology;
        g_assert_true(!before || before->block <= run->block);
    }
    g_assert_cmpuint(boots, ==, 4 * 3);
    g_assert_cmpint(np_matrix_duration_ms(s, runs), ==,
                    (int64_t) runs->len * 34000 + boots * s->idle_ms);
    g_assert_true(g_hash_table_contains(keys, "b4/c/p4/reverse/r3"));
}

static void
test_seed_decides(void)
{
    g_autoptr(NpScenario) s = scenario(NULL);
    g_autoptr(GPtrArray) one = np_matrix_expand(s, 99), same = np_matrix_expand(s, 99);
    g_autoptr(GPtrArray) other = np_matrix_expand(s, 100);
    unsigned differ = 0;
    for (unsigned i = 0; i < one->len; i++) {
        const NpRun *a = one->pdata[i], *b = same->pdata[i], *c = other->pdata[i];
        g_assert_cmpstr(a->key, ==, b->key);
        g_assert_cmpuint(a->source_port, ==, b->source_port);
        differ += g_strcmp0(a->key, c->key) != 0;
    }
    g_assert_cmpuint(differ, >, one->len / 2);
}

/* Records outlive this program: another order for an old seed would break resuming. */
static void
test_order_is_the_same_everywhere(void)
{
    const char *const overrides[] = {"processes=1", "directions=forward", "runs=1", "blocks=2",
                                     NULL};
    g_autoptr(NpScenario) s = scenario(overrides);
    g_autoptr(GPtrArray) runs = np_matrix_expand(s, UINT64_C(123456789012));
    g_autoptr(GString) order = g_string_new(NULL);
    for (unsigned i = 0; i < runs->len; i++)
        g_string_append_printf(order, "%s:%u ", ((const NpRun *) runs->pdata[i])->key,
                               ((const NpRun *) runs->pdata[i])->source_port);
    g_assert_cmpstr(order->str, ==,
                    "b1/a/p1/forward/r1:31402 b1/c/p1/forward/r1:31402 b1/b/p1/forward/r1:31402 "
                    "b2/b/p1/forward/r1:20558 b2/c/p1/forward/r1:20558 b2/a/p1/forward/r1:20558 ");
}

static void
test_more_blocks_only_add(void)
{
    const char *const more[] = {"blocks=9", NULL};
    g_autoptr(NpScenario) s = scenario(NULL), longer = scenario(more);
    g_autoptr(GPtrArray) few = np_matrix_expand(s, 7), many = np_matrix_expand(longer, 7);
    for (unsigned i = 0; i < few->len; i++)
        g_assert_cmpstr(((const NpRun *) few->pdata[i])->key, ==,
                        ((const NpRun *) many->pdata[i])->key);
}

static void
test_even_blocks_mirror(void)
{
    const char *const overrides[] = {"processes=1", "directions=forward", "runs=1", NULL};
    g_autoptr(NpScenario) s = scenario(overrides);
    g_autoptr(GHashTable) firsts = g_hash_table_new(NULL, NULL);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        g_autoptr(GPtrArray) runs = np_matrix_expand(s, seed);
        for (unsigned i = 0; i < 3; i++)
            g_assert_cmpuint(((const NpRun *) runs->pdata[i])->topology, ==,
                             ((const NpRun *) runs->pdata[5 - i])->topology);
        g_hash_table_add(firsts, GUINT_TO_POINTER(((const NpRun *) runs->pdata[0])->topology));
    }
    g_assert_cmpuint(g_hash_table_size(firsts), ==, 3); /* each topology comes first somewhere */
}

static void
test_source_ports(void)
{
    const char *const overrides[] = {"processes=64,1", "streams=32", "blocks=20", NULL};
    g_autoptr(NpScenario) s = scenario(overrides);
    g_autoptr(GPtrArray) runs = np_matrix_expand(s, 3);
    g_autoptr(GHashTable) steps = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) bases = g_hash_table_new(NULL, NULL);
    for (unsigned i = 0; i < runs->len; i++) {
        const NpRun *run = runs->pdata[i];
        g_assert_cmpuint(run->source_port, >=, 20000);
        g_assert_cmpuint(run->source_port + run->processes * s->streams, <=, 32000);
        char *step =
            g_strdup_printf("%u %u %d %u", run->block, run->processes, run->direction, run->repeat);
        gpointer seen = g_hash_table_lookup(steps, step);
        if (seen)
            g_assert_cmpuint(GPOINTER_TO_UINT(seen), ==, run->source_port);
        g_hash_table_insert(steps, step, GUINT_TO_POINTER(run->source_port));
        g_hash_table_add(bases, GUINT_TO_POINTER(run->source_port));
    }
    g_assert_cmpuint(g_hash_table_size(bases), >, 40); /* blocks differ, and steps within one */
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/matrix/complete-and-grouped", test_complete_and_grouped);
    g_test_add_func("/matrix/seed-decides", test_seed_decides);
    g_test_add_func("/matrix/order-is-the-same-everywhere", test_order_is_the_same_everywhere);
    g_test_add_func("/matrix/more-blocks-only-add", test_more_blocks_only_add);
    g_test_add_func("/matrix/even-blocks-mirror", test_even_blocks_mirror);
    g_test_add_func("/matrix/source-ports", test_source_ports);
    return g_test_run();
}
