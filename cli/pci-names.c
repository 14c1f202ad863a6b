/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * PCI names: see pci-names.h. The only user of libpci.
 */
#include "cli/pci-names.h"

#include <pci/pci.h>

#define NAME_SIZE 256

struct NpPciNames {
    struct pci_access *access;
};

NpPciNames *
np_pci_names_new(void)
{
    NpPciNames *names = g_new0(NpPciNames, 1);
    /* Without pci_init: that looks for hardware and ends the program when it finds no way to it. */
    names->access = pci_alloc();
    return names;
}

void
np_pci_names_free(NpPciNames *names)
{
    if (!names)
        return;
    pci_free_name_list(names->access);
    pci_cleanup(names->access);
    g_free(names);
}

/* NULL when the list does not have it. */
static const char *
look_up(NpPciNames *names, char *buffer, int what, unsigned vendor, unsigned device)
{
    return pci_lookup_name(names->access, buffer, NAME_SIZE, what | PCI_LOOKUP_NO_NUMBERS, vendor,
                           device);
}

char *
np_pci_names_get(NpPciNames *names, uint16_t vendor, uint16_t device)
{
    char vendor_buffer[NAME_SIZE], device_buffer[NAME_SIZE];
    const char *vendor_name = look_up(names, vendor_buffer, PCI_LOOKUP_VENDOR, vendor, device);
    const char *device_name = look_up(names, device_buffer, PCI_LOOKUP_DEVICE, vendor, device);
    if (!vendor_name)
        return g_strdup_printf("%04x:%04x", vendor, device);
    if (!device_name)
        return g_strdup_printf("%s %04x", vendor_name, device);
    return g_strdup_printf("%s %s", vendor_name, device_name);
}
