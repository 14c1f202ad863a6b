/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Virtual machines: see vm.h.
 */
#include "lib/model/vm.h"

#include <string.h>

static NpVm *
vm_new(NpVmKind kind)
{
    NpVm *vm = g_new0(NpVm, 1);
    vm->kind = kind;
    vm->pins = g_array_new(FALSE, FALSE, sizeof(NpPin));
    return vm;
}

NpVm *
np_vm_new_proxmox(uint32_t vmid)
{
    NpVm *vm = vm_new(NP_VM_PROXMOX);
    vm->vmid = vmid;
    return vm;
}

NpVm *
np_vm_new_libvirt(const char *name, const char *uuid)
{
    NpVm *vm = vm_new(NP_VM_LIBVIRT);
    vm->name = g_strdup(name);
    vm->uuid = g_strdup(uuid);
    return vm;
}

NpVm *
np_vm_copy(const NpVm *vm)
{
    NpVm *copy = vm_new(vm->kind);
    copy->vmid = vm->vmid;
    copy->name = g_strdup(vm->name);
    copy->uuid = g_strdup(vm->uuid);
    copy->realm = g_strdup(vm->realm);
    g_array_append_vals(copy->pins, vm->pins->data, vm->pins->len);
    return copy;
}

void
np_vm_free(NpVm *vm)
{
    if (!vm)
        return;
    g_free(vm->name);
    g_free(vm->uuid);
    g_free(vm->realm);
    g_array_unref(vm->pins);
    g_free(vm);
}

char *
np_vm_describe(const NpVm *vm)
{
    if (vm->kind == NP_VM_PROXMOX)
        return g_strdup_printf("VM %u", vm->vmid);
    g_autofree char *name = np_quote(vm->name);
    return g_strdup_printf("domain %s", name);
}

bool
np_vm_matches(const NpVm *vm, const char *id)
{
    if (vm->kind == NP_VM_LIBVIRT)
        return strcmp(id, vm->name) == 0 || g_ascii_strcasecmp(id, vm->uuid) == 0;
    uint32_t vmid;
    return np_parse_vmid(id, &vmid, NULL) && vmid == vm->vmid;
}

bool
np_vm_same(const NpVm *a, const NpVm *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == NP_VM_PROXMOX ? a->vmid == b->vmid : strcmp(a->uuid, b->uuid) == 0;
}

const NpBdf *
np_vm_pin(const NpVm *vm, unsigned nic)
{
    for (guint i = 0; i < vm->pins->len; i++) {
        const NpPin *pin = &g_array_index(vm->pins, NpPin, i);
        if (pin->nic == nic)
            return &pin->bdf;
    }
    return NULL;
}

NpMac
np_vm_derived_mac(const NpVm *vm, unsigned nic)
{
    g_autofree char *id =
        vm->kind == NP_VM_PROXMOX ? g_strdup_printf("%u", vm->vmid) : g_strdup(vm->uuid);
    g_autofree char *text =
        g_strdup_printf("nicpass mac\n%s\n%s\n%s\n%u", vm->realm ? vm->realm : "",
                        vm->kind == NP_VM_PROXMOX ? "proxmox" : "libvirt", id, nic);
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, (const guchar *) text, -1);
    guint8 digest[32];
    gsize size = sizeof(digest);
    g_checksum_get_digest(sum, digest, &size);

    NpMac mac;
    memcpy(mac.byte, digest, sizeof(mac.byte));
    mac.byte[0] = (uint8_t) ((mac.byte[0] & 0xfc) | 0x02); /* local, unicast */
    return mac;
}
