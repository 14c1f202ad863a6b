/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: the configuration, valid, at its limits, and hostile.
 */
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "lib/base/error.h"
#include "lib/model/config.h"

#define POOL "[pool p]\npf = 0000:3b:00.0\n"
#define NIC  POOL "[vm 101]\npool = p\n"

static NpConfig *
parse(const char *text)
{
    g_autoptr(GError) error = NULL;
    NpConfig *config = np_config_parse("f", text, &error);
    g_assert_no_error(error);
    return config;
}

static void
test_defaults_are_wanted_but_not_required(void)
{
    g_autoptr(NpConfig) config = parse(NIC);
    const NpPool *pool = np_config_pool(config, "p");
    const NpNic *nic = g_ptr_array_index(config->nics, 0);
    g_assert_cmpstr(pool->driver, ==, "vfio-pci");
    g_assert_cmpuint(pool->vfs, ==, 0);
    g_assert_cmpint(pool->pf_up, ==, NP_PF_UP_REQUIRE);
    g_assert_cmpint(nic->mac_mode, ==, NP_MAC_DERIVED);
    g_assert_cmpint(nic->attrs.has, ==, NP_VF_VLAN | NP_VF_SPOOFCHK | NP_VF_TRUST);
    g_assert_cmpint(nic->required, ==, NP_VF_MAC);
    g_assert_true(nic->attrs.spoofchk);
    g_assert_false(nic->attrs.trust);
}

static void
test_everything_given_is_required(void)
{
    g_autoptr(NpConfig) config =
        parse(NIC "mac = 52:54:00:00:00:01\nvlan = 4094\nvlan-qos = 7\nvlan-proto = 802.1ad\n"
                  "trust = on\nspoofchk = off\nlink = up\nrate-min = 1M\nrate-max = 10G\n"
                  "rss-query = on\n");
    const NpNic *nic = g_ptr_array_index(config->nics, 0);
    g_assert_cmpint(nic->required, ==, (1 << NP_VF_FIELD_COUNT) - 1);
    g_assert_cmpint(nic->attrs.has, ==, (1 << NP_VF_FIELD_COUNT) - 1);
    g_assert_cmpint(nic->mac_mode, ==, NP_MAC_FIXED);
    g_assert_cmpuint(nic->attrs.vlan, ==, 4094);
    g_assert_cmpuint(nic->attrs.qos, ==, 7);
    g_assert_cmpuint(nic->attrs.proto, ==, NP_PROTO_8021AD);
    g_assert_cmpuint(nic->attrs.min_mbps, ==, 1);
    g_assert_cmpuint(nic->attrs.max_mbps, ==, 10000);
    g_assert_cmpint(nic->attrs.link, ==, NP_LINK_UP);
}

static void
test_best_effort_takes_the_requirement_away(void)
{
    g_autoptr(NpConfig) config = parse(NIC "trust = on\nlink = up\nbest-effort = link ,mac\n");
    const NpNic *nic = g_ptr_array_index(config->nics, 0);
    g_assert_cmpint(nic->required, ==, NP_VF_TRUST);
    g_assert_true(nic->attrs.has & NP_VF_LINK);
}

static void
test_vlan_trunk_none_and_absent_are_three_things(void)
{
    g_autoptr(NpConfig) absent = parse(NIC), none = parse(NIC "vlan = none\n");
    g_autoptr(NpConfig) trunk = parse(NIC "vlan = trunk\n");
    const NpNic *a = g_ptr_array_index(absent->nics, 0), *n = g_ptr_array_index(none->nics, 0);
    const NpNic *t = g_ptr_array_index(trunk->nics, 0);
    g_assert_false(a->required & NP_VF_VLAN);
    g_assert_true(n->required & NP_VF_VLAN && !n->trunk);
    g_assert_true(t->required & NP_VF_VLAN && t->trunk);
}

static void
test_nics_are_found_by_vm_and_sorted(void)
{
    g_autoptr(NpConfig) config =
        parse(POOL "[vm 101 nic 2]\npool = p\n[vm web server nic 1]\npool = p\n[vm 101]\n"
                   "pf = eno9\n[vm 5F0D2A1E-0000-4000-8000-000000000001]\nvf = 3b:02.1\n");
    g_autoptr(NpVm) proxmox = np_vm_new_proxmox(101), other = np_vm_new_proxmox(1010);
    g_autoptr(NpVm) domain =
        np_vm_new_libvirt("web server", "5f0d2a1e-0000-4000-8000-000000000001");
    g_autoptr(GPtrArray) nics = np_config_nics(config, proxmox);
    g_autoptr(GPtrArray) none = np_config_nics(config, other);
    g_autoptr(GPtrArray) both = np_config_nics(config, domain);
    g_assert_cmpuint(nics->len, ==, 2);
    g_assert_cmpuint(((const NpNic *) g_ptr_array_index(nics, 0))->nic, ==, 0);
    g_assert_cmpstr(((const NpNic *) g_ptr_array_index(nics, 0))->pf.name, ==, "eno9");
    g_assert_cmpuint(none->len, ==, 0);
    g_assert_cmpuint(both->len, ==, 2); /* by name and by UUID */
}

typedef struct {
    const char *name, *text, *message;
} Bad;

static const Bad bad[] = {
    {"unknown-key", POOL "mtv = 9000\n", "f:3: key 'mtv': unknown key; did you mean 'mtu'?"},
    {"unknown-group", "[pools p]\n", "f:1: unknown group"},
    {"pool-without-pf", "[pool p]\nvfs = 1\n", "f:1: key 'pf' is missing"},
    {"pool-name", "[pool ../x]\npf = eno1\n", "f:1: '../x' is not"},
    {"pf-nonsense", "[pool p]\npf = eth0/..\n", "'eth0/..' is not a PCI address"},
    {"pf-name-too-long", "[pool p]\npf = abcdefghijklmnop\n", "is not a PCI address"},
    {"pf-mac-twice", "[pool p]\npf = 00:11:22:33:44:55\npf-mac = 00:11:22:33:44:55\n",
     "'pf' is a MAC already"},
    {"vfs-zero", POOL "vfs = 0\n", "neither 'as-needed' nor a number"},
    {"vfs-huge", POOL "vfs = 99999999999999999999\n", "neither 'as-needed' nor a number"},
    {"mtu-small", POOL "mtu = 1279\n", "f:3: key 'mtu'"},
    {"driver-path", POOL "driver = ../../x\n", "f:3: key 'driver'"},
    {"pf-up", POOL "pf-up = yes\n", "'yes' is not one of require, set"},
    {"pool-twice", POOL "[vm 101]\npool = p\n[pool p]\n", "given twice"},
    {"nic-twice", NIC "[vm 101 nic 0]\npool = p\n", "nic 0 of vm 101 is given already in f:3"},
    {"no-such-pool", "[vm 101]\npool = q\n", "f:1: there is no [pool q]"},
    {"no-source", "[vm 101]\nvlan = 5\n", "exactly one of 'pool', 'vf' and 'pf'"},
    {"two-sources", NIC "vf = 3b:02.1\n", "exactly one of 'pool', 'vf' and 'pf'"},
    {"nic-number", POOL "[vm 101 nic 16]\npool = p\n", "number of the nic"},
    {"nic-number-word", POOL "[vm 101 nic x]\npool = p\n", "number of the nic"},
    {"mac-multicast", NIC "mac = 01:00:5e:00:00:01\n", "is not a unicast address"},
    {"mac-zero", NIC "mac = 00:00:00:00:00:00\n", "is not a unicast address"},
    {"mac-short", NIC "mac = 52:54:00\n", "neither derived, keep nor guest"},
    {"vlan-0", NIC "vlan = 0\n", "neither none nor trunk"},
    {"vlan-4095", NIC "vlan = 4095\n", "neither none nor trunk"},
    {"qos-without-vlan", NIC "vlan-qos = 3\n", "needs a 'vlan'"},
    {"qos-8", NIC "vlan = 1\nvlan-qos = 8\n", "key 'vlan-qos'"},
    {"ad-without-vlan", NIC "vlan = trunk\nvlan-proto = 802.1ad\n", "needs a 'vlan'"},
    {"rate-in-kbit", NIC "rate-max = 1500K\n", "not a multiple of 1M"},
    {"rate-min-above-max", NIC "rate-min = 2G\nrate-max = 1G\n", "is above 'rate-max'"},
    {"link", NIC "link = enable\n", "'enable' is not one of auto, up, down"},
    {"best-effort-nonsense", NIC "best-effort = speed\n", "'speed' is none of mac"},
    {"port-with-vlan", "[vm 101]\npf = eno1\nvlan = 5\n", "goes with a VF only"},
    {"even-if-used-of-vf", NIC "even-if-used = yes\n", "goes with 'pf' only"},
    {"driver-of-pool-vf", NIC "driver = vfio-pci\n", "stands in [pool p]"},
    {"control-bytes", NIC "link = \x01\x1b[2J\n", "\\x01\\x1b[2J"},
};

static void
test_bad_input_is_refused_with_file_and_line(gconstpointer data)
{
    const Bad *row = data;
    g_autoptr(GError) error = NULL;
    g_assert_null(np_config_parse("f", row->text, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
    g_assert_true(g_str_has_prefix(error->message, "f:"));
    if (!strstr(error->message, row->message))
        g_error("'%s' is not in: %s", row->message, error->message);
}

static void
test_trust_depends_on_owner_and_mode(void)
{
    static const struct {
        uid_t uid;
        gid_t gid;
        mode_t mode;
        bool trusted;
    } rows[] = {
        {0, 0, 0644, true},  {0, 33, 0640, true}, /* /etc/pve: root:www-data 0640 */
        {0, 0, 0664, false}, {0, 0, 0646, false}, {1000, 0, 0644, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct stat status = {.st_uid = rows[i].uid, .st_gid = rows[i].gid};
        g_autoptr(GError) error = NULL;
        status.st_mode = S_IFREG | rows[i].mode;
        g_assert_cmpint(np_config_trusted("f", &status, &error), ==, rows[i].trusted);
        if (!rows[i].trusted)
            g_assert_error(error, NP_ERROR, NP_ERROR_DENIED);
    }
}

static bool
trust_all(const char *path, const struct stat *status, GError **error)
{
    return true;
}

static bool
trust_none(const char *path, const struct stat *status, GError **error)
{
    return np_throw(error, NP_ERROR_DENIED, "%s: no", path);
}

/* A folder with a.conf, b.conf and c.txt. */
static char *
make_folder(const char *a, const char *b)
{
    char *folder = g_dir_make_tmp("nicpass-test-XXXXXX", NULL);
    g_autofree char *first = g_build_filename(folder, "a.conf", NULL);
    g_autofree char *second = g_build_filename(folder, "b.conf", NULL);
    g_autofree char *other = g_build_filename(folder, "c.txt", NULL);
    g_assert_true(g_file_set_contents(first, a, -1, NULL));
    g_assert_true(g_file_set_contents(second, b, -1, NULL));
    g_assert_true(g_file_set_contents(other, "nonsense", -1, NULL));
    return folder;
}

static void
remove_folder(char *folder)
{
    static const char *const names[] = {"a.conf", "b.conf", "c.txt"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        g_assert_no_errno(g_unlink(path));
    }
    g_assert_no_errno(g_rmdir(folder));
    g_free(folder);
}

static NpConfig *
load(const char *folder, NpConfigTrust trust, GError **error)
{
    const char *places[] = {"/nonexistent/nicpass.conf", folder, NULL};
    return np_config_load(places, trust, error);
}

static void
test_drop_ins_are_read_in_name_order(void)
{
    g_autoptr(GError) error = NULL;
    char *folder = make_folder("[vm 101]\npool = p\n", POOL);
    g_autoptr(NpConfig) config = load(folder, trust_all, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(config->sources->len, ==, 2);
    g_assert_true(g_str_has_suffix(g_ptr_array_index(config->sources, 1), "b.conf"));
    remove_folder(folder);
}

static void
test_files_that_disagree_name_both_places(void)
{
    g_autoptr(GError) error = NULL;
    char *folder = make_folder(POOL, POOL);
    g_assert_null(load(folder, trust_all, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
    g_assert_nonnull(strstr(error->message, "a.conf:1"));
    g_assert_nonnull(strstr(error->message, "b.conf:1"));
    remove_folder(folder);
}

static void
test_untrusted_and_binary_files_are_refused(void)
{
    g_autoptr(GError) untrusted = NULL, binary = NULL;
    char *folder = make_folder(POOL, "[pool q]\npf = \xff\xfe\n");
    g_assert_null(load(folder, trust_none, &untrusted));
    g_assert_error(untrusted, NP_ERROR, NP_ERROR_DENIED);
    g_assert_null(load(folder, trust_all, &binary));
    g_assert_error(binary, NP_ERROR, NP_ERROR_CONFIG);
    remove_folder(folder);
}

static void
test_no_configuration_at_all_is_an_empty_one(void)
{
    static const char *const places[] = {"/nonexistent/a", "/nonexistent/b", NULL};
    g_autoptr(NpConfig) config = np_config_load(places, np_config_trusted, NULL);
    g_assert_nonnull(config);
    g_assert_cmpuint(config->nics->len, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/defaults-are-wanted-but-not-required",
                    test_defaults_are_wanted_but_not_required);
    g_test_add_func("/config/everything-given-is-required", test_everything_given_is_required);
    g_test_add_func("/config/best-effort-takes-the-requirement-away",
                    test_best_effort_takes_the_requirement_away);
    g_test_add_func("/config/vlan-trunk-none-and-absent-are-three-things",
                    test_vlan_trunk_none_and_absent_are_three_things);
    g_test_add_func("/config/nics-are-found-by-vm-and-sorted",
                    test_nics_are_found_by_vm_and_sorted);
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *path = g_strdup_printf("/config/refuses/%s", bad[i].name);
        g_test_add_data_func(path, &bad[i], test_bad_input_is_refused_with_file_and_line);
    }
    g_test_add_func("/config/trust-depends-on-owner-and-mode",
                    test_trust_depends_on_owner_and_mode);
    g_test_add_func("/config/drop-ins-are-read-in-name-order",
                    test_drop_ins_are_read_in_name_order);
    g_test_add_func("/config/files-that-disagree-name-both-places",
                    test_files_that_disagree_name_both_places);
    g_test_add_func("/config/untrusted-and-binary-files-are-refused",
                    test_untrusted_and_binary_files_are_refused);
    g_test_add_func("/config/no-configuration-at-all-is-an-empty-one",
                    test_no_configuration_at_all_is_an_empty_one);
    return g_test_run();
}
