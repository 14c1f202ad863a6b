/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * VFIO: see vfio.h.
 */
#include "lib/apply/vfio.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "lib/apply/tree.h"
#include "lib/base/fd.h"

bool
np_vfio_is_driver(const char *driver)
{
    return driver && strstr(driver, "vfio") != NULL;
}

/* The function's nodes below /dev: "vfio/12" and "vfio/devices/vfio0"; either may be NULL. */
typedef struct {
    char *group, *device;
} Nodes;

static void
nodes_clear(Nodes *nodes)
{
    g_free(nodes->group);
    g_free(nodes->device);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Nodes, nodes_clear)

static void
find_nodes(int sys, const NpBdf *bdf, Nodes *nodes)
{
    g_autofree char *link = np_tree_pci_path(bdf, "iommu_group");
    g_autofree char *folder = np_tree_pci_path(bdf, "vfio-dev");
    g_autofree char *group = NULL;
    g_autoptr(GPtrArray) names = NULL;
    if (np_tree_readlink(sys, link, &group) == 0)
        nodes->group = g_strdup_printf("vfio/%s", group);
    if (np_tree_list(sys, folder, &names) == 0 && names->len > 0)
        nodes->device =
            g_strdup_printf("vfio/devices/%s", (const char *) g_ptr_array_index(names, 0));
}

static bool
is_node(const char *target, const char *node)
{
    return node && g_str_has_prefix(target, "/dev/") && strcmp(target + strlen("/dev/"), node) == 0;
}

static bool
has_open(int proc, const char *pid, const Nodes *nodes)
{
    g_autofree char *folder = g_strdup_printf("%s/fd", pid);
    g_autoptr(GPtrArray) names = NULL;
    if (np_tree_list(proc, folder, &names) < 0)
        return false;
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *path =
            g_strdup_printf("%s/%s", folder, (const char *) g_ptr_array_index(names, i));
        g_autofree char *target = NULL;
        if (np_tree_read_target(proc, path, &target) == 0 &&
            (is_node(target, nodes->group) || is_node(target, nodes->device)))
            return true;
    }
    return false;
}

/* The pid of a process that has a node open, or NULL (transfer full). */
static char *
find_holder(int proc, const Nodes *nodes)
{
    g_autoptr(GPtrArray) names = NULL;
    if (np_tree_list(proc, NULL, &names) < 0)
        return NULL;
    for (guint i = 0; i < names->len; i++) {
        const char *pid = g_ptr_array_index(names, i);
        if (g_ascii_isdigit(*pid) && has_open(proc, pid, nodes))
            return g_strdup(pid);
    }
    return NULL;
}

char *
np_vfio_holder(int sys, int proc, const NpBdf *bdf)
{
    g_auto(Nodes) nodes = {NULL};
    find_nodes(sys, bdf, &nodes);
    g_autofree char *pid = find_holder(proc, &nodes);
    if (!pid)
        return NULL;
    g_autofree char *path = g_strdup_printf("%s/comm", pid);
    g_autofree char *name = NULL;
    if (np_tree_read_attr(proc, path, &name) < 0)
        return g_strdup_printf("process %s has it open", pid);
    g_autofree char *quoted = np_quote(name);
    return g_strdup_printf("process %s (%s) has it open", pid, quoted);
}

static int
probe_group(int dev, const char *node, NpVfioState *ret_state, bool *ret_viable)
{
    np_autofd int fd = np_tree_openat(dev, node, O_RDWR);
    struct vfio_group_status status = {.argsz = sizeof(status)};
    if (fd == -EBUSY || fd == -EACCES || fd == -EPERM) {
        *ret_state = NP_VFIO_BUSY;
        *ret_viable = true;
        return 0;
    }
    if (fd < 0)
        return fd;
    *ret_state = NP_VFIO_FREE;
    *ret_viable =
        ioctl(fd, VFIO_GROUP_GET_STATUS, &status) < 0 || status.flags & VFIO_GROUP_FLAGS_VIABLE;
    return 0;
}

int
np_vfio_probe(int sys, int dev, int proc, const NpBdf *bdf, NpVfioState *ret_state,
              bool *ret_viable)
{
    g_autofree char *link = np_tree_pci_path(bdf, "driver");
    g_autofree char *driver = NULL;
    if (np_tree_readlink(sys, link, &driver) < 0 || !np_vfio_is_driver(driver)) {
        *ret_state = NP_VFIO_NONE;
        *ret_viable = true;
        return 0;
    }
    g_auto(Nodes) nodes = {NULL};
    find_nodes(sys, bdf, &nodes);
    int result = nodes.group ? probe_group(dev, nodes.group, ret_state, ret_viable) : -ENOENT;
    if (result != -ENOENT || !nodes.device)
        return result;
    g_autofree char *pid = find_holder(proc, &nodes);
    *ret_state = pid ? NP_VFIO_BUSY : NP_VFIO_FREE;
    *ret_viable = true;
    return 0;
}
