/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: the fake kernel conforms to what a real one was seen to do, and what the list cannot show.
 */
#include <errno.h>
#include <string.h>

#include "tests/fake/conformance.h"
#include "tests/fake/kernel.h"

#define DEVICES "bus/pci/devices/"
#define PF      "0000:01:00.0"
#define VF      "0000:01:10.0"
#define VF1     "0000:01:10.2"

static void
report(const char *name, const char *difference, gpointer data)
{
    if (difference)
        g_test_message("%s: %s", name, difference);
    ++*(unsigned *) data;
}

static void
test_conforms_to_the_list(void)
{
    g_autoptr(NpSys) sys = &fake_kernel_new_igb()->sys;
    NpBdf pf;
    unsigned rows = 0;
    g_assert_true(np_parse_bdf(PF, &pf, NULL));
    g_assert_cmpuint(np_conformance_run(sys, &pf, report, &rows), ==, 0);
    g_assert_cmpuint(rows, >, 40);
}

static void
kernel_free(FakeKernel *kernel)
{
    np_sys_free(&kernel->sys);
}

static int
write_to(FakeKernel *kernel, const char *path, const char *text)
{
    return kernel->sys.write_attr(&kernel->sys, path, text, 1000);
}

static void
test_removing_held_vfs_blocks(void) /* L2 */
{
    FakeKernel *kernel = fake_kernel_new_igb();
    g_autoptr(NpSys) sys = &kernel->sys;
    fake_make_vfs(kernel->state, fake_find(kernel, PF), 2);
    fake_find(kernel, VF)->held = true;
    int64_t before = sys->now_ms(sys);
    g_assert_cmpint(write_to(kernel, DEVICES PF "/sriov_numvfs", "0"), ==, -ETIMEDOUT);
    g_assert_cmpint(write_to(kernel, DEVICES VF "/driver/unbind", VF), ==, -ETIMEDOUT);
    g_assert_cmpint(sys->now_ms(sys) - before, ==, 2000);
    g_assert_cmpint(write_to(kernel, DEVICES VF1 "/driver/unbind", VF1), ==, 0);
}

static void
test_new_id_grabs_siblings_and_newborns(void) /* L7, L8 */
{
    FakeKernel *kernel = fake_kernel_new_igb();
    FakeDevice *pf = fake_find(kernel, PF);
    fake_make_vfs(kernel->state, pf, 2);
    fake_unbind(kernel->state, fake_find(kernel, VF1));
    g_assert_cmpint(write_to(kernel, "bus/pci/drivers/vfio-pci/new_id", "8086 10ca"), ==, 0);
    g_assert_cmpstr(fake_find(kernel, VF)->driver, ==, "igbvf");
    g_assert_cmpstr(fake_find(kernel, VF1)->driver, ==, "vfio-pci");
    g_assert_cmpint(write_to(kernel, "bus/pci/drivers/vfio-pci/new_id", "8086 10ca"), ==, -EEXIST);
    fake_make_vfs(kernel->state, pf, 0);
    fake_make_vfs(kernel->state, pf, 1);
    g_assert_cmpstr(fake_find(kernel, VF)->driver, ==, "vfio-pci");
    g_assert_false(fake_find(kernel, VF)->net.exists);
    kernel_free(kernel);
}

static void
test_unbinding_a_pf_takes_all_along_silently(void) /* L10, L11, L12 */
{
    FakeKernel *kernel = fake_kernel_new_igb();
    FakeDevice *pf = fake_find(kernel, PF);
    fake_make_vfs(kernel->state, pf, 2);
    g_strlcpy(pf->net.master, "vmbr1", FAKE_TEXT);
    int ifindex = pf->net.ifindex;
    g_assert_cmpint(write_to(kernel, DEVICES PF "/driver/unbind", PF), ==, 0);
    g_assert_cmpuint(pf->count, ==, 0);
    g_assert_null(fake_find(kernel, VF));
    g_assert_cmpint(write_to(kernel, DEVICES PF "/driver_override", "vfio-pci"), ==, 0);
    g_assert_cmpint(write_to(kernel, "bus/pci/drivers_probe", PF), ==, 0);
    g_assert_cmpint(write_to(kernel, DEVICES PF "/sriov_numvfs", "1"), ==, -ENOENT);
    g_assert_cmpint(write_to(kernel, DEVICES PF "/driver/unbind", PF), ==, 0);
    g_assert_cmpint(write_to(kernel, DEVICES PF "/driver_override", ""), ==, 0);
    g_assert_cmpint(write_to(kernel, "bus/pci/drivers_probe", PF), ==, 0);
    g_assert_cmpstr(pf->net.name, ==, "ens1f0");
    g_assert_cmpint(pf->net.ifindex, !=, ifindex);
    g_assert_false(pf->net.up);
    g_assert_cmpstr(pf->net.master, ==, "");
    kernel_free(kernel);
}

static void
test_a_vf_takes_its_admin_mac_at_the_next_bind(void) /* L15 */
{
    FakeKernel *kernel = fake_kernel_new_igb();
    g_autoptr(NpSys) sys = &kernel->sys;
    FakeDevice *pf = fake_find(kernel, PF);
    fake_make_vfs(kernel->state, pf, 1);
    FakeDevice *vf = fake_find(kernel, VF);
    NpMac drawn = vf->net.mac;
    NpVfAttrs attrs = {.has = NP_VF_MAC, .mac = {{0x52, 0x54, 0, 0, 0, 1}}};
    g_assert_cmpint(sys->set_vf(sys, &pf->bdf, 0, &attrs, 1000), ==, 0);
    g_assert_true(np_mac_equal(&vf->net.mac, &drawn));
    fake_unbind(kernel->state, vf);
    fake_bind(kernel->state, vf, "igbvf");
    g_assert_true(np_mac_equal(&vf->net.mac, &attrs.mac));
    pf->vf[0].mac = (NpMac){{0}};
    fake_unbind(kernel->state, vf);
    fake_bind(kernel->state, vf, "igbvf");
    g_assert_false(np_mac_equal(&vf->net.mac, &drawn));
}

static void
test_a_group_is_viable_with_ports_but_not_with_other_nics(void) /* L3, L4 */
{
    FakeKernel *kernel = fake_kernel_new_igb();
    g_autoptr(NpSys) sys = &kernel->sys;
    fake_make_vfs(kernel->state, fake_find(kernel, PF), 1);
    FakeDevice *vf = fake_find(kernel, VF), *port = fake_find(kernel, "0000:00:01.0");
    NpVfioState state;
    bool viable;
    fake_unbind(kernel->state, vf);
    fake_bind(kernel->state, vf, "vfio-pci");
    vf->group = port->group;
    g_assert_cmpint(sys->probe_vfio(sys, &vf->bdf, &state, &viable), ==, 0);
    g_assert_cmpint(state, ==, NP_VFIO_FREE);
    g_assert_true(viable);
    fake_find(kernel, PF)->group = vf->group;
    g_assert_cmpint(sys->probe_vfio(sys, &vf->bdf, &state, &viable), ==, 0);
    g_assert_false(viable);
    vf->held = true;
    g_assert_cmpint(sys->probe_vfio(sys, &vf->bdf, &state, &viable), ==, 0);
    g_assert_cmpint(state, ==, NP_VFIO_BUSY);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fake/conforms-to-the-list", test_conforms_to_the_list);
    g_test_add_func("/fake/removing-held-vfs-blocks", test_removing_held_vfs_blocks);
    g_test_add_func("/fake/new-id-grabs-siblings-and-newborns",
                    test_new_id_grabs_siblings_and_newborns);
    g_test_add_func("/fake/unbinding-a-pf-takes-all-along-silently",
                    test_unbinding_a_pf_takes_all_along_silently);
    g_test_add_func("/fake/a-vf-takes-its-admin-mac-at-the-next-bind",
                    test_a_vf_takes_its_admin_mac_at_the_next_bind);
    g_test_add_func("/fake/a-group-is-viable-with-ports-but-not-with-other-nics",
                    test_a_group_is_viable_with_ports_but_not_with_other_nics);
    return g_test_run();
}
