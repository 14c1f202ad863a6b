/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * PCIe: see pcie.h. What the kernel writes when a link does not tell is in Linux,
 * drivers/pci/pci-sysfs.c and drivers/pci/probe.c.
 */
#include "agent/pcie.h"

#include "lib/base/fd.h"
#include "lib/base/parse.h"

#define WIDTH_MAX 32 /* beyond it stand 63 and 255, for unknown */
#define NODE_MAX  65535

static char *
read_attribute(const char *dir, const char *pci, const char *name)
{
    g_autofree char *path = g_build_filename(dir, pci, name, NULL);
    return np_file_read_line(path);
}

static char *
read_speed(const char *dir, const char *pci, const char *name)
{
    g_autofree char *text = read_attribute(dir, pci, name);
    return text && g_ascii_isdigit(text[0]) ? g_steal_pointer(&text) : NULL;
}

static bool
read_number(const char *dir, const char *pci, const char *name, uint64_t min, uint64_t max,
            uint64_t *ret_value)
{
    g_autofree char *text = read_attribute(dir, pci, name);
    return text && np_parse_uint(text, min, max, ret_value, NULL);
}

void
np_pcie_read(const char *dir, const char *pci, NpPcie *ret_pcie)
{
    NpPcie pcie = {.speed = read_speed(dir, pci, "current_link_speed"),
                   .speed_max = read_speed(dir, pci, "max_link_speed")};
    uint64_t node = 0;
    (void) read_number(dir, pci, "current_link_width", 1, WIDTH_MAX, &pcie.width); /* stays 0 */
    (void) read_number(dir, pci, "max_link_width", 1, WIDTH_MAX, &pcie.width_max);
    pcie.has_numa_node = read_number(dir, pci, "numa_node", 0, NODE_MAX, &node); /* "-1": none */
    pcie.numa_node = (int64_t) node;
    *ret_pcie = pcie;
}

void
np_pcie_clear(NpPcie *pcie)
{
    g_free(pcie->speed);
    g_free(pcie->speed_max);
    *pcie = (NpPcie){0};
}
