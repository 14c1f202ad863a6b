/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: what is printed is what is done; claiming, confirming and releasing on the fake kernel.
 */
#include <string.h>
#include <sys/wait.h>

#include "lib/base/error.h"
#include "tests/fake/host.h"

#define PF   "0000:01:00.0"
#define VF0  "0000:01:10.0"
#define POOL "[pool fast]\npf = " PF "\n"

static void
test_makes_as_many_vfs_as_needed_and_prepares_one(void)
{
    g_autoptr(FakeHost) host =
        fake_host_new("igb", POOL "[vm 101]\npool = fast\nmac = 52:54:00:00:01:01\nvlan = 100\n");
    fake_host_claim(host, 101);
    const FakeDevice *pf = fake_find(host->kernel, PF);
    const FakeDevice *vf = fake_find(host->kernel, VF0);
    g_assert_cmpuint(pf->count, ==, 1);
    g_assert_cmpstr(vf->driver, ==, "vfio-pci");
    g_assert_cmpstr(vf->override, ==, "vfio-pci");
    g_assert_cmpuint(vf->resets, ==, 1);
    g_assert_cmpuint(pf->vf[0].vlan, ==, 100);
    g_assert_cmpuint(pf->vf[0].mac.byte[5], ==, 1);
    g_assert_cmpuint(fake_host_leases(host), ==, 1);
}

static void
test_release_puts_all_back_but_keeps_the_vfs(void)
{
    g_autoptr(FakeHost) host =
        fake_host_new("igb", POOL "[vm 101]\npool = fast\nvlan = 100\ntrust = on\n"
                                  "rate-max = 100M\n");
    fake_make_vfs(host->state, fake_find(host->kernel, PF), 2);
    g_autofree char *before = fake_kernel_dump(host->kernel);
    fake_host_claim(host, 101);
    g_autofree char *during = fake_kernel_dump(host->kernel);
    g_assert_cmpstr(during, !=, before);
    fake_host_release(host, 101);
    g_autofree char *after = fake_kernel_dump(host->kernel);
    g_assert_cmpstr(after, ==, before);
    g_assert_cmpuint(fake_host_leases(host), ==, 0);
    g_assert_cmpuint(fake_host_pf_journals(host), ==, 0);
}

/* On a host that has passed nothing through since it was booted. */
static void
test_a_driver_that_takes_the_function_while_it_is_loaded_is_fine(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL "[vm 101]\npool = fast\n");
    host->state->vfio_not_loaded = true;
    fake_host_claim(host, 101);
    g_assert_cmpstr(fake_find(host->kernel, VF0)->driver, ==, "vfio-pci");
    g_assert_false(host->state->vfio_not_loaded);
}

/* Reads every journal of a folder into changes (array of JSON). */
static void
gather(FakeHost *host, const char *folder, json_t *changes)
{
    g_autofree char *path = g_build_filename(host->run_dir, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        g_autoptr(NpJournal) journal = np_journal_open(file, NULL);
        g_autoptr(GPtrArray) all = np_journal_all_changes(journal);
        for (guint i = 0; i < all->len; i++)
            json_array_append_new(changes, np_change_to_json(g_ptr_array_index(all, i)));
    }
}

static bool
is_journalled(const json_t *changes, const NpChange *change)
{
    g_autoptr(json_t) planned = np_change_to_json(change);
    size_t i;
    json_t *made;
    json_array_foreach((json_t *) (uintptr_t) changes, i, made)
    {
        /* What the plan could not know is no difference. */
        g_autoptr(json_t) copy = json_deep_copy(made);
        if (!change->old_value)
            json_object_del(copy, "old");
        if (!change->new_value)
            json_object_del(copy, "new");
        if (json_equal(planned, copy))
            return true;
    }
    return false;
}

static const char *const configs[] = {
    POOL "[vm 101]\npool = fast\nvlan = 5\n",
    POOL "vfs = 4\nmtu = 9000\npf-up = set\n[vm 101]\npool = fast\nmac = 52:54:00:00:01:01\n"
         "trust = on\nrate-max = 1G\nspoofchk = off\n",
    POOL "[pool b]\npf = 0000:01:00.1\n[vm 101]\npool = fast\n[vm 101 nic 1]\npool = b\n",
    "[vm 101]\npf = 0000:01:00.1\n",
};

static void
test_what_was_printed_is_what_was_journalled(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(configs); i++) {
        g_autoptr(FakeHost) host = fake_host_new("igb", configs[i]);
        g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
        g_autoptr(json_t) changes = json_array();
        guint writes = 0;
        if (i == 1)
            fake_find(host->kernel, PF)->net.up = false;
        g_autoptr(NpPlan) preview = np_preview(&host->apply, vm, NULL);
        g_assert_nonnull(preview);
        g_assert_cmpuint(host->state->effects, ==, 0);
        g_assert_cmpuint(fake_host_leases(host), ==, 0);
        g_autoptr(NpPlan) done = NULL;
        g_assert_true(np_claim(&host->apply, vm, &done, NULL));
        g_autofree char *printed = np_plan_to_text(preview, vm);
        g_autofree char *carried_out = np_plan_to_text(done, vm);
        g_assert_cmpstr(printed, ==, carried_out);
        gather(host, "leases", changes);
        gather(host, "pf", changes);
        for (guint o = 0; o < preview->ops->len; o++) {
            const NpChange *change = &((const NpOp *) g_ptr_array_index(preview->ops, o))->change;
            if (!np_op_info(change->kind)->writes)
                continue;
            writes++;
            g_assert_true(is_journalled(changes, change));
        }
        g_assert_cmpuint(json_array_size(changes), ==, writes);
        g_autoptr(NpPlan) nothing = np_preview(&host->apply, vm, NULL);
        g_assert_cmpuint(nothing->ops->len, ==, 0);
    }
}

static bool
claim_101(FakeHost *host, gpointer data)
{
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    return np_claim(&host->apply, vm, NULL, NULL);
}

static void
test_old_values_are_on_disk_before_the_write(void)
{
    for (unsigned k = 1; k <= 6; k++) {
        g_autoptr(FakeHost) host = fake_host_new("igb", POOL "[vm 101]\npool = fast\nvlan = 5\n");
        g_autoptr(json_t) changes = json_array();
        fake_make_vfs(host->state, fake_find(host->kernel, PF), 1);
        host->state->faults.die_at = k; /* before the k-th effect */
        g_assert_cmpint(WEXITSTATUS(fake_host_fork(host, claim_101, NULL)), ==, 42);
        gather(host, "leases", changes);
        /* MAC and VLAN are two changes and one request. */
        g_assert_cmpuint(json_array_size(changes), ==, k < 5 ? k : k + 1);
    }
}

static void
test_configuration_changed_between_starts(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL "[vm 101]\npool = fast\nvlan = 5\n");
    g_autoptr(NpConfig) changed =
        np_config_parse("f", POOL "[vm 101]\npool = fast\nvlan = 6\n", NULL);
    fake_host_claim(host, 101);
    host->apply.config = changed;
    fake_host_claim(host, 101);
    host->apply.config = host->config;
    g_assert_cmpuint(fake_find(host->kernel, PF)->vf[0].vlan, ==, 6);
    g_assert_cmpuint(fake_host_leases(host), ==, 1);
    fake_host_release(host, 101);
    g_assert_cmpuint(fake_find(host->kernel, PF)->vf[0].vlan, ==, 0);
}

static void
test_nic_taken_out_of_the_configuration_is_given_back(void)
{
    g_autoptr(FakeHost) host =
        fake_host_new("igb", POOL "vfs = 3\n[vm 101]\npool = fast\n[vm 101 nic 1]\npool = fast\n");
    g_autoptr(NpConfig) changed =
        np_config_parse("f", POOL "vfs = 3\n[vm 101]\npool = fast\n", NULL);
    fake_host_claim(host, 101);
    g_assert_cmpuint(fake_host_leases(host), ==, 2);
    host->apply.config = changed;
    fake_host_claim(host, 101);
    g_assert_cmpuint(fake_host_leases(host), ==, 1);
    host->apply.config = host->config;
}

static void
test_vm_without_nic_is_not_found(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL);
    fake_host_refuse(host, 101, NP_ERROR_NOT_FOUND, "no NIC for VM 101");
}

static void
test_what_cannot_be_put_back_stays_known(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL "[vm 101]\npool = fast\nvlan = 5\n");
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) done = NULL;
    fake_make_vfs(host->state, fake_find(host->kernel, PF), 1);
    g_autofree char *before = fake_kernel_dump(host->kernel);
    fake_host_claim(host, 101);
    host->state->faults.lose_writes = true;
    g_strlcpy(host->state->faults.lose_only, "igbvf/bind", FAKE_TEXT);
    g_assert_false(np_release(&host->apply, vm, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_ROLLBACK_FAILED);
    g_assert_nonnull(strstr(error->message, "driver of " VF0 " to 'igbvf'"));
    g_assert_cmpuint(fake_find(host->kernel, PF)->vf[0].vlan, ==, 0); /* the rest is back */
    g_assert_cmpuint(fake_host_leases(host), ==, 1);
    host->state->faults.lose_writes = false;
    host->state->now_ms += NP_LEASE_GRACE_MS + 1;
    g_assert_true(np_repair(&host->apply, NULL, &done, NULL));
    g_assert_cmpuint(fake_host_leases(host), ==, 0);
    g_autofree char *after = fake_kernel_dump(host->kernel);
    g_assert_cmpstr(after, ==, before); /* the MAC of the VF's netdev, too */
}

static void
test_one_value_that_cannot_be_put_back_is_no_obstacle(void)
{
    g_autoptr(FakeHost) host = fake_host_new("ixgbe", POOL "[vm 101]\npool = fast\nvlan = 5\n"
                                                           "rate-max = 1G\n");
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    g_autoptr(GError) error = NULL;
    FakeDevice *pf = fake_find(host->kernel, PF);
    fake_host_claim(host, 101);
    pf->net.carrier = false; /* the driver takes no rates now */
    g_assert_false(np_release(&host->apply, vm, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_ROLLBACK_FAILED);
    g_assert_nonnull(strstr(error->message, "rate of " VF0));
    g_assert_cmpuint(pf->vf[0].vlan, ==, 0);
    g_assert_cmpstr(fake_find(host->kernel, VF0)->driver, ==, "ixgbevf");
    pf->net.carrier = true;
    pf->vf[0].vlan = 9; /* the host uses the VF: what was put back once is not put back again */
    fake_host_release(host, 101);
    g_assert_cmpuint(pf->vf[0].max_mbps, ==, 0);
    g_assert_cmpuint(pf->vf[0].vlan, ==, 9);
}

static void
test_repair_of_one_vm_leaves_the_others(void)
{
    g_autoptr(FakeHost) host = fake_host_new("igb", POOL "[vm 101]\npool = fast\n"
                                                         "[vm 102]\npool = fast\n");
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    g_autoptr(GPtrArray) none = NULL, done = NULL;
    fake_host_claim(host, 101);
    fake_host_claim(host, 102);
    g_assert_true(np_repair(&host->apply, vm, &none, NULL));
    g_assert_cmpuint(none->len, ==, 0); /* it may still be starting */
    host->state->now_ms += NP_LEASE_GRACE_MS + 1;
    g_assert_true(np_repair(&host->apply, vm, &done, NULL));
    g_assert_cmpuint(done->len, ==, 1);
    g_assert_cmpuint(fake_host_leases(host), ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claim/makes-as-many-vfs-as-needed-and-prepares-one",
                    test_makes_as_many_vfs_as_needed_and_prepares_one);
    g_test_add_func("/claim/a-driver-that-takes-the-function-while-it-is-loaded-is-fine",
                    test_a_driver_that_takes_the_function_while_it_is_loaded_is_fine);
    g_test_add_func("/claim/release-puts-all-back-but-keeps-the-vfs",
                    test_release_puts_all_back_but_keeps_the_vfs);
    g_test_add_func("/claim/what-was-printed-is-what-was-journalled",
                    test_what_was_printed_is_what_was_journalled);
    g_test_add_func("/claim/old-values-are-on-disk-before-the-write",
                    test_old_values_are_on_disk_before_the_write);
    g_test_add_func("/claim/configuration-changed-between-starts",
                    test_configuration_changed_between_starts);
    g_test_add_func("/claim/nic-taken-out-of-the-configuration-is-given-back",
                    test_nic_taken_out_of_the_configuration_is_given_back);
    g_test_add_func("/claim/repair-of-one-vm-leaves-the-others",
                    test_repair_of_one_vm_leaves_the_others);
    g_test_add_func("/claim/vm-without-nic-is-not-found", test_vm_without_nic_is_not_found);
    g_test_add_func("/claim/what-cannot-be-put-back-stays-known",
                    test_what_cannot_be_put_back_stays_known);
    g_test_add_func("/claim/one-value-that-cannot-be-put-back-is-no-obstacle",
                    test_one_value_that_cannot_be_put_back_is_no_obstacle);
    return g_test_run();
}
