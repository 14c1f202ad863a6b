/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Clocks: the one time base of agent, host and records.
 */
#pragma once

#include <stdint.h>

/* CLOCK_MONOTONIC in ns: every timestamp of this project is on it. */
int64_t np_clock_ns(void);

#define NP_NS_PER_S  INT64_C(1000000000)
#define NP_NS_PER_MS INT64_C(1000000)
#define NP_NS_PER_US INT64_C(1000)
