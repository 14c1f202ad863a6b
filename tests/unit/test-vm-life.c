/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: life of VMs, their claims on functions, and VFIO, in a copy of a host's files.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "lib/apply/linux.h"
#include "lib/apply/vfio.h"
#include "lib/apply/vm-life.h"
#include "lib/base/error.h"

#define UUID "4dea22b3-1d52-d8f3-2516-782e98ab3fa0"

static const NpBdf bdf = {.bus = 1, .device = 0x10};

typedef struct {
    char *folder;
    NpSys *sys;
} Copy;

static void
put(const Copy *copy, const char *name, const char *data, gssize size)
{
    g_autofree char *path = g_build_filename(copy->folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(parent, 0755), ==, 0);
    g_assert_true(g_file_set_contents(path, data, size, NULL));
}

static void
make_link(const Copy *copy, const char *name, const char *target)
{
    g_autofree char *path = g_build_filename(copy->folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(parent, 0755), ==, 0);
    g_assert_cmpint(symlink(target, path), ==, 0);
}

static void
copy_open(Copy *copy)
{
    copy->folder = g_dir_make_tmp("np-XXXXXX", NULL);
    put(copy, "sys/x", "", -1);
    put(copy, "dev/x", "", -1);
    put(copy, "proc/x", "", -1);
    put(copy, "run/x", "", -1);
    put(copy, "etc/x", "", -1);
    copy->sys = np_sys_linux(copy->folder, NULL);
    g_assert_nonnull(copy->sys);
}

static void
copy_close(Copy *copy)
{
    np_sys_free(copy->sys);
    g_free(copy->folder);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Copy, copy_close)

static const char qemu_proxmox[] = "/usr/bin/kvm\0-id\0"
                                   "101\0-name\0web";
static const char qemu_libvirt[] = "qemu\0-name\0guest=web\0-uuid\0" UUID;
static const char other[] = "/bin/sh\0-id\0"
                            "1011";

typedef struct {
    const char *name;
    bool libvirt;
    int64_t noted_pid;    /* in the lease */
    const char *pid_file; /* its text */
    const char *command_line;
    size_t size;
    NpLife life;
} Life;

static const Life lives[] = {
    {"proxmox-runs", false, 0, "4711\n", qemu_proxmox, sizeof(qemu_proxmox), NP_LIFE_ALIVE},
    {"proxmox-noted", false, 4711, NULL, qemu_proxmox, sizeof(qemu_proxmox), NP_LIFE_ALIVE},
    {"proxmox-noted-and-started-anew", false, 99, "4711", qemu_proxmox, sizeof(qemu_proxmox),
     NP_LIFE_ALIVE},
    {"proxmox-gone", false, 0, NULL, NULL, 0, NP_LIFE_DEAD},
    {"proxmox-file-left-behind", false, 0, "4711", NULL, 0, NP_LIFE_DEAD},
    {"proxmox-pid-of-another", false, 0, "4711", other, sizeof(other), NP_LIFE_DEAD},
    {"proxmox-command-line-cut", false, 0, "4711", qemu_proxmox, 17, NP_LIFE_DEAD},
    {"proxmox-file-is-nonsense", false, 0, "-1", qemu_proxmox, sizeof(qemu_proxmox),
     NP_LIFE_UNKNOWN},
    {"proxmox-file-is-no-number", false, 0, "x", qemu_proxmox, sizeof(qemu_proxmox),
     NP_LIFE_UNKNOWN},
    {"libvirt-runs", true, 0, "4711", qemu_libvirt, sizeof(qemu_libvirt), NP_LIFE_ALIVE},
    {"libvirt-other-vm", true, 0, "4711", qemu_proxmox, sizeof(qemu_proxmox), NP_LIFE_DEAD},
};

static void
test_life(gconstpointer data)
{
    const Life *row = data;
    g_auto(Copy) copy = {NULL};
    copy_open(&copy);
    g_autoptr(NpVm) vm = row->libvirt ? np_vm_new_libvirt("web", UUID) : np_vm_new_proxmox(101);
    g_autoptr(NpLease) lease = np_lease_new(vm, 0, &bdf);
    lease->qemu_pid = row->noted_pid;
    if (row->pid_file)
        put(&copy, row->libvirt ? "run/libvirt/qemu/web.pid" : "run/qemu-server/101.pid",
            row->pid_file, -1);
    if (row->command_line)
        put(&copy, "proc/4711/cmdline", row->command_line, (gssize) row->size);
    g_assert_cmpint(copy.sys->vm_life(copy.sys, lease), ==, row->life);
}

static void
test_a_domain_name_is_no_path(void)
{
    g_auto(Copy) copy = {NULL};
    copy_open(&copy);
    g_autoptr(NpVm) vm = np_vm_new_libvirt("../../x", UUID);
    g_autoptr(NpLease) lease = np_lease_new(vm, 0, &bdf);
    g_assert_cmpint(copy.sys->vm_life(copy.sys, lease), ==, NP_LIFE_UNKNOWN);
}

static void
test_reservations(void)
{
    g_auto(Copy) copy = {NULL};
    g_autoptr(NpInventory) inventory = np_inventory_new();
    copy_open(&copy);
    put(&copy, "proc/4711/cmdline", qemu_proxmox, sizeof(qemu_proxmox));
    for (uint8_t i = 0; i < 5; i++) {
        const NpBdf at = {.bus = 1, .device = i};
        np_inventory_add(inventory, np_function_new(&at, NP_FUNCTION_VF));
    }
    np_reservations_add("0000:01:00.0 100 time:1001\n0000:01:01.0 100 time:999\n"
                        "0000:01:02.0 101 pid:4711\n0000:01:03.0 102 pid:4711\n"
                        "0000:01:04.0 103 later:maybe\n0000:02:00.0 100 time:1001\n"
                        "nonsense\n0000:01:00.0 -1 time:1001\n0000:01:00.0 100\n",
                        1000, np_sys_linux_roots(copy.sys)->proc, inventory);
    static const guint uses[] = {1, 0, 1, 0, 1};
    for (guint i = 0; i < inventory->functions->len; i++) {
        const NpFunction *function = g_ptr_array_index(inventory->functions, i);
        g_assert_cmpuint(function->uses->len, ==, uses[i]);
    }
    const NpFunction *first = g_ptr_array_index(inventory->functions, 0);
    const NpUse *use = g_ptr_array_index(first->uses, 0);
    g_assert_cmpint(use->kind, ==, NP_USE_RESERVED);
    g_assert_cmpuint(use->vmid, ==, 100);
    g_assert_cmpstr(use->text, ==, "VM 100 reserved it");
}

#define ADDRESS(d) "<address domain='0x0000' bus='0x01' slot='" d "' function='0x0'/>"

static const char domain[] =
    "<domstatus state='running' pid='5'><domain type='kvm'><name>web &amp; co</name>"
    "<uuid>4DEA22B3-1D52-D8F3-2516-782E98AB3FA0</uuid><metadata><name>no</name></metadata><devices>"
    "<hostdev mode='subsystem' type='pci'><source>" ADDRESS(
        "0x00") "</source>"
                "<address type='pci' domain='0x0000' bus='0x01' slot='0x02' "
                "function='0x0'/></hostdev>"
                "<interface type='hostdev'><source>" ADDRESS(
                    "0x01") "</source></interface>"
                            "<hostdev><source>" ADDRESS(
                                "0x99") "<address bus='1'/></source></hostdev>"
                                        "<disk><source>" ADDRESS(
                                            "0x03") "</source></disk>"
                                                    "</devices></domain></domstatus>";

static void
test_domains_that_run(void)
{
    static const guint uses[] = {1, 1, 0, 0};
    g_autoptr(NpInventory) inventory = np_inventory_new();
    for (uint8_t i = 0; i < G_N_ELEMENTS(uses); i++) {
        const NpBdf at = {.bus = 1, .device = i};
        np_inventory_add(inventory, np_function_new(&at, NP_FUNCTION_VF));
    }
    g_assert_true(np_domain_add(domain, strlen(domain), inventory));
    for (guint i = 0; i < G_N_ELEMENTS(uses); i++) {
        const NpFunction *function = g_ptr_array_index(inventory->functions, i);
        g_assert_cmpuint(function->uses->len, ==, uses[i]);
    }
    const NpFunction *first = g_ptr_array_index(inventory->functions, 0);
    const NpUse *use = g_ptr_array_index(first->uses, 0);
    g_assert_cmpstr(use->uuid, ==, UUID);
    g_assert_cmpstr(use->text, ==, "domain 'web & co', which runs, has it");
    for (size_t size = 0; size < strlen(domain); size++)
        g_assert_false(np_domain_add(domain, size, inventory));
    g_assert_cmpuint(first->uses->len, ==, 1);
}

static void
test_identity_of_a_domain(void)
{
    g_autofree char *name = NULL, *uuid = NULL;
    g_assert_true(np_domain_identity(domain, strlen(domain), &name, &uuid));
    g_assert_cmpstr(name, ==, "web & co");
    g_assert_cmpstr(uuid, ==, UUID);
    g_assert_false(np_domain_identity("<domain><name>x</name></domain>", 31, &name, &uuid));
    g_assert_false(np_domain_identity("", 0, &name, &uuid));
}

static void
test_vfio_in_a_copy(void)
{
    g_auto(Copy) copy = {NULL};
    copy_open(&copy);
    const NpScanRoots *roots = np_sys_linux_roots(copy.sys);
    NpVfioState state;
    bool viable = false;
    g_assert_cmpint(copy.sys->probe_vfio(copy.sys, &bdf, &state, &viable), ==, 0);
    g_assert_cmpint(state, ==, NP_VFIO_NONE);
    make_link(&copy, "sys/bus/pci/devices/0000:01:10.0/driver", "../mlx5_vfio_pci");
    make_link(&copy, "sys/bus/pci/devices/0000:01:10.0/iommu_group", "../12");
    put(&copy, "sys/bus/pci/devices/0000:01:10.0/vfio-dev/vfio3/dev", "", -1);
    g_assert_cmpint(copy.sys->probe_vfio(copy.sys, &bdf, &state, &viable), ==, 0);
    g_assert_cmpint(state, ==, NP_VFIO_FREE); /* no group node: by who has the device open */
    put(&copy, "proc/4711/comm", "kvm\n", -1);
    make_link(&copy, "proc/4711/fd/9", "/dev/vfio/devices/vfio3");
    g_assert_cmpint(copy.sys->probe_vfio(copy.sys, &bdf, &state, &viable), ==, 0);
    g_assert_cmpint(state, ==, NP_VFIO_BUSY);
    g_autofree char *holder = np_vfio_holder(roots->sys, roots->proc, &bdf);
    g_assert_cmpstr(holder, ==, "process 4711 ('kvm') has it open");
    put(&copy, "dev/vfio/12", "", -1);
    g_assert_cmpint(copy.sys->probe_vfio(copy.sys, &bdf, &state, &viable), ==, 0);
    g_assert_cmpint(state, ==, NP_VFIO_FREE); /* could be opened */
    g_assert_true(viable);
}

static void
test_only_vfio_drivers_are_vfio_drivers(void)
{
    g_assert_true(np_vfio_is_driver("vfio-pci") && np_vfio_is_driver("mlx5_vfio_pci"));
    g_assert_false(np_vfio_is_driver("igb") || np_vfio_is_driver("") || np_vfio_is_driver(NULL));
}

static void
test_a_copy_changes_nothing_of_this_machine(void)
{
    g_auto(Copy) copy = {NULL};
    copy_open(&copy);
    NpVfAttrs attrs = {.has = NP_VF_TRUST};
    put(&copy, "sys/bus/pci/devices/0000:01:10.0/net/lo/ifindex", "1\n", -1);
    g_assert_cmpint(copy.sys->set_vf(copy.sys, &bdf, 0, &attrs, 1000), ==, -EOPNOTSUPP);
    g_assert_cmpint(copy.sys->load_driver(copy.sys, "vfio-pci"), ==, -ENOENT);
    g_assert_cmpint(copy.sys->load_driver(copy.sys, "../vfio"), ==, -EINVAL);
    g_assert_cmpint(copy.sys->write_attr(copy.sys, "../etc/x", "1", 1000), ==, -EINVAL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(lives); i++) {
        g_autofree char *path = g_strdup_printf("/vm-life/%s", lives[i].name);
        g_test_add_data_func(path, &lives[i], test_life);
    }
    g_test_add_func("/vm-life/a-domain-name-is-no-path", test_a_domain_name_is_no_path);
    g_test_add_func("/vm-life/reservations", test_reservations);
    g_test_add_func("/vm-life/domains-that-run", test_domains_that_run);
    g_test_add_func("/vm-life/identity-of-a-domain", test_identity_of_a_domain);
    g_test_add_func("/vfio/in-a-copy", test_vfio_in_a_copy);
    g_test_add_func("/vfio/only-vfio-drivers-are-vfio-drivers",
                    test_only_vfio_drivers_are_vfio_drivers);
    g_test_add_func("/linux/a-copy-changes-nothing-of-this-machine",
                    test_a_copy_changes_nothing_of_this_machine);
    return g_test_run();
}
