/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Clocks: see clock.h.
 */
#include "lib/base/clock.h"

#include <time.h>

int64_t
np_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
    return (int64_t) now.tv_sec * NP_NS_PER_S + now.tv_nsec;
}
