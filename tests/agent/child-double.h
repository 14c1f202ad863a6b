/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test double of agent/child.h: helpers that do not run, but end as told from the main loop.
 */
#pragma once

#include "agent/child.h"

/* How a helper whose command line contains the word ends. Rows of the same word take turns, from
 * the first to the last and again. */
typedef struct {
    const char *word; /* NULL ends the table: exit status 0, no output */
    int status;       /* -1: exec fails; -2: the watchdog kills it */
    const char *out, *err;
} NpTestHelper;

/* Sets the table (kept) and forgets the command lines so far. */
void np_test_helpers(const NpTestHelper *table);

/* The command lines of the helpers so far, one a line. */
const char *np_test_helper_lines(void);
