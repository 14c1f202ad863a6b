/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Statistics: see stats.h.
 */
#include "lib/bench/stats.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

double
np_stats_t_quantile(double p, double df)
{
    return gsl_cdf_tdist_Pinv(p, df);
}

NpEstimate
np_stats_estimate(const double *values, unsigned n)
{
    NpEstimate estimate = {.n = n};
    double squares = 0;
    if (n == 0)
        return estimate;
    for (unsigned i = 0; i < n; i++)
        estimate.mean += values[i];
    estimate.mean /= n;
    for (unsigned i = 0; i < n; i++)
        squares += (values[i] - estimate.mean) * (values[i] - estimate.mean);
    double half = 0;
    if (n > 1) {
        estimate.sd = sqrt(squares / (n - 1));
        half = np_stats_t_quantile(0.5 + NP_STATS_CONFIDENCE / 2, n - 1) * estimate.sd / sqrt(n);
    }
    estimate.lo = estimate.mean - half;
    estimate.hi = estimate.mean + half;
    return estimate;
}

/* A ratio from the mean of logarithms, its standard error and degrees of freedom. */
static NpRatio
ratio_from(unsigned n, double mean, double standard_error, double df)
{
    NpRatio ratio = {.n = n, .ratio = exp(mean), .lo = exp(mean), .hi = exp(mean), .p = 1};
    if (n < 2)
        return ratio;
    /* Values that are equal to the last bit leave no scatter to judge by: any difference counts. */
    if (!(standard_error > 0)) {
        ratio.p = fabs(mean) > 0 ? 0 : 1;
        return ratio;
    }
    double half = np_stats_t_quantile(0.5 + NP_STATS_CONFIDENCE / 2, df) * standard_error;
    ratio.lo = exp(mean - half);
    ratio.hi = exp(mean + half);
    ratio.p = 2 * gsl_cdf_tdist_Q(fabs(mean) / standard_error, df);
    return ratio;
}

/* The logarithms of the values above 0. */
static GArray *
logarithms(const double *values, unsigned n)
{
    GArray *logs = g_array_new(FALSE, FALSE, sizeof(double));
    for (unsigned i = 0; i < n; i++) {
        double value = values[i] > 0 ? log(values[i]) : 0;
        if (values[i] > 0)
            g_array_append_val(logs, value);
    }
    return logs;
}

NpRatio
np_stats_ratio_paired(const double *a, const double *b, unsigned n)
{
    g_autoptr(GArray) quotients = g_array_new(FALSE, FALSE, sizeof(double));
    for (unsigned i = 0; i < n; i++) {
        double quotient = a[i] > 0 && b[i] > 0 ? a[i] / b[i] : 0;
        g_array_append_val(quotients, quotient);
    }
    g_autoptr(GArray) logs = logarithms((const double *) quotients->data, quotients->len);
    if (logs->len == 0)
        return (NpRatio){0};
    NpEstimate estimate = np_stats_estimate((const double *) logs->data, logs->len);
    NpRatio ratio =
        ratio_from(logs->len, estimate.mean, estimate.sd / sqrt(logs->len), logs->len - 1.0);
    ratio.sd_log = estimate.sd;
    return ratio;
}

NpRatio
np_stats_ratio_welch(const double *a, unsigned n_a, const double *b, unsigned n_b)
{
    g_autoptr(GArray) logs_a = logarithms(a, n_a), logs_b = logarithms(b, n_b);
    unsigned n = MIN(logs_a->len, logs_b->len);
    if (n < 1)
        return (NpRatio){0};
    NpEstimate of_a = np_stats_estimate((const double *) logs_a->data, logs_a->len);
    NpEstimate of_b = np_stats_estimate((const double *) logs_b->data, logs_b->len);
    double var_a = of_a.sd * of_a.sd / of_a.n, var_b = of_b.sd * of_b.sd / of_b.n;
    double sum = var_a + var_b, df = 1;
    if (n > 1 && sum > 0)
        df = sum * sum / (var_a * var_a / (of_a.n - 1) + var_b * var_b / (of_b.n - 1));
    NpRatio ratio = ratio_from(n, of_a.mean - of_b.mean, sqrt(sum), df);
    ratio.sd_log = sqrt(sum * n);
    return ratio;
}

NpVerdict
np_stats_verdict(const NpRatio *ratio, double delta, bool more_is_better)
{
    double limit = log1p(delta), point;
    if (ratio->n < 2)
        return NP_VERDICT_NONE;
    point = log(ratio->ratio);
    if (log(ratio->lo) > -limit && log(ratio->hi) < limit)
        return NP_VERDICT_EQUIVALENT;
    if (ratio->p < 1 - NP_STATS_CONFIDENCE && fabs(point) > limit)
        return (point > 0) == more_is_better ? NP_VERDICT_BETTER : NP_VERDICT_WORSE;
    return NP_VERDICT_UNDECIDED;
}

unsigned
np_stats_more(const NpRatio *ratio, double delta)
{
    /* Decided when the half width is below the distance to 1 (it differs), or fits between the
     * point and delta (it is equivalent), whichever side of delta the point is on. */
    double point = fabs(log(ratio->ratio)), limit = log1p(delta);
    double wanted = point > limit ? point : limit - point;
    for (unsigned more = 1; more < NP_STATS_MORE_MAX; more++) {
        double n = MAX(ratio->n, 1) + more;
        double half = np_stats_t_quantile(0.5 + NP_STATS_CONFIDENCE / 2, n - 1) * ratio->sd_log;
        if (half / sqrt(n) < wanted)
            return more;
    }
    return NP_STATS_MORE_MAX;
}

static int
compare_indices(gconstpointer a, gconstpointer b, gpointer data)
{
    const double *p = data;
    double first = p[*(const unsigned *) a], second = p[*(const unsigned *) b];
    return (first > second) - (first < second);
}

void
np_stats_holm(double *p, unsigned n)
{
    g_autofree unsigned *order = g_new(unsigned, n);
    for (unsigned i = 0; i < n; i++)
        order[i] = i;
    g_qsort_with_data(order, (gint) n, sizeof(*order), compare_indices, p);
    double before = 0;
    for (unsigned i = 0; i < n; i++) {
        before = MAX(before, MIN(1, p[order[i]] * (n - i)));
        p[order[i]] = before;
    }
}

double
np_stats_fairness(const double *values, unsigned n)
{
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < n; i++) {
        sum += values[i];
        squares += values[i] * values[i];
    }
    return squares > 0 ? sum * sum / (n * squares) : 0;
}

const char *
np_verdict_name(NpVerdict verdict)
{
    static const char *const names[] = {
        [NP_VERDICT_NONE] = "none",           [NP_VERDICT_BETTER] = "better",
        [NP_VERDICT_WORSE] = "worse",         [NP_VERDICT_EQUIVALENT] = "equivalent",
        [NP_VERDICT_UNDECIDED] = "undecided",
    };
    return names[verdict];
}
