/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * PCI configuration space and link: what its bytes and sysfs' texts say. Pure.
 */
#pragma once

#include "lib/model/inventory.h"

/* Header type 1: a bridge or port. False when size does not reach so far. */
bool np_pci_is_port(const uint8_t *config, size_t size);

/* Access Control Services of a port, by the rules by which the kernel makes IOMMU groups: source
 * validation, request and completion redirection and upstream forwarding must all be on; the
 * upstream port of a switch, as its only function, needs none. UNKNOWN when size says that the rest
 * was hidden (64 bytes are what users other than root may read). */
NpAcs np_pci_acs(const uint8_t *config, size_t size);

/* A PCIe link as sysfs shows it; 0: not known. */
typedef struct {
    unsigned speed_mts, max_speed_mts; /* MT/s a lane: 2500, 5000, 8000, ... */
    unsigned width, max_width;         /* lanes */
} NpPciLink;

/* "8.0 GT/s PCIe" (and "8 GT/s" of older kernels) in MT/s, 0 for "Unknown" and nonsense. */
unsigned np_pci_parse_speed(const char *text);

/* What the link can carry in Mbit/s of data, one way: lanes times speed, less the line code (8b/10b
 * up to 5 GT/s, then 128b/130b) and some 5 % for packet headers. 0: not known. */
unsigned np_pci_link_mbps(unsigned speed_mts, unsigned width);
