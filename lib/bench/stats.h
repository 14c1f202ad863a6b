/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Statistics: confidence intervals of means and of ratios, and verdicts from them.
 */
#pragma once

#include <stdbool.h>

#include <glib.h>

#define NP_STATS_CONFIDENCE 0.95

/* The smallest differences that matter, as parts of 1. */
#define NP_DELTA_THROUGHPUT 0.03
#define NP_DELTA_COST       0.05

#define NP_STATS_MORE_MAX 100 /* "that many or more" further blocks */

/* A mean with its confidence interval. */
typedef struct {
    unsigned n;          /* values; 0: nothing is known */
    double mean, lo, hi; /* lo and hi are the mean when n is 1 */
    double sd;           /* of one value; 0 when n is 1 */
} NpEstimate;

/* How many times a is b, estimated on logarithms. */
typedef struct {
    unsigned n;           /* pairs, or the values of the smaller side; 0: nothing is known */
    double ratio, lo, hi; /* lo and hi are the ratio when n is 1 */
    double p;             /* that the true ratio is 1 (two-sided); 1 when n is 1 */
    double sd_log;        /* of one pair, or what gives the same standard error; 0 when n is 1 */
} NpRatio;

typedef enum {
    NP_VERDICT_NONE,       /* too few values for one */
    NP_VERDICT_BETTER,     /* differs, by more than delta, in the wanted direction */
    NP_VERDICT_WORSE,      /* in the other */
    NP_VERDICT_EQUIVALENT, /* the whole interval lies within delta */
    NP_VERDICT_UNDECIDED,
} NpVerdict;

/* The p quantile (0 < p < 1) of Student's t with df > 0 degrees of freedom. Pure. */
double np_stats_t_quantile(double p, double df);

/* The mean of n values with Student's interval. Pure. */
NpEstimate np_stats_estimate(const double *values, unsigned n);

/* The ratio a[i] / b[i] over n pairs, such as the blocks' means of two topologies. Pairs with a
 * value that is not above 0 are left out. Pure. */
NpRatio np_stats_ratio_paired(const double *a, const double *b, unsigned n);

/* The ratio of the geometric means of unpaired values after Welch; known from two values on either
 * side. Pure. */
NpRatio np_stats_ratio_welch(const double *a, unsigned n_a, const double *b, unsigned n_b);

/* The verdict at delta, significance taken from ratio->p (which Holm's correction may have raised).
 * more_is_better: true for throughput, false for cost. Pure. */
NpVerdict np_stats_verdict(const NpRatio *ratio, double delta, bool more_is_better);

/* About how many more pairs an undecided ratio needs at its observed scatter: 1 to
 * NP_STATS_MORE_MAX. Pure. */
unsigned np_stats_more(const NpRatio *ratio, double delta);

/* Holm's step-down correction of n p-values, in place. Pure. */
void np_stats_holm(double *p, unsigned n);

/* Jain's fairness of n values that are not negative: 1 when all are equal, 1/n when one has
 * everything; 0 for no values or no sum. Pure. */
double np_stats_fairness(const double *values, unsigned n);

/* "better", "undecided" and so on; "none". */
const char *np_verdict_name(NpVerdict verdict);
