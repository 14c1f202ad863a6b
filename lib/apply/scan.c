/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Scan: see scan.h.
 */
#include "lib/apply/scan.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "lib/apply/host-use.h"
#include "lib/apply/net-netlink.h"
#include "lib/apply/peers.h"
#include "lib/apply/scan-function.h"
#include "lib/apply/tree.h"
#include "lib/apply/vf-netlink.h"
#include "lib/apply/vfio.h"
#include "lib/apply/vm-life.h"
#include "lib/base/error.h"

#define CLASS_NETWORK 0x02
#define FILE_MAX      (4u << 20)
#define DEPTH_MAX     32 /* ports above each other */

int
np_scan_ifindex(int sys, const NpBdf *bdf, int *ret_ifindex)
{
    g_autofree char *net = np_scan_net_path(sys, bdf);
    if (!net)
        return -ENODEV;
    g_autofree char *path = g_strdup_printf("%s/ifindex", net);
    int64_t ifindex = np_tree_number(sys, path, 0);
    if (ifindex <= 0 || ifindex > INT_MAX)
        return -ENODEV;
    *ret_ifindex = (int) ifindex;
    return 0;
}

static unsigned
speed_at(int sys, const NpBdf *bdf, const char *name)
{
    g_autofree char *path = np_tree_pci_path(bdf, name);
    g_autofree char *text = NULL;
    return np_tree_read_attr(sys, path, &text) == 0 ? np_pci_parse_speed(text) : 0;
}

static unsigned
width_at(int sys, const NpBdf *bdf, const char *name)
{
    g_autofree char *path = np_tree_pci_path(bdf, name);
    int64_t width = np_tree_number(sys, path, 0);
    return width < 0 || width > 32 ? 0 : (unsigned) width; /* 255: not known */
}

NpPciLink
np_scan_pci_link(int sys, const NpBdf *bdf)
{
    return (NpPciLink){.speed_mts = speed_at(sys, bdf, "current_link_speed"),
                       .max_speed_mts = speed_at(sys, bdf, "max_link_speed"),
                       .width = width_at(sys, bdf, "current_link_width"),
                       .max_width = width_at(sys, bdf, "max_link_width")};
}

unsigned
np_scan_net_mbps(int sys, const NpBdf *bdf)
{
    g_autofree char *net = np_scan_net_path(sys, bdf);
    if (!net)
        return 0;
    g_autofree char *path = g_strdup_printf("%s/speed", net);
    int64_t mbps = np_tree_number(sys, path, 0); /* -1: no link */
    return mbps < 0 || mbps > INT_MAX ? 0 : (unsigned) mbps;
}

int
np_scan_host(const NpScanRoots *roots, NpHost *host)
{
    int result = roots->rtnl ? np_net_collect(roots->rtnl, host) : 0;
    if (result == 0)
        np_peers_collect(roots->proc, roots->etc, roots->ssh_connection, host);
    return result;
}

/* In switchdev mode the PF's netdev tells to which switch it belongs; drivers in legacy mode have
 * no such attribute, or answer EOPNOTSUPP. */
static bool
is_switchdev(int sys, const NpBdf *bdf)
{
    g_autofree char *net = np_scan_net_path(sys, bdf);
    if (!net)
        return false;
    g_autofree char *path = g_strdup_printf("%s/phys_switch_id", net);
    g_autofree char *text = NULL;
    return np_tree_read_attr(sys, path, &text) == 0 && *text;
}

static void
read_vf_attrs(const NpScanRoots *roots, int ifindex, NpSriov *sriov)
{
    g_autoptr(NpRtnlMessage) request = np_vf_build_get(ifindex);
    g_autofree char *name = g_strdup_printf("vfs-%d", ifindex);
    g_autoptr(GByteArray) answer = NULL;
    g_autoptr(GArray) attrs = NULL;
    if (np_rtnl_query(roots->rtnl, request, name, &answer) < 0 ||
        np_vf_parse_link(answer->data, answer->len, &attrs) < 0)
        return;
    for (guint i = 0; i < attrs->len; i++)
        np_vf_clean(&g_array_index(attrs, NpVfAttrs, i));
    g_array_unref(sriov->attrs);
    sriov->attrs = g_steal_pointer(&attrs);
    sriov->has_attrs = true;
}

static void
read_net(const NpScanRoots *roots, const NpHost *host, NpFunction *function)
{
    int ifindex;
    if (np_scan_ifindex(roots->sys, &function->bdf, &ifindex) < 0)
        return;
    const NpLink *link = np_host_link(host, ifindex);
    if (!link)
        return;
    const NpLink *master = link->master ? np_host_link(host, link->master) : NULL;
    function->net = np_netdev_new(link->name);
    function->net->ifindex = ifindex;
    function->net->mac = link->mac;
    function->net->perm_mac = link->perm_mac;
    function->net->up = link->up;
    function->net->carrier = link->carrier;
    function->net->mtu = link->mtu;
    function->net->master = master ? g_strdup(master->name) : NULL;
    g_strfreev(function->net->addresses);
    function->net->addresses = np_host_addresses(host, ifindex);
    np_host_add_uses(host, ifindex, function);
    if (function->sriov && function->sriov->count > 0)
        read_vf_attrs(roots, ifindex, function->sriov);
}

static void
read_vfio(const NpScanRoots *roots, NpFunction *function)
{
    bool viable;
    if (np_vfio_probe(roots->sys, roots->dev, roots->proc, &function->bdf, &function->vfio,
                      &viable) < 0)
        function->vfio = NP_VFIO_FREE; /* no node: nobody can have it open */
    if (function->vfio != NP_VFIO_BUSY)
        return;
    g_autofree char *holder = np_vfio_holder(roots->sys, roots->proc, &function->bdf);
    np_function_add_use(function, NP_USE_VFIO,
                        holder ? holder : "a process has it open, or only root may look", 0, NULL);
}

/* Adds the function and the ports above it, unless they are there. */
static void
add_function(const NpScanRoots *roots, const NpHost *host, const NpBdf *bdf, NpInventory *inventory)
{
    NpBdf at = *bdf;
    for (unsigned depth = 0; depth < DEPTH_MAX && !np_inventory_find(inventory, &at); depth++) {
        NpFunction *function = np_scan_function(roots->sys, &at);
        if (!function)
            return; /* gone since the folder was listed */
        np_inventory_add(inventory, function);
        if (function->sriov)
            function->sriov->switchdev = is_switchdev(roots->sys, &at);
        read_net(roots, host, function);
        read_vfio(roots, function);
        if (!function->has_upstream)
            return;
        at = function->upstream;
    }
}

static bool
is_network(int sys, const NpBdf *bdf)
{
    g_autofree char *path = np_tree_pci_path(bdf, "class");
    return np_tree_number(sys, path, 0) >> 16 == CLASS_NETWORK;
}

static void
add_group(const NpScanRoots *roots, const NpHost *host, int group, NpInventory *inventory)
{
    g_autofree char *path = g_strdup_printf("kernel/iommu_groups/%d/devices", group);
    g_autoptr(GPtrArray) names = NULL;
    if (group < 0 || np_tree_list(roots->sys, path, &names) < 0)
        return;
    for (guint i = 0; i < names->len; i++) {
        NpBdf bdf;
        if (np_parse_bdf(g_ptr_array_index(names, i), &bdf, NULL))
            add_function(roots, host, &bdf, inventory);
    }
}

static void
add_holders(const NpScanRoots *roots, NpInventory *inventory)
{
    g_autofree char *reservations = NULL;
    g_autoptr(GPtrArray) names = NULL;
    if (np_tree_read(roots->run, "qemu-server/pci-id-reservations", FILE_MAX, &reservations,
                     NULL) == 0)
        np_reservations_add(reservations, roots->now_s, roots->proc, inventory);
    if (np_tree_list(roots->run, "libvirt/qemu", &names) < 0)
        return;
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        g_autofree char *path = g_strdup_printf("libvirt/qemu/%s", name);
        g_autofree char *text = NULL;
        size_t size;
        if (g_str_has_suffix(name, ".xml") &&
            np_tree_read(roots->run, path, FILE_MAX, &text, &size) == 0)
            (void) np_domain_add(text, size, inventory); /* another kind of file, or half written */
    }
}

/* Which functions get in, as an array of NpBdf: first the network functions. */
static int
list_network(int sys, GArray **ret_list)
{
    g_autoptr(GPtrArray) names = NULL;
    int result = np_tree_list(sys, "bus/pci/devices", &names);
    if (result < 0)
        return result;
    GArray *list = g_array_new(FALSE, FALSE, sizeof(NpBdf));
    for (guint i = 0; i < names->len; i++) {
        NpBdf bdf;
        if (np_parse_bdf(g_ptr_array_index(names, i), &bdf, NULL) && is_network(sys, &bdf))
            g_array_append_val(list, bdf);
    }
    *ret_list = list;
    return 0;
}

NpInventory *
np_scan(const NpScanRoots *roots, GError **error)
{
    g_autoptr(NpInventory) inventory = np_inventory_new();
    g_autoptr(NpHost) host = np_host_new();
    g_autoptr(GArray) list = NULL;
    g_autoptr(GPtrArray) iommus = NULL;
    int result = list_network(roots->sys, &list);
    if (result < 0 && result != -ENOENT) {
        np_throw_errno(error, -result, "bus/pci/devices in sysfs");
        return NULL;
    }
    result = np_scan_host(roots, host);
    if (result < 0) {
        np_throw_errno(error, -result, "ask the kernel for links, addresses and routes");
        return NULL;
    }
    inventory->iommu = np_tree_list(roots->sys, "class/iommu", &iommus) == 0 && iommus->len > 0;
    inventory->path_problem = np_host_path_problem(host);
    for (guint i = 0; list && i < list->len; i++)
        add_function(roots, host, &g_array_index(list, NpBdf, i), inventory);
    for (guint i = 0; list && i < list->len; i++) {
        const NpFunction *function = np_inventory_find(inventory, &g_array_index(list, NpBdf, i));
        if (function)
            add_group(roots, host, function->group, inventory);
    }
    add_holders(roots, inventory);
    return g_steal_pointer(&inventory);
}
