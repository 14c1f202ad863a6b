/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * nicpass scan: this host's network functions, and why each may or may not be given away.
 */
#include <stdio.h>

#include "cli/host.h"
#include "cli/pci-names.h"
#include "lib/bench/table.h"
#include "lib/plan/guard.h"

#define CLASS_NETWORK 0x02
#define WIDTH         80

static const char *const kinds[] = {
    [NP_FUNCTION_PLAIN] = "port",
    [NP_FUNCTION_PF] = "PF",
    [NP_FUNCTION_VF] = "VF",
    [NP_FUNCTION_PORT] = "bridge",
};

/* "25G", "2.5G", "100M"; empty: not known (transfer full). */
static char *
format_mbps(unsigned mbps)
{
    if (mbps == 0)
        return g_strdup("");
    if (mbps < 1000)
        return g_strdup_printf("%uM", mbps);
    return mbps % 1000 ? g_strdup_printf("%u.%uG", mbps / 1000, mbps % 1000 / 100)
                       : g_strdup_printf("%uG", mbps / 1000);
}

static char *
format_lanes(unsigned speed_mts, unsigned width)
{
    return speed_mts && width
               ? g_strdup_printf("%u.%ux%u", speed_mts / 1000, speed_mts % 1000 / 100, width)
               : g_strdup("");
}

static bool
is_network(const NpFunction *function)
{
    return function->class_code >> 16 == CLASS_NETWORK;
}

/* What the PCIe link cannot carry, or runs below what it could; NULL: nothing to say. */
static char *
link_remark(NpSys *sys, const NpFunction *function)
{
    NpPciLink link = np_scan_pci_link(np_sys_linux_roots(sys)->sys, &function->bdf);
    unsigned port = np_scan_net_mbps(np_sys_linux_roots(sys)->sys, &function->bdf);
    unsigned now = np_pci_link_mbps(link.speed_mts, link.width);
    unsigned best = np_pci_link_mbps(link.max_speed_mts, link.max_width);
    g_autofree char *now_text = format_lanes(link.speed_mts, link.width);
    g_autofree char *best_text = format_lanes(link.max_speed_mts, link.max_width);
    g_autofree char *port_text = format_mbps(port);
    if (function->kind == NP_FUNCTION_VF || !now)
        return NULL;
    if (port > now)
        return g_strdup_printf(
            "PCIe link %s carries about %.1f Gbit/s, less than the port's %s%s%s", now_text,
            now / 1000.0, port_text, best > now ? "; the card could do " : "",
            best > now ? best_text : "");
    return best > now
               ? g_strdup_printf("PCIe link runs at %s, the card could do %s", now_text, best_text)
               : NULL;
}

static void
add_row(NpTable *table, NpSys *sys, const NpFunction *function)
{
    char bdf[NP_BDF_TEXT_SIZE];
    int root = np_sys_linux_roots(sys)->sys;
    NpPciLink link = np_scan_pci_link(root, &function->bdf);
    g_autofree char *mbps = format_mbps(np_scan_net_mbps(root, &function->bdf));
    g_autofree char *lanes = format_lanes(link.speed_mts, link.width);
    g_autofree char *vfs =
        function->sriov ? g_strdup_printf("%u/%u", function->sriov->count, function->sriov->total)
                        : g_strdup("");
    g_autofree char *group =
        function->group < 0 ? g_strdup("") : g_strdup_printf("%d", function->group);
    g_autofree char *node =
        function->numa_node < 0 ? g_strdup("") : g_strdup_printf("%d", function->numa_node);
    const char *state = !function->net           ? ""
                        : !function->net->up     ? "down"
                        : *mbps                  ? mbps
                        : function->net->carrier ? "up"
                                                 : "no link";
    const char *cells[] = {np_bdf_format(&function->bdf, bdf),
                           kinds[function->kind],
                           vfs,
                           function->driver ? function->driver : "-",
                           function->net ? function->net->name : "-",
                           state,
                           lanes,
                           group,
                           node};
    np_table_row(table);
    for (unsigned i = 0; i < G_N_ELEMENTS(cells); i++)
        np_table_cell(table, i, cells[i], NP_STYLE_PLAIN);
}

static void
print_table(NpSys *sys, const NpInventory *inventory)
{
    static const char *const heads[] = {"ADDRESS", "KIND", "VFS",   "DRIVER", "NETDEV",
                                        "LINK",    "PCIE", "GROUP", "NODE"};
    g_autoptr(NpTable) table = np_table_new();
    for (unsigned i = 0; i < G_N_ELEMENTS(heads); i++)
        (void) np_table_column(table, heads[i], false, false);
    for (guint i = 0; i < inventory->functions->len; i++) {
        const NpFunction *function = g_ptr_array_index(inventory->functions, i);
        if (is_network(function))
            add_row(table, sys, function);
    }
    g_autofree char *text = np_table_text(table, false);
    puts(text);
}

static void
print_wrapped(const char *text)
{
    g_autoptr(GString) out = g_string_new(NULL);
    np_text_wrap(out, text, WIDTH, "  ", "    ");
    fputs(out->str, stdout);
}

static void
print_lease(const NpFunction *function, const GPtrArray *leases)
{
    for (guint i = 0; i < leases->len; i++) {
        const NpLease *lease = g_ptr_array_index(leases, i);
        if (!np_bdf_equal(&lease->bdf, &function->bdf))
            continue;
        g_autofree char *holder = np_lease_describe(lease);
        g_autofree char *line = g_strdup_printf("leased to %s", holder);
        print_wrapped(line);
    }
}

/* Whether a port above keeps its ACS from this user: then nobody knows the groups of VFs to come.
 */
static bool
is_acs_hidden(const NpInventory *inventory, const NpFunction *function)
{
    const NpFunction *at = function;
    while (at && at->has_upstream) {
        at = np_inventory_find(inventory, &at->upstream);
        if (at && at->acs == NP_ACS_UNKNOWN)
            return true;
    }
    return false;
}

/* Whether its VFs, those to come or those there are, may go to VMs: another question than whether
 * the port itself may, for the host can go on using that. */
static void
print_vfs_answer(const NpInventory *inventory, const NpFunction *pf)
{
    g_autoptr(GError) problem = NULL;
    g_autofree char *line = NULL;
    if (pf->sriov->total == 0)
        line = g_strdup("SR-IOV is switched off in the card's firmware");
    else if (!np_guard_future_group(inventory, pf, &problem))
        line = g_strdup_printf("no VFs for VMs: %s", problem->message);
    else if (is_acs_hidden(inventory, pf))
        line =
            g_strdup_printf("up to %u VFs; only root sees whether each would have an IOMMU group "
                            "of its own",
                            pf->sriov->total);
    else
        line = g_strdup_printf("up to %u VFs, which may be given to VMs%s", pf->sriov->total,
                               pf->sriov->switchdev ? "; in switchdev mode" : "");
    print_wrapped(line);
}

static void
print_answer(const NpInventory *inventory, const NpFunction *function, const GPtrArray *leases)
{
    g_autofree char *verdict = np_guard_verdict(inventory, function, leases);
    g_autoptr(GArray) ours = g_array_new(FALSE, FALSE, sizeof(NpBdf));
    g_autoptr(GError) problem = NULL;
    if (!verdict) {
        print_wrapped(function->kind == NP_FUNCTION_VF ? "may be given to a VM"
                                                       : "the whole port may be given to a VM");
        return;
    }
    print_lease(function, leases);
    for (guint i = 0; i < function->uses->len; i++) {
        const NpUse *use = g_ptr_array_index(function->uses, i);
        g_autofree char *line = g_strdup_printf("in use: %s", use->text);
        print_wrapped(line);
    }
    if (np_guard_group(inventory, function, ours, &problem))
        return;
    g_autofree char *line = g_strdup_printf("not for a VM: %s", problem->message);
    print_wrapped(line);
}

static void
print_details(NpSys *sys, const NpInventory *inventory, const NpFunction *function,
              const GPtrArray *leases, NpPciNames *names)
{
    char bdf[NP_BDF_TEXT_SIZE];
    g_autofree char *name = np_pci_names_get(names, function->vendor, function->device);
    g_autofree char *remark = link_remark(sys, function);
    printf("%s %s\n", np_bdf_format(&function->bdf, bdf), name);
    print_answer(inventory, function, leases);
    if (function->sriov)
        print_vfs_answer(inventory, function);
    if (remark)
        print_wrapped(remark);
}

static void
print_blind_spots(void)
{
    if (!np_cli_is_root())
        puts("\nnot root: ACS of ports, who has a VFIO group open, and running libvirt\n"
             "domains cannot be seen");
}

static json_t *
details_to_json(NpSys *sys, const NpInventory *inventory, const NpFunction *function,
                const GPtrArray *leases, NpPciNames *names)
{
    int root = np_sys_linux_roots(sys)->sys;
    NpPciLink link = np_scan_pci_link(root, &function->bdf);
    g_autofree char *name = np_pci_names_get(names, function->vendor, function->device);
    json_t *object = json_pack(
        "{s:s*, s:i, s:{s:i, s:i, s:i, s:i, s:i}}", "name", name, "link-mbps",
        (int) np_scan_net_mbps(root, &function->bdf), "pcie", "speed-mts", (int) link.speed_mts,
        "width", (int) link.width, "max-speed-mts", (int) link.max_speed_mts, "max-width",
        (int) link.max_width, "mbps", (int) np_pci_link_mbps(link.speed_mts, link.width));
    if (is_network(function)) {
        g_autofree char *verdict = np_guard_verdict(inventory, function, leases);
        json_object_set_new(object, "may-be-given", json_boolean(!verdict));
        if (verdict)
            json_object_set_new(object, "why-not", json_string(verdict));
    }
    return object;
}

static void
print_json(NpSys *sys, const NpInventory *inventory, const GPtrArray *leases, NpPciNames *names)
{
    json_t *details = json_object();
    for (guint i = 0; i < inventory->functions->len; i++) {
        const NpFunction *function = g_ptr_array_index(inventory->functions, i);
        char bdf[NP_BDF_TEXT_SIZE];
        json_object_set_new(details, np_bdf_format(&function->bdf, bdf),
                            details_to_json(sys, inventory, function, leases, names));
    }
    np_cli_print_json(json_pack("{s:b, s:o, s:o}", "root", np_cli_is_root(), "inventory",
                                np_inventory_to_json(inventory), "details", details));
}

static void
print_text(NpSys *sys, const NpInventory *inventory, const GPtrArray *leases, NpPciNames *names)
{
    bool any = false;
    print_table(sys, inventory);
    for (guint i = 0; i < inventory->functions->len; i++) {
        const NpFunction *function = g_ptr_array_index(inventory->functions, i);
        if (is_network(function))
            print_details(sys, inventory, function, leases, names);
        any = any || is_network(function);
    }
    if (!any)
        puts("this host has no network function on a PCI bus");
    print_blind_spots();
}

NpExit
np_cmd_scan(int argc, char **argv, GError **error)
{
    g_auto(NpHostOptions) options = {NULL};
    g_auto(NpCliHost) host = {NULL};
    NpExit status;
    g_autoptr(NpInventory) inventory =
        np_cli_host_look("scan", &options, argc, argv, &host, &status, error);
    if (!inventory)
        return status;
    g_autoptr(GPtrArray) leases = np_cli_read_leases(&host);
    g_autoptr(NpPciNames) names = np_pci_names_new();
    if (options.json)
        print_json(host.sys, inventory, leases, names);
    else
        print_text(host.sys, inventory, leases, names);
    return NP_EXIT_OK;
}
