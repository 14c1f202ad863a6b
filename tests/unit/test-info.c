/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of agent/info and agent/infoformat.
 */
#include "agent/info.h"

#include <string.h>

#include "agent/infoformat.h"
#include "lib/proto/proto.h"

static const NpJsonField answer_fields[] = {
    {"kernel", NP_JSON_STRING, true, 1, 256},
    {"distribution", NP_JSON_STRING, false, 1, 256},
    {"virtualisation", NP_JSON_STRING, false, 1, 256},
    {"clock_source", NP_JSON_STRING, false, 1, 256},
    {"cpus", NP_JSON_INT, true, 1, 65536},
    {"cpu_model", NP_JSON_STRING, false, 1, 256},
    {"microcode", NP_JSON_STRING, false, 1, 256},
    {"hz", NP_JSON_INT, true, 1, 100000},
    {"command_line", NP_JSON_STRING, false, 1, 1024},
    {"config", NP_JSON_OBJECT, false, 1, 50},
    {"mitigations", NP_JSON_OBJECT, false, 0, 64},
    {"governor", NP_JSON_STRING, false, 1, 256},
    {"turbo", NP_JSON_BOOL, false},
    {"smt", NP_JSON_STRING, false, 1, 128},
    {"numa_nodes", NP_JSON_INT, false, 1, 65536},
    {"hugepages", NP_JSON_OBJECT, false, 3, 3},
    {"transparent_hugepages", NP_JSON_STRING, false, 1, 128},
    {"irqbalance", NP_JSON_BOOL, false},
    {"halt_poll_ns", NP_JSON_INT, false, 0, INT64_MAX},
    {"iommu", NP_JSON_BOOL, false},
    {"sysctls", NP_JSON_OBJECT, true, 0, 100},
    {"nics", NP_JSON_ARRAY, true, 0, NP_PROTO_NICS_MAX},
    {"left_out", NP_JSON_ARRAY, false, 1, 2},
    {NULL},
};

static const NpJsonField nic_fields[] = {
    {"name", NP_JSON_STRING, true, 1, 15},
    {"mac", NP_JSON_STRING, false, 17, 17},
    {"permanent_mac", NP_JSON_STRING, false, 17, 17},
    {"pci", NP_JSON_STRING, false, 12, 16},
    {"driver", NP_JSON_STRING, false, 1, 200},
    {"firmware", NP_JSON_STRING, false, 1, 200},
    {"speed_mbps", NP_JSON_INT, false, 1, INT32_MAX},
    {"mtu", NP_JSON_INT, false, 1, INT32_MAX},
    {"up", NP_JSON_BOOL, true},
    {"carrier", NP_JSON_BOOL, false},
    {"queues_rx", NP_JSON_INT, false, 1, 65536},
    {"queues_tx", NP_JSON_INT, false, 1, 65536},
    {"ring_rx", NP_JSON_INT, false, 0, INT32_MAX},
    {"ring_tx", NP_JSON_INT, false, 0, INT32_MAX},
    {"coalesce", NP_JSON_OBJECT, false, 4, 4},
    {"qdisc", NP_JSON_STRING, false, 1, 15},
    {"pcie_speed", NP_JSON_STRING, false, 1, 128},
    {"pcie_speed_max", NP_JSON_STRING, false, 1, 128},
    {"pcie_width", NP_JSON_INT, false, 1, 32},
    {"pcie_width_max", NP_JSON_INT, false, 1, 32},
    {"numa_node", NP_JSON_INT, false, 0, 65535},
    {"offloads", NP_JSON_ARRAY, false, 0, 1024},
    {"rx_bytes", NP_JSON_INT, false, 0, INT64_MAX},
    {"tx_bytes", NP_JSON_INT, false, 0, INT64_MAX},
    {"rx_packets", NP_JSON_INT, false, 0, INT64_MAX},
    {"tx_packets", NP_JSON_INT, false, 0, INT64_MAX},
    {NULL},
};

static void
check_answer(const json_t *answer)
{
    g_autoptr(GError) error = NULL;
    size_t i;
    json_t *nic;
    np_json_check(answer, answer_fields, &error);
    g_assert_no_error(error);
    json_array_foreach(json_object_get(answer, "nics"), i, nic)
    {
        np_json_check(nic, nic_fields, &error);
        g_assert_no_error(error);
    }
    g_autoptr(json_t) reply =
        np_reply_ok("0123456789012345678901234567890123456789012345678901234567890123", INT64_MAX,
                    json_incref((json_t *) (uintptr_t) answer));
    g_autofree char *line = np_json_line(reply);
    g_assert_cmpuint(strlen(line) + 1, <=, NP_PROTO_LINE_MAX);
}

static void
test_this_machine(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) answer = np_info_collect(&error);
    g_assert_no_error(error);
    check_answer(answer);
    size_t i;
    json_t *nic;
    bool loopback = false;
    json_array_foreach(json_object_get(answer, "nics"), i, nic) loopback =
        loopback || strcmp(np_json_string(nic, "name", ""), "lo") == 0;
    g_assert_true(loopback);
}

/* One NIC with everything at its largest. */
static void
add_nic(NpInfo *info, unsigned number, unsigned offloads, const char *text)
{
    NpInfoNic nic = {
        .link = {.has_mac = true,
                 .has_permanent_mac = true,
                 .mtu = UINT32_MAX,
                 .up = 1,
                 .carrier = 1,
                 .has_counters = true,
                 .rx_bytes = INT64_MAX,
                 .tx_bytes = INT64_MAX,
                 .rx_packets = INT64_MAX,
                 .tx_packets = INT64_MAX,
                 .qdisc = "pfifo_fast"},
        .ethtool = {.driver = g_strdup(text),
                    .firmware = g_strdup(text),
                    .pci = g_strdup("ffffffff:ff:1f.7"),
                    .speed_mbps = INT32_MAX,
                    .queues_rx = 65536,
                    .queues_tx = 65536,
                    .ring_rx = INT32_MAX,
                    .ring_tx = INT32_MAX,
                    .has_coalesce = true,
                    .rx_usecs = UINT32_MAX,
                    .tx_usecs = UINT32_MAX,
                    .offloads = g_new0(char *, offloads + 1)},
        .pcie = {.speed = g_strdup("16.0 GT/s PCIe"),
                 .speed_max = g_strdup("16.0 GT/s PCIe"),
                 .width = 32,
                 .width_max = 32,
                 .has_numa_node = true,
                 .numa_node = 65535},
    };
    g_snprintf(nic.link.name, sizeof(nic.link.name), "abcdefghijkl%03u", number);
    nic.link.mtu = INT32_MAX;
    for (unsigned i = 0; i < offloads; i++)
        nic.ethtool.offloads[i] = g_strdup_printf("tx-udp_tnl-csum-segmentatio-%03u", i);
    g_array_append_val(info->nics, nic);
}

static void
test_always_fits_a_line(void)
{
    g_autofree char *controls = g_strnfill(190, '\001');
    const struct {
        const char *text;
        unsigned nics, offloads;
        bool offloads_left, nics_left;
    } rows[] = {
        {"virtio_net", 2, 60, true, true},
        {"an-average-firmware-version-text", 64, 4, true, true},
        {"an-average-firmware-version-text", 64, 60, false, true},
        {"an-average-firmware-version-text", 65, 0, true, false},
        {controls, 64, 60, false, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_auto(NpInfo) info = {0};
        np_info_init(&info);
        info.kernel = g_strdup("6.1.0");
        info.cpus = 4;
        info.hz = 100;
        for (unsigned n = 0; n < rows[i].nics; n++)
            add_nic(&info, n, rows[i].offloads, rows[i].text);
        g_autoptr(json_t) answer = np_info_format(&info);
        check_answer(answer);
        const json_t *nics = json_object_get(answer, "nics");
        const json_t *first = json_array_get(nics, 0);
        g_assert_nonnull(first);
        g_assert_cmpint(json_object_get(first, "offloads") != NULL, ==, rows[i].offloads_left);
        g_assert_cmpint(json_array_size(nics) == rows[i].nics, ==, rows[i].nics_left);
        g_assert_cmpuint(json_array_size(json_object_get(answer, "left_out")), ==,
                         (size_t) !rows[i].offloads_left + !rows[i].nics_left);
    }
}

static void
test_the_machine_goes_before_the_nics(void)
{
    g_auto(NpInfo) info = {0};
    np_info_init(&info);
    info.cpus = 4;
    info.machine = json_pack("{s:b, s:s}", "turbo", true, "smt", "on");
    g_autoptr(json_t) answer = np_info_format(&info);
    g_autofree char *line = np_json_line(answer);
    g_assert_cmpstr(line, ==,
                    "{\"cpus\":4,\"turbo\":true,\"smt\":\"on\",\"sysctls\":{},\"nics\":[]}");
}

static void
test_unknown_is_absent(void)
{
    g_auto(NpInfo) info = {0};
    np_info_init(&info);
    NpInfoNic nic = {
        .link = {.name = "x", .carrier = -1},
        .ethtool = {
            .speed_mbps = -1, .queues_rx = -1, .queues_tx = -1, .ring_rx = -1, .ring_tx = -1}};
    g_array_append_val(info.nics, nic);
    g_autoptr(json_t) answer = np_info_format(&info);
    g_autofree char *line = np_json_line(answer);
    g_assert_cmpstr(line, ==,
                    "{\"sysctls\":{},\"nics\":[{\"name\":\"x\",\"mtu\":0,\"up\":false}]}");
}

static void
test_broken_text_stays_utf8(void)
{
    g_auto(NpInfo) info = {0};
    np_info_init(&info);
    info.kernel = g_strdup("6.1\xff");
    info.cpus = 1;
    info.hz = 100;
    g_autoptr(json_t) answer = np_info_format(&info);
    check_answer(answer);
}

static void
test_os_release(void)
{
    static const struct {
        const char *text, *name;
    } rows[] = {
        {"NAME=x\nPRETTY_NAME=\"AlmaLinux 9.3 (Shamrock Pampas Cat)\"\nID=x\n",
         "AlmaLinux 9.3 (Shamrock Pampas Cat)"},
        {"PRETTY_NAME='Debian GNU/Linux 12 (bookworm)'", "Debian GNU/Linux 12 (bookworm)"},
        {"PRETTY_NAME=Plain\n", "Plain"},
        {"PRETTY_NAME=\"open\n", NULL},
        {"PRETTY_NAME=\n", NULL},
        {"XPRETTY_NAME=a\n", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *name = np_info_os_release(rows[i].text);
        g_assert_cmpstr(name, ==, rows[i].name);
    }
}

static void
test_cpu_model(void)
{
    static const struct {
        const char *text, *model;
    } rows[] = {
        {"processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC\nmodel name\t: other\n", "AMD EPYC"},
        {"processor\t: 0\nCPU part\t: 0xd0c\n", NULL},
        {"model name\n", NULL},
        {"model name\t:\n", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *model = np_info_cpu_model(rows[i].text);
        g_assert_cmpstr(model, ==, rows[i].model);
    }
    g_autofree char *microcode = np_info_microcode("processor\t: 0\nmicrocode\t: 0xd0003e7\n");
    g_assert_cmpstr(microcode, ==, "0xd0003e7");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/info/this-machine", test_this_machine);
    g_test_add_func("/info/always-fits-a-line", test_always_fits_a_line);
    g_test_add_func("/info/the-machine-goes-before-the-nics",
                    test_the_machine_goes_before_the_nics);
    g_test_add_func("/info/unknown-is-absent", test_unknown_is_absent);
    g_test_add_func("/info/broken-text-stays-utf8", test_broken_text_stays_utf8);
    g_test_add_func("/info/os-release", test_os_release);
    g_test_add_func("/info/cpu-model", test_cpu_model);
    return g_test_run();
}
