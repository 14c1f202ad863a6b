/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * PCIe: the link and the NUMA node of a PCI function, as sysfs tells them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* Absent strings are NULL, absent widths 0. A virtual function has no link of its own to tell of.
 */
typedef struct {
    char *speed, *speed_max; /* such as "8.0 GT/s PCIe" */
    uint64_t width, width_max;
    bool has_numa_node;
    int64_t numa_node;
} NpPcie;

/* dir: "/sys/bus/pci/devices"; pci: an address as np_bdf_format writes it. Never fails, since every
 * part may be absent. */
void np_pcie_read(const char *dir, const char *pci, NpPcie *ret_pcie);
void np_pcie_clear(NpPcie *pcie);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NpPcie, np_pcie_clear)
