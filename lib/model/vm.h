/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Virtual machines: who asks for a NIC, as the hypervisor names it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/parse.h"

typedef enum {
    NP_VM_PROXMOX,
    NP_VM_LIBVIRT,
} NpVmKind;

/* The hypervisor's definition ties NIC number nic of the VM to this PCI function (hostpciN, or the
 * source address of the N-th <hostdev> of ours), so no other function will do. */
typedef struct {
    unsigned nic;
    NpBdf bdf;
} NpPin;

typedef struct {
    NpVmKind kind;
    uint32_t vmid; /* Proxmox; 0 for libvirt */
    char *name;    /* libvirt: the domain's name; Proxmox: NULL or the VM's name, for messages */
    char *uuid;    /* libvirt: lower case with dashes; Proxmox: NULL */
    char *realm; /* nullable: what makes ids unique on the LAN (cluster name); salts derived MACs */
    GArray *pins; /* of NpPin; may be empty, never NULL */
} NpVm;

NpVm *np_vm_new_proxmox(uint32_t vmid);
NpVm *np_vm_new_libvirt(const char *name, const char *uuid);
NpVm *np_vm_copy(const NpVm *vm);
void np_vm_free(NpVm *vm);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpVm, np_vm_free)

/* "VM 101" or "domain 'web'", for messages (transfer full). */
char *np_vm_describe(const NpVm *vm);

/* Whether the ID of a configuration group [vm ID nic N] means this VM: the VMID, the domain's name
 * or its UUID. Pure. */
bool np_vm_matches(const NpVm *vm, const char *id);

/* Same hypervisor and same VMID or UUID. Pure. */
bool np_vm_same(const NpVm *a, const NpVm *b);

/* The function NIC nic is tied to, or NULL (owned by vm). */
const NpBdf *np_vm_pin(const NpVm *vm, unsigned nic);

/* The MAC of `mac = derived`: locally administered, unicast, the same at each start of the VM on
 * each host of the realm; from SHA-256 of realm, kind, id and NIC number. Pure. */
NpMac np_vm_derived_mac(const NpVm *vm, unsigned nic);
