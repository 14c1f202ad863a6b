/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of the statistics: known values, and simulations of how often they are wrong.
 */
#include "lib/bench/stats.h"

#include <math.h>

#define near(a, b, tolerance) g_assert_cmpfloat_with_epsilon((a), (b), (tolerance))

static void
test_t_quantile(void)
{
    /* Half widths in units of the scatter, from the printed tables. */
    const struct {
        unsigned n;
        double quantile;
    } rows[] = {{2, 12.7062}, {3, 4.30265}, {6, 2.57058}, {10, 2.26216}, {31, 2.04227}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        near(np_stats_t_quantile(0.975, rows[i].n - 1), rows[i].quantile, 1e-4);
}

static void
test_estimate(void)
{
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    NpEstimate e = np_stats_estimate(values, 8);
    near(e.mean, 5, 1e-12);
    near(e.sd, 2.13809, 1e-5);
    near(e.hi - e.mean, 1.78748, 1e-4);
    near(e.mean - e.lo, e.hi - e.mean, 1e-9);
    e = np_stats_estimate(values, 1);
    g_assert_true(e.n == 1 && e.mean == 2 && e.lo == 2 && e.hi == 2);
    g_assert_cmpuint(np_stats_estimate(values, 0).n, ==, 0);
}

static void
test_ratio(void)
{
    const double a[] = {2, 4.2, 7.6}, b[] = {1, 2, 4}, same[] = {3, 3, 3}, gap[] = {0, 2, 4};
    NpRatio r = np_stats_ratio_paired(a, b, 3);
    near(r.ratio, cbrt(2 * 2.1 * 1.9), 1e-9);
    g_assert_true(r.lo < r.ratio && r.ratio < r.hi && r.p < 0.01);
    near(log(r.ratio) - log(r.lo), log(r.hi) - log(r.ratio), 1e-9);
    r = np_stats_ratio_paired(same, same, 3);
    g_assert_true(r.ratio == 1 && r.lo == 1 && r.hi == 1 && r.p == 1);
    r = np_stats_ratio_paired(a, gap, 3);
    g_assert_cmpuint(r.n, ==, 2);
    r = np_stats_ratio_paired(a, b, 1);
    g_assert_true(r.n == 1 && r.ratio == 2 && r.lo == 2 && r.p == 1);
    g_assert_cmpuint(np_stats_ratio_paired(a, gap, 0).n, ==, 0);
    r = np_stats_ratio_welch(a, 3, b, 2);
    g_assert_true(r.n == 2 && r.lo < r.ratio && r.ratio < r.hi && r.p > 0.05);
    g_assert_cmpuint(np_stats_ratio_welch(a, 0, b, 2).n, ==, 0);
}

static void
test_verdicts(void)
{
    const struct {
        NpRatio ratio;
        NpVerdict more, less; /* when more, when less is better */
    } rows[] = {
        {{6, 1.10, 1.05, 1.15, 0.001, 0.05}, NP_VERDICT_BETTER, NP_VERDICT_WORSE},
        {{6, 0.90, 0.85, 0.95, 0.001, 0.05}, NP_VERDICT_WORSE, NP_VERDICT_BETTER},
        {{6, 1.00, 0.98, 1.02, 0.9, 0.02}, NP_VERDICT_EQUIVALENT, NP_VERDICT_EQUIVALENT},
        {{6, 1.01, 1.005, 1.015, 0.01, 0.01}, NP_VERDICT_EQUIVALENT, NP_VERDICT_EQUIVALENT},
        {{6, 1.02, 1.005, 1.035, 0.02, 0.01}, NP_VERDICT_UNDECIDED, NP_VERDICT_UNDECIDED},
        {{6, 1.10, 0.95, 1.27, 0.2, 0.14}, NP_VERDICT_UNDECIDED, NP_VERDICT_UNDECIDED},
        {{6, 1.10, 1.01, 1.20, 0.08, 0.08}, NP_VERDICT_UNDECIDED, NP_VERDICT_UNDECIDED}, /* Holm */
        {{1, 1.10, 1.10, 1.10, 1, 0}, NP_VERDICT_NONE, NP_VERDICT_NONE},
        {{0}, NP_VERDICT_NONE, NP_VERDICT_NONE},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_assert_cmpint(np_stats_verdict(&rows[i].ratio, 0.03, true), ==, rows[i].more);
        g_assert_cmpint(np_stats_verdict(&rows[i].ratio, 0.03, false), ==, rows[i].less);
    }
}

static void
test_more_blocks(void)
{
    const NpRatio clear = {6, 1.10, 0.99, 1.22, 0.06, 0.1}, noisy = {6, 1.05, 0.8, 1.4, 0.5, 0.3};
    const NpRatio on_delta = {6, 1.0299, 0.9, 1.2, 0.5, 0.1};
    unsigned some = np_stats_more(&clear, 0.03);
    g_assert_cmpuint(some, >=, 1);
    g_assert_cmpuint(some, <, 5);
    g_assert_cmpuint(np_stats_more(&noisy, 0.03), ==, NP_STATS_MORE_MAX);
    g_assert_cmpuint(np_stats_more(&on_delta, 0.03), ==, NP_STATS_MORE_MAX);
}

static void
test_holm(void)
{
    double p[] = {0.01, 0.04, 0.03, 0.005};
    np_stats_holm(p, 4);
    near(p[0], 0.03, 1e-12);
    near(p[1], 0.06, 1e-12);
    near(p[2], 0.06, 1e-12);
    near(p[3], 0.02, 1e-12);
    double one[] = {0.7, 0.8};
    np_stats_holm(one, 2);
    g_assert_true(one[0] == 1 && one[1] == 1);
    np_stats_holm(one, 0);
}

static void
test_fairness(void)
{
    const double even[] = {2, 2, 2, 2}, one[] = {5, 0, 0, 0}, mixed[] = {3, 1};
    near(np_stats_fairness(even, 4), 1, 1e-12);
    near(np_stats_fairness(one, 4), 0.25, 1e-12);
    near(np_stats_fairness(mixed, 2), 0.8, 1e-12);
    g_assert_true(np_stats_fairness(one, 0) == 0);
}

/* Two sides of six runs, 1 % noise, drift over the session: how often a difference is seen that is
 * not there. order: 'A' and 'B' in the order of time. */
static double
false_positives(GRand *random, const char *order, double drift, bool shuffled, bool paired)
{
    const unsigned trials = 4000, runs = 12;
    unsigned seen = 0;
    for (unsigned t = 0; t < trials; t++) {
        double sides[2][6];
        unsigned counts[2] = {0, 0};
        bool swap = false;
        for (unsigned i = 0; i < runs; i++) {
            swap = shuffled && i % 2 == 0 ? g_rand_boolean(random) : swap;
            unsigned side = (order[i] == 'B') != (shuffled && swap);
            /* Normal noise after Box and Muller. */
            double noise =
                sqrt(-2 * log(1 - g_rand_double(random))) * cos(2 * G_PI * g_rand_double(random));
            sides[side][counts[side]++] = 1 + drift * i / (runs - 1) + 0.01 * noise;
        }
        NpRatio ratio = paired ? np_stats_ratio_paired(sides[0], sides[1], 6)
                               : np_stats_ratio_welch(sides[0], 6, sides[1], 6);
        seen += ratio.p < 0.05;
        g_assert_true((ratio.p < 0.05) == (ratio.lo > 1 || ratio.hi < 1));
    }
    return (double) seen / trials;
}

static void
test_order_against_drift(void)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(20261);
    const struct {
        const char *order;
        double drift;
        bool shuffled, paired;
        double least, most;
    } rows[] = {
        {"AAAAAABBBBBB", 0, false, false, 0.035, 0.065},
        {"AAAAAABBBBBB", 0.02, false, false, 0.25, 0.45}, /* why runs are not measured in a row */
        {"AAAAAABBBBBB", 0.03, false, false, 0.5, 0.75},
        {"ABABABABABAB", 0.03, false, false, 0, 0.03}, /* unpaired: loses power */
        {"ABBAABBAABBA", 0, false, true, 0.035, 0.065},
        {"ABBAABBAABBA", 0.03, false, true, 0.03, 0.065},
        {"ABABABABABAB", 0.02, true, true, 0.035, 0.065},
        {"ABABABABABAB", 0.03, true, true, 0.035, 0.068},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        double rate =
            false_positives(random, rows[i].order, rows[i].drift, rows[i].shuffled, rows[i].paired);
        g_test_message("%s drift %g: %.3f", rows[i].order, rows[i].drift, rate);
        g_assert_cmpfloat(rate, >=, rows[i].least);
        g_assert_cmpfloat(rate, <=, rows[i].most);
    }
}

/* How often the interval holds the truth when measuring stops once it is narrow enough. */
static double
coverage(GRand *random, unsigned min, unsigned max)
{
    const unsigned trials = 4000;
    unsigned inside = 0;
    for (unsigned t = 0; t < trials; t++) {
        double values[20];
        NpEstimate e = {0};
        for (unsigned n = 1; n <= max; n++) {
            double noise =
                sqrt(-2 * log(1 - g_rand_double(random))) * cos(2 * G_PI * g_rand_double(random));
            values[n - 1] = 1 + 0.03 * noise;
            e = np_stats_estimate(values, n);
            if (n >= min && e.hi - e.mean <= 0.025 * e.mean)
                break;
        }
        inside += e.lo <= 1 && 1 <= e.hi;
    }
    return (double) inside / trials;
}

static void
test_stopping_early_costs_coverage(void)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(20262);
    double three = coverage(random, 3, 10), six = coverage(random, 6, 20);
    g_test_message("min 3: %.3f, min 6: %.3f", three, six);
    g_assert_cmpfloat(three, <, 0.93);
    g_assert_cmpfloat(three, >, 0.89);
    g_assert_cmpfloat(six, >, 0.93);
    g_assert_cmpfloat(six, <, 0.96);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/stats/t-quantile", test_t_quantile);
    g_test_add_func("/stats/estimate", test_estimate);
    g_test_add_func("/stats/ratio", test_ratio);
    g_test_add_func("/stats/verdicts", test_verdicts);
    g_test_add_func("/stats/more-blocks", test_more_blocks);
    g_test_add_func("/stats/holm", test_holm);
    g_test_add_func("/stats/fairness", test_fairness);
    g_test_add_func("/stats/order-against-drift", test_order_against_drift);
    g_test_add_func("/stats/stopping-early-costs-coverage", test_stopping_early_costs_coverage);
    return g_test_run();
}
