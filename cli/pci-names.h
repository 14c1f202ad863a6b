/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * PCI names: vendors and devices in words, from the system's pci.ids.
 */
#pragma once

#include <stdint.h>

#include <glib.h>

typedef struct NpPciNames NpPciNames;

NpPciNames *np_pci_names_new(void);
void np_pci_names_free(NpPciNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpPciNames, np_pci_names_free)

/* "Intel Corporation 82576 Gigabit Network Connection", or "8086:10c9" for what no list knows
 * (transfer full). */
char *np_pci_names_get(NpPciNames *names, uint16_t vendor, uint16_t device);
