/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Strip: every run as a dot on a line of text, with the interval of the mean behind it.
 */
#pragma once

#include <glib.h>

#include "lib/bench/stats.h"

/* values (double) between min and max on a line of width columns (transfer full): a dot for one
 * value, a digit for as many in one place ('+' for ten and more), '-' where the interval of the
 * estimate lies (nothing for a single value). Pure. */
char *
np_strip(const GArray *values, const NpEstimate *estimate, double min, double max, unsigned width);
