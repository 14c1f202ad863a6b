/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of agent/threads and agent/procpid on a made-up /proc.
 */
#include "agent/threads.h"

#include <string.h>
#include <unistd.h>

#include "agent/procpid.h"
#include "lib/base/error.h"
#include "tests/unit/folder.h"

#define USER    "4194560"
#define KERNEL  "69238848" /* PF_KTHREAD is set */
#define TICK_NS (1000000000 / sysconf(_SC_CLK_TCK))

static void
test_kinds_by_name(void)
{
    static const struct {
        const char *comm;
        NpThreadKind kind;
    } rows[] = {
        {"CPU 0/KVM", NP_THREAD_VCPU},
        {"CPU 127/KVM", NP_THREAD_VCPU},
        {"CPU 3/TCG", NP_THREAD_VCPU},
        {"ALL CPUs/TCG", NP_THREAD_VCPU},
        {"vhost-1234", NP_THREAD_VHOST},
        {"IO iothread0", NP_THREAD_IOTHREAD},
        {"IO mon_iothread", NP_THREAD_IOTHREAD},
        {"kvm", NP_THREAD_EMULATOR},
        {"qemu-system-x86", NP_THREAD_EMULATOR},
        {"worker", NP_THREAD_EMULATOR},
        {"vnc_worker", NP_THREAD_EMULATOR},
        {"CPU /KVM", NP_THREAD_EMULATOR},
        {"CPU 0/KVMx", NP_THREAD_EMULATOR},
        {"CPU 0", NP_THREAD_EMULATOR},
        {"vhost-", NP_THREAD_EMULATOR},
        {"vhost-x", NP_THREAD_EMULATOR},
        {"IO", NP_THREAD_EMULATOR},
        {"", NP_THREAD_EMULATOR},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (np_thread_kind(rows[i].comm) != rows[i].kind)
            g_error("'%s' is taken for %d", rows[i].comm, np_thread_kind(rows[i].comm));
}

#define REST " S 1 5 5 0 -1 " USER " 1 0 0 0 7 8 0 0 20 0 3 0 "

static void
test_stat_lines(void)
{
    static const struct {
        const char *text;
        bool ok, kernel, has_guest;
        const char *comm;
        uint64_t start, guest;
    } rows[] = {
        {"5 (kvm)" REST "99 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22", true, false,
         true, "kvm", 99, 21},
        {"5 (a) b (c)" REST "99", true, false, false, "a) b (c", 99, 0},
        {"5 ()" REST "99", true, false, false, "", 99, 0},
        {"5 (a name that is far too long)" REST "99", true, false, false, "a name that is ", 99, 0},
        {"2 (kthreadd) S 0 0 0 0 -1 " KERNEL " 0 0 0 0 0 0 0 0 20 0 1 0 3", true, true, false,
         "kthreadd", 3, 0},
        {"5 (kvm)" REST, false},
        {"5 (kvm)" REST "x", false},
        {"5 (kvm) S 1", false},
        {"5 (kvm", false},
        {"5 )kvm(", false},
        {"", false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        NpProcpid stat;
        if (np_procpid_parse(rows[i].text, &stat) != rows[i].ok)
            g_error("row %zu", i);
        if (!rows[i].ok)
            continue;
        g_assert_cmpint(stat.kernel, ==, rows[i].kernel);
        g_assert_cmpint(stat.has_guest, ==, rows[i].has_guest);
        g_assert_cmpstr(stat.comm, ==, rows[i].comm);
        g_assert_cmpuint(stat.start, ==, rows[i].start);
        g_assert_cmpuint(stat.guest_ticks, ==, rows[i].guest);
    }
}

/* ## A made-up /proc and KVM debugfs */

typedef struct {
    char *dir, *kvm;
} Tree;

static void
drop(const Tree *tree, const char *path)
{
    g_autofree char *whole = g_build_filename(tree->dir, path, NULL);
    folder_remove(whole);
}

/* stat's line is put as a thread group's: comm is the first thread's. */
static void
put_process(const Tree *tree, int pid, const char *comm, const char *flags, int start, int guest)
{
    g_autofree char *path = g_strdup_printf("%d/stat", pid);
    g_autofree char *text =
        g_strdup_printf("%d (%s) S 1 5 5 0 -1 %s 1 0 0 0 7 8 0 0 20 0 3 0 %d 1 2 3 4 5 6 7 8 9 10 "
                        "11 12 13 14 15 16 17 18 19 20 %d 22\n",
                        pid, comm, flags, start, guest);
    folder_put(tree->dir, path, text);
}

static void
put_thread(const Tree *tree, int pid, int tid, const char *comm, gint64 ns)
{
    g_autofree char *comm_path = g_strdup_printf("%d/task/%d/comm", pid, tid);
    g_autofree char *time_path = g_strdup_printf("%d/task/%d/schedstat", pid, tid);
    g_autofree char *name = g_strconcat(comm, "\n", NULL);
    g_autofree char *time = g_strdup_printf("%" G_GINT64_FORMAT " 17 4\n", ns);
    folder_put(tree->dir, comm_path, name);
    folder_put(tree->dir, time_path, time);
}

static void
put_kernel_thread(const Tree *tree, int pid, const char *comm, gint64 ns)
{
    put_process(tree, pid, comm, KERNEL, 50, 0);
    put_thread(tree, pid, pid, comm, ns);
}

/* A QEMU of two vCPUs, an iothread and a worker, beside things that are none of it. */
static void
tree_make(Tree *tree)
{
    tree->dir = folder_make();
    tree->kvm = g_build_filename(tree->dir, "kvm", NULL);
    put_process(tree, 100, "kvm", USER, 1000, 3);
    put_thread(tree, 100, 100, "kvm", 1);
    put_thread(tree, 100, 101, "CPU 0/KVM", 20);
    put_thread(tree, 100, 102, "CPU 1/KVM", 300);
    put_thread(tree, 100, 103, "IO iothread0", 4000);
    put_thread(tree, 100, 104, "worker", 50000);
    put_kernel_thread(tree, 2, "kthreadd", 9);
    put_process(tree, 7, "vhost-100", USER, 60, 0); /* only calls itself so */
    put_thread(tree, 7, 7, "vhost-100", 9);
    folder_put(tree->dir, "uptime", "1 2\n");
}

static void
tree_clear(Tree *tree)
{
    if (tree->dir)
        folder_remove(tree->dir);
    g_free(tree->dir);
    g_free(tree->kvm);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Tree, tree_clear)

static NpThreads *
threads_of(const Tree *tree, const char *pids)
{
    g_autoptr(json_t) list = json_loads(pids, 0, NULL);
    g_autoptr(GError) error = NULL;
    NpThreads *threads = np_threads_new(tree->dir, tree->kvm, list, &error);
    g_assert_no_error(error);
    return threads;
}

static void
assert_read(NpThreads *threads, const char *expected)
{
    g_autoptr(json_t) rows = np_threads_read(threads);
    g_autofree char *line = np_json_line(rows);
    g_assert_cmpstr(line, ==, expected);
}

static void
assert_row(NpThreads *threads, gint64 vcpu, gint64 vhost, gint64 iothread, gint64 emulator,
           int alive)
{
    g_autofree char *expected =
        g_strdup_printf("[[100,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
                        ",%" G_GINT64_FORMAT ",%d,%ld,null]]",
                        vcpu, vhost, iothread, emulator, alive, 3 * TICK_NS);
    assert_read(threads, expected);
}

static void
test_threads_by_kind(void)
{
    g_auto(Tree) tree = {0};
    tree_make(&tree);
    g_autoptr(NpThreads) threads = threads_of(&tree, "[100,100]");
    assert_row(threads, 320, 0, 4000, 50001, 5);
    put_thread(&tree, 100, 101, "CPU 0/KVM", 25);
    assert_row(threads, 325, 0, 4000, 50001, 5);
}

static void
test_vhost_in_both_places(void)
{
    g_auto(Tree) tree = {0};
    tree_make(&tree);
    g_autoptr(NpThreads) threads = threads_of(&tree, "[100]");
    assert_row(threads, 320, 0, 4000, 50001, 5);
    put_kernel_thread(&tree, 200, "kthreadd", 1); /* being born */
    put_kernel_thread(&tree, 201, "vhost-99", 1); /* another QEMU's */
    assert_row(threads, 320, 0, 4000, 50001, 5);
    put_kernel_thread(&tree, 200, "vhost-100", 600000);
    put_kernel_thread(&tree, 202, "vhost-102", 1000000); /* asked for by a vCPU */
    put_thread(&tree, 100, 105, "vhost-100", 7000000);
    assert_row(threads, 320, 8600000, 4000, 50001, 8);
    drop(&tree, "200");
    drop(&tree, "100/task/105");
    assert_row(threads, 320, 8600000, 4000, 50001, 6);
}

static void
test_ended_threads_stay_counted(void)
{
    g_auto(Tree) tree = {0};
    tree_make(&tree);
    g_autoptr(NpThreads) threads = threads_of(&tree, "[100]");
    assert_row(threads, 320, 0, 4000, 50001, 5);
    drop(&tree, "100/task/104");
    assert_row(threads, 320, 0, 4000, 50001, 4);
    put_thread(&tree, 100, 104, "worker", 8); /* a new one that got the number */
    assert_row(threads, 320, 0, 4000, 50009, 5);
    put_thread(&tree, 100, 104, "IO x", 5); /* and another, between two readings */
    assert_row(threads, 320, 0, 4005, 50009, 5);
    put_thread(&tree, 100, 104, "CPU 2/KVM", 15); /* it got its proper name late */
    assert_row(threads, 330, 0, 4005, 50009, 5);
    drop(&tree, "100/task/104");
    assert_row(threads, 330, 0, 4005, 50009, 4);
}

static void
test_a_thread_that_was_missed_counts_once(void)
{
    g_auto(Tree) tree = {0};
    tree_make(&tree);
    g_autoptr(NpThreads) threads = threads_of(&tree, "[100]");
    assert_row(threads, 320, 0, 4000, 50001, 5);
    drop(&tree, "100/task/102");
    assert_row(threads, 320, 0, 4000, 50001, 4);
    put_thread(&tree, 100, 102, "CPU 1/KVM", 310);
    assert_row(threads, 330, 0, 4000, 50001, 5);
    drop(&tree, "100/task/102");
    for (int i = 0; i < 20; i++)
        assert_row(threads, 330, 0, 4000, 50001, 4);
    put_thread(&tree, 100, 102, "worker", 400); /* by now another one */
    assert_row(threads, 330, 0, 4000, 50401, 5);
}

static void
test_a_process_that_is_gone_is_left_out(void)
{
    g_auto(Tree) tree = {0};
    tree_make(&tree);
    put_process(&tree, 300, "kvm", USER, 2000, 0);
    put_thread(&tree, 300, 300, "CPU 0/TCG", 5);
    g_autoptr(NpThreads) threads = threads_of(&tree, "[300,100]");
    g_autofree char *row = g_strdup_printf("[100,320,0,4000,50001,5,%ld,null]", 3 * TICK_NS);
    g_autofree char *both = g_strdup_printf("[[300,5,0,0,0,1,0,null],%s]", row);
    g_autofree char *one = g_strdup_printf("[%s]", row);
    assert_read(threads, both);
    put_process(&tree, 300, "bash", USER, 2001, 0); /* another process by now */
    assert_read(threads, one);
    put_process(&tree, 300, "kvm", USER, 2000, 0);
    assert_read(threads, one);
    drop(&tree, "100");
    assert_read(threads, "[]");
}

static void
test_unnamed_threads_are_not_guessed(void)
{
    g_auto(Tree) tree = {0};
    tree_make(&tree);
    put_process(&tree, 300, "qemu-system-x86", USER, 2000, 0);
    put_thread(&tree, 300, 300, "qemu-system-x86", 5);
    put_thread(&tree, 300, 301, "qemu-system-x86", 70);
    g_autoptr(NpThreads) threads = threads_of(&tree, "[300]");
    assert_read(threads, "[[300,null,0,0,75,2,0,null]]");
}

static void
test_halt_polling(void)
{
    g_auto(Tree) tree = {0};
    tree_make(&tree);
    g_autoptr(NpThreads) threads = threads_of(&tree, "[100]");
    folder_put(tree.kvm, "100-12/halt_poll_success_ns", "40\n");
    assert_row(threads, 320, 0, 4000, 50001, 5); /* one half is no figure */
    folder_put(tree.kvm, "100-12/halt_poll_fail_ns", "2\n");
    folder_put(tree.kvm, "1000-3/halt_poll_success_ns", "1\n");
    folder_put(tree.kvm, "1000-3/halt_poll_fail_ns", "1\n");
    folder_put(tree.kvm, "halt_poll_fail_ns", "7\n");
    g_autofree char *expected = g_strdup_printf("[[100,320,0,4000,50001,5,%ld,42]]", 3 * TICK_NS);
    assert_read(threads, expected);
}

static void
test_what_cannot_be_read_is_refused(void)
{
    g_auto(Tree) tree = {0};
    tree_make(&tree);
    put_process(&tree, 300, "kvm", USER, 2000, 0);
    folder_put(tree.dir, "300/task/300/comm", "kvm\n");
    g_autoptr(json_t) nobody = json_loads("[100,99]", 0, NULL),
                      no_times = json_loads("[300]", 0, NULL);
    g_autoptr(GError) error = NULL;
    g_assert_null(np_threads_new(tree.dir, tree.kvm, nobody, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_NOT_FOUND);
    g_assert_nonnull(strstr(error->message, "no process 99"));
    g_clear_error(&error);
    g_assert_null(np_threads_new(tree.dir, tree.kvm, no_times, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_UNSUPPORTED);
    g_assert_nonnull(strstr(error->message, "CONFIG_SCHED_INFO"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/threads/kinds-by-name", test_kinds_by_name);
    g_test_add_func("/threads/stat-lines", test_stat_lines);
    g_test_add_func("/threads/threads-by-kind", test_threads_by_kind);
    g_test_add_func("/threads/vhost-in-both-places", test_vhost_in_both_places);
    g_test_add_func("/threads/ended-stay-counted", test_ended_threads_stay_counted);
    g_test_add_func("/threads/a-thread-that-was-missed-counts-once",
                    test_a_thread_that_was_missed_counts_once);
    g_test_add_func("/threads/a-process-that-is-gone-is-left-out",
                    test_a_process_that_is_gone_is_left_out);
    g_test_add_func("/threads/unnamed-are-not-guessed", test_unnamed_threads_are_not_guessed);
    g_test_add_func("/threads/halt-polling", test_halt_polling);
    g_test_add_func("/threads/what-cannot-be-read-is-refused", test_what_cannot_be_read_is_refused);
    return g_test_run();
}
