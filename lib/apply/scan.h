/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Scan: the inventory from sysfs and rtnetlink.
 */
#pragma once

#include "lib/apply/host.h"
#include "lib/apply/pci-config.h"
#include "lib/apply/rtnl.h"

/* What a scan looks at: roots of trees, -1: none. */
typedef struct {
    int sys, dev, proc, etc, run;
    NpRtnl *rtnl;               /* nullable: nothing is known of links */
    const char *ssh_connection; /* nullable */
    int64_t now_s;              /* CLOCK_REALTIME, for Proxmox' reservations */
} NpScanRoots;

/* All network functions, the other members of their IOMMU groups, and all ports above them, with
 * what the host and VMs use them for. Throws IO, DENIED; an attribute that is missing or nonsense
 * is not known, and no error. */
NpInventory *np_scan(const NpScanRoots *roots, GError **error);

/* The host's network and whom it talks to. 0 or a negative errno. */
int np_scan_host(const NpScanRoots *roots, NpHost *host);

/* The function's own netdev, from its net/ folder (that of the virtio device below it, for virtio):
 * of several the one with the lowest dev_port that is no representor. ENODEV when there is none. */
int np_scan_ifindex(int sys, const NpBdf *bdf, int *ret_ifindex);

/* Link of a function and what its port runs at; in Mbit/s, 0: not known. */
NpPciLink np_scan_pci_link(int sys, const NpBdf *bdf);
unsigned np_scan_net_mbps(int sys, const NpBdf *bdf);
