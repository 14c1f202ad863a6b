/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: symptoms that users of such tools reported, drivers, groups, races and the host itself.
 */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/apply/attr.h"
#include "lib/base/error.h"
#include "lib/plan/guard.h"
#include "tests/fake/host.h"

#define PF    "0000:01:00.0"
#define PORT  "0000:01:00.1"
#define VF    "0000:01:10.0"
#define VF1   "0000:01:10.2"
#define POOL  "[pool fast]\npf = " PF "\n"
#define TWO   POOL "vfs = 2\n"
#define VM    "[vm 101]\npool = fast\n"
#define OTHER "[vm 102]\npool = fast\n"
#define WHOLE "[vm 101]\npf = " PORT "\n"

static FakeDevice *
find(FakeHost *host, const char *bdf)
{
    return fake_find(host->kernel, bdf);
}

static void
make(FakeHost *host, unsigned count)
{
    g_assert_cmpint(fake_make_vfs(host->state, find(host, PF), count), ==, 0);
}

/* The id of the first lease (transfer full), NULL when there is none. */
static char *
first_lease(FakeHost *host)
{
    g_autoptr(GPtrArray) leases = np_leases_list(&host->kernel->sys, host->run_dir, NULL);
    return leases->len ? g_strdup(((const NpLease *) g_ptr_array_index(leases, 0))->id) : NULL;
}

/* Drivers */

static void
test_vf_born_on_vfio_pci_by_new_id_is_fine_and_stays_there(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    g_strlcpy(host->state->new_ids[0], "8086 10ca", FAKE_TEXT);
    fake_host_claim(host, 101);
    fake_host_release(host, 101);
    g_assert_cmpstr(find(host, VF)->driver, ==, "vfio-pci");
    g_assert_cmpuint(fake_host_logged(host, "write bus/pci/drivers/vfio-pci/new_id"), ==, 0);
}

static void
test_host_driver_comes_back_although_new_id_has_the_vf(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    make(host, 1);
    fake_host_claim(host, 101);
    g_strlcpy(host->state->new_ids[0], "8086 10ca", FAKE_TEXT);
    fake_host_release(host, 101);
    g_assert_cmpstr(find(host, VF)->driver, ==, "igbvf");
}

static void
test_second_start_finds_all_done(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    fake_host_claim(host, 101);
    unsigned effects = host->state->effects;
    g_autofree char *lease = first_lease(host);
    fake_host_claim(host, 101);
    g_autofree char *same = first_lease(host);
    g_assert_cmpuint(host->state->effects, ==, effects);
    g_assert_cmpstr(lease, ==, same);
}

static void
test_old_text_of_the_override_comes_back(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    make(host, 1);
    g_strlcpy(find(host, VF)->override, "igbvf", FAKE_TEXT);
    fake_host_claim(host, 101);
    fake_host_release(host, 101);
    g_assert_cmpstr(find(host, VF)->override, ==, "igbvf");
    g_assert_cmpstr(find(host, VF)->driver, ==, "igbvf");
}

static bool
claim_101(FakeHost *host, gpointer data)
{
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    return np_claim(&host->apply, vm, NULL, NULL);
}

static void
test_death_between_unbind_and_bind_leaves_a_record(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    g_autoptr(GPtrArray) done = NULL;
    make(host, 1);
    host->state->faults.die_at = 2; /* unbind, after the MAC was held */
    host->state->faults.die_after = true;
    g_assert_cmpint(WEXITSTATUS(fake_host_fork(host, claim_101, NULL)), ==, 42);
    g_assert_cmpstr(find(host, VF)->driver, ==, "");
    g_assert_cmpuint(fake_host_leases(host), ==, 1);
    g_assert_true(np_repair(&host->apply, NULL, &done, NULL));
    g_assert_cmpuint(done->len, ==, 1);
    g_assert_cmpstr(find(host, VF)->driver, ==, "igbvf");
}

static void
test_siblings_without_driver_are_left_alone(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    make(host, 2);
    fake_unbind(host->state, find(host, VF1));
    fake_host_claim(host, 101);
    g_assert_cmpstr(find(host, VF1)->driver, ==, "");
    g_assert_cmpstr(find(host, VF1)->override, ==, "");
}

static void
test_pf_is_never_unbound_in_place_of_a_vf(void)
{
    static const NpRole roles[] = {NP_ROLE_VF, NP_ROLE_PF};
    for (size_t i = 0; i < G_N_ELEMENTS(roles); i++) {
        g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
        g_autoptr(GError) error = NULL;
        NpChange change = {.kind = NP_OP_UNBIND, .role = roles[i], .attr = NP_ATTR_DRIVER};
        change.object = change.pf = find(host, PF)->bdf;
        g_assert_false(np_attr_write(&host->kernel->sys, &change, "", &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_DENIED);
        g_assert_cmpstr(find(host, PF)->driver, ==, "igb");
    }
}

static void
test_no_driver_is_a_state_and_no_error(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    make(host, 1);
    fake_unbind(host->state, find(host, VF));
    fake_host_claim(host, 101);
    fake_host_release(host, 101);
    g_assert_cmpstr(find(host, VF)->driver, ==, "");
}

static void
test_after_a_reboot_there_is_nothing_to_undo(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    g_autoptr(GPtrArray) done = NULL;
    fake_host_claim(host, 101);
    fake_host_reboot(host);
    host->state->log_count = 0;
    g_assert_true(np_repair(&host->apply, NULL, &done, NULL));
    g_assert_cmpuint(done->len, ==, 0);
    fake_host_claim(host, 101);
    g_assert_cmpuint(find(host, PF)->count, ==, 1);
}

static void
test_a_step_that_hangs_is_named(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    make(host, 1);
    find(host, VF)->held = true; /* by a process, through the host's driver */
    fake_host_refuse(host, 101, NP_ERROR_TIMEOUT, "unbind " VF);
}

static void
test_bind_that_silently_did_nothing_is_noticed(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    make(host, 1);
    host->state->faults.lose_writes = true;
    g_strlcpy(host->state->faults.lose_only, "vfio-pci/bind", FAKE_TEXT);
    fake_host_refuse(host, 101, NP_ERROR_FAILED, "although the kernel reported success");
    g_assert_cmpstr(find(host, VF)->driver, ==, "igbvf");
    g_assert_cmpuint(fake_host_leases(host), ==, 0);
}

/* IOMMU groups */

static void
test_two_ports_in_one_group_are_named_with_the_port_above(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", WHOLE);
    find(host, "0000:00:01.0")->acs = NP_ACS_ABSENT;
    find(host, PORT)->group = find(host, PF)->group;
    g_strlcpy(find(host, PF)->net.master, "vmbr1", FAKE_TEXT);
    fake_host_refuse(host, 101, NP_ERROR_DENIED, PF " (igb, ens1f0, in vmbr1)");
    fake_host_refuse(host, 101, NP_ERROR_DENIED, "port 0000:00:01.0 above has no ACS");
    g_assert_cmpuint(host->state->effects, ==, 0);
}

static void
test_all_ports_of_a_group_together_are_fine(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", WHOLE "[vm 101 nic 1]\npf = " PF "\n");
    find(host, PORT)->group = find(host, PF)->group = find(host, "0000:00:01.0")->group;
    fake_host_claim(host, 101);
    g_assert_cmpstr(find(host, PF)->driver, ==, "vfio-pci");
    g_assert_cmpstr(find(host, PORT)->driver, ==, "vfio-pci");
}

static void
test_vf_in_the_group_of_its_pf_is_refused(void)
{
    g_autoptr(FakeHost) host = fake_host_new("mlx5_core", POOL VM);
    find(host, "0000:00:01.0")->acs = NP_ACS_ABSENT;
    make(host, 1);
    fake_host_refuse(host, 101, NP_ERROR_DENIED, "shares IOMMU group");
    g_assert_cmpuint(host->state->effects, ==, 0);
}

static void
test_vfs_are_not_even_made_where_they_would_share_a_group(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    find(host, "0000:00:01.0")->acs = NP_ACS_ABSENT;
    fake_host_refuse(host, 101, NP_ERROR_DENIED, "port 0000:00:01.0 above has no ACS");
    g_assert_cmpuint(find(host, PF)->count, ==, 0);
}

static void
test_group_spoilt_by_what_no_scan_shows_is_noticed(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    make(host, 1);
    g_autofree char *before = fake_kernel_dump(host->kernel);
    find(host, "0000:05:00.0")->hidden = true;
    find(host, "0000:05:00.0")->group = find(host, VF)->group;
    fake_host_refuse(host, 101, NP_ERROR_DENIED, "not viable");
    g_autofree char *after = fake_kernel_dump(host->kernel);
    g_assert_cmpstr(after, ==, before);
}

static void
test_value_that_changed_since_the_plan_is_not_overwritten(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM "vlan = 5\n");
    make(host, 1);
    host->state->faults.meddle_at = 2;
    fake_host_refuse(host, 101, NP_ERROR_BUSY, "vlan became '99' meanwhile");
    g_assert_cmpuint(find(host, PF)->vf[0].vlan, ==, 99);
    g_assert_cmpstr(find(host, VF)->driver, ==, "igbvf");
}

static void
test_iommu_off_is_said(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    host->state->no_iommu = true;
    fake_host_refuse(host, 101, NP_ERROR_DENIED, "IOMMU is off");
}

static void
test_verdict_says_safe_or_why_not(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    g_autoptr(NpInventory) inventory = NULL;
    g_autoptr(GPtrArray) leases = g_ptr_array_new();
    g_assert_true(host->kernel->sys.scan(&host->kernel->sys, &inventory, NULL));
    const NpFunction *port = np_inventory_find(inventory, &find(host, PORT)->bdf);
    const NpFunction *onboard = np_inventory_find(inventory, &find(host, "0000:05:00.0")->bdf);
    g_autofree char *safe = np_guard_verdict(inventory, port, leases);
    g_autofree char *unsafe = np_guard_verdict(inventory, onboard, leases);
    g_assert_null(safe);
    g_assert_nonnull(strstr(unsafe, "vmbr0"));
}

static void
test_group_numbers_are_never_stored(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    fake_host_claim(host, 101);
    g_autofree char *id = first_lease(host);
    g_autofree char *name = g_strconcat(id, ".jsonl", NULL);
    g_autofree char *path = g_build_filename(host->run_dir, "leases", name, NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_assert_null(strstr(text, "group"));
}

/* Races, restoring */

static void
test_late_release_of_an_old_lease_spares_the_new_owner(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL "vfs = 1\n" VM OTHER "vlan = 9\n");
    g_autoptr(GError) error = NULL;
    fake_host_claim(host, 101);
    g_autofree char *old = first_lease(host);
    fake_host_release(host, 101);
    fake_host_claim(host, 102);
    g_assert_false(np_release_lease(&host->apply, old, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_NOT_FOUND);
    fake_host_release(host, 101);
    g_assert_cmpstr(find(host, VF)->driver, ==, "vfio-pci");
    g_assert_cmpuint(find(host, PF)->vf[0].vlan, ==, 9);
}

static void
test_vf_is_reset_at_every_claim(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    for (unsigned i = 1; i <= 3; i++) {
        fake_host_claim(host, 101);
        g_assert_cmpuint(find(host, VF)->resets, ==, i);
        fake_host_release(host, 101);
    }
}

static void
test_reset_that_clears_attributes_is_made_good(void)
{
    g_autoptr(FakeHost) host = fake_host_new("mlx5_core", POOL VM "vlan = 5\nlink = up\n");
    make(host, 1);
    find(host, PF)->vf[0].vlan = 5; /* as wanted already: the plan has nothing to set */
    find(host, PF)->vf[0].max_mbps = 300;
    g_autofree char *before = fake_kernel_dump(host->kernel);
    host->state->faults.reset_clears = true;
    fake_host_claim(host, 101);
    g_assert_cmpuint(find(host, PF)->vf[0].vlan, ==, 5);
    g_assert_cmpuint(find(host, PF)->vf[0].max_mbps, ==, 300);
    g_assert_cmpuint(fake_host_warnings(host, "the reset changed"), >, 0);
    fake_host_release(host, 101);
    g_autofree char *after = fake_kernel_dump(host->kernel);
    g_assert_cmpstr(after, ==, before);
}

static void
test_start_that_failed_is_undone_like_a_stop(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM "vlan = 3\n");
    make(host, 1);
    g_autofree char *before = fake_kernel_dump(host->kernel);
    host->state->faults.fail_at = 6;
    host->state->faults.fail_errno = EIO;
    fake_host_refuse(host, 101, NP_ERROR_IO, "probe " VF);
    g_autofree char *after = fake_kernel_dump(host->kernel);
    g_assert_cmpstr(after, ==, before);
}

static void
test_release_of_a_function_that_is_gone_is_fine(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    fake_host_claim(host, 101);
    make(host, 0);
    fake_host_release(host, 101);
    g_assert_cmpuint(fake_host_leases(host), ==, 0);
    g_assert_cmpuint(fake_host_warnings(host, "is gone"), >, 0);
}

static void
test_release_without_lease_is_fine(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM);
    fake_host_release(host, 101);
    g_assert_cmpuint(host->state->effects, ==, 0);
}

static void
test_next_start_reclaims_what_a_missed_stop_left(void)
{
    g_autoptr(FakeHost) host =
        fake_host_new("igb", POOL "vfs = 1\n" VM "trust = on\n" OTHER "vlan = 4\n");
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    fake_host_claim(host, 101);
    g_assert_true(np_confirm(&host->apply, vm, 4711, NULL));
    fake_host_claim(host, 102); /* 101 ran once and is dead: no grace */
    g_assert_cmpuint(fake_host_leases(host), ==, 1);
    g_assert_false(find(host, PF)->vf[0].trust);
    g_assert_cmpuint(find(host, PF)->vf[0].vlan, ==, 4);
}

static void
test_vf_that_cannot_be_put_back_keeps_no_other_vm_from_starting(void)
{
    g_autoptr(FakeHost) host =
        fake_host_new("ixgbe", TWO VM "rate-max = 1G\n" OTHER "[vm 103]\npool = fast\n");
    fake_host_claim(host, 101);
    host->state->now_ms += NP_LEASE_GRACE_MS + 1;
    find(host, PF)->net.carrier = false; /* the driver takes no rates now */
    fake_host_claim(host, 102);
    g_assert_cmpuint(fake_host_warnings(host, "reclaim from VM 101"), ==, 1);
    g_assert_cmpuint(fake_host_leases(host), ==, 2);
    fake_host_refuse(host, 103, NP_ERROR_BUSY, "VF 0: VM 101 nic 0");
    find(host, PF)->net.carrier = true;
    fake_host_claim(host, 103);
}

static void
test_vm_that_is_just_being_started_keeps_its_vf(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL "vfs = 1\n" VM OTHER);
    fake_host_claim(host, 101);
    fake_host_refuse(host, 102, NP_ERROR_BUSY, "VM 101 nic 0");
    host->state->now_ms += NP_LEASE_GRACE_MS + 1;
    fake_host_claim(host, 102);
}

static void
test_vf_of_a_running_vm_is_never_touched(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL "vfs = 1\n" VM OTHER);
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    g_autoptr(GError) error = NULL;
    fake_host_claim(host, 101);
    find(host, VF)->held = true;
    host->state->now_ms += NP_LEASE_GRACE_MS + 1;
    unsigned effects = host->state->effects;
    fake_host_refuse(host, 102, NP_ERROR_BUSY, "VM 101 nic 0");
    g_assert_false(np_release(&host->apply, vm, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_BUSY);
    g_assert_cmpuint(host->state->effects, ==, effects);
    find(host, VF)->held = false;
    fake_host_release(host, 101);
}

static void
test_removing_vfs_is_refused_while_one_is_used(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", TWO VM);
    g_autoptr(GError) error = NULL;
    NpPfRef pf = {.has_bdf = true, .bdf = find(host, PF)->bdf};
    fake_host_claim(host, 101);
    g_assert_false(np_set_vfs(&host->apply, &pf, 0, NULL, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_BUSY);
    g_assert_nonnull(strstr(error->message, "VF 0: VM 101 nic 0"));
    g_assert_cmpuint(find(host, PF)->count, ==, 2);
    fake_host_release(host, 101);
    g_assert_true(np_set_vfs(&host->apply, &pf, 5, NULL, NULL));
    g_assert_cmpuint(find(host, PF)->count, ==, 5);
    g_assert_true(np_set_vfs(&host->apply, &pf, 0, NULL, NULL));
    g_assert_cmpuint(find(host, PF)->count, ==, 0);
}

static void
test_release_never_lowers_the_count(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", TWO VM);
    fake_host_claim(host, 101);
    fake_host_release(host, 101);
    g_assert_cmpuint(find(host, PF)->count, ==, 2);
}

/* The host's own network */

static void
test_port_was_renamed_or_moved(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL "pf-name = eno1\n" VM);
    fake_host_refuse(host, 101, NP_ERROR_CONFIG, "was a card moved?");
    g_autoptr(FakeHost) by_mac = fake_host_new("igb", "[pool fast]\npf = 00:1b:21:00:00:10\n" VM);
    fake_host_claim(by_mac, 101);
}

typedef struct {
    NpUseKind kind;
    bool passes; /* with even-if-used */
} Use;

static void
test_port_that_the_host_needs_is_refused(void)
{
    static const Use uses[] = {
        {NP_USE_ADDRESS, true},  {NP_USE_ROUTE, false},        {NP_USE_DEFAULT_ROUTE, false},
        {NP_USE_MEMBER, true},   {NP_USE_SSH, false},          {NP_USE_COROSYNC, false},
        {NP_USE_STORAGE, false}, {NP_USE_TRAFFIC_RULE, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(uses); i++) {
        g_autoptr(FakeHost) host = fake_host_new("igb", WHOLE);
        g_autoptr(FakeHost) forced = fake_host_new("igb", WHOLE "even-if-used = yes\n");
        fake_use(find(host, PORT), uses[i].kind, "vmbr7 needs it", 0);
        fake_use(find(forced, PORT), uses[i].kind, "vmbr7 needs it", 0);
        fake_host_refuse(host, 101, NP_ERROR_DENIED, "in use by the host: vmbr7 needs it");
        g_assert_cmpuint(host->state->effects, ==, 0);
        if (uses[i].passes)
            fake_host_claim(forced, 101);
        else
            fake_host_refuse(forced, 101, NP_ERROR_DENIED, "vmbr7 needs it");
        g_assert_cmpuint(fake_host_warnings(forced, "leaves the host"), ==, uses[i].passes);
    }
}

static void
test_host_that_loses_its_way_gets_its_port_back(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", WHOLE "even-if-used = yes\n");
    FakeDevice *port = find(host, PORT);
    g_strlcpy(port->net.master, "vmbr1", FAKE_TEXT);
    port->net.mtu = 9000;
    fake_use(port, NP_USE_MEMBER, "it is a port of vmbr1", 0);
    g_autofree char *before = fake_kernel_dump(host->kernel);
    host->state->faults.lose_path = true;
    fake_host_refuse(host, 101, NP_ERROR_DENIED, "not reachable without it");
    g_autofree char *after = fake_kernel_dump(host->kernel);
    g_assert_cmpstr(after, ==, before);
}

static void
test_port_comes_back_up_with_its_bridge_and_mtu(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", WHOLE "even-if-used = yes\n");
    FakeDevice *port = find(host, PORT);
    g_strlcpy(port->net.master, "vmbr1", FAKE_TEXT);
    g_strlcpy(port->net.addresses[0], "10.9.0.1/24", FAKE_TEXT);
    port->net.mtu = 9000;
    g_autofree char *before = fake_kernel_dump(host->kernel);
    fake_host_claim(host, 101);
    g_assert_cmpstr(port->driver, ==, "vfio-pci");
    fake_host_release(host, 101);
    g_autofree char *after = fake_kernel_dump(host->kernel);
    g_assert_cmpstr(after, ==, before);
}

static void
test_port_that_is_away_is_still_known_by_its_lease(void)
{
    static const char *const names[] = {"ens1f1", "00:1b:21:00:00:11"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *text = g_strdup_printf("[vm 101]\npf = %s\n", names[i]);
        g_autoptr(FakeHost) host = fake_host_new("igb", text);
        fake_host_claim(host, 101);
        g_autofree char *lease = first_lease(host);
        fake_host_claim(host, 101);
        g_autofree char *same = first_lease(host);
        g_assert_cmpstr(lease, ==, same);
        g_strlcpy(find(host, PORT)->override, "", FAKE_TEXT); /* somebody meddles */
        fake_unbind(host->state, find(host, PORT));
        fake_host_claim(host, 101);
        g_assert_cmpstr(find(host, PORT)->driver, ==, "vfio-pci");
        fake_host_release(host, 101);
        g_assert_cmpstr(find(host, PORT)->driver, ==, "igb");
        g_assert_true(find(host, PORT)->net.up);
    }
}

static void
test_definition_that_names_another_vf_moves_the_nic(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", TWO VM);
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    NpPin pin = {.nic = 0};
    fake_host_claim(host, 101);
    pin.bdf = find(host, VF1)->bdf;
    g_array_append_val(vm->pins, pin);
    g_assert_true(np_claim(&host->apply, vm, NULL, NULL));
    g_assert_cmpstr(find(host, VF)->driver, ==, "igbvf");
    g_assert_cmpstr(find(host, VF1)->driver, ==, "vfio-pci");
    g_assert_cmpuint(fake_host_leases(host), ==, 1);
}

static void
test_port_with_vfs_is_not_given_away_whole(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", "[vm 101]\npf = " PF "\n");
    make(host, 3);
    fake_host_refuse(host, 101, NP_ERROR_BUSY, "has 3 VFs, which would vanish with it");
}

static void
test_only_what_we_changed_is_put_back(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL VM "vlan = 3\n");
    make(host, 1);
    fake_host_claim(host, 101);
    find(host, PF)->vf[0].max_mbps = 250; /* the administrator's, meanwhile */
    fake_host_release(host, 101);
    g_assert_cmpuint(find(host, PF)->vf[0].max_mbps, ==, 250);
    g_assert_cmpuint(find(host, PF)->vf[0].vlan, ==, 0);
}

#define TEST(function)                                                                             \
    {                                                                                              \
#function, test_##function                                                                 \
    }

static const struct {
    const char *name;
    void (*function)(void);
} tests[] = {
    TEST(vf_born_on_vfio_pci_by_new_id_is_fine_and_stays_there),
    TEST(host_driver_comes_back_although_new_id_has_the_vf),
    TEST(second_start_finds_all_done),
    TEST(old_text_of_the_override_comes_back),
    TEST(death_between_unbind_and_bind_leaves_a_record),
    TEST(siblings_without_driver_are_left_alone),
    TEST(pf_is_never_unbound_in_place_of_a_vf),
    TEST(no_driver_is_a_state_and_no_error),
    TEST(after_a_reboot_there_is_nothing_to_undo),
    TEST(a_step_that_hangs_is_named),
    TEST(bind_that_silently_did_nothing_is_noticed),
    TEST(two_ports_in_one_group_are_named_with_the_port_above),
    TEST(all_ports_of_a_group_together_are_fine),
    TEST(vf_in_the_group_of_its_pf_is_refused),
    TEST(vfs_are_not_even_made_where_they_would_share_a_group),
    TEST(group_spoilt_by_what_no_scan_shows_is_noticed),
    TEST(value_that_changed_since_the_plan_is_not_overwritten),
    TEST(iommu_off_is_said),
    TEST(verdict_says_safe_or_why_not),
    TEST(group_numbers_are_never_stored),
    TEST(late_release_of_an_old_lease_spares_the_new_owner),
    TEST(vf_is_reset_at_every_claim),
    TEST(reset_that_clears_attributes_is_made_good),
    TEST(start_that_failed_is_undone_like_a_stop),
    TEST(release_of_a_function_that_is_gone_is_fine),
    TEST(release_without_lease_is_fine),
    TEST(next_start_reclaims_what_a_missed_stop_left),
    TEST(vf_that_cannot_be_put_back_keeps_no_other_vm_from_starting),
    TEST(vm_that_is_just_being_started_keeps_its_vf),
    TEST(vf_of_a_running_vm_is_never_touched),
    TEST(removing_vfs_is_refused_while_one_is_used),
    TEST(release_never_lowers_the_count),
    TEST(port_was_renamed_or_moved),
    TEST(port_that_the_host_needs_is_refused),
    TEST(host_that_loses_its_way_gets_its_port_back),
    TEST(port_comes_back_up_with_its_bridge_and_mtu),
    TEST(port_that_is_away_is_still_known_by_its_lease),
    TEST(definition_that_names_another_vf_moves_the_nic),
    TEST(port_with_vfs_is_not_given_away_whole),
    TEST(only_what_we_changed_is_put_back),
};

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_autofree char *path = g_strdup_printf("/reports/host/%s", tests[i].name);
        g_test_add_func(path, tests[i].function);
    }
    return g_test_run();
}
