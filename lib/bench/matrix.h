/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Matrix: a scenario expanded into the ordered list of its runs.
 */
#pragma once

#include "lib/bench/scenario.h"

/* One run: one set of processes in one direction for one window. */
typedef struct {
    unsigned block;    /* from 1 */
    unsigned topology; /* index into the scenario's topologies */
    unsigned processes;
    NpDirection direction;
    unsigned repeat;      /* from 1, inside the boot */
    unsigned source_port; /* base for the clients' fixed source ports: repeats in a block, varies
                             between */
    char *key;            /* "b1/direct/p4/forward/r1": unique in the matrix */
} NpRun;

/* The runs in the order to carry them out (NpRun *, transfer full, the array owns them). A block
 * holds every topology once, shuffled by the seed; a boot's runs (same block and topology) stand
 * together, shuffled too. The same scenario and seed (not 0) give the same list everywhere. Pure.
 */
GPtrArray *np_matrix_expand(const NpScenario *scenario, uint64_t seed);

/* How many milliseconds the runs take at the least, idle baselines included. Pure. */
int64_t np_matrix_duration_ms(const NpScenario *scenario, const GPtrArray *runs);
