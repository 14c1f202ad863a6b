/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Fake kernel: the scan, VMs, clock and the host's path. See kernel.h.
 */
#include <errno.h>
#include <string.h>

#include "tests/fake/kernel.h"

static NpNetdev *
scan_net(const FakeNet *net)
{
    NpNetdev *copy = np_netdev_new(net->name);
    g_autoptr(GPtrArray) addresses = g_ptr_array_new();
    copy->ifindex = net->ifindex;
    copy->mac = net->mac;
    copy->perm_mac = net->perm;
    copy->up = net->up;
    copy->carrier = net->carrier;
    copy->mtu = net->mtu;
    copy->master = *net->master ? g_strdup(net->master) : NULL;
    for (size_t i = 0; i < FAKE_ADDRESSES; i++)
        if (*net->addresses[i])
            g_ptr_array_add(addresses, g_strdup(net->addresses[i]));
    g_ptr_array_add(addresses, NULL);
    g_strfreev(copy->addresses);
    copy->addresses = (char **) g_ptr_array_free(g_steal_pointer(&addresses), FALSE);
    return copy;
}

static void
scan_sriov(FakeKernel *kernel, const FakeDevice *device, NpSriov *sriov)
{
    sriov->total = device->total;
    sriov->count = device->count;
    sriov->offset = device->offset;
    sriov->stride = device->stride;
    sriov->autoprobe = device->autoprobe;
    sriov->switchdev = device->switchdev;
    for (unsigned i = 0; i < device->count; i++) {
        NpVfAttrs attrs;
        if (kernel->sys.get_vf(&kernel->sys, &device->bdf, i, &attrs) < 0)
            return;
        np_vf_clean(&attrs);
        g_array_append_val(sriov->attrs, attrs);
        sriov->has_attrs = true;
    }
}

static NpFunction *
scan_function(FakeKernel *kernel, const FakeDevice *device)
{
    NpFunction *function = np_function_new(&device->bdf, device->kind);
    bool viable;
    function->vendor = device->vendor;
    function->device = device->device;
    function->class_code = device->kind == NP_FUNCTION_PORT ? 0x060400 : 0x020000;
    function->driver = *device->driver ? g_strdup(device->driver) : NULL;
    function->driver_override = *device->override ? g_strdup(device->override) : NULL;
    function->group = kernel->state->no_iommu ? -1 : device->group;
    function->can_reset = true;
    function->has_upstream = device->has_upstream;
    function->upstream = device->upstream;
    function->acs = device->acs;
    function->physfn = device->physfn;
    function->vf_index = device->index;
    if (device->net.exists)
        function->net = scan_net(&device->net);
    if (function->sriov)
        scan_sriov(kernel, device, function->sriov);
    (void) kernel->sys.probe_vfio(&kernel->sys, &device->bdf, &function->vfio, &viable);
    for (unsigned i = 0; i < device->use_count; i++)
        np_function_add_use(function, device->uses[i].kind, device->uses[i].text,
                            device->uses[i].vmid, NULL);
    return function;
}

static bool
fake_scan(NpSys *sys, NpInventory **ret_inventory, GError **error)
{
    FakeKernel *kernel = (FakeKernel *) sys;
    NpInventory *inventory = np_inventory_new();
    inventory->iommu = !kernel->state->no_iommu;
    for (size_t i = 0; i < FAKE_DEVICES; i++) {
        fake_lock(kernel);
        FakeDevice device = kernel->state->devices[i];
        fake_unlock(kernel);
        if (device.exists && !device.hidden)
            np_inventory_add(inventory, scan_function(kernel, &device));
    }
    *ret_inventory = inventory;
    return true;
}

static NpLife
fake_vm_life(NpSys *sys, const NpLease *lease)
{
    const FakeState *state = ((FakeKernel *) sys)->state;
    if (state->all_vms_alive)
        return NP_LIFE_ALIVE;
    if (lease->vm->uuid && strcmp(lease->vm->uuid, state->alive_uuid) == 0)
        return NP_LIFE_ALIVE;
    for (size_t i = 0; i < G_N_ELEMENTS(state->alive_vmids); i++)
        if (lease->vm->vmid && state->alive_vmids[i] == lease->vm->vmid)
            return NP_LIFE_ALIVE;
    return NP_LIFE_DEAD;
}

static int
fake_check_path(NpSys *sys, char **ret_problem)
{
    bool lost = ((FakeKernel *) sys)->state->path_lost;
    *ret_problem = lost ? g_strdup("default route through vmbr0 has no link") : NULL; /* L13 */
    return 0;
}

static int64_t
fake_now_ms(NpSys *sys)
{
    return ((FakeKernel *) sys)->state->now_ms;
}

static void
fake_sleep_ms(NpSys *sys, int64_t ms)
{
    FakeKernel *kernel = (FakeKernel *) sys;
    fake_lock(kernel);
    kernel->state->now_ms += ms;
    fake_unlock(kernel);
}

static const char *
fake_hint(NpSys *sys)
{
    return NULL;
}

void
fake_scan_install(NpSys *sys)
{
    sys->scan = fake_scan;
    sys->vm_life = fake_vm_life;
    sys->check_path = fake_check_path;
    sys->now_ms = fake_now_ms;
    sys->sleep_ms = fake_sleep_ms;
    sys->hint = fake_hint;
}
