/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Fuzzer: texts of sysfs, /proc and hypervisors. Input: a byte that chooses the parser, and its
 * text.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/apply/peers.h"
#include "lib/apply/pci-config.h"
#include "lib/apply/rtnl.h"
#include "lib/apply/tree.h"
#include "lib/apply/vm-life.h"
#include "lib/plan/findings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const NpBdf bdf = {.bus = 1};

static NpInventory *
inventory_new(void)
{
    NpInventory *inventory = np_inventory_new();
    np_inventory_add(inventory, np_function_new(&bdf, NP_FUNCTION_VF));
    return inventory;
}

static void
parse_peers(unsigned which, const char *text, NpHost *host)
{
    static void (*const parsers[])(const char *, NpHost *) = {
        np_peers_parse_tcp, np_peers_parse_ssh, np_peers_parse_mounts};
    if (which < G_N_ELEMENTS(parsers))
        parsers[which](text, host);
    else if (which == 3)
        np_peers_parse_corosync(text, text, host);
    else
        np_peers_parse_storage(text, text, host);
    for (guint i = 0; i < host->peers->len; i++)
        for (const char *at = ((const NpPeer *) g_ptr_array_index(host->peers, i))->text; *at; at++)
            g_assert_true(g_ascii_isprint(*at));
}

static void
parse_findings(const char *text)
{
    g_autoptr(GPtrArray) findings = np_findings_new();
    np_findings_add_resource(findings, &bdf, text);
    np_findings_add_log(findings, text);
    for (guint i = 0; i < findings->len; i++)
        for (const char *at = ((const NpFinding *) g_ptr_array_index(findings, i))->text; *at; at++)
            g_assert_true(g_ascii_isprint(*at));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 65536)
        return 0;
    unsigned which = data[0] % 9;
    g_autofree char *text = g_strndup((const char *) data + 1, size - 1);
    g_autoptr(NpHost) host = np_host_new();
    g_autoptr(NpInventory) inventory = inventory_new();
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    int64_t number;
    switch (which) {
    case 5:
        (void) np_domain_add((const char *) data + 1, size - 1, inventory);
        break;
    case 6:
        (void) np_pci_acs(data + 1, size - 1);
        (void) np_vm_owns_command_line(vm, (const char *) data + 1, size - 1);
        break;
    case 7:
        np_reservations_add(text, 1000, -1, inventory);
        parse_findings(text);
        break;
    case 8:
        (void) np_tree_parse_number(text, &number);
        (void) np_pci_parse_speed(text);
        g_clear_pointer(&(GByteArray *){np_rtnl_parse_hex(text)}, g_byte_array_unref);
        break;
    default:
        parse_peers(which, text, host);
    }
    return 0;
}
