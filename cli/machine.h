/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Machine: a VM that is attached to, started, stopped and talked to, whatever its hypervisor.
 */
#pragma once

#include "lib/model/config.h"

/* What to give a VM: a NIC, or only the agent's channel. */
typedef enum {
    NP_GIFT_CHANNEL, /* only the channel; the others bring it, too */
    NP_GIFT_VIRTIO,  /* a virtio NIC on a bridge of the host */
    NP_GIFT_NIC,     /* a VF of a pool, one VF, or a whole port */
} NpGiftKind;

typedef struct {
    NpGiftKind kind;
    char *bridge; /* of VIRTIO */
    int nic;      /* number of the NIC, -1: the lowest free one */
    /* Of NIC: lines for the VM's group in the configuration, "key = value" as in nicpass.conf(5),
     * such as "pool = fast\nvlan = 100\n"; checked by the configuration's own parser. */
    char *section;
} NpGift;

void np_gift_clear(NpGift *gift);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NpGift, np_gift_clear)

typedef struct NpMachine NpMachine;

/* One kind of hypervisor. */
typedef struct {
    const char *scheme; /* "libvirt", "proxmox" */

    /* Opens what follows "SCHEME:" in an endpoint: "qemu:///system#web01", "101". Throws NOT_FOUND,
     * CONFIG, or the hypervisor's words. */
    NpMachine *(*open)(const char *rest, GError **error);
    void (*close)(NpMachine *machine);

    /* Writes the VM's definition and configuration. With dry_run nothing is written. ret_text
     * (nullable): what is, or would be, written, for people. ret_mac (nullable): the MAC by which
     * the guest will know the NIC, NULL for CHANNEL. ret_nic (nullable): its number. Either all of
     * it is written or nothing. Throws BUSY when the VM runs. */
    bool (*attach)(NpMachine *machine, const NpGift *gift, bool dry_run, char **ret_text,
                   char **ret_mac, unsigned *ret_nic, GError **error);
    /* Removes exactly what attach added: NIC nic, or with -1 everything, the channel too. */
    bool (*detach)(NpMachine *machine, int nic, bool dry_run, char **ret_text, GError **error);

    bool (*running)(NpMachine *machine, bool *ret_running, GError **error);
    bool (*start)(NpMachine *machine, GError **error);
    /* Asks the guest to shut down, and pulls the plug after grace_ms (0: at once). Returns when the
     * hypervisor has let go of its devices, hooks included. A VM that is off is fine. */
    bool (*stop)(NpMachine *machine, int64_t grace_ms, GError **error);

    /* Connects to the agent's channel of the running VM; a stream for np_peer_new. -1 on failure:
     * NOT_FOUND when the VM has no channel (says how to add it). */
    int (*open_agent)(NpMachine *machine, GError **error);

    /* The pid of its QEMU on its own host. Only known for a VM of this host, else UNSUPPORTED. */
    bool (*qemu_pid)(NpMachine *machine, int64_t *ret_pid, GError **error);
} NpMachineOps;

struct NpMachine {
    const NpMachineOps *ops;
    char *endpoint; /* "libvirt:qemu:///system#web01" */
    char *ssh_host; /* "root@other", or NULL: a VM of this host */
    NpVm *vm;       /* pins as defined at the time of open */
};

extern const NpMachineOps np_libvirt_machines;

/* Opens an endpoint "SCHEME:REST", or a bare VM as a person names it: a VMID is Proxmox', anything
 * else a domain of qemu:///system. */
NpMachine *np_machine_open(const char *text, GError **error);
void np_machine_close(NpMachine *machine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpMachine, np_machine_close)
