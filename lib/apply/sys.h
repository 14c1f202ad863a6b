/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * System: the vtable through which all effects on the host go, and all looks at it.
 */
#pragma once

#include <stdint.h>

#include "lib/model/inventory.h"
#include "lib/model/lease.h"

/* A netdev's state; in a request, fields without their bit stay as they are. */
typedef enum {
    NP_NET_UP = 1 << 0,
    NP_NET_MTU = 1 << 1,
    NP_NET_MASTER = 1 << 2,
    NP_NET_ADDRESSES = 1 << 3,
} NpNetFields;

typedef struct {
    NpNetFields has;
    bool up;
    unsigned mtu;
    char *master;     /* name, NULL for none */
    char **addresses; /* as NpNetdev's; setting adds those missing and removes those not listed */
} NpNetState;

void np_net_state_clear(NpNetState *state);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NpNetState, np_net_state_clear)

/* Implementations: np_sys_linux (lib/apply/linux.h) and the fake kernel of tests/fake.
 *
 * Functions return 0 or a negative errno: this is the kernel's own border, where the number decides
 * what happens next (EAGAIN is tried again, ENOSPC of sriov_numvfs gets words of its own) and where
 * the fake must fail exactly as the kernel does. Out parameters are untouched on failure. All paths
 * are relative to the root of sysfs, without leading slash, such as
 * "bus/pci/devices/0000:3b:02.1/driver_override"; an implementation resolves them below its root
 * and refuses ".." with EINVAL.
 *
 * Names of netdevs never cross this border: a netdev is "that of the PCI function", looked up anew
 * in its net/ folder (by ifindex from there) at each call; a function without a netdev gives
 * ENODEV. */
typedef struct NpSys NpSys;
struct NpSys {
    /* An attribute's text without its trailing newline (transfer full); at most 4096 bytes. */
    int (*read_attr)(NpSys *sys, const char *path, char **ret_text);

    /* Writes text and a newline in one write(). Some drivers block for ever (a VF of a running VM),
     * and the kernel cannot be interrupted there: after timeout_ms it gives up with ETIMEDOUT and
     * leaves the write to a thread or child that nobody waits for. */
    int (*write_attr)(NpSys *sys, const char *path, const char *text, int64_t timeout_ms);

    /* The last component of a link's target (transfer full): "igb" for ".../driver". ENOENT when
     * there is no link. */
    int (*readlink)(NpSys *sys, const char *path, char **ret_name);

    /* Names in a folder, sorted, without "." and ".." (of char *, transfer full). */
    int (*list)(NpSys *sys, const char *path, GPtrArray **ret_names);

    /* Attributes of one VF as its PF reports them now, not np_vf_clean'ed. EINVAL: no such VF;
     * ENODEV: the PF has no netdev. */
    int (*get_vf)(NpSys *sys, const NpBdf *pf, unsigned vf_index, NpVfAttrs *ret_attrs);

    /* One RTM_SETLINK with all attributes of attrs->has in one IFLA_VF_INFO. The kernel carries
     * them out in the order of NpVfFields and stops at the first that fails: those before stay set.
     */
    int (*set_vf)(NpSys *sys, const NpBdf *pf, unsigned vf_index, const NpVfAttrs *attrs,
                  int64_t timeout_ms);

    /* The netdev of a function. Set: MTU, master, up, addresses in this order. */
    int (*get_net)(NpSys *sys, const NpBdf *bdf, NpNetState *ret_state);
    int (*set_net)(NpSys *sys, const NpBdf *bdf, const NpNetState *state, int64_t timeout_ms);

    /* The MAC in effect on the function's netdev. */
    int (*get_mac)(NpSys *sys, const NpBdf *bdf, NpMac *ret_mac);

    /* Opens and closes the function's VFIO group, or its cdev: *ret_state; and whether the kernel
     * calls the group viable (only asked when it is FREE; true otherwise). */
    int (*probe_vfio)(NpSys *sys, const NpBdf *bdf, NpVfioState *ret_state, bool *ret_viable);

    /* Loads a driver's module unless it is there: for drivers to bind to, never for others. */
    int (*load_driver)(NpSys *sys, const char *driver);

    /* Whether the host's management path works: NULL, or what is wrong (transfer full): "default
     * route through vmbr0 has no link". */
    int (*check_path)(NpSys *sys, char **ret_problem);

    /* Whether the VM of a lease lives: by its QEMU (lease->qemu_pid if not 0, else the hypervisor's
     * pid file). A VM that is being started but has no QEMU yet is DEAD here; lib/apply/leases.c
     * knows about those. Never fails: UNKNOWN. */
    NpLife (*vm_life)(NpSys *sys, const NpLease *lease);

    /* The whole inventory (transfer full). */
    bool (*scan)(NpSys *sys, NpInventory **ret_inventory, GError **error);

    /* CLOCK_BOOTTIME in ms, and waiting: the fake's clock jumps instead. */
    int64_t (*now_ms)(NpSys *sys);
    void (*sleep_ms)(NpSys *sys, int64_t ms);

    /* What the kernel said beyond the errno of the last failed call (netlink's extended ack), or
     * NULL. Owned by sys, valid until the next call. */
    const char *(*hint)(NpSys *sys);

    void (*free)(NpSys *sys);
};

/* NULL is fine. */
static inline void
np_sys_free(NpSys *sys)
{
    if (sys)
        sys->free(sys);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpSys, np_sys_free)
