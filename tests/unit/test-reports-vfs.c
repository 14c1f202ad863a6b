/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: symptoms that users of such tools reported, making VFs and setting their attributes.
 */
#include <errno.h>
#include <string.h>

#include "lib/base/error.h"
#include "tests/fake/host.h"

#define PF    "0000:01:00.0"
#define VF    "0000:01:10.0"
#define POOL  "[pool fast]\npf = " PF "\n"
#define FOUR  POOL "vfs = 4\n"
#define VM    "[vm 101]\npool = fast\n"
#define OTHER "[vm 102]\npool = fast\n"
#define MAC   "mac = 52:54:00:00:01:01\n"

static FakeDevice *
pf_of(FakeHost *host)
{
    return fake_find(host->kernel, PF);
}

static void
make(FakeHost *host, unsigned count)
{
    g_assert_cmpint(fake_make_vfs(host->state, pf_of(host), count), ==, 0);
}

/* Making VFs */

static void
test_second_run_does_not_write_an_equal_count(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", FOUR VM OTHER);
    fake_host_claim(host, 101);
    fake_host_claim(host, 102);
    g_assert_cmpuint(fake_host_logged(host, "write bus/pci/devices/" PF "/sriov_numvfs"), ==, 1);
}

static void
test_as_needed_is_enough_for_all_vms_configured(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM OTHER);
    fake_host_claim(host, 101);
    g_assert_cmpuint(pf_of(host)->count, ==, 2);
    fake_host_claim(host, 102);
}

static void
test_wrong_count_is_refused_and_names_the_holders(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", FOUR VM);
    make(host, 2);
    fake_unbind(host->state, fake_find(host->kernel, VF));
    fake_bind(host->state, fake_find(host->kernel, VF), "vfio-pci");
    fake_use(fake_find(host->kernel, VF), NP_USE_RESERVED, "VM 777 reserved it", 777);
    fake_host_refuse(host, 101, NP_ERROR_BUSY, "has 2 VFs, not 4");
    fake_host_refuse(host, 101, NP_ERROR_BUSY, "VM 777 reserved it");
    g_assert_cmpuint(pf_of(host)->count, ==, 2);
}

typedef struct {
    int errno_value;
    NpError code;
    const char *advice;
} Refusal;

/* EBUSY although the count is 0; MSI-X used up on many CPUs; SR-IOV off in the firmware; a driver
 * without SR-IOV. */
static void
test_kernel_refusals_are_put_into_words(void)
{
    static const Refusal refusals[] = {
        {EBUSY, NP_ERROR_BUSY, "see the kernel's log"},
        {ENOSPC, NP_ERROR_IO, "sriov_vf_total_msix"},
        {ENOMEM, NP_ERROR_IO, "Above 4G decoding"},
        {ENOENT, NP_ERROR_NOT_FOUND, "cannot make VFs"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
        g_autoptr(FakeHost) host = fake_host_new("igb", FOUR VM);
        host->state->faults.fail_at = 1;
        host->state->faults.fail_errno = refusals[i].errno_value;
        fake_host_refuse(host, 101, refusals[i].code, refusals[i].advice);
        g_assert_cmpuint(fake_host_logged(host, "write"), ==, 1); /* no blind retry */
    }
}

static void
test_kernel_refusal_names_driver_and_limit(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", FOUR VM);
    host->state->faults.fail_at = 1;
    host->state->faults.fail_errno = EBUSY;
    fake_host_refuse(host, 101, NP_ERROR_BUSY, "4 VFs of 7 possible, driver igb");
}

static void
test_too_many_vfs_names_both_numbers(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL "vfs = 8\n" VM);
    fake_host_refuse(host, 101, NP_ERROR_CONFIG, "can have 7 VFs at most, not 8");
}

static void
test_sriov_off_in_the_cards_firmware_is_explained(void)
{
    g_autoptr(FakeHost) host = fake_host_new("mlx5_core", POOL VM);
    pf_of(host)->total = 0;
    fake_host_refuse(host, 101, NP_ERROR_CONFIG, "SRIOV_EN");
}

static void
test_bnxt_gets_its_pf_up_before_its_vfs(void)
{
    g_autoptr(FakeHost) host = fake_host_new("bnxt_en", POOL "pf-up = set\n" VM);
    pf_of(host)->net.up = false;
    fake_host_claim(host, 101);
    g_assert_true(pf_of(host)->net.up);
    fake_host_release(host, 101);
    g_assert_false(pf_of(host)->net.up);
}

static void
test_pf_down_is_refused_unless_allowed_to_set_it_up(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    pf_of(host)->net.up = false;
    fake_host_refuse(host, 101, NP_ERROR_CONFIG, "pf-up = set");
    g_assert_cmpuint(host->state->effects, ==, 0);
}

static void
test_pf_stays_up_until_the_last_lease_ends(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", FOUR "pf-up = set\n" VM OTHER);
    pf_of(host)->net.up = false;
    fake_host_claim(host, 101);
    fake_host_claim(host, 102);
    fake_host_release(host, 101);
    g_assert_true(pf_of(host)->net.up);
    fake_host_release(host, 102);
    g_assert_false(pf_of(host)->net.up);
}

static void
test_vf_without_netdev_is_as_good(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    pf_of(host)->autoprobe = false;
    make(host, 1);
    fake_host_claim(host, 101);
    g_assert_cmpstr(fake_find(host->kernel, VF)->driver, ==, "vfio-pci");
    fake_host_release(host, 101);
    g_assert_cmpstr(fake_find(host->kernel, VF)->driver, ==, "");
}

static void
test_links_that_come_late_are_waited_for(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", FOUR VM);
    host->state->faults.late_links = 5;
    fake_host_claim(host, 101);
    g_assert_cmpuint(host->state->faults.late_links, ==, 0);
}

static void
test_vfs_that_never_come_are_a_timeout(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", FOUR VM);
    host->state->faults.late_links = 1000000;
    fake_host_refuse(host, 101, NP_ERROR_TIMEOUT, "VF 0 of 4 did not appear");
}

static void
test_pf_on_vfio_pci_is_said_to_be_given_away(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    fake_unbind(host->state, pf_of(host));
    fake_bind(host->state, pf_of(host), "vfio-pci");
    fake_host_refuse(host, 101, NP_ERROR_BUSY, "was the whole port given to a VM?");
}

/* MAC, VLAN, attributes */

static void
test_mac_changed_behind_our_back_is_put_back(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM MAC);
    make(host, 1);
    pf_of(host)->vf[0].mac = (NpMac){{0x52, 0x54, 0, 0, 0, 0x42}};
    fake_host_claim(host, 101);
    pf_of(host)->vf[0].mac = (NpMac){{0x52, 0x54, 0, 0, 0, 0x99}};
    fake_host_release(host, 101);
    g_assert_cmpuint(pf_of(host)->vf[0].mac.byte[5], ==, 0x42);
}

static void
test_effective_mac_comes_back_and_admin_mac_is_zero_again(void)
{
    static const NpMac zero;
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM MAC);
    make(host, 1);
    NpMac effective = fake_find(host->kernel, VF)->net.mac;
    fake_host_claim(host, 101);
    fake_host_release(host, 101);
    g_assert_true(np_mac_equal(&fake_find(host->kernel, VF)->net.mac, &effective));
    g_assert_true(np_mac_equal(&pf_of(host)->vf[0].mac, &zero));
}

static void
test_mac_in_use_by_another_vf_is_refused(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", FOUR VM MAC OTHER MAC);
    host->state->all_vms_alive = true;
    fake_host_claim(host, 101);
    fake_host_refuse(host, 102, NP_ERROR_BUSY, "VM 101 nic 0");
}

static void
test_mac_left_by_a_dead_vm_is_cleared_first(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", FOUR VM MAC OTHER MAC);
    fake_host_claim(host, 101);
    host->state->now_ms += NP_LEASE_GRACE_MS + 1;
    fake_host_claim(host, 102);
    g_assert_cmpuint(fake_host_leases(host), ==, 1);
}

static void
test_mac_is_set_while_the_vf_has_no_driver(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM MAC);
    make(host, 1);
    fake_host_claim(host, 101);
    guint unbound = 0, set = 0, bound = 0;
    for (unsigned i = 0; i < host->state->log_count; i++) {
        const char *line = host->state->log[i];
        unbound = strstr(line, "driver/unbind") ? i : unbound;
        set = strstr(line, "52:54:00:00:01:01") ? i : set;
        bound = strstr(line, "vfio-pci/bind") ? i : bound;
    }
    g_assert_cmpuint(unbound, <, set);
    g_assert_cmpuint(set, <, bound);
}

static void
test_mac_left_to_the_guest_is_zero(void)
{
    static const NpMac zero;
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM "mac = guest\n");
    make(host, 1);
    fake_host_claim(host, 101);
    g_assert_true(np_mac_equal(&pf_of(host)->vf[0].mac, &zero));
}

static void
test_zero_mac_refused_by_the_driver_gets_its_substitute(void)
{
    g_autoptr(FakeHost) host = fake_host_new("mlx5_core", POOL VM "mac = guest\n");
    make(host, 1);
    fake_host_claim(host, 101);
    g_assert_cmpuint(pf_of(host)->vf[0].mac.byte[0], ==, 0x02);
}

static void
test_trunk_on_an_untrusted_vf_is_not_promised(void)
{
    g_autoptr(FakeHost) host = fake_host_new("i40e", POOL VM "vlan = trunk\n");
    fake_host_refuse(host, 101, NP_ERROR_UNSUPPORTED, "needs 'trust = on'");
    g_autoptr(FakeHost) trusted =
        fake_host_new("i40e", POOL VM "vlan = trunk\ntrust = on\nspoofchk = off\n");
    fake_host_claim(trusted, 101);
    g_assert_cmpuint(pf_of(trusted)->vf[0].vlan, ==, 0);
}

static void
test_vf_still_in_reset_is_tried_again(void)
{
    g_autoptr(FakeHost) host = fake_host_new("i40e", POOL VM "vlan = 7\n");
    host->state->faults.again = 5;
    fake_host_claim(host, 101);
    g_assert_cmpuint(pf_of(host)->vf[0].vlan, ==, 7);
}

static void
test_vf_in_reset_for_good_is_not_tried_for_ever(void)
{
    g_autoptr(FakeHost) host = fake_host_new("i40e", POOL VM "vlan = 7\n");
    host->state->faults.again = 1000000;
    fake_host_refuse(host, 101, NP_ERROR_IO, "Resource temporarily unavailable");
    g_assert_cmpuint(fake_host_leases(host), ==, 0);
}

static void
test_two_nics_of_one_vm_are_not_swapped(void)
{
    g_autoptr(FakeHost) host =
        fake_host_new("igb", FOUR VM "vlan = 10\n[vm 101 nic 1]\npool = fast\nvlan = 20\n");
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    g_autoptr(GError) error = NULL;
    NpPin pins[] = {{.nic = 0}, {.nic = 1}};
    make(host, 4);
    g_assert_true(np_parse_bdf("0000:01:10.6", &pins[0].bdf, NULL));
    g_assert_true(np_parse_bdf("0000:01:10.2", &pins[1].bdf, NULL));
    g_array_append_vals(vm->pins, pins, 2);
    bool claimed = np_claim(&host->apply, vm, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(claimed);
    g_assert_cmpuint(pf_of(host)->vf[3].vlan, ==, 10);
    g_assert_cmpuint(pf_of(host)->vf[1].vlan, ==, 20);
}

static void
test_vlan_left_on_a_vf_is_cleared_at_the_next_claim(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    make(host, 1);
    pf_of(host)->vf[0].vlan = 55;
    fake_host_claim(host, 101);
    g_assert_cmpuint(pf_of(host)->vf[0].vlan, ==, 0);
}

static void
test_admin_mac_lost_while_the_vm_runs_is_noticed(void)
{
    g_autoptr(FakeHost) host = fake_host_new("i40e", POOL VM MAC);
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    g_autoptr(GPtrArray) fine = NULL, problems = NULL;
    fake_host_claim(host, 101);
    g_assert_true(np_verify(&host->apply, vm, &fine, NULL));
    g_assert_cmpuint(fine->len, ==, 0);
    unsigned effects = host->state->effects;
    memset(&pf_of(host)->vf[0].mac, 0, sizeof(NpMac));
    g_assert_true(np_verify(&host->apply, vm, &problems, NULL));
    g_assert_cmpuint(problems->len, ==, 1);
    g_assert_nonnull(strstr(g_ptr_array_index(problems, 0), "52:54:00:00:01:01"));
    g_assert_cmpuint(host->state->effects, ==, effects); /* and left alone */
}

static void
test_no_vlan_reported_as_4095_is_none(void)
{
    g_autoptr(FakeHost) host = fake_host_new("mlx5_core", POOL VM);
    make(host, 1);
    fake_host_claim(host, 101);
    for (unsigned i = 0; i < host->state->log_count; i++)
        g_assert_null(strstr(host->state->log[i], "vlan="));
}

static void
test_both_rates_are_sent_together(void)
{
    g_autoptr(FakeHost) host = fake_host_new("mlx5_core", POOL VM "rate-max = 1G\n");
    make(host, 1);
    pf_of(host)->vf[0].min_mbps = 100;
    pf_of(host)->vf[0].max_mbps = 500;
    fake_host_claim(host, 101);
    g_assert_cmpuint(pf_of(host)->vf[0].min_mbps, ==, 0);
    g_assert_cmpuint(pf_of(host)->vf[0].max_mbps, ==, 1000);
    fake_host_release(host, 101);
    g_assert_cmpuint(pf_of(host)->vf[0].min_mbps, ==, 100);
    g_assert_cmpuint(pf_of(host)->vf[0].max_mbps, ==, 500);
}

typedef struct {
    const char *driver, *setting, *part;
    bool switchdev, no_link;
} Unsupported;

static void
test_what_the_driver_cannot_do_is_refused_before_anything_is_done(void)
{
    static const Unsupported rows[] = {
        {"igb", "vlan = 5\nvlan-proto = 802.1ad\n", "802.1ad"},
        {"igb", "link = up\n", "'link'"},
        {"igb", "rss-query = on\n", "'rss-query'"},
        {"igb", "rate-min = 10M\n", "'rate-min'"},
        {"igb", "rate-max = 10M\n", "it has none", false, true},
        {"i40e", "rate-min = 10M\n", "'rate-min'"},
        {"mlx5_core", "trust = on\n", "switchdev", true},
        {"mlx5_core", "vlan = 5\n", "representor", true},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = g_strconcat(POOL VM, rows[i].setting, NULL);
        g_autoptr(FakeHost) host = fake_host_new(rows[i].driver, text);
        make(host, 1);
        pf_of(host)->switchdev = rows[i].switchdev;
        pf_of(host)->net.carrier = !rows[i].no_link;
        fake_host_refuse(host, 101, NP_ERROR_UNSUPPORTED, rows[i].part);
        g_assert_cmpuint(host->state->effects, ==, 0);
    }
}

static void
test_what_the_driver_cannot_do_is_a_warning_as_best_effort(void)
{
    g_autoptr(FakeHost) host =
        fake_host_new("igb", POOL VM "link = up\nrss-query = on\nbest-effort = link, rss-query\n");
    fake_host_claim(host, 101);
    g_assert_cmpuint(fake_host_warnings(host, "going without 'link'"), ==, 1);
    g_assert_cmpuint(fake_host_warnings(host, "going without 'rss-query'"), ==, 1);
}

static void
test_link_state_accepted_without_effect_is_noticed(void)
{
    g_autoptr(FakeHost) host = fake_host_new("ixgbe", POOL VM "link = up\n");
    fake_host_refuse(host, 101, NP_ERROR_FAILED, "although the kernel reported success");
    g_assert_cmpuint(fake_host_leases(host), ==, 0);
}

static void
test_failing_a_default_is_no_error(void)
{
    g_autoptr(FakeHost) host = fake_host_new("plain-driver", POOL VM);
    g_assert_nonnull(pf_of(host));
    g_assert_cmpint(pf_of(host)->kind, ==, NP_FUNCTION_PF);
    fake_host_claim(host, 101);
    g_assert_cmpuint(fake_host_warnings(host, "going without 'spoofchk'"), ==, 1);
}

static void
test_attributes_go_out_in_one_request(void)
{
    g_autoptr(FakeHost) host = fake_host_new(
        "i40e", POOL VM MAC "vlan = 10\ntrust = on\nspoofchk = off\nlink = up\nrate-max = 1G\n");
    make(host, 1);
    fake_host_claim(host, 101);
    g_assert_cmpuint(fake_host_logged(host, "vf 0"), ==, 2); /* the MAC in effect is one */
    g_assert_cmpuint(host->state->queries, <, 12);
    fake_host_release(host, 101);
    g_assert_cmpuint(fake_host_logged(host, "vf 0"), ==, 5); /* MAC last, then the old admin MAC */
}

#define TEST(function)                                                                             \
    {                                                                                              \
#function, test_##function                                                                 \
    }

static const struct {
    const char *name;
    void (*function)(void);
} tests[] = {
    TEST(second_run_does_not_write_an_equal_count),
    TEST(as_needed_is_enough_for_all_vms_configured),
    TEST(wrong_count_is_refused_and_names_the_holders),
    TEST(kernel_refusals_are_put_into_words),
    TEST(kernel_refusal_names_driver_and_limit),
    TEST(too_many_vfs_names_both_numbers),
    TEST(sriov_off_in_the_cards_firmware_is_explained),
    TEST(bnxt_gets_its_pf_up_before_its_vfs),
    TEST(pf_down_is_refused_unless_allowed_to_set_it_up),
    TEST(pf_stays_up_until_the_last_lease_ends),
    TEST(vf_without_netdev_is_as_good),
    TEST(links_that_come_late_are_waited_for),
    TEST(vfs_that_never_come_are_a_timeout),
    TEST(pf_on_vfio_pci_is_said_to_be_given_away),
    TEST(mac_changed_behind_our_back_is_put_back),
    TEST(effective_mac_comes_back_and_admin_mac_is_zero_again),
    TEST(mac_in_use_by_another_vf_is_refused),
    TEST(mac_left_by_a_dead_vm_is_cleared_first),
    TEST(mac_is_set_while_the_vf_has_no_driver),
    TEST(mac_left_to_the_guest_is_zero),
    TEST(zero_mac_refused_by_the_driver_gets_its_substitute),
    TEST(trunk_on_an_untrusted_vf_is_not_promised),
    TEST(vf_still_in_reset_is_tried_again),
    TEST(vf_in_reset_for_good_is_not_tried_for_ever),
    TEST(two_nics_of_one_vm_are_not_swapped),
    TEST(vlan_left_on_a_vf_is_cleared_at_the_next_claim),
    TEST(admin_mac_lost_while_the_vm_runs_is_noticed),
    TEST(no_vlan_reported_as_4095_is_none),
    TEST(both_rates_are_sent_together),
    TEST(what_the_driver_cannot_do_is_refused_before_anything_is_done),
    TEST(what_the_driver_cannot_do_is_a_warning_as_best_effort),
    TEST(link_state_accepted_without_effect_is_noticed),
    TEST(failing_a_default_is_no_error),
    TEST(attributes_go_out_in_one_request),
};

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_autofree char *path = g_strdup_printf("/reports/vfs/%s", tests[i].name);
        g_test_add_func(path, tests[i].function);
    }
    return g_test_run();
}
