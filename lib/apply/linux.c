/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Linux: see linux.h.
 */
#include "lib/apply/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "lib/apply/detach.h"
#include "lib/apply/host-use.h"
#include "lib/apply/linux-net.h"
#include "lib/apply/module.h"
#include "lib/apply/tree.h"
#include "lib/apply/vf-netlink.h"
#include "lib/apply/vfio.h"
#include "lib/apply/vm-life.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"

typedef struct {
    NpSys sys;
    NpScanRoots roots;
    bool live; /* this machine */
    char *hint;
} Linux;

static Linux *
linux_of(NpSys *sys)
{
    return (Linux *) sys;
}

/* Every call starts without a hint. */
static Linux *
begin(NpSys *sys)
{
    Linux *self = linux_of(sys);
    g_clear_pointer(&self->hint, g_free);
    return self;
}

static int
linux_read_attr(NpSys *sys, const char *path, char **ret_text)
{
    return np_tree_read_attr(begin(sys)->roots.sys, path, ret_text);
}

static int
linux_write_attr(NpSys *sys, const char *path, const char *text, int64_t timeout_ms)
{
    np_autofd int fd = np_tree_openat(begin(sys)->roots.sys, path, O_WRONLY | O_TRUNC);
    if (fd < 0)
        return fd;
    g_autofree char *line = g_strdup_printf("%s\n", text);
    return np_detached_write(fd, line, strlen(line), timeout_ms);
}

static int
linux_readlink(NpSys *sys, const char *path, char **ret_name)
{
    return np_tree_readlink(begin(sys)->roots.sys, path, ret_name);
}

static int
linux_list(NpSys *sys, const char *path, GPtrArray **ret_names)
{
    return np_tree_list(begin(sys)->roots.sys, path, ret_names);
}

static int
linux_get_vf(NpSys *sys, const NpBdf *pf, unsigned vf_index, NpVfAttrs *ret_attrs)
{
    Linux *self = begin(sys);
    g_autoptr(GByteArray) answer = NULL;
    g_autoptr(GArray) attrs = NULL;
    int ifindex;
    int result = np_scan_ifindex(self->roots.sys, pf, &ifindex);
    if (result < 0)
        return result;
    g_autoptr(NpRtnlMessage) request = np_vf_build_get(ifindex);
    g_autofree char *name = g_strdup_printf("vfs-%d", ifindex);
    result = np_rtnl_query(self->roots.rtnl, request, name, &answer);
    if (result == 0)
        result = np_vf_parse_link(answer->data, answer->len, &attrs);
    if (result < 0)
        return result == -ENODATA ? -ENODEV : result;
    if (vf_index >= attrs->len || !g_array_index(attrs, NpVfAttrs, vf_index).has)
        return -EINVAL;
    *ret_attrs = g_array_index(attrs, NpVfAttrs, vf_index);
    return 0;
}

static int
linux_set_vf(NpSys *sys, const NpBdf *pf, unsigned vf_index, const NpVfAttrs *attrs,
             int64_t timeout_ms)
{
    Linux *self = begin(sys);
    int ifindex;
    int result = np_scan_ifindex(self->roots.sys, pf, &ifindex);
    if (result < 0)
        return result;
    g_autoptr(NpRtnlMessage) request = np_vf_build_set(ifindex, vf_index, attrs);
    return np_rtnl_change(self->roots.rtnl, request, timeout_ms, &self->hint);
}

static int
linux_get_net(NpSys *sys, const NpBdf *bdf, NpNetState *ret_state)
{
    Linux *self = begin(sys);
    int ifindex;
    int result = np_scan_ifindex(self->roots.sys, bdf, &ifindex);
    return result < 0 ? result : np_linux_get_net(self->roots.rtnl, ifindex, ret_state);
}

static int
linux_set_net(NpSys *sys, const NpBdf *bdf, const NpNetState *state, int64_t timeout_ms)
{
    Linux *self = begin(sys);
    int ifindex;
    int result = np_scan_ifindex(self->roots.sys, bdf, &ifindex);
    return result < 0 ? result
                      : np_linux_set_net(self->roots.rtnl, ifindex, state, timeout_ms, &self->hint);
}

static int
linux_get_mac(NpSys *sys, const NpBdf *bdf, NpMac *ret_mac)
{
    Linux *self = begin(sys);
    int ifindex;
    int result = np_scan_ifindex(self->roots.sys, bdf, &ifindex);
    return result < 0 ? result : np_linux_get_mac(self->roots.rtnl, ifindex, ret_mac);
}

static int
linux_probe_vfio(NpSys *sys, const NpBdf *bdf, NpVfioState *ret_state, bool *ret_viable)
{
    const NpScanRoots *roots = &begin(sys)->roots;
    return np_vfio_probe(roots->sys, roots->dev, roots->proc, bdf, ret_state, ret_viable);
}

static int
linux_load_driver(NpSys *sys, const char *driver)
{
    Linux *self = begin(sys);
    g_autofree char *path = g_strdup_printf("bus/pci/drivers/%s", driver);
    if (!np_parse_name(driver, NULL))
        return -EINVAL;
    if (np_tree_exists(self->roots.sys, path))
        return 0;
    int result = self->live ? np_module_load(driver, &self->hint) : -ENOENT;
    if (result < 0)
        return result;
    return np_tree_exists(self->roots.sys, path) ? 0 : -ENOENT;
}

static int
linux_check_path(NpSys *sys, char **ret_problem)
{
    Linux *self = begin(sys);
    g_autoptr(NpHost) host = np_host_new();
    int result = np_scan_host(&self->roots, host);
    if (result == 0)
        *ret_problem = np_host_path_problem(host);
    return result;
}

static NpLife
linux_vm_life(NpSys *sys, const NpLease *lease)
{
    const NpScanRoots *roots = &begin(sys)->roots;
    return np_vm_life(roots->proc, roots->run, lease);
}

static bool
linux_scan(NpSys *sys, NpInventory **ret_inventory, GError **error)
{
    Linux *self = begin(sys);
    self->roots.now_s = (int64_t) time(NULL);
    NpInventory *inventory = np_scan(&self->roots, error);
    if (inventory)
        *ret_inventory = inventory;
    return inventory != NULL;
}

static int64_t
linux_now_ms(NpSys *sys)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
linux_sleep_ms(NpSys *sys, int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

static const char *
linux_hint(NpSys *sys)
{
    return linux_of(sys)->hint;
}

static void
linux_free(NpSys *sys)
{
    Linux *self = linux_of(sys);
    np_rtnl_free(self->roots.rtnl);
    np_fd_clear(&self->roots.sys);
    np_fd_clear(&self->roots.dev);
    np_fd_clear(&self->roots.proc);
    np_fd_clear(&self->roots.etc);
    np_fd_clear(&self->roots.run);
    g_free(self->hint);
    g_free(self);
}

static const NpSys vtable = {
    .read_attr = linux_read_attr,
    .write_attr = linux_write_attr,
    .readlink = linux_readlink,
    .list = linux_list,
    .get_vf = linux_get_vf,
    .set_vf = linux_set_vf,
    .get_net = linux_get_net,
    .set_net = linux_set_net,
    .get_mac = linux_get_mac,
    .probe_vfio = linux_probe_vfio,
    .load_driver = linux_load_driver,
    .check_path = linux_check_path,
    .vm_life = linux_vm_life,
    .scan = linux_scan,
    .now_ms = linux_now_ms,
    .sleep_ms = linux_sleep_ms,
    .hint = linux_hint,
    .free = linux_free,
};

/* A part that a copy may lack. */
static int
open_part(const char *root, const char *name)
{
    g_autofree char *folder = g_build_filename(root, name, NULL);
    return np_tree_open(folder, NULL);
}

static bool
open_roots(Linux *self, const char *root, GError **error)
{
    g_autofree char *sys = g_build_filename(root, "sys", NULL);
    self->roots.sys = np_tree_open(sys, error);
    if (self->roots.sys < 0)
        return false;
    self->roots.dev = open_part(root, "dev");
    self->roots.proc = open_part(root, "proc");
    self->roots.etc = open_part(root, "etc");
    self->roots.run = open_part(root, "run");
    if (!self->live) {
        np_autofd int folder = np_tree_open(root, error);
        if (folder < 0)
            return false;
        self->roots.rtnl = np_rtnl_open_recorded(folder, "netlink");
        return true;
    }
    self->roots.ssh_connection = g_getenv("SSH_CONNECTION");
    int result = np_rtnl_open(&self->roots.rtnl);
    return result == 0 || np_throw_errno(error, -result, "open a netlink socket");
}

NpSys *
np_sys_linux(const char *root, GError **error)
{
    Linux *self = g_new0(Linux, 1);
    g_autoptr(NpSys) sys = &self->sys;
    self->sys = vtable;
    self->live = strcmp(root, "/") == 0;
    self->roots =
        (NpScanRoots){.sys = -1, .dev = -1, .proc = -1, .etc = -1, .run = -1, .rtnl = NULL};
    return open_roots(self, root, error) ? g_steal_pointer(&sys) : NULL;
}

const NpScanRoots *
np_sys_linux_roots(NpSys *sys)
{
    return &linux_of(sys)->roots;
}
