/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * CPU: what a machine's CPUs, NICs and load processes did between two samples.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/json.h"

/* The order of a CPU's ticks in a sample. */
typedef enum {
    NP_CPU_USER,
    NP_CPU_NICE,
    NP_CPU_SYSTEM,
    NP_CPU_IRQ,
    NP_CPU_SOFTIRQ,
    NP_CPU_STEAL,
    NP_CPU_IDLE,
    NP_CPU_IOWAIT,
    NP_CPU_MODES,
} NpCpuMode;

/* "user", "softirq" and so on. */
const char *np_cpu_mode_name(NpCpuMode mode);

/* CPU time between two samples. Busy is user + nice + system + irq + softirq; steal is neither busy
 * nor idle. */
typedef struct {
    double wall_s;
    unsigned cpus;
    double seconds[NP_CPU_MODES]; /* of all CPUs together */
    double busy_cores;            /* busy seconds a second */
    double steal_share;           /* of wall x CPUs */
    unsigned hottest;             /* CPU with the most busy time */
    double hottest_share;         /* of its time busy */
    unsigned clamped;             /* counters that went backwards and were taken as unchanged */
    double total_error;           /* sum of all modes against wall x CPUs: 0.01 is 1 % too much */
    bool total_off;               /* total_error is beyond 2 % and what whole ticks explain */
} NpCpuUse;

/* Two samples (borrowed) and how far they lie from the moments wanted (negative: before). */
typedef struct {
    const json_t *from, *to;
    int64_t from_off_ns, to_off_ns;
} NpCpuEdges;

/* Chooses the samples marked edge that are nearest to two moments on the agent's clock. False when
 * there are no two distinct ones in order. Pure. */
bool np_cpu_edges(const json_t *samples, int64_t from_ns, int64_t to_ns, NpCpuEdges *ret_edges);

/* The first and the last sample, whatever they are, for idle baselines. */
bool np_cpu_ends(const json_t *samples, NpCpuEdges *ret_edges);

/* What happened between two samples. False when either is malformed or time did not pass. Pure. */
bool np_cpu_use(const NpCpuEdges *edges, NpCpuUse *ret_use);

/* Cores that the load processes used themselves between two samples, by their own CPU time, and how
 * many processes stand in both. False when none does. Pure. */
bool np_cpu_workers(const NpCpuEdges *edges, double *ret_cores, unsigned *ret_count);

/* Counters of the NIC with the MAC between two samples, in bytes and packets. */
typedef struct {
    double rx_bytes, tx_bytes, rx_packets, tx_packets;
} NpNicUse;

/* False when the MAC is not in both samples. If several NICs bear it (a VLAN on its parent), the
 * one that moved most. Pure. */
bool np_nic_use(const NpCpuEdges *edges, const char *mac, NpNicUse *ret_use);

/* The same for the busiest NIC with another MAC, loopback included; ret_mac is borrowed from the
 * samples. False when there is none. Pure. */
bool
np_nic_use_other(const NpCpuEdges *edges, const char *mac, NpNicUse *ret_use, const char **ret_mac);
