/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Life of VMs and their claims on PCI functions, as the hypervisors' files tell.
 */
#pragma once

#include "lib/model/inventory.h"
#include "lib/model/lease.h"

/* Whether the VM of a lease has a QEMU: lease->qemu_pid, else the pid in RUN/qemu-server/VMID.pid
 * or RUN/libvirt/qemu/NAME.pid, must be a process whose command line names the VM. A pid that went
 * to another process is no life. Descriptors are roots of trees. */
NpLife np_vm_life(int proc, int run, const NpLease *lease);

/* Whether a process's command line (arguments separated by NUL) is the QEMU of that VM. Pure. */
bool np_vm_owns_command_line(const NpVm *vm, const char *data, size_t size);

/* Adds uses of kind RESERVED from the lines of Proxmox' reservation file. now_s: CLOCK_REALTIME;
 * proc: to see whether the pids live. */
void np_reservations_add(const char *text, int64_t now_s, int proc, NpInventory *inventory);

/* Adds uses of kind DOMAIN from the status file of a libvirt domain that runs. False when the text
 * is not one. Pure. */
bool np_domain_add(const char *text, size_t size, NpInventory *inventory);

/* Name and UUID (lower case) of the domain that a file of libvirt defines or describes. False when
 * it has not both. Pure. */
bool np_domain_identity(const char *text, size_t size, char **ret_name, char **ret_uuid);
