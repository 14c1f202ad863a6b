/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: configuration space, links, findings.
 */
#include <string.h>

#include <linux/pci_regs.h>

#include "lib/apply/pci-config.h"
#include "lib/plan/findings.h"

#define EXPRESS_AT 0x40
#define ACS_AT     0x148

typedef struct {
    const char *name;
    unsigned port_type; /* PCI_EXP_TYPE_* */
    bool no_express, multifunction, no_acs;
    uint16_t control;
    size_t size;
    NpAcs acs;
} Port;

static const Port ports[] = {
    {"root-port-all-on", PCI_EXP_TYPE_ROOT_PORT, .control = 0x1d, .size = 4096, .acs = NP_ACS_ON},
    {"more-than-needed", PCI_EXP_TYPE_ROOT_PORT, .control = 0x5f, .size = 4096, .acs = NP_ACS_ON},
    {"one-bit-missing", PCI_EXP_TYPE_ROOT_PORT, .control = 0x1c, .size = 4096,
     .acs = NP_ACS_ABSENT},
    {"switched-off", PCI_EXP_TYPE_DOWNSTREAM, .size = 4096, .acs = NP_ACS_ABSENT},
    {"no-capability", PCI_EXP_TYPE_DOWNSTREAM, .no_acs = true, .size = 4096, .acs = NP_ACS_ABSENT},
    {"upstream-port-of-a-switch", PCI_EXP_TYPE_UPSTREAM, .no_acs = true, .size = 4096,
     .acs = NP_ACS_ON},
    {"upstream-port-among-functions", PCI_EXP_TYPE_UPSTREAM, .no_acs = true, .multifunction = true,
     .size = 4096, .acs = NP_ACS_ABSENT},
    {"conventional-bridge", .no_express = true, .size = 256, .acs = NP_ACS_ABSENT},
    {"without-root", PCI_EXP_TYPE_ROOT_PORT, .control = 0x1d, .size = 64, .acs = NP_ACS_UNKNOWN},
    {"nothing-read", PCI_EXP_TYPE_ROOT_PORT, .control = 0x1d, .size = 0, .acs = NP_ACS_UNKNOWN},
    {"no-extended-space", PCI_EXP_TYPE_ROOT_PORT, .control = 0x1d, .size = 256,
     .acs = NP_ACS_ABSENT},
};

static void
build_config(const Port *port, uint8_t config[4096])
{
    memset(config, 0, 4096);
    config[PCI_HEADER_TYPE] = PCI_HEADER_TYPE_BRIDGE | (port->multifunction ? 0x80 : 0);
    config[PCI_STATUS] = PCI_STATUS_CAP_LIST;
    config[PCI_CAPABILITY_LIST] = EXPRESS_AT;
    config[EXPRESS_AT] = port->no_express ? PCI_CAP_ID_MSI : PCI_CAP_ID_EXP;
    config[EXPRESS_AT + PCI_EXP_FLAGS] = (uint8_t) (port->port_type << 4 | 2);
    config[0x100] = PCI_EXT_CAP_ID_ERR;
    config[0x102] = 0x82; /* version 2, next 0x148 */
    config[0x103] = 0x14;
    config[ACS_AT] = port->no_acs ? PCI_EXT_CAP_ID_DSN : PCI_EXT_CAP_ID_ACS;
    config[ACS_AT + 2] = 1;
    config[ACS_AT + PCI_ACS_CTRL] = (uint8_t) port->control;
}

static void
test_acs(gconstpointer data)
{
    const Port *port = data;
    uint8_t config[4096];
    build_config(port, config);
    g_assert_cmpint(np_pci_acs(config, port->size), ==, port->acs);
    g_assert_cmpint(np_pci_is_port(config, port->size), ==, port->size > 0);
}

static void
test_lists_in_a_circle_come_to_an_end(void)
{
    uint8_t config[4096] = {0};
    config[PCI_STATUS] = PCI_STATUS_CAP_LIST;
    config[PCI_CAPABILITY_LIST] = config[0x41] = 0x40;
    g_assert_cmpint(np_pci_acs(config, sizeof(config)), ==, NP_ACS_ABSENT);
    config[0x40] = PCI_CAP_ID_EXP;
    config[0x101] = 0x80; /* an id that is not ACS, and itself as the next */
    config[0x102] = 0x01;
    config[0x103] = 0x10;
    g_assert_cmpint(np_pci_acs(config, sizeof(config)), ==, NP_ACS_ABSENT);
    memset(config, 0xff, sizeof(config)); /* a device that fell off the bus */
    g_assert_cmpint(np_pci_acs(config, sizeof(config)), ==, NP_ACS_ABSENT);
    g_assert_false(np_pci_is_port(config, sizeof(config)));
}

static void
test_speeds(void)
{
    static const struct {
        const char *text;
        unsigned mts;
    } rows[] = {{"2.5 GT/s PCIe", 2500}, {"8.0 GT/s PCIe", 8000},
                {"8 GT/s", 8000},        {"16.0 GT/s PCIe", 16000},
                {"Unknown", 0},          {"", 0},
                {"Unknown speed", 0},    {"9999 GT/s", 0},
                {"8.0 MT/s", 0},         {".5 GT/s", 0},
                {"2.5.5 GT/s", 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        g_assert_cmpuint(np_pci_parse_speed(rows[i].text), ==, rows[i].mts);
    /* A 10G port on a 2.5 GT/s x4 slot: 8 Gbit/s before headers. */
    g_assert_cmpuint(np_pci_link_mbps(2500, 4), <, 8000);
    g_assert_cmpuint(np_pci_link_mbps(8000, 16), >, 100000);
    g_assert_cmpuint(np_pci_link_mbps(0, 16), ==, 0);
}

static NpFunction *
add(NpInventory *inventory, uint8_t device, NpFunctionKind kind, const char *driver)
{
    const NpBdf bdf = {.bus = 1, .device = device};
    NpFunction *function = np_function_new(&bdf, kind);
    function->class_code = 0x020000;
    function->driver = g_strdup(driver);
    function->group = device;
    np_inventory_add(inventory, function);
    return function;
}

static const NpFinding *
find(const GPtrArray *findings, const char *subject, const char *words)
{
    for (guint i = 0; i < findings->len; i++) {
        const NpFinding *finding = g_ptr_array_index(findings, i);
        if (strcmp(finding->subject, subject) == 0 && strstr(finding->text, words))
            return finding;
    }
    return NULL;
}

static void
test_findings_of_an_inventory(void)
{
    g_autoptr(NpInventory) inventory = np_inventory_new();
    g_autoptr(GPtrArray) leases = g_ptr_array_new();
    g_autoptr(GPtrArray) findings = np_findings_new();
    NpFunction *pf = add(inventory, 0, NP_FUNCTION_PF, "igb");
    NpFunction *off = add(inventory, 1, NP_FUNCTION_PF, "mlx5_core");
    pf->sriov->total = 7;
    pf->sriov->count = 2;
    pf->sriov->has_attrs = true;
    pf->sriov->autoprobe = true;
    pf->net = np_netdev_new("eno1");
    off->net = np_netdev_new("eno2");
    const NpVfAttrs attrs = {.has = NP_VF_MAC, .mac = {{2, 0, 0, 0, 0, 1}}};
    for (unsigned i = 0; i < 2; i++) {
        NpFunction *vf =
            add(inventory, (uint8_t) (0x10 + i), NP_FUNCTION_VF, i ? "vfio-pci" : "igbvf");
        vf->physfn = pf->bdf;
        vf->vf_index = i;
        vf->vfio = i ? NP_VFIO_FREE : NP_VFIO_NONE;
        vf->net = i ? NULL : np_netdev_new("eno1v0");
        g_array_append_val(pf->sriov->attrs, attrs);
    }
    np_findings_add_inventory(findings, inventory, leases);
    g_assert_nonnull(find(findings, "host", "no IOMMU"));
    g_assert_nonnull(find(findings, "0000:01:00.0", "2 of its 2 VFs exist for nobody"));
    g_assert_nonnull(find(findings, "0000:01:01.0", "switched off in the card's firmware"));
    g_assert_nonnull(find(findings, "0000:01:11.0", "on vfio-pci: neither the host nor a VM"));
    g_assert_nonnull(find(findings, "0000:01:11.0", "and so has 0000:01:10.0"));
    g_assert_null(find(findings, "0000:01:10.0", "neither the host"));
    g_assert_cmpuint(findings->len, ==, 5);
}

static void
test_what_a_vm_has_is_not_lost(void)
{
    g_autoptr(NpInventory) inventory = np_inventory_new();
    g_autoptr(GPtrArray) findings = np_findings_new();
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    inventory->iommu = true;
    const NpFunction *leased = add(inventory, 0, NP_FUNCTION_PLAIN, "vfio-pci");
    add(inventory, 0, NP_FUNCTION_PLAIN, NULL)->bdf.device = 1;
    NpFunction *held = add(inventory, 2, NP_FUNCTION_PLAIN, "vfio-pci");
    NpFunction *odd = add(inventory, 3, NP_FUNCTION_PLAIN, "igb");
    held->vfio = NP_VFIO_BUSY;
    odd->driver_override = g_strdup("vfio-pci");
    ((NpFunction *) g_ptr_array_index(inventory->functions, 0))->vfio = NP_VFIO_FREE;
    g_autoptr(NpLease) lease = np_lease_new(vm, 0, &leased->bdf);
    g_autoptr(GPtrArray) leases = g_ptr_array_new();
    g_ptr_array_add(leases, lease);
    np_findings_add_inventory(findings, inventory, leases);
    g_assert_null(find(findings, "0000:01:00.0", "neither"));
    g_assert_nonnull(find(findings, "0000:01:01.0", "has no driver"));
    g_assert_null(find(findings, "0000:01:02.0", "neither"));
    g_assert_nonnull(find(findings, "0000:01:03.0", "driver_override vfio-pci"));
}

#define BAR  "0x0000000091a00000 0x0000000091afffff 0x0000000000040200\n"
#define NONE "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
#define LOST "0x0000000000000000 0x000000000000ffff 0x0000000000140204\n"

static void
test_vfs_without_room_are_a_problem(void)
{
    const NpBdf bdf = {.bus = 1};
    g_autoptr(GPtrArray) findings = np_findings_new();
    np_findings_add_resource(findings, &bdf, BAR NONE NONE NONE NONE NONE NONE BAR NONE NONE BAR);
    np_findings_add_resource(findings, &bdf, LOST NONE NONE NONE NONE NONE NONE NONE NONE NONE);
    np_findings_add_resource(findings, &bdf, "");
    np_findings_add_resource(findings, &bdf, "\n\n\n\n\n\n\nx y z\n0x0 0x0\n");
    g_assert_cmpuint(findings->len, ==, 0);
    np_findings_add_resource(findings, &bdf, BAR NONE NONE NONE NONE NONE NONE LOST NONE NONE LOST);
    g_assert_cmpuint(findings->len, ==, 1);
}

static void
test_the_log_speaks_once(void)
{
    g_autoptr(GPtrArray) findings = np_findings_new();
    np_findings_add_log(findings, "igb 0000:01:00.0: not enough MMIO resources for SR-IOV");
    np_findings_add_log(findings, "ice 0000:02:00.0: not enough MMIO resources for SR-IOV");
    np_findings_add_log(findings,
                        "i40e 0000:03:00.0: VF 3 is not trusted, switch\033[31m\\x0amore");
    np_findings_add_log(findings, "eth0: link up");
    np_findings_add_log(findings, "igb 0000:01:00.0: VF 0 is not trusted"); /* somebody set it so */
    g_assert_cmpuint(findings->len, ==, 2);
    const NpFinding *finding = find(findings, "kernel", "is not trusted");
    g_assert_cmpstr(finding->text, ==, "i40e 0000:03:00.0: VF 3 is not trusted, switch?[31m");
    g_assert_cmpint(finding->level, ==, NP_FINDING_NOTE);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(ports); i++) {
        g_autofree char *path = g_strdup_printf("/pci-config/acs/%s", ports[i].name);
        g_test_add_data_func(path, &ports[i], test_acs);
    }
    g_test_add_func("/pci-config/lists-in-a-circle-come-to-an-end",
                    test_lists_in_a_circle_come_to_an_end);
    g_test_add_func("/pci-config/speeds", test_speeds);
    g_test_add_func("/findings/of-an-inventory", test_findings_of_an_inventory);
    g_test_add_func("/findings/what-a-vm-has-is-not-lost", test_what_a_vm_has_is_not_lost);
    g_test_add_func("/findings/vfs-without-room-are-a-problem",
                    test_vfs_without_room_are_a_problem);
    g_test_add_func("/findings/the-log-speaks-once", test_the_log_speaks_once);
    return g_test_run();
}
