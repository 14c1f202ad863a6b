/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Threads: see threads.h.
 *
 * The vhost worker of a virtio NIC is a kernel thread named after the thread that asked for it up
 * to Linux 6.3, a thread of QEMU itself from 6.4 on, and in the newest kernels either
 * (drivers/vhost/vhost.c): so both places are looked at, every time.
 */
#include "agent/threads.h"

#include <string.h>
#include <unistd.h>

#include "agent/procpid.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/base/parse.h"

#define VHOST "vhost-"

/* The kernel's list of a process's threads ends early when the thread it stands at ends meanwhile
 * (next_tid() in Linux, fs/proc/base.c), so one that is missing may yet be there the next time. */
#define MISSED_MAX 8

typedef struct {
    NpThreadKind kind;
    uint64_t base_ns; /* what counts as another kind, from before it changed its name */
    uint64_t last_ns;
    unsigned round; /* of the reading that saw it last */
} Thread;

typedef struct {
    uint64_t pid, start; /* start: tells it from a later process of the same pid */
    bool gone;
    bool named;                         /* a vCPU thread has been seen */
    GHashTable *threads;                /* tid to Thread, the vhost kernel threads among them */
    uint64_t ended_ns[NP_THREAD_KINDS]; /* of threads that are not in the table any more */
    /* Of the last reading: */
    uint64_t guest_ticks;
    bool has_guest;
    uint64_t halt_poll_ns;
    bool has_halt_poll;
} Process;

struct NpThreads {
    char *proc_dir, *kvm_dir;
    GPtrArray *processes; /* Process */
    GHashTable *ordinary; /* pids in /proc that are no vhost thread of ours */
    GHashTable *seen;     /* the same as the reading under way finds them; else NULL */
    unsigned round;
    uint64_t tick_ns;
};

static bool
is_number(const char *text, uint64_t *ret_value)
{
    return np_parse_uint(text, 0, NP_PID_MAX, ret_value, NULL);
}

NpThreadKind
np_thread_kind(const char *comm)
{
    uint64_t number;
    if (g_str_has_prefix(comm, VHOST) && is_number(comm + strlen(VHOST), &number))
        return NP_THREAD_VHOST;
    if (g_str_has_prefix(comm, "IO "))
        return NP_THREAD_IOTHREAD;
    if (strcmp(comm, "ALL CPUs/TCG") == 0) /* one thread for all, without MTTCG */
        return NP_THREAD_VCPU;
    if (g_str_has_prefix(comm, "CPU ")) {
        const char *rest = comm + strlen("CPU ");
        size_t digits = strspn(rest, "0123456789");
        if (digits > 0 &&
            (strcmp(rest + digits, "/KVM") == 0 || strcmp(rest + digits, "/TCG") == 0))
            return NP_THREAD_VCPU;
    }
    return NP_THREAD_EMULATOR;
}

/* ## Processes */

static void
process_free(gpointer data)
{
    Process *process = data;
    g_hash_table_unref(process->threads);
    g_free(process);
}

static Process *
process_find(const NpThreads *threads, uint64_t pid)
{
    for (guint i = 0; i < threads->processes->len; i++) {
        Process *process = threads->processes->pdata[i];
        if (process->pid == pid)
            return process;
    }
    return NULL;
}

/* The process of which this is a thread: whoever asks the kernel for something gives it the number
 * of the asking thread, mostly but not always the first. */
static Process *
process_of_thread(const NpThreads *threads, uint64_t tid)
{
    for (guint i = 0; i < threads->processes->len; i++) {
        Process *process = threads->processes->pdata[i];
        const Thread *thread = g_hash_table_lookup(process->threads, GUINT_TO_POINTER(tid));
        if (!process->gone && (process->pid == tid || (thread && thread->round == threads->round)))
            return process;
    }
    return NULL;
}

static void
take_thread(Process *process, uint64_t tid, NpThreadKind kind, uint64_t ns, unsigned round)
{
    Thread *thread = g_hash_table_lookup(process->threads, GUINT_TO_POINTER(tid));
    if (!thread) {
        thread = g_new0(Thread, 1);
        thread->kind = kind;
        g_hash_table_insert(process->threads, GUINT_TO_POINTER(tid), thread);
    } else if (ns < thread->last_ns) { /* another thread with the number of one that has ended */
        process->ended_ns[thread->kind] += thread->last_ns - thread->base_ns;
        thread->kind = kind;
        thread->base_ns = 0;
    } else if (thread->kind != kind) {
        process->ended_ns[thread->kind] += thread->last_ns - thread->base_ns;
        thread->kind = kind;
        thread->base_ns = thread->last_ns;
    }
    thread->last_ns = ns;
    thread->round = round;
    process->named = process->named || kind == NP_THREAD_VCPU;
}

typedef struct {
    const NpThreads *threads;
    Process *process;
} Tasks;

static void
visit_task(uint64_t tid, const char *name, gpointer data)
{
    const Tasks *tasks = data;
    const char *dir = tasks->threads->proc_dir;
    g_autofree char *comm = np_procpid_task_comm(dir, tasks->process->pid, tid);
    uint64_t ns;
    if (comm && np_procpid_task_cpu_ns(dir, tasks->process->pid, tid, &ns))
        take_thread(tasks->process, tid, np_thread_kind(comm), ns, tasks->threads->round);
}

static void
read_process(const NpThreads *threads, Process *process)
{
    NpProcpid stat;
    process->gone = process->gone || !np_procpid_read(threads->proc_dir, process->pid, &stat) ||
                    stat.start != process->start;
    if (process->gone)
        return;
    process->has_guest = stat.has_guest;
    process->guest_ticks = stat.guest_ticks;
    process->has_halt_poll = false;
    process->halt_poll_ns = 0;
    g_autofree char *path =
        g_strdup_printf("%s/%" G_GUINT64_FORMAT "/task", threads->proc_dir, process->pid);
    Tasks tasks = {threads, process};
    np_procpid_each(path, visit_task, &tasks);
}

/* ## What belongs to a process and is elsewhere */

/* A kernel thread keeps its name, so what was no vhost thread need not be read again; a new one is
 * called kthreadd for a moment. A number that comes back as a vhost thread between two readings
 * would be missed: the kernel goes through all numbers first. */
static void
visit_pid(uint64_t pid, const char *name, gpointer data)
{
    NpThreads *threads = data;
    NpProcpid stat;
    uint64_t owner, ns;
    if (g_hash_table_contains(threads->ordinary, GUINT_TO_POINTER(pid))) {
        g_hash_table_add(threads->seen, GUINT_TO_POINTER(pid));
        return;
    }
    if (!np_procpid_read(threads->proc_dir, pid, &stat))
        return;
    Process *process = NULL;
    if (stat.kernel && np_thread_kind(stat.comm) == NP_THREAD_VHOST &&
        is_number(stat.comm + strlen(VHOST), &owner))
        process = process_of_thread(threads, owner);
    if (process && np_procpid_task_cpu_ns(threads->proc_dir, pid, pid, &ns))
        take_thread(process, pid, NP_THREAD_VHOST, ns, threads->round);
    else if (!stat.kernel || strcmp(stat.comm, "kthreadd") != 0)
        g_hash_table_add(threads->seen, GUINT_TO_POINTER(pid));
}

/* A folder "PID-FD" a virtual machine, with a file a counter (Linux 5.8, virt/kvm/kvm_main.c). */
static void
visit_vm(uint64_t tid, const char *name, gpointer data)
{
    NpThreads *threads = data;
    Process *process = process_of_thread(threads, tid);
    if (!process || !strchr(name, '-'))
        return;
    static const char *const counters[] = {"halt_poll_success_ns", "halt_poll_fail_ns"};
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(counters); i++) {
        g_autofree char *path = g_build_filename(threads->kvm_dir, name, counters[i], NULL);
        g_autofree char *text = np_file_read_line(path);
        uint64_t ns;
        if (!text || !np_parse_uint(text, 0, INT64_MAX / 2, &ns, NULL))
            return;
        sum_ns += ns;
    }
    process->halt_poll_ns += sum_ns;
    process->has_halt_poll = true;
}

static void
read_elsewhere(NpThreads *threads)
{
    threads->seen = g_hash_table_new(NULL, NULL);
    np_procpid_each(threads->proc_dir, visit_pid, threads);
    g_hash_table_unref(threads->ordinary);
    threads->ordinary = g_steal_pointer(&threads->seen);
    np_procpid_each(threads->kvm_dir, visit_vm, threads);
}

/* ## The sums */

/* Moves what has ended out of the table and returns how many threads were seen; sums: by kind. */
static unsigned
sum_up(Process *process, unsigned round, uint64_t sums[NP_THREAD_KINDS])
{
    unsigned alive = 0;
    memset(sums, 0, sizeof(process->ended_ns));
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, process->threads);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Thread *thread = value;
        alive += thread->round == round;
        if (round - thread->round <= MISSED_MAX) {
            sums[thread->kind] += thread->last_ns - thread->base_ns;
            continue;
        }
        process->ended_ns[thread->kind] += thread->last_ns - thread->base_ns;
        g_hash_table_iter_remove(&iter);
    }
    for (unsigned kind = 0; kind < NP_THREAD_KINDS; kind++)
        sums[kind] += process->ended_ns[kind];
    return alive;
}

static json_t *
number_or_null(bool has, uint64_t number)
{
    return has ? json_integer((json_int_t) number) : json_null();
}

static json_t *
process_json(const NpThreads *threads, Process *process)
{
    uint64_t sums[NP_THREAD_KINDS];
    unsigned alive = sum_up(process, threads->round, sums);
    json_t *fields = json_array();
    json_array_append_new(fields, json_integer((json_int_t) process->pid));
    json_array_append_new(fields, number_or_null(process->named, sums[NP_THREAD_VCPU]));
    json_array_append_new(fields, json_integer((json_int_t) sums[NP_THREAD_VHOST]));
    json_array_append_new(fields, json_integer((json_int_t) sums[NP_THREAD_IOTHREAD]));
    json_array_append_new(fields, json_integer((json_int_t) sums[NP_THREAD_EMULATOR]));
    json_array_append_new(fields, json_integer(alive));
    json_array_append_new(
        fields, number_or_null(process->has_guest, process->guest_ticks * threads->tick_ns));
    json_array_append_new(fields, number_or_null(process->has_halt_poll, process->halt_poll_ns));
    return fields;
}

json_t *
np_threads_read(NpThreads *threads)
{
    threads->round++;
    for (guint i = 0; i < threads->processes->len; i++)
        read_process(threads, threads->processes->pdata[i]);
    read_elsewhere(threads);
    json_t *list = json_array();
    for (guint i = 0; i < threads->processes->len; i++) {
        Process *process = threads->processes->pdata[i];
        if (!process->gone)
            json_array_append_new(list, process_json(threads, process));
    }
    return list;
}

/* ## The beginning */

static bool
add_process(NpThreads *threads, uint64_t pid, GError **error)
{
    NpProcpid stat;
    uint64_t ns;
    if (process_find(threads, pid))
        return true;
    if (!np_procpid_read(threads->proc_dir, pid, &stat))
        return np_throw(error, NP_ERROR_NOT_FOUND,
                        "qemu: there is no process %" G_GUINT64_FORMAT
                        " here, or /proc hides it (hidepid)",
                        pid);
    if (!np_procpid_task_cpu_ns(threads->proc_dir, pid, pid, &ns))
        return np_throw(error, NP_ERROR_UNSUPPORTED,
                        "qemu: no CPU time in %s/%" G_GUINT64_FORMAT
                        "/task/*/schedstat: the kernel lacks CONFIG_SCHED_INFO",
                        threads->proc_dir, pid);
    Process *process = g_new0(Process, 1);
    process->pid = pid;
    process->start = stat.start;
    process->threads = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_ptr_array_add(threads->processes, process);
    return true;
}

NpThreads *
np_threads_new(const char *proc_dir, const char *kvm_dir, const json_t *pids, GError **error)
{
    g_autoptr(NpThreads) threads = g_new0(NpThreads, 1);
    threads->proc_dir = g_strdup(proc_dir);
    threads->kvm_dir = g_strdup(kvm_dir);
    threads->processes = g_ptr_array_new_with_free_func(process_free);
    threads->ordinary = g_hash_table_new(NULL, NULL);
    threads->tick_ns = (uint64_t) (NP_NS_PER_S / sysconf(_SC_CLK_TCK));
    size_t i;
    json_t *pid;
    json_array_foreach(pids, i, pid)
    {
        if (!add_process(threads, (uint64_t) json_integer_value(pid), error))
            return NULL;
    }
    return g_steal_pointer(&threads);
}

void
np_threads_free(NpThreads *threads)
{
    if (!threads)
        return;
    g_hash_table_unref(threads->ordinary);
    g_ptr_array_unref(threads->processes);
    g_free(threads->proc_dir);
    g_free(threads->kvm_dir);
    g_free(threads);
}
