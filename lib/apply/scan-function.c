/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Scan, inner part: see scan-function.h.
 */
#include <string.h>

#include "lib/apply/pci-config.h"
#include "lib/apply/scan-function.h"
#include "lib/apply/tree.h"

#define CONFIG_MAX   4096
#define CLASS_BRIDGE 0x06
#define VFS_MAX      65535

static int64_t
number_at(int sys, const NpBdf *bdf, const char *name, int64_t min, int64_t max, int64_t fallback)
{
    g_autofree char *path = np_tree_pci_path(bdf, name);
    int64_t value = np_tree_number(sys, path, fallback);
    return value < min || value > max ? fallback : value;
}

/* A text that will be shown or compared: control characters are escaped (transfer full, NULL when
 * absent or empty). */
static char *
clean_text(const char *text)
{
    if (!text || !*text || strcmp(text, "(null)") == 0)
        return NULL;
    for (const char *at = text; *at; at++)
        if (!g_ascii_isgraph(*at))
            return np_quote(text);
    return g_strdup(text);
}

static char *
link_at(int sys, const NpBdf *bdf, const char *name)
{
    g_autofree char *path = np_tree_pci_path(bdf, name);
    g_autofree char *target = NULL;
    return np_tree_readlink(sys, path, &target) == 0 ? clean_text(target) : NULL;
}

/* The port above is the folder above, which the link of bus/pci/devices tells:
 * "../../../devices/pci0000:00/0000:00:1c.0/0000:01:00.0". */
static void
read_upstream(int sys, NpFunction *function)
{
    g_autofree char *path = np_tree_pci_path(&function->bdf, NULL);
    g_autofree char *target = NULL;
    if (np_tree_read_target(sys, path, &target) < 0)
        return;
    g_autofree char *folder = g_path_get_dirname(target);
    g_autofree char *name = g_path_get_basename(folder);
    function->has_upstream = np_parse_bdf(name, &function->upstream, NULL);
}

static void
read_sriov(int sys, const NpBdf *bdf, NpSriov *sriov)
{
    sriov->total = (unsigned) number_at(sys, bdf, "sriov_totalvfs", 0, VFS_MAX, 0);
    sriov->count = (unsigned) number_at(sys, bdf, "sriov_numvfs", 0, VFS_MAX, 0);
    sriov->offset = (unsigned) number_at(sys, bdf, "sriov_offset", 0, VFS_MAX, 0);
    sriov->stride = (unsigned) number_at(sys, bdf, "sriov_stride", 0, VFS_MAX, 0);
    sriov->autoprobe = number_at(sys, bdf, "sriov_drivers_autoprobe", 0, 1, 1) != 0;
}

/* The number of the PF's virtfnN link that points back to the VF. */
static unsigned
find_vf_index(int sys, const NpBdf *pf, const NpBdf *vf)
{
    g_autofree char *folder = np_tree_pci_path(pf, NULL);
    g_autoptr(GPtrArray) names = NULL;
    if (np_tree_list(sys, folder, &names) < 0)
        return 0;
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        int64_t index;
        NpBdf bdf;
        if (!g_str_has_prefix(name, "virtfn") ||
            !np_tree_parse_number(name + strlen("virtfn"), &index) || index < 0 || index > VFS_MAX)
            continue;
        g_autofree char *path = np_tree_pci_path(pf, name);
        if (np_tree_link_bdf(sys, path, &bdf) && np_bdf_equal(&bdf, vf))
            return (unsigned) index;
    }
    return 0;
}

static NpFunctionKind
find_kind(int sys, const NpBdf *bdf, bool port, NpBdf *ret_physfn)
{
    g_autofree char *physfn = np_tree_pci_path(bdf, "physfn");
    g_autofree char *total = np_tree_pci_path(bdf, "sriov_totalvfs");
    if (port)
        return NP_FUNCTION_PORT;
    if (np_tree_link_bdf(sys, physfn, ret_physfn))
        return NP_FUNCTION_VF;
    return np_tree_exists(sys, total) ? NP_FUNCTION_PF : NP_FUNCTION_PLAIN;
}

NpFunction *
np_scan_function(int sys, const NpBdf *bdf)
{
    g_autofree char *config_path = np_tree_pci_path(bdf, "config");
    g_autofree char *reset = np_tree_pci_path(bdf, "reset");
    g_autofree char *override = np_tree_pci_path(bdf, "driver_override");
    g_autofree char *config = NULL, *text = NULL;
    size_t size = 0;
    int64_t class_code = number_at(sys, bdf, "class", 0, 0xffffff, -1);
    NpBdf physfn = {0};
    if (class_code < 0)
        return NULL;
    if (np_tree_read(sys, config_path, CONFIG_MAX, &config, &size) < 0)
        size = 0;
    const uint8_t *byte = (const uint8_t *) config;
    bool port = class_code >> 16 == CLASS_BRIDGE || (size && np_pci_is_port(byte, size));
    NpFunction *function = np_function_new(bdf, find_kind(sys, bdf, port, &physfn));
    function->class_code = (uint32_t) class_code;
    function->vendor = (uint16_t) number_at(sys, bdf, "vendor", 0, 0xffff, 0);
    function->device = (uint16_t) number_at(sys, bdf, "device", 0, 0xffff, 0);
    function->numa_node = (int) number_at(sys, bdf, "numa_node", 0, 4095, -1);
    function->driver = link_at(sys, bdf, "driver");
    if (np_tree_read_attr(sys, override, &text) == 0)
        function->driver_override = clean_text(text);
    g_autofree char *group = link_at(sys, bdf, "iommu_group");
    int64_t number;
    if (group && np_tree_parse_number(group, &number) && number >= 0 && number <= G_MAXINT)
        function->group = (int) number;
    function->can_reset = np_tree_exists(sys, reset);
    read_upstream(sys, function);
    if (port && size)
        function->acs = np_pci_acs(byte, size);
    if (function->sriov)
        read_sriov(sys, bdf, function->sriov);
    function->physfn = physfn;
    if (function->kind == NP_FUNCTION_VF)
        function->vf_index = find_vf_index(sys, &physfn, bdf);
    return function;
}

/* "pf0vf3", "c1pf0vf3", "pf0sf88", "pf0": another function's end in the card's switch. The uplink
 * is "p0", and outside switchdev there is no name. */
static bool
is_representor(int sys, const char *folder)
{
    g_autofree char *path = g_strdup_printf("%s/phys_port_name", folder);
    g_autofree char *name = NULL;
    return np_tree_read_attr(sys, path, &name) == 0 && strstr(name, "pf") != NULL;
}

static char *
choose_net(int sys, const char *folder)
{
    g_autoptr(GPtrArray) names = NULL;
    char *best = NULL;
    int64_t best_port = 0;
    if (np_tree_list(sys, folder, &names) < 0)
        return NULL;
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *path =
            g_strdup_printf("%s/%s", folder, (const char *) g_ptr_array_index(names, i));
        g_autofree char *port_path = g_strdup_printf("%s/dev_port", path);
        int64_t port = np_tree_number(sys, port_path, 0);
        if (is_representor(sys, path) || (best && port >= best_port))
            continue;
        g_free(best);
        best = g_steal_pointer(&path);
        best_port = port;
    }
    return best;
}

char *
np_scan_net_path(int sys, const NpBdf *bdf)
{
    g_autofree char *folder = np_tree_pci_path(bdf, NULL);
    g_autofree char *own = np_tree_pci_path(bdf, "net");
    g_autoptr(GPtrArray) names = NULL;
    char *found = choose_net(sys, own);
    if (found || np_tree_list(sys, folder, &names) < 0)
        return found;
    for (guint i = 0; i < names->len && !found; i++) {
        const char *name = g_ptr_array_index(names, i);
        if (!g_str_has_prefix(name, "virtio"))
            continue;
        g_autofree char *path = g_strdup_printf("%s/%s/net", folder, name);
        found = choose_net(sys, path);
    }
    return found;
}
