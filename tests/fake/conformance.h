/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Conformance: one list of calls and what a kernel answers, for the fake and for a real one.
 *
 * It keeps the fake honest: a difference is a fault in the fake. The machine needs one igb PF of at
 * least 3 VFs with sriov_numvfs 0 and each function in a group of its own; it
 * is left with 0 VFs.
 */
#pragma once

#include "lib/apply/sys.h"

/* Called once a row: its name, and NULL or how the answer differs. */
typedef void (*NpConformanceReport)(const char *name, const char *difference, gpointer data);

/* Runs the list through sys on a PF. Returns the number of differences. */
unsigned np_conformance_run(NpSys *sys, const NpBdf *pf, NpConformanceReport report, gpointer data);
