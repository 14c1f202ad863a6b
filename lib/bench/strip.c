/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Strip: see strip.h.
 */
#include "lib/bench/strip.h"

#include <math.h>

static unsigned
place(double value, double min, double max, unsigned width)
{
    double part = max > min ? (value - min) / (max - min) : 0.5;
    return (unsigned) lround(CLAMP(part, 0, 1) * (width - 1));
}

char *
np_strip(const GArray *values, const NpEstimate *estimate, double min, double max, unsigned width)
{
    g_autofree unsigned *counts = g_new0(unsigned, width);
    unsigned from = 1, to = 0;
    for (unsigned i = 0; i < values->len; i++)
        counts[place(g_array_index(values, double, i), min, max, width)]++;
    if (estimate->n > 1) {
        from = place(estimate->lo, min, max, width);
        to = place(estimate->hi, min, max, width);
    }
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < width; i++) {
        if (counts[i] == 0)
            g_string_append_c(out, i >= from && i <= to ? '-' : ' ');
        else if (counts[i] == 1)
            g_string_append(out, "•");
        else
            g_string_append_c(out, counts[i] < 10 ? (char) ('0' + counts[i]) : '+');
    }
    return g_string_free(out, FALSE);
}
