/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of agent/sampler on this kernel, in a network namespace.
 */
#include "agent/sampler.h"

#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/proto/proto.h"
#include "tests/agent/netns.h"

#define LEFT  "02:00:00:00:00:01"
#define RIGHT "02:00:00:00:00:02"

typedef struct {
    NpSampler *sampler;
    GPtrArray *samples; /* json_t */
    size_t stop_at;     /* in the sample's callback */
} Test;

static void
unref_json(gpointer json)
{
    json_decref(json);
}

static void
take_sample(json_t *fields, gpointer data)
{
    Test *test = data;
    g_ptr_array_add(test->samples, fields);
    if (test->samples->len == test->stop_at)
        json_decref(np_sampler_stop(test->sampler, NULL));
}

static json_t *
tell_processes(gpointer data)
{
    return json_pack("[[i,i,I]]", 7, 0, (json_int_t) 123);
}

static void
test_start(Test *test)
{
    test->samples = g_ptr_array_new_with_free_func(unref_json);
    test->sampler = np_sampler_new(take_sample, tell_processes, test);
}

static void
test_clear(Test *test)
{
    np_sampler_free(test->sampler);
    g_ptr_array_unref(test->samples);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Test, test_clear)

static json_t *
start_fields(int period_ms)
{
    return json_pack("{s:i}", "period_ms", period_ms);
}

static void
wait_for(const Test *test, guint count)
{
    while (test->samples->len < count)
        g_main_context_iteration(NULL, TRUE);
}

static int64_t
sample_time(const Test *test, guint i)
{
    return np_json_int(test->samples->pdata[i], "now_ns", -1);
}

static bool
sample_edge(const Test *test, guint i)
{
    return np_json_bool(test->samples->pdata[i], "edge", false);
}

static const json_t *
counters_of(const Test *test, guint i, const char *mac)
{
    size_t n;
    json_t *nic;
    json_array_foreach(json_object_get(test->samples->pdata[i], "nics"), n, nic)
    {
        if (strcmp(json_string_value(json_array_get(nic, 0)), mac) == 0)
            return nic;
    }
    return NULL;
}

static void
assert_shape(const json_t *sample)
{
    static const NpJsonField fields[] = {
        {"now_ns", NP_JSON_INT, true, 1, INT64_MAX},
        {"edge", NP_JSON_BOOL, true},
        {"cpu", NP_JSON_ARRAY, true, 1, 512},
        {"hz", NP_JSON_INT, true, 1, 100000},
        {"nics", NP_JSON_ARRAY, true, 0, NP_PROTO_NICS_MAX},
        {"processes", NP_JSON_ARRAY, true, 1, 1},
        {NULL},
    };
    g_autoptr(GError) error = NULL;
    np_json_check(sample, fields, &error);
    g_assert_no_error(error);
    const json_t *cpu = json_array_get(json_object_get(sample, "cpu"), 0);
    g_assert_true(json_is_null(cpu) || json_array_size(cpu) == 8);
}

static void
test_one_at_once_one_at_stop(void)
{
    g_auto(Test) test = {0};
    test_start(&test);
    g_autoptr(json_t) fields = start_fields(3600000);
    g_autoptr(GError) error = NULL;
    int64_t before_ns = np_clock_ns();
    g_assert_true(np_sampler_start(test.sampler, fields, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(test.samples->len, ==, 1);
    g_assert_false(np_sampler_start(test.sampler, fields, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_BUSY);
    g_clear_error(&error);
    g_autoptr(json_t) answer = np_sampler_stop(test.sampler, &error);
    g_assert_no_error(error);
    g_assert_cmpint(np_json_int(answer, "samples", -1), ==, 2);
    g_assert_cmpint(np_json_int(answer, "clamped", -1), >=, 0);
    g_assert_cmpuint(test.samples->len, ==, 2);
    g_assert_cmpint(before_ns, <=, sample_time(&test, 0));
    g_assert_cmpint(sample_time(&test, 0), <=, sample_time(&test, 1));
    g_assert_cmpint(sample_time(&test, 1), <=, np_clock_ns());
    assert_shape(test.samples->pdata[0]);
    g_assert_null(np_sampler_stop(test.sampler, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_NOT_FOUND);
    /* and again */
    g_autoptr(json_t) short_period = start_fields(100);
    g_assert_true(np_sampler_start(test.sampler, short_period, NULL));
    wait_for(&test, 5);
    g_assert_false(sample_edge(&test, 4));
}

static void
test_edges_come_in_order_and_are_flagged(void)
{
    g_auto(Test) test = {0};
    test_start(&test);
    int64_t now_ns = np_clock_ns();
    int64_t soon_ns = now_ns + 30 * NP_NS_PER_MS, later_ns = soon_ns + 10 * NP_NS_PER_MS;
    g_autoptr(json_t) fields =
        json_pack("{s:i, s:[I,I,I,I]}", "period_ms", 3600000, "at_ns", (json_int_t) later_ns,
                  (json_int_t) 0, (json_int_t) (now_ns - 5), (json_int_t) soon_ns);
    g_assert_true(np_sampler_start(test.sampler, fields, NULL));
    g_assert_cmpuint(test.samples->len, >=, 3); /* the first, and the two edges in the past */
    wait_for(&test, 5);
    for (guint i = 0; i < 5; i++)
        g_assert_cmpint(sample_edge(&test, i), ==, i > 0);
    for (guint i = 1; i < 5; i++)
        g_assert_cmpint(sample_time(&test, i), >, sample_time(&test, i - 1));
    g_assert_cmpint(sample_time(&test, 3), >=, soon_ns);
    g_assert_cmpint(sample_time(&test, 4), >=, later_ns);
    g_autoptr(json_t) answer = np_sampler_stop(test.sampler, NULL);
    g_assert_cmpint(np_json_int(answer, "samples", -1), ==, 6);
    g_assert_false(sample_edge(&test, 5));
}

/* Sends datagrams out of 'left' and returns how many bytes their frames have. */
static int64_t
send_some(void)
{
    enum { COUNT = 10, SIZE = 100, HEADERS = 14 + 20 + 8 };
    np_autofd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(0x0a090002)}};
    static const char data[SIZE];
    for (int i = 0; i < COUNT; i++)
        g_assert_cmpint(sendto(fd, data, SIZE, 0, (const struct sockaddr *) &to, sizeof(to)), ==,
                        SIZE);
    return COUNT * (SIZE + HEADERS);
}

static void
test_counters_of_the_named_nics(void)
{
    np_test_veth_make();
    np_test_ip("link set right up");
    np_test_ip("link set left up");
    np_test_ip("addr add 10.9.0.1/24 dev left");
    np_test_ip("neigh add 10.9.0.2 lladdr " RIGHT " dev left");
    g_auto(Test) test = {0};
    test_start(&test);
    g_autoptr(json_t) fields = json_pack("{s:i, s:[s]}", "period_ms", 3600000, "macs", LEFT);
    g_assert_true(np_sampler_start(test.sampler, fields, NULL));
    int64_t sent = send_some();
    g_autoptr(json_t) answer = np_sampler_stop(test.sampler, NULL);
    g_assert_nonnull(answer);
    const json_t *before = counters_of(&test, 0, LEFT), *after = counters_of(&test, 1, LEFT);
    g_assert_cmpuint(json_array_size(after), ==, 5);
    /* at least: the kernel may send a word of its own, such as for multicast groups */
    g_assert_cmpint(json_integer_value(json_array_get(after, 2)) -
                        json_integer_value(json_array_get(before, 2)),
                    >=, sent);
    g_assert_null(counters_of(&test, 1, RIGHT));
}

static void
test_every_nic_by_default(void)
{
    np_test_veth_make();
    g_auto(Test) test = {0};
    test_start(&test);
    g_autoptr(json_t) fields = start_fields(3600000);
    g_assert_true(np_sampler_start(test.sampler, fields, NULL));
    np_test_ip("link set left name moved"); /* counters go by index */
    np_test_ip("link del moved");
    np_test_veth_make();
    g_assert_nonnull(counters_of(&test, 0, LEFT));
    g_assert_nonnull(counters_of(&test, 0, RIGHT));
    g_autoptr(json_t) answer = np_sampler_stop(test.sampler, NULL);
    g_assert_nonnull(answer);
    g_assert_null(counters_of(&test, 1, LEFT)); /* gone, and the new one is another */
}

static void
test_unknown_mac_is_refused(void)
{
    g_auto(Test) test = {0};
    test_start(&test);
    g_autoptr(json_t) fields =
        json_pack("{s:i, s:[s]}", "period_ms", 1000, "macs", "02:00:00:00:00:09");
    g_autoptr(GError) error = NULL;
    g_assert_false(np_sampler_start(test.sampler, fields, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_NOT_FOUND);
    g_assert_nonnull(strstr(error->message, "02:00:00:00:00:09"));
    g_assert_cmpuint(test.samples->len, ==, 0);
    g_assert_null(np_sampler_stop(test.sampler, NULL)); /* it does not run */
}

static void
test_stop_inside_a_sample(void)
{
    g_auto(Test) test = {0};
    test_start(&test);
    test.stop_at = 2;
    g_autoptr(json_t) fields = start_fields(100);
    g_assert_true(np_sampler_start(test.sampler, fields, NULL));
    wait_for(&test, 3);
    g_assert_null(np_sampler_stop(test.sampler, NULL));
    g_assert_cmpuint(test.samples->len, ==, 3);
    /* and inside the very first */
    test.stop_at = 4;
    g_assert_true(np_sampler_start(test.sampler, fields, NULL));
    g_assert_null(np_sampler_stop(test.sampler, NULL));
    g_assert_cmpuint(test.samples->len, ==, 5);
}

/* ## A process with QEMU's thread names */

#define BURNT_NS (20 * NP_NS_PER_MS)

typedef struct {
    const char *name;
    int end_fd; /* it lives until this pipe's other end is closed */
    pid_t tid;
} Thread;

static void
burn(void)
{
    struct timespec used;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (used.tv_sec == 0 && used.tv_nsec < BURNT_NS);
}

static void *
run_thread(void *data)
{
    Thread *thread = data;
    char byte;
    thread->tid = gettid();
    pthread_setname_np(pthread_self(), thread->name);
    burn();
    g_assert_cmpint(write(STDOUT_FILENO, "b", 1), ==, 1);
    while (read(thread->end_fd, &byte, 1) > 0)
        continue;
    return NULL;
}

/* The process: says "b" for each thread that has used its time, "e" once the first one has ended.
 * in_fd: a byte on it is the sign for that; its end is the process's. */
static void
run_qemu(int in_fd)
{
    int first[2], rest[2];
    g_assert_cmpint(pipe(first) | pipe(rest), ==, 0);
    Thread threads[] = {
        {"CPU 0/KVM", first[0], 0}, {"CPU 1/TCG", rest[0], 0}, {"IO io", rest[0], 0}};
    pthread_t ids[G_N_ELEMENTS(threads)];
    char byte;
    for (size_t i = 0; i < G_N_ELEMENTS(threads); i++)
        g_assert_cmpint(pthread_create(&ids[i], NULL, run_thread, &threads[i]), ==, 0);
    g_assert_cmpint(read(in_fd, &byte, 1), ==, 1);
    close(first[1]);
    pthread_join(ids[0], NULL);
    /* that is a moment before the kernel has forgotten it */
    g_autofree char *task = g_strdup_printf("/proc/self/task/%d", threads[0].tid);
    while (access(task, F_OK) == 0)
        sched_yield();
    g_assert_cmpint(write(STDOUT_FILENO, "e", 1), ==, 1);
    (void) !read(in_fd, &byte, 1);
    _exit(0);
}

typedef struct {
    pid_t pid;
    int in_fd, out_fd;
} Qemu;

static void
qemu_start(Qemu *qemu)
{
    int in[2], out[2];
    g_assert_cmpint(pipe(in) | pipe(out), ==, 0);
    qemu->pid = fork();
    g_assert_cmpint(qemu->pid, >=, 0);
    if (qemu->pid == 0) {
        close(in[1]);
        dup2(out[1], STDOUT_FILENO);
        run_qemu(in[0]);
    }
    close(in[0]);
    close(out[1]);
    qemu->in_fd = in[1];
    qemu->out_fd = out[0];
}

static void
qemu_wait(const Qemu *qemu, const char *says)
{
    for (; *says; says++) {
        char byte;
        g_assert_cmpint(read(qemu->out_fd, &byte, 1), ==, 1);
        g_assert_cmpint(byte, ==, *says);
    }
}

static void
qemu_end(Qemu *qemu)
{
    np_fd_clear(&qemu->in_fd);
    g_assert_cmpint(waitpid(qemu->pid, NULL, 0), ==, qemu->pid);
    np_fd_clear(&qemu->out_fd);
}

static json_int_t
qemu_number(const Test *test, guint sample, size_t place)
{
    const json_t *rows = json_object_get(test->samples->pdata[sample], "qemu");
    g_assert_cmpuint(json_array_size(rows), ==, 1);
    return json_integer_value(json_array_get(json_array_get(rows, 0), place));
}

static void
test_threads_of_a_process(void)
{
    enum { PID, VCPU, VHOST, IOTHREAD, EMULATOR, THREADS };
    g_auto(Test) test = {0};
    Qemu qemu;
    test_start(&test);
    qemu_start(&qemu);
    qemu_wait(&qemu, "bbb");
    g_autoptr(json_t) fields = json_pack("{s:i, s:[i]}", "period_ms", 3600000, "qemu", qemu.pid);
    g_autoptr(GError) error = NULL;
    g_assert_true(np_sampler_start(test.sampler, fields, &error));
    g_assert_no_error(error);
    g_assert_cmpint(qemu_number(&test, 0, PID), ==, qemu.pid);
    g_assert_cmpint(qemu_number(&test, 0, THREADS), ==, 4);
    g_assert_cmpint(write(qemu.in_fd, "", 1), ==, 1);
    qemu_wait(&qemu, "e");
    json_decref(np_sampler_stop(test.sampler, NULL));
    g_assert_cmpint(qemu_number(&test, 1, THREADS), ==, 3);
    for (guint i = 0; i < 2; i++) {
        g_assert_cmpint(qemu_number(&test, i, VCPU), >=, BURNT_NS);
        g_assert_cmpint(qemu_number(&test, i, VHOST), ==, 0);
    }
    g_assert_cmpint(qemu_number(&test, 1, VCPU), >=, qemu_number(&test, 0, VCPU));
    g_assert_cmpint(qemu_number(&test, 1, IOTHREAD), >=, qemu_number(&test, 0, IOTHREAD));
    g_assert_true(np_sampler_start(test.sampler, fields, &error));
    qemu_end(&qemu);
    json_decref(np_sampler_stop(test.sampler, NULL));
    const json_t *rows = json_object_get(test.samples->pdata[3], "qemu");
    g_assert_true(json_is_array(rows) && json_array_size(rows) == 0);
    g_assert_false(np_sampler_start(test.sampler, fields, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_NOT_FOUND);
    g_assert_null(np_sampler_stop(test.sampler, NULL));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sampler/one-at-once-one-at-stop", test_one_at_once_one_at_stop);
    g_test_add_func("/sampler/edges-come-in-order-and-are-flagged",
                    test_edges_come_in_order_and_are_flagged);
    g_test_add_func("/sampler/unknown-mac-is-refused", test_unknown_mac_is_refused);
    g_test_add_func("/sampler/threads-of-a-process", test_threads_of_a_process);
    g_test_add_func("/sampler/stop-inside-a-sample", test_stop_inside_a_sample);
    if (np_test_netns_enter()) {
        g_test_add_func("/sampler/counters-of-the-named-nics", test_counters_of_the_named_nics);
        g_test_add_func("/sampler/every-nic-by-default", test_every_nic_by_default);
    }
    return g_test_run();
}
