/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of CPU use between samples.
 */
#include "lib/bench/cpu.h"

#define near(a, b) g_assert_cmpfloat_with_epsilon((double) (a), (double) (b), 1e-9)

#define SAMPLE(now, edge, cpu, nics, workers)                                                      \
    "{\"now_ns\":" now ",\"edge\":" edge ",\"hz\":100,\"cpu\":[" cpu "],\"nics\":[" nics           \
    "],\"processes\":[" workers "]}"
#define BEFORE                                                                                     \
    SAMPLE("1000000000", "true", "[10,20,30,40,50,60,70,80],[0,0,0,0,0,0,0,0]",                    \
           "[\"02:00:00:00:00:01\",1,2,3,4],[\"02:00:00:00:00:02\",5,6,7,8]",                      \
           "[7,0,1000],[7,1,2000],[8,0,5]")
#define AFTER                                                                                      \
    SAMPLE("3000000000", "true", "[20,25,60,45,70,62,160,78],[100,0,0,0,0,0,100,0]",               \
           "[\"02:00:00:00:00:01\",101,202,3,14],[\"02:00:00:00:00:02\",5,906,7,9]",               \
           "[7,0,1000001000],[7,1,500002000],[9,0,77]")

static void
test_use(void)
{
    g_autoptr(json_t) samples = json_loads("[" BEFORE "," AFTER "]", 0, NULL);
    NpCpuEdges edges;
    NpCpuUse use;
    g_assert_true(np_cpu_edges(samples, 1001000000, 2998000000, &edges));
    g_assert_cmpint(edges.from_off_ns, ==, -1000000);
    g_assert_cmpint(edges.to_off_ns, ==, 2000000);
    g_assert_true(np_cpu_use(&edges, &use));
    near(use.wall_s, 2);
    g_assert_cmpuint(use.cpus, ==, 2);
    const double seconds[NP_CPU_MODES] = {1.1, 0.05, 0.3, 0.05, 0.2, 0.02, 1.9, 0};
    for (unsigned mode = 0; mode < NP_CPU_MODES; mode++)
        near(use.seconds[mode], seconds[mode]);
    g_assert_cmpuint(use.clamped, ==, 1); /* iowait went back */
    near(use.busy_cores, 0.85);
    near(use.steal_share, 0.02 / 4);
    g_assert_cmpuint(use.hottest, ==, 1);
    near(use.hottest_share, 0.5);
    near(use.total_error, 3.62 / 4 - 1);
    g_assert_true(use.total_off);
}

static void
test_total_within_ticks_is_fine(void)
{
    g_autoptr(json_t) samples =
        json_loads("[" SAMPLE("1000000000", "true", "[0,0,0,0,0,0,0,0]", "",
                              "") "," SAMPLE("1100000000", "true", "[8,0,0,0,0,0,0,0]", "", "") "]",
                   0, NULL);
    NpCpuEdges edges;
    NpCpuUse use;
    g_assert_true(np_cpu_ends(samples, &edges) && np_cpu_use(&edges, &use));
    near(use.total_error, -0.2);
    g_assert_false(use.total_off); /* two ticks of ten */
}

static void
test_workers_and_nics(void)
{
    g_autoptr(json_t) samples = json_loads("[" BEFORE "," AFTER "]", 0, NULL);
    NpCpuEdges edges;
    double cores;
    unsigned count;
    NpNicUse nic;
    const char *mac;
    g_assert_true(np_cpu_ends(samples, &edges));
    g_assert_true(np_cpu_workers(&edges, &cores, &count));
    near(cores, 0.75);
    g_assert_cmpuint(count, ==, 2);
    g_assert_true(np_nic_use(&edges, "02:00:00:00:00:01", &nic));
    g_assert_true(nic.rx_bytes == 100 && nic.tx_bytes == 200 && nic.rx_packets == 0 &&
                  nic.tx_packets == 10);
    g_assert_false(np_nic_use(&edges, "02:00:00:00:00:03", &nic));
    g_assert_false(np_nic_use(&edges, NULL, &nic));
    g_assert_true(np_nic_use_other(&edges, "02:00:00:00:00:01", &nic, &mac));
    g_assert_cmpstr(mac, ==, "02:00:00:00:00:02");
    g_assert_true(nic.tx_bytes == 900);
}

static void
test_edges_must_be_marked_and_in_order(void)
{
    static const char *const texts[] = {
        "[]",
        "[" BEFORE "]",
        "[{\"now_ns\":1000000000},{\"now_ns\":3000000000}]",
        "[{\"now_ns\":1000000000,\"edge\":true},{\"now_ns\":3000000000,\"edge\":false}]",
        "[{\"now_ns\":-5,\"edge\":true},{\"now_ns\":9223372036854775807,\"edge\":true}]",
        "[1, null]",
    };
    NpCpuEdges edges;
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(json_t) samples = json_loads(texts[i], 0, NULL);
        g_assert_nonnull(samples);
        g_assert_false(np_cpu_edges(samples, 1000000000, 3000000000, &edges));
    }
    g_assert_false(np_cpu_edges(NULL, 1, 2, &edges));
    g_assert_false(np_cpu_ends(NULL, &edges));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cpu/use", test_use);
    g_test_add_func("/cpu/total-within-ticks-is-fine", test_total_within_ticks_is_fine);
    g_test_add_func("/cpu/workers-and-nics", test_workers_and_nics);
    g_test_add_func("/cpu/edges-must-be-marked-and-in-order",
                    test_edges_must_be_marked_and_in_order);
    return g_test_run();
}
