/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Locks: one a PF, between processes.
 */
#pragma once

#include "lib/base/parse.h"

/* Waits for the flock of RUN/lock/BDF until timeout_ms have passed; the folders are made when
 * missing. Released by closing the descriptor, or by the process's end. Throws BUSY with the
 * holder's pid. Returns the descriptor, -1 on error. Locks of several PFs must be taken in the
 * order of BDF. */
int np_lock_pf(const char *run_dir, const NpBdf *pf, int64_t timeout_ms, GError **error);
