/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Ethtool: what a NIC's driver tells through the SIOCETHTOOL ioctl.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "lib/base/parse.h"

/* Absent strings are NULL, absent numbers -1. */
typedef struct {
    char *driver, *firmware;
    char *pci; /* the bus address where it is a PCI one */
    int64_t speed_mbps;
    int64_t queues_rx, queues_tx; /* in use, not the most possible */
    int64_t ring_rx, ring_tx;
    bool has_coalesce; /* the next four are there */
    uint32_t rx_usecs, tx_usecs;
    bool adaptive_rx, adaptive_tx;
    char **offloads; /* names that are on, as ethtool -k prints them in the kernel's own spelling */
} NpEthtool;

/* A socket for the calls below, in the calling thread's network namespace. Throws IO. */
int np_ethtool_open(GError **error);

/* Reads whatever the driver tells; never fails, since every part may be absent. */
void np_ethtool_read(int fd, const char *ifname, NpEthtool *ret_info);
void np_ethtool_clear(NpEthtool *info);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NpEthtool, np_ethtool_clear)

/* The permanent MAC, which works on kernels whose rtnetlink does not tell it. */
bool np_ethtool_permanent_mac(int fd, const char *ifname, NpMac *ret_mac);
