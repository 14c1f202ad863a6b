/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of agent/machine and agent/pcie on made-up trees.
 */
#include "agent/machine.h"

#include "agent/pcie.h"
#include "tests/unit/folder.h"

#define CPU "/sys/devices/system/cpu/"

typedef struct {
    const char *path, *text; /* text NULL: a folder; path NULL ends a list */
} Entry;

static char *
make_tree(const Entry *entries)
{
    char *root = folder_make();
    for (const Entry *entry = entries; entry->path; entry++)
        folder_put(root, entry->path, entry->text);
    return root;
}

static void
assert_machine(const Entry *entries, const char *release, const char *expected)
{
    g_autofree char *root = make_tree(entries);
    g_autoptr(json_t) facts = np_machine_collect(root, release);
    g_autofree char *line = np_json_line(facts);
    folder_remove(root);
    g_assert_cmpstr(line, ==, expected);
}

static void
test_a_hypervisor(void)
{
    static const Entry entries[] = {
        {"/proc/cmdline", "quiet intel_iommu=on\n"},
        {"/boot/config-6.1.0-1-amd64",
         "#\nCONFIG_HZ_250=y\nCONFIG_HZ=250\n# CONFIG_NO_HZ_FULL is not set\n"
         "CONFIG_VIRT_CPU_ACCOUNTING_GEN=y\n"},
        {"/boot/config-6.1.0-2-amd64", "\nCONFIG_HZ=1000\n"},
        {CPU "vulnerabilities/meltdown", "Not affected\n"},
        {CPU "vulnerabilities/spectre_v2", "Mitigation: Retpolines\n"},
        {CPU "vulnerabilities/l1tf", "Vulnerable\n"},
        {CPU "cpu0/cpufreq/scaling_governor", "performance\n"},
        {CPU "cpu1/cpufreq/scaling_governor", "powersave\n"},
        {CPU "cpu2/cpufreq/scaling_governor", "performance\n"},
        {CPU "intel_pstate/no_turbo", "1\n"},
        {CPU "smt/control", "forceoff\n"},
        {"/sys/devices/system/node/node0", NULL},
        {"/sys/devices/system/node/node1", NULL},
        {"/sys/devices/system/node/online", "0-1\n"},
        {"/proc/meminfo",
         "MemTotal:  1 kB\nHugePages_Total:     512\nHugePages_Free:       12\nHugepagesize:  "
         "     2048 kB\n"},
        {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
        {"/proc/77/stat", "77 (irqbalance) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 44\n"},
        {"/sys/module/kvm/parameters/halt_poll_ns", "200000\n"},
        {"/sys/class/iommu/dmar0", NULL},
        {NULL},
    };
    assert_machine(
        entries, "6.1.0-1-amd64",
        "{\"command_line\":\"quiet intel_iommu=on\",\"config\":{\"CONFIG_HZ\":\"250\","
        "\"CONFIG_TICK_CPU_ACCOUNTING\":\"n\",\"CONFIG_VIRT_CPU_ACCOUNTING_GEN\":\"y\","
        "\"CONFIG_IRQ_TIME_ACCOUNTING\":\"n\",\"CONFIG_PARAVIRT_TIME_ACCOUNTING\":\"n\","
        "\"CONFIG_NO_HZ_IDLE\":\"n\",\"CONFIG_NO_HZ_FULL\":\"n\",\"CONFIG_PREEMPT_NONE\":\"n\","
        "\"CONFIG_PREEMPT_VOLUNTARY\":\"n\",\"CONFIG_PREEMPT\":\"n\","
        "\"CONFIG_PREEMPT_DYNAMIC\":\"n\",\"CONFIG_PREEMPT_RT\":\"n\"},"
        "\"mitigations\":{\"l1tf\":\"Vulnerable\",\"spectre_v2\":\"Mitigation: Retpolines\"},"
        "\"governor\":\"performance powersave\",\"turbo\":false,\"smt\":\"forceoff\","
        "\"numa_nodes\":2,\"hugepages\":{\"size_kib\":2048,\"total\":512,\"free\":12},"
        "\"transparent_hugepages\":\"madvise\",\"irqbalance\":true,\"halt_poll_ns\":200000,"
        "\"iommu\":true}");
}

static void
test_what_is_not_told_is_absent(void)
{
    static const Entry nothing[] = {{NULL}};
    static const Entry odd[] = {
        {"/proc/meminfo", "Hugepagesize: x kB\n"},
        {"/sys/kernel/mm/transparent_hugepage/enabled", "always madvise\n"},
        {"/sys/module/kvm/parameters/halt_poll_ns", "-1\n"},
        {CPU "cpufreq/boost", "1\n"},
        {"/sys/class/iommu", NULL},
        {"/proc/77/stat", "77 (irq) S\n"},
        {"/proc/1/stat", "1 (init) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 44\n"},
        {"/lib/modules/6.1.0/config", "\n"},
        {NULL},
    };
    assert_machine(nothing, NULL, "{}");
    assert_machine(odd, NULL, "{\"turbo\":true,\"irqbalance\":false,\"iommu\":false}");
}

static void
test_long_and_broken_texts(void)
{
    g_autofree char *words = g_strnfill(3000, 'x');
    const Entry entries[] = {{"/proc/cmdline", words}, {CPU "smt/control", "on\xff\n"}, {NULL}};
    g_autofree char *root = make_tree(entries);
    g_autoptr(json_t) facts = np_machine_collect(root, NULL);
    folder_remove(root);
    g_assert_cmpuint(json_string_length(json_object_get(facts, "command_line")), ==, 1024);
    g_assert_true(g_str_has_prefix(np_json_string(facts, "smt", ""), "on"));
}

static void
test_pcie_links(void)
{
    static const Entry entries[] = {
        {"/0000:3b:00.0/current_link_speed", "8.0 GT/s PCIe\n"},
        {"/0000:3b:00.0/max_link_speed", "16.0 GT/s PCIe\n"},
        {"/0000:3b:00.0/current_link_width", "8\n"},
        {"/0000:3b:00.0/max_link_width", "16\n"},
        {"/0000:3b:00.0/numa_node", "1\n"},
        {"/0000:3b:02.0/current_link_speed", "Unknown\n"}, /* a VF */
        {"/0000:3b:02.0/max_link_speed", "Unknown speed\n"},
        {"/0000:3b:02.0/current_link_width", "0\n"},
        {"/0000:3b:02.0/max_link_width", "255\n"},
        {"/0000:3b:02.0/numa_node", "-1\n"},
        {NULL},
    };
    g_autofree char *root = make_tree(entries);
    g_auto(NpPcie) port = {0}, vf = {0}, missing = {0};
    np_pcie_read(root, "0000:3b:00.0", &port);
    np_pcie_read(root, "0000:3b:02.0", &vf);
    np_pcie_read(root, "0000:3b:03.0", &missing);
    folder_remove(root);
    g_assert_cmpstr(port.speed, ==, "8.0 GT/s PCIe");
    g_assert_cmpstr(port.speed_max, ==, "16.0 GT/s PCIe");
    g_assert_cmpuint(port.width, ==, 8);
    g_assert_cmpuint(port.width_max, ==, 16);
    g_assert_true(port.has_numa_node);
    g_assert_cmpint(port.numa_node, ==, 1);
    const NpPcie *silent[] = {&vf, &missing};
    for (size_t i = 0; i < G_N_ELEMENTS(silent); i++) {
        g_assert_null(silent[i]->speed);
        g_assert_null(silent[i]->speed_max);
        g_assert_cmpuint(silent[i]->width, ==, 0);
        g_assert_cmpuint(silent[i]->width_max, ==, 0);
        g_assert_false(silent[i]->has_numa_node);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/machine/a-hypervisor", test_a_hypervisor);
    g_test_add_func("/machine/what-is-not-told-is-absent", test_what_is_not_told_is_absent);
    g_test_add_func("/machine/long-and-broken-texts", test_long_and_broken_texts);
    g_test_add_func("/machine/pcie-links", test_pcie_links);
    return g_test_run();
}
