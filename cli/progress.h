/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Progress of a benchmark on stderr: a live line on a terminal, one line a run elsewhere.
 */
#pragma once

#include "lib/bench/run.h"

/* An NpProgressFunc. data: a NpProgressView. */
typedef struct {
    bool terminal; /* stderr is one: show a line that changes */
    bool shown;    /* such a line stands there now */
} NpProgressView;

void np_progress_show(const NpProgress *progress, gpointer data);

/* Removes the live line, so that other text can follow. */
void np_progress_clear(NpProgressView *view);
