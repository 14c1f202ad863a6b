/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Proc stat: the CPU lines of /proc/stat as numbers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/* So many CPUs, up for ten years, still fit one line of the protocol beside 64 NICs. */
#define NP_PROCSTAT_CPUS_MAX 512

/* In the order in which they travel. guest and guest_nice are inside user and nice as the kernel
 * counts and therefore not here. */
typedef enum {
    NP_TICK_USER,
    NP_TICK_NICE,
    NP_TICK_SYSTEM,
    NP_TICK_IRQ,
    NP_TICK_SOFTIRQ,
    NP_TICK_STEAL,
    NP_TICK_IDLE,
    NP_TICK_IOWAIT,
    NP_TICKS,
} NpTick;

/* cpu[n] is CPU n's; present[n] is false for a CPU that is offline or does not exist. */
typedef struct {
    unsigned cpus; /* highest number present + 1 */
    bool present[NP_PROCSTAT_CPUS_MAX];
    uint64_t ticks[NP_PROCSTAT_CPUS_MAX][NP_TICKS];
} NpProcstat;

/* Whether the text reaches beyond its CPU lines, which come first: false means that the reader's
 * buffer was too small. Pure. */
bool np_procstat_complete(const char *text);

/* Parses the CPU lines; columns that an old kernel lacks are 0. Throws PROTOCOL for text that the
 * kernel cannot have written (naming the line), UNSUPPORTED for a CPU number too high; *ret_stat
 * is then untouched. Pure. */
bool np_procstat_parse(const char *text, NpProcstat *ret_stat, GError **error);

/* How many counters of CPUs present in both went backwards. Pure. */
unsigned np_procstat_backwards(const NpProcstat *before, const NpProcstat *after);
