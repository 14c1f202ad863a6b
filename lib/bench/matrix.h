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
    unsigned source_port; /* base for the clients' fixed source ports, see below */
    char *key;            /* "b1/direct/p4/forward/r1": unique in the matrix */
} NpRun;

/* The runs in the order to carry them out (NpRun *, transfer full, the array owns them). A block
 * holds every topology once; odd blocks are shuffled by the seed, an even block mirrors the one
 * before it, so that a linear drift cancels. A boot's runs (same block and topology) stand
 * together, shuffled. The same scenario and seed (not 0) give the same list everywhere, and more
 * blocks only add to its end.
 *
 * source_port: processes x streams ports from it lie in 20000 to 31999, below the kernel's
 * ephemeral ports and away from the servers' (5201 and up). The same step (processes, direction,
 * repeat) has the same ports in every topology of a block, so that the receivers' hashing is part
 * of the comparison and not of its noise; blocks have others, and so have the steps of one boot, as
 * long as the range lasts, for a port that has just been used may still be in TIME_WAIT. Pure. */
GPtrArray *np_matrix_expand(const NpScenario *scenario, uint64_t seed);

/* How many milliseconds the runs take at the least, idle baselines included. Pure. */
int64_t np_matrix_duration_ms(const NpScenario *scenario, const GPtrArray *runs);
