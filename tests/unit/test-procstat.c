/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of agent/procstat.
 */
#include "agent/procstat.h"

#include <string.h>

#include "lib/base/error.h"
#include "lib/base/fd.h"

static const char two_cpus[] = "cpu  2869 0 2697 301879 594 0 173 143 7 0\n"
                               "cpu0 681 1 894 152412 29 2 58 26 7 0\n"
                               "cpu1 2187 0 1802 149467 564 0 114 116 0 0\n"
                               "intr 264541 0 0\nctxt 474787\n";

static void
test_columns_keep_their_meaning(void)
{
    g_autofree NpProcstat *stat = g_new0(NpProcstat, 1);
    g_autoptr(GError) error = NULL;
    g_assert_true(np_procstat_parse(two_cpus, stat, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(stat->cpus, ==, 2);
    /* user, nice, system, irq, softirq, steal, idle, iowait; guest's 7 is in none of them */
    static const uint64_t cpu0[] = {681, 1, 894, 2, 58, 26, 152412, 29};
    g_assert_cmpmem(stat->ticks[0], sizeof(stat->ticks[0]), cpu0, sizeof(cpu0));
    g_assert_cmpuint(stat->ticks[1][NP_TICK_STEAL], ==, 116);
}

static void
test_this_kernel_is_understood(void)
{
    g_autofree char *text = NULL;
    g_autofree NpProcstat *stat = g_new0(NpProcstat, 1);
    g_autoptr(GError) error = NULL;
    g_assert_true(np_file_read("/proc/stat", 1 << 24, &text, NULL, &error));
    g_assert_true(np_procstat_complete(text));
    g_assert_true(np_procstat_parse(text, stat, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(stat->cpus, >=, 1);
}

static void
test_offline_cpu_keeps_the_numbers(void)
{
    g_autofree NpProcstat *stat = g_new0(NpProcstat, 1);
    g_assert_true(
        np_procstat_parse("cpu  1 1 1 1\ncpu0 1 2 3 4\ncpu3 5 6 7 8\nintr 0\n", stat, NULL));
    g_assert_cmpuint(stat->cpus, ==, 4);
    g_assert_true(stat->present[0] && !stat->present[1] && !stat->present[2] && stat->present[3]);
    g_assert_cmpuint(stat->ticks[3][NP_TICK_USER], ==, 5);
    g_assert_cmpuint(stat->ticks[3][NP_TICK_IDLE], ==, 8);
}

static void
test_old_kernel_lacks_columns(void)
{
    g_autofree NpProcstat *stat = g_new0(NpProcstat, 1);
    g_assert_true(np_procstat_parse("cpu0 1 2 3 4\nintr 0\n", stat, NULL));
    g_assert_cmpuint(stat->ticks[0][NP_TICK_STEAL], ==, 0);
    g_assert_true(np_procstat_parse("cpu0 1 2 3 4 5 6 7 8 9 10 11\nintr 0\n", stat, NULL));
    g_assert_cmpuint(stat->ticks[0][NP_TICK_STEAL], ==, 8);
}

static void
test_many_cpus(void)
{
    g_autoptr(GString) text = g_string_new("cpu  0 0 0 0\n");
    for (int i = 0; i < 256; i++)
        g_string_append_printf(text, "cpu%d %d 18446744073709551615 0 0 0 0 0 0 0 0\n", i, i);
    g_string_append(text, "intr 0\n");
    g_autofree NpProcstat *stat = g_new0(NpProcstat, 1);
    g_assert_true(np_procstat_parse(text->str, stat, NULL));
    g_assert_cmpuint(stat->cpus, ==, 256);
    g_assert_cmpuint(stat->ticks[255][NP_TICK_USER], ==, 255);
    g_assert_cmpuint(stat->ticks[255][NP_TICK_NICE], ==, UINT64_MAX);
}

static void
test_hostile_text_is_refused(void)
{
    g_autofree char *long_line = g_strnfill(600, '1');
    memcpy(long_line, "cpu0 ", 5);
    long_line[599] = '\n';
    const struct {
        const char *text, *says;
        NpError code;
    } rows[] = {
        {"", "no CPU lines", NP_ERROR_PROTOCOL},
        {"intr 1\n", "no CPU lines", NP_ERROR_PROTOCOL},
        {"cpu  1 2 3 4\nintr 0\n", "no CPU lines", NP_ERROR_PROTOCOL},
        {"cpu0 1 2 3 4", "cut off", NP_ERROR_PROTOCOL},
        {"cpu0 1 2 3\n", "fewer than four", NP_ERROR_PROTOCOL},
        {"cpu0\n", "fewer than four", NP_ERROR_PROTOCOL},
        {"cpu0 1 2 3 -4\n", "not a number", NP_ERROR_PROTOCOL},
        {"cpu0 1 2 3 4x\n", "not a number", NP_ERROR_PROTOCOL},
        {"cpu0 1 2 3 4\t5\n", "not a number", NP_ERROR_PROTOCOL},
        {"cpu0 1 2 3 18446744073709551616\n", "not a number", NP_ERROR_PROTOCOL},
        {"cpux 1 2 3 4\n", "no CPU number", NP_ERROR_PROTOCOL},
        {"cpu0 1 2 3 4\ncpu0 1 2 3 4\n", "came before", NP_ERROR_PROTOCOL},
        {"cpu512 1 2 3 4\n", "at most 512", NP_ERROR_UNSUPPORTED},
        {"cpu99999999999999999999 1 2 3 4\n", "no CPU number", NP_ERROR_PROTOCOL},
        {long_line, "longer than", NP_ERROR_PROTOCOL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree NpProcstat *stat = g_new0(NpProcstat, 1);
        g_autoptr(GError) error = NULL;
        stat->cpus = 77;
        g_assert_false(np_procstat_parse(rows[i].text, stat, &error));
        g_assert_error(error, NP_ERROR, (int) rows[i].code);
        g_assert_nonnull(strstr(error->message, rows[i].says));
        g_assert_cmpuint(stat->cpus, ==, 77);
    }
}

static void
test_cut_buffer_is_noticed(void)
{
    for (size_t size = 0; size < sizeof(two_cpus) - 1; size++) {
        g_autofree char *text = g_strndup(two_cpus, size);
        bool beyond = size > (size_t) (strstr(two_cpus, "intr") - two_cpus);
        g_assert_cmpint(np_procstat_complete(text), ==, beyond);
    }
}

static void
test_backwards_counters_are_counted(void)
{
    g_autofree NpProcstat *a = g_new0(NpProcstat, 1), *b = g_new0(NpProcstat, 1);
    g_assert_true(np_procstat_parse("cpu0 9 9 9 9 9\ncpu1 9 9 9 9\ncpu2 9 9 9 9\nx\n", a, NULL));
    g_assert_true(np_procstat_parse("cpu0 9 8 9 10 8\ncpu2 10 9 9 9\nx\n", b, NULL));
    g_assert_cmpuint(np_procstat_backwards(a, b), ==, 2);
    g_assert_cmpuint(np_procstat_backwards(a, a), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/procstat/columns-keep-their-meaning", test_columns_keep_their_meaning);
    g_test_add_func("/procstat/this-kernel-is-understood", test_this_kernel_is_understood);
    g_test_add_func("/procstat/offline-cpu-keeps-the-numbers", test_offline_cpu_keeps_the_numbers);
    g_test_add_func("/procstat/old-kernel-lacks-columns", test_old_kernel_lacks_columns);
    g_test_add_func("/procstat/many-cpus", test_many_cpus);
    g_test_add_func("/procstat/hostile-text-is-refused", test_hostile_text_is_refused);
    g_test_add_func("/procstat/cut-buffer-is-noticed", test_cut_buffer_is_noticed);
    g_test_add_func("/procstat/backwards-counters-are-counted",
                    test_backwards_counters_are_counted);
    return g_test_run();
}
