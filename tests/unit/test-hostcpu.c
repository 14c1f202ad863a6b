/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of the host's CPU split.
 */
#include "lib/bench/hostcpu.h"

#include <math.h>

#define near(a, b) g_assert_cmpfloat_with_epsilon((double) (a), (double) (b), 1e-9)

/* Two CPUs, two seconds: 1.9 busy cores, 0.3 of them irq and softirq. */
#define FROM(rest)                                                                                 \
    "{\"now_ns\":1000000000,\"hz\":100,\"cpu\":[[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0]]" rest "}"
#define TO(rest)                                                                                   \
    "{\"now_ns\":3000000000,\"hz\":100,\"cpu\":[[100,0,70,10,20,0,0,0],[150,0,0,0,30,0,20,0]"      \
    "]" rest "}"
#define QEMU(rows) ",\"qemu\":[" rows "]"

typedef struct {
    json_t *from, *to;
    NpCpuEdges edges;
} Pair;

static void
pair_clear(Pair *pair)
{
    json_decref(pair->from);
    json_decref(pair->to);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Pair, pair_clear)

static void
pair_load(Pair *pair, const char *from, const char *to)
{
    pair->from = json_loads(from, 0, NULL);
    pair->to = json_loads(to, 0, NULL);
    g_assert_true(pair->from && pair->to);
    pair->edges = (NpCpuEdges){pair->from, pair->to, 0, 0};
}

static void
test_parts_and_the_rest(void)
{
    g_auto(Pair) pair = {0};
    NpHostCpu split;
    pair_load(&pair,
              FROM(QEMU("[7,1000000000,500000000,0,100000000,9,900000000,50000000],"
                        "[8,5,0,0,0,4,0,0]")),
              TO(QEMU("[8,400000005,0,100000000,0,4,200000000,10000000],"
                      "[7,2600000000,900000000,20000000,180000000,9,2000000000,250000000]")));
    g_assert_true(np_host_cpu(&pair.edges, &split));
    near(split.wall_s, 2);
    g_assert_cmpuint(split.cpus, ==, 2);
    near(split.busy, 1.9);
    near(split.irq, 0.3);
    near(split.vcpu, 0.8 + 0.2);
    near(split.vhost, 0.2);
    near(split.emulator, 0.01 + 0.04 + 0.05);
    near(split.unattributed, 1.9 - 0.3 - 1.0 - 0.2 - 0.1);
    near(split.guest, 0.55 + 0.1);
    near(split.halt_poll, 0.1 + 0.005);
    g_assert_true(split.named);
    g_assert_cmpuint(split.lost, ==, 0);
    g_assert_cmpuint(split.clamped, ==, 0);
    g_assert_cmpuint(split.vms, ==, 2);
    g_assert_cmpint(split.vm[0].pid, ==, 8);
    near(split.vm[0].iothread, 0.05);
    g_assert_cmpint(split.vm[1].pid, ==, 7);
    near(split.vm[1].vcpu, 0.8);
    near(split.vm[1].vhost, 0.2);
    near(split.vm[1].iothread, 0.01);
    near(split.vm[1].emulator, 0.04);
    near(split.vm[1].guest, 0.55);
    near(split.vm[1].halt_poll, 0.1);
}

static void
test_a_vm_that_came_or_went_is_unattributed(void)
{
    g_auto(Pair) pair = {0};
    NpHostCpu split;
    pair_load(&pair, FROM(QEMU("[7,0,0,0,0,1,0,0],[8,0,0,0,0,1,0,0]")),
              TO(QEMU("[7,1000000000,0,0,0,1,0,0],[9,1000000000,0,0,0,1,0,0]")));
    g_assert_true(np_host_cpu(&pair.edges, &split));
    g_assert_cmpuint(split.vms, ==, 1);
    g_assert_cmpuint(split.lost, ==, 2);
    near(split.vcpu, 0.5);
    near(split.unattributed, 1.9 - 0.3 - 0.5);
}

static void
test_what_is_not_known_is_not_made_up(void)
{
    g_auto(Pair) pair = {0};
    NpHostCpu split;
    pair_load(&pair, FROM(QEMU("[7,null,0,0,0,3,null,null],[8,0,0,0,0,3,0,0]")),
              TO(QEMU("[7,null,0,0,1000000000,3,5,null],[8,0,0,0,0,3,0,0]")));
    g_assert_true(np_host_cpu(&pair.edges, &split));
    g_assert_false(split.named);
    g_assert_false(split.vm[0].named);
    g_assert_true(split.vm[1].named);
    near(split.vm[0].vcpu, 0);
    near(split.vm[0].emulator, 0.5);
    near(split.unattributed, 1.9 - 0.3 - 0.5);
    g_assert_true(isnan(split.vm[0].guest) && isnan(split.vm[0].halt_poll));
    g_assert_true(isnan(split.guest) && isnan(split.halt_poll));
    near(split.vm[1].guest, 0);
}

static void
test_counters_never_go_backwards(void)
{
    g_auto(Pair) pair = {0};
    NpHostCpu split;
    pair_load(&pair, FROM(QEMU("[7,9000000000,0,0,0,3,0,0]")), TO(QEMU("[7,1,0,0,0,3,0,0]")));
    g_assert_true(np_host_cpu(&pair.edges, &split));
    near(split.vcpu, 0);
    g_assert_cmpuint(split.clamped, ==, 1);
}

static void
test_no_vm_leaves_everything_unattributed(void)
{
    g_auto(Pair) pair = {0};
    NpHostCpu split;
    pair_load(&pair, FROM(QEMU("")), TO(QEMU("")));
    g_assert_true(np_host_cpu(&pair.edges, &split));
    near(split.unattributed, 1.6);
    g_assert_cmpuint(split.vms, ==, 0);
}

static void
test_malformed_samples_are_refused(void)
{
    static const char *const rows[][2] = {
        {FROM(""), TO(QEMU(""))},
        {FROM(QEMU("")), TO("")},
        {FROM(",\"qemu\":{}"), TO(QEMU(""))},
        {FROM(QEMU("[7]")), TO(QEMU("[7]"))},
        {FROM(QEMU("7")), TO(QEMU("7"))},
        {FROM(QEMU("[7,0,\"x\",0,0,0,0,0]")), TO(QEMU("[7,0,0,0,0,0,0,0]"))},
        {TO(QEMU("[7,0,0,0,0,0,0,0]")), FROM(QEMU("[7,0,0,0,0,0,0,0]"))},
        {"{\"now_ns\":1,\"qemu\":[]}", "{\"now_ns\":2,\"qemu\":[]}"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_auto(Pair) pair = {0};
        NpHostCpu split = {.vms = 77};
        pair_load(&pair, rows[i][0], rows[i][1]);
        if (np_host_cpu(&pair.edges, &split) || split.vms != 77)
            g_error("row %zu was taken", i);
    }
}

static void
test_too_many_vms_are_refused(void)
{
    g_auto(Pair) pair = {0};
    NpHostCpu split;
    pair_load(&pair, FROM(QEMU("")), TO(QEMU("")));
    for (int i = 0; i <= NP_HOST_VMS_MAX; i++) {
        json_t *row = json_pack("[i,i,i,i,i,i,i,i]", i + 1, 0, 0, 0, 0, 1, 0, 0);
        json_array_append_new(json_object_get(pair.to, "qemu"), row);
        json_array_append(json_object_get(pair.from, "qemu"), row);
        g_assert_cmpint(np_host_cpu(&pair.edges, &split), ==, i < NP_HOST_VMS_MAX);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hostcpu/parts-and-the-rest", test_parts_and_the_rest);
    g_test_add_func("/hostcpu/a-vm-that-came-or-went-is-unattributed",
                    test_a_vm_that_came_or_went_is_unattributed);
    g_test_add_func("/hostcpu/what-is-not-known-is-not-made-up",
                    test_what_is_not_known_is_not_made_up);
    g_test_add_func("/hostcpu/counters-never-go-backwards", test_counters_never_go_backwards);
    g_test_add_func("/hostcpu/no-vm-leaves-everything-unattributed",
                    test_no_vm_leaves_everything_unattributed);
    g_test_add_func("/hostcpu/malformed-samples-are-refused", test_malformed_samples_are_refused);
    g_test_add_func("/hostcpu/too-many-vms-are-refused", test_too_many_vms_are_refused);
    return g_test_run();
}
