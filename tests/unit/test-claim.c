/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: claiming and releasing on the fake kernel.
 */
#include <string.h>

#include "lib/base/error.h"
#include "tests/fake/host.h"

#define POOL "[pool fast]\npf = 0000:01:00.0\n"
#define VF0  "0000:01:10.0"

static void
test_makes_as_many_vfs_as_needed_and_prepares_one(void)
{
    g_autoptr(FakeHost) host =
        fake_host_new("igb", POOL "[vm 101]\npool = fast\nmac = 52:54:00:00:01:01\nvlan = 100\n");
    fake_host_claim(host, 101);
    const FakeDevice *pf = fake_find(host->kernel, "0000:01:00.0");
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
    fake_make_vfs(host->state, fake_find(host->kernel, "0000:01:00.0"), 2);
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

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claim/makes-as-many-vfs-as-needed-and-prepares-one",
                    test_makes_as_many_vfs_as_needed_and_prepares_one);
    g_test_add_func("/claim/release-puts-all-back-but-keeps-the-vfs",
                    test_release_puts_all_back_but_keeps_the_vfs);
    return g_test_run();
}
