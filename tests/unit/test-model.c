/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: VMs, VF attributes, leases, capabilities, operations: the small parts of the model.
 */
#include <string.h>

#include "lib/base/error.h"
#include "lib/model/caps.h"
#include "lib/plan/op.h"

static void
test_derived_macs_are_stable_local_and_distinct(void)
{
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101), other = np_vm_new_proxmox(102);
    g_autoptr(NpVm) elsewhere = np_vm_new_proxmox(101);
    elsewhere->realm = g_strdup("other-cluster");
    NpMac first = np_vm_derived_mac(vm, 0);
    NpMac again = np_vm_derived_mac(vm, 0), second = np_vm_derived_mac(vm, 1);
    NpMac others = np_vm_derived_mac(other, 0), elsewheres = np_vm_derived_mac(elsewhere, 0);
    g_assert_true(np_mac_equal(&first, &again));
    g_assert_false(np_mac_equal(&first, &second));
    g_assert_false(np_mac_equal(&first, &others));
    g_assert_false(np_mac_equal(&first, &elsewheres));
    for (unsigned nic = 0; nic < 64; nic++)
        g_assert_cmpuint(np_vm_derived_mac(vm, nic).byte[0] & 3, ==, 2);
}

static void
test_derived_mac_never_changes_between_versions(void)
{
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    char text[NP_MAC_TEXT_SIZE];
    NpMac mac = np_vm_derived_mac(vm, 0);
    g_assert_cmpstr(np_mac_format(&mac, text), ==, "3a:cd:ea:1e:bd:69");
}

static void
test_vms_match_by_the_ids_of_their_hypervisor(void)
{
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    g_autoptr(NpVm) domain = np_vm_new_libvirt("101", "5f0d2a1e-0000-4000-8000-000000000001");
    vm->name = g_strdup("web");
    g_assert_true(np_vm_matches(vm, "101"));
    g_assert_false(np_vm_matches(vm, "0101x"));
    g_assert_false(np_vm_matches(vm, "web"));
    g_assert_true(np_vm_matches(domain, "101"));
    g_assert_true(np_vm_matches(domain, "5F0D2A1E-0000-4000-8000-000000000001"));
    g_assert_false(np_vm_same(vm, domain));
}

static void
test_vf_texts_are_read_back_as_they_were_written(void)
{
    static const struct {
        NpVfFields field;
        const char *text;
    } rows[] = {
        {NP_VF_MAC, "52:54:00:00:00:01"},
        {NP_VF_VLAN, "none"},
        {NP_VF_VLAN, "4094"},
        {NP_VF_VLAN, "100 qos 7"},
        {NP_VF_VLAN, "1 qos 0 802.1ad"},
        {NP_VF_RATE, "min 0 max 0"},
        {NP_VF_RATE, "min 1 max 400000"},
        {NP_VF_SPOOFCHK, "on"},
        {NP_VF_TRUST, "off"},
        {NP_VF_RSS_QUERY, "on"},
        {NP_VF_LINK, "auto"},
        {NP_VF_LINK, "down"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        NpVfAttrs attrs = {0};
        g_assert_true(np_vf_parse(rows[i].field, rows[i].text, &attrs, NULL));
        g_assert_cmpint(attrs.has, ==, rows[i].field);
        g_autofree char *text = np_vf_format(&attrs, rows[i].field);
        g_assert_cmpstr(text, ==, rows[i].text);
    }
}

static void
test_bad_vf_texts_are_refused_and_change_nothing(void)
{
    static const struct {
        NpVfFields field;
        const char *text;
    } rows[] = {
        {NP_VF_MAC, ""},
        {NP_VF_VLAN, "0"},
        {NP_VF_VLAN, "4095"},
        {NP_VF_VLAN, "100 qos"},
        {NP_VF_VLAN, "100 qos 8"},
        {NP_VF_VLAN, "100 prio 1"},
        {NP_VF_VLAN, "1 qos 1 802.1q x"},
        {NP_VF_RATE, "min 0"},
        {NP_VF_RATE, "max 0 min 0"},
        {NP_VF_RATE, "min -1 max 0"},
        {NP_VF_LINK, "enable"},
        {NP_VF_TRUST, "maybe"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        NpVfAttrs attrs = {0}, before = {0};
        g_autoptr(GError) error = NULL;
        g_assert_false(np_vf_parse(rows[i].field, rows[i].text, &attrs, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
        g_assert_cmpmem(&attrs, sizeof(attrs), &before, sizeof(before));
    }
}

static void
test_what_drivers_report_is_brought_into_one_form(void)
{
    NpVfAttrs attrs = {.mac = {{0x02, 0, 0, 0, 0, 0}}, .vlan = 4095, .qos = 3};
    static const NpMac zero;
    np_vf_clean(&attrs);
    g_assert_true(np_mac_equal(&attrs.mac, &zero));
    g_assert_cmpuint(attrs.vlan, ==, 0);
    g_assert_cmpuint(attrs.qos, ==, 0);
    g_assert_cmpuint(attrs.proto, ==, NP_PROTO_8021Q);
}

static void
test_unknown_drivers_are_asked_and_known_ones_have_a_word_on_all(void)
{
    const NpCaps *unknown = np_caps_find("no-such-driver"), *none = np_caps_find(NULL);
    g_assert_null(unknown->driver);
    g_assert_true(unknown == none);
    for (int want = 0; want < NP_WANT_COUNT; want++) {
        g_assert_cmpint(unknown->cap[want], ==, NP_CAP_TRY);
        g_assert_cmpstr(np_want_name((NpWant) want), !=, "");
    }
    for (const NpCaps *caps = np_caps_table(); caps->driver; caps++) {
        g_assert_true(np_caps_find(caps->driver) == caps);
        g_assert_cmpint(caps->cap[NP_WANT_MAC], ==, NP_CAP_YES);
    }
}

static void
test_leases_survive_their_json(void)
{
    g_autoptr(NpVm) vm = np_vm_new_libvirt("web", "5f0d2a1e-0000-4000-8000-000000000001");
    NpBdf bdf = {0, 1, 0x10, 2}, pf = {0, 1, 0, 0};
    g_autoptr(NpLease) lease = np_lease_new(vm, 3, &bdf);
    g_strlcpy(lease->id, "0123456789abcdef", sizeof(lease->id));
    lease->pf = pf;
    lease->whole_port = false;
    lease->vf_index = 1;
    lease->claimed_ms = 77;
    g_autoptr(json_t) object = np_lease_to_json(lease);
    g_autoptr(NpLease) copy = np_lease_from_json(object, NULL);
    g_assert_nonnull(copy);
    g_autoptr(json_t) again = np_lease_to_json(copy);
    g_assert_true(json_equal(object, again));
    g_autofree char *words = np_lease_describe(copy);
    g_assert_cmpstr(words, ==, "domain 'web' nic 3 (lease 0123456789abcdef)");
}

static void
test_leases_with_doubtful_fields_are_refused(void)
{
    static const char *const patches[] = {
        "{\"id\":\"../../../../etc/x\"}",
        "{\"id\":\"0123456789ABCDEF\"}",
        "{\"vmid\":99}",
        "{\"uuid\":\"5f0d2a1e-0000-4000-8000-000000000001\"}",
        "{\"bdf\":\"0000:01:20.0\"}",
        "{\"nic\":-1}",
        "{\"more\":1}",
    };
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    NpBdf bdf = {0, 1, 0x10, 2};
    g_autoptr(NpLease) lease = np_lease_new(vm, 0, &bdf);
    g_strlcpy(lease->id, "0123456789abcdef", sizeof(lease->id));
    for (size_t i = 0; i < G_N_ELEMENTS(patches); i++) {
        g_autoptr(json_t) object = np_lease_to_json(lease);
        g_autoptr(json_t) patch = json_loads(patches[i], 0, NULL);
        json_object_update(object, patch);
        g_assert_null(np_lease_from_json(object, NULL));
    }
}

static void
test_every_operation_has_a_row_of_its_own(void)
{
    for (int i = 0; i < NP_OP_COUNT; i++) {
        const NpOpInfo *info = np_op_info((NpOpKind) i);
        NpOpKind kind;
        g_assert_true(np_op_find(info->name, &kind));
        g_assert_cmpint(kind, ==, i);
        g_assert_cmpint(info->timeout_ms, >, 0);
        g_assert_cmpuint(strlen(info->sentence), >, 10);
        g_assert_true(info->writes || info->attr == NP_ATTR_NONE);
    }
    for (int i = 1; i < NP_ATTR_COUNT; i++) {
        NpAttr attr;
        g_assert_true(np_attr_find(np_attr_name((NpAttr) i), &attr));
        g_assert_cmpint(attr, ==, i);
    }
}

static void
test_vf_attributes_and_fields_are_in_the_same_order(void)
{
    for (int i = 0; i < NP_VF_FIELD_COUNT; i++) {
        NpVfFields field = np_attr_vf_field((NpAttr) (NP_ATTR_VF_MAC + i));
        g_assert_cmpint(field, ==, 1 << i);
        g_assert_cmpstr(np_vf_name(field), ==, np_attr_name((NpAttr) (NP_ATTR_VF_MAC + i)));
    }
    g_assert_cmpint(np_attr_vf_field(NP_ATTR_NET_UP), ==, 0);
}

static void
test_changes_survive_their_json(void)
{
    char old_value[] = "", new_value[] = "vfio-pci";
    NpChange change = {.kind = NP_OP_OVERRIDE,
                       .role = NP_ROLE_VF,
                       .object = {0x10000, 1, 0x10, 2},
                       .pf = {0x10000, 1, 0, 0},
                       .vf_index = 1,
                       .attr = NP_ATTR_OVERRIDE,
                       .old_value = old_value,
                       .new_value = new_value};
    NpChange copy;
    g_autoptr(json_t) object = np_change_to_json(&change);
    g_assert_true(np_change_from_json(object, &copy, NULL));
    g_autoptr(json_t) again = np_change_to_json(&copy);
    g_assert_true(json_equal(object, again));
    np_change_clear(&copy);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/vm/derived-macs-are-stable-local-and-distinct",
                    test_derived_macs_are_stable_local_and_distinct);
    g_test_add_func("/vm/derived-mac-never-changes-between-versions",
                    test_derived_mac_never_changes_between_versions);
    g_test_add_func("/vm/match-by-the-ids-of-their-hypervisor",
                    test_vms_match_by_the_ids_of_their_hypervisor);
    g_test_add_func("/vf/texts-are-read-back-as-they-were-written",
                    test_vf_texts_are_read_back_as_they_were_written);
    g_test_add_func("/vf/bad-texts-are-refused-and-change-nothing",
                    test_bad_vf_texts_are_refused_and_change_nothing);
    g_test_add_func("/vf/what-drivers-report-is-brought-into-one-form",
                    test_what_drivers_report_is_brought_into_one_form);
    g_test_add_func("/caps/unknown-drivers-are-asked-and-known-ones-have-a-word-on-all",
                    test_unknown_drivers_are_asked_and_known_ones_have_a_word_on_all);
    g_test_add_func("/lease/survive-their-json", test_leases_survive_their_json);
    g_test_add_func("/lease/with-doubtful-fields-are-refused",
                    test_leases_with_doubtful_fields_are_refused);
    g_test_add_func("/op/every-operation-has-a-row-of-its-own",
                    test_every_operation_has_a_row_of_its_own);
    g_test_add_func("/op/vf-attributes-and-fields-are-in-the-same-order",
                    test_vf_attributes_and_fields_are_in_the_same_order);
    g_test_add_func("/op/changes-survive-their-json", test_changes_survive_their_json);
    return g_test_run();
}
