/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Benchmark: the agent's libiperf children against the iperf3 program over one veth pair,
 * alternating; and what the agent itself costs while idle and while sampling. Prints ratios and
 * medians; judges nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/netns.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/base/loop.h"
#include "lib/proto/peer.h"

#define SECONDS    4
#define ROUNDS     5
#define IDLE_MS    10000
#define FIRST_PORT 5201
#define CALL_MS    30000

/* One end: a namespace with an agent in it. */
typedef struct {
    const char *name, *mac_text, *address;
    NpMac mac;
    int ns;
    GPid pid;
    NpPeer *peer;
    int64_t job, bytes;
    bool ended;
} End;

static End ends[2] = {
    {.name = "client", .mac_text = "02:4e:50:00:00:01", .address = "198.18.0.1/24", .ns = -1},
    {.name = "server", .mac_text = "02:4e:50:00:00:02", .address = "198.18.0.2/24", .ns = -1},
};
#define SERVER_ADDRESS "198.18.0.2"

static void G_GNUC_NORETURN
give_up(const GError *error)
{
    fprintf(stderr, "agent-vs-iperf3: %s\n", error->message);
    exit(1); /* namespaces and agents die with this process */
}

static json_t *
must_call(End *end, NpVerb verb, json_t *fields)
{
    g_autoptr(GError) error = NULL;
    json_t *ok = np_peer_call(end->peer, verb, fields, CALL_MS, &error);
    if (!ok)
        give_up(error);
    return ok;
}

static void
take_event(NpPeer *peer, const char *event, const json_t *message, gpointer data)
{
    End *end = data;
    if (strcmp(event, "process") == 0)
        end->bytes += np_json_int(message, "bytes", 0);
    end->ended = end->ended || strcmp(event, "end") == 0;
}

static void
enter_namespace(gpointer data)
{
    if (setns(GPOINTER_TO_INT(data), CLONE_NEWNET) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        _exit(127);
}

/* Starts a program in a namespace; its stdin and stdout are fd (-1: ours). */
static GPid
spawn_in(int ns, int in, int out, const char *const *argv)
{
    g_autoptr(GError) error = NULL;
    GPid pid;
    if (!g_spawn_async_with_pipes_and_fds(
            NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_SEARCH_PATH, enter_namespace,
            GINT_TO_POINTER(ns), in, out, -1, NULL, NULL, 0, &pid, NULL, NULL, NULL, &error))
        give_up(error);
    return pid;
}

static void
start_agent(End *end)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(g_getenv("NP_BUILD"), "nicpass-agent", NULL);
    const char *argv[] = {path, "--stdio", "--leave-managers", NULL};
    int pair[2];
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
    end->pid = spawn_in(end->ns, pair[1], pair[1], argv);
    close(pair[1]);
    end->peer = np_peer_new(pair[0], end->name, take_event, end);
    g_autoptr(json_t) hello = np_peer_hello(end->peer, CALL_MS, &error);
    if (!hello)
        give_up(error);
    json_decref(must_call(
        end, NP_VERB_NIC_SET,
        json_pack("{s:s, s:s, s:b}", "mac", end->mac_text, "address", end->address, "up", 1)));
}

static bool
job_over(gconstpointer data)
{
    const End *both = data;
    return (both[0].ended && both[1].ended) || np_peer_gone(both[0].peer) ||
           np_peer_gone(both[1].peer);
}

/* bit/s that the server's processes received, by the agents. */
static double
measure_agent(unsigned processes)
{
    json_t *ports = json_array();
    for (unsigned i = 0; i < processes; i++)
        json_array_append_new(ports, json_integer(FIRST_PORT + i));
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
        ends[i].ended = false;
        ends[i].bytes = 0;
    }
    g_autoptr(GError) error = NULL;
    json_t *serve = json_pack("{s:O, s:i}", "ports", ports, "watchdog_ms", 60000);
    json_decref(must_call(&ends[1], NP_VERB_SERVE, serve));
    json_t *load =
        json_pack("{s:s, s:s, s:o, s:i, s:i, s:i}", "action", "arm", "target", SERVER_ADDRESS,
                  "ports", ports, "seconds", SECONDS, "interval_ms", 1000, "watchdog_ms", 60000);
    int64_t job = np_peer_send(ends[0].peer, NP_VERB_LOAD, load, &error);
    g_autoptr(json_t) armed = job ? np_peer_wait(ends[0].peer, job, CALL_MS, &error) : NULL;
    if (!armed)
        give_up(error);
    json_decref(must_call(
        &ends[0], NP_VERB_LOAD,
        json_pack("{s:s, s:I, s:i}", "action", "go", "job", (json_int_t) job, "at_ns", 0)));
    if (!np_loop_wait(job_over, ends, 2 * CALL_MS, "load", &error))
        give_up(error);
    return (double) ends[1].bytes * 8 / SECONDS;
}

/* Whether a port listens in the namespace that a process is in. */
static bool
listens(GPid pid, unsigned port)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/net/tcp6", pid);
    g_autofree char *text = NULL;
    g_autofree char *wanted =
        g_strdup_printf(":%04X 00000000000000000000000000000000:0000 0A", port);
    return np_file_read(path, 1 << 20, &text, NULL, NULL) && strstr(text, wanted);
}

/* bit/s received in an iperf3 client's JSON text. */
static double
received_bps(const char *path)
{
    json_error_t problem;
    g_autoptr(json_t) object = json_load_file(path, JSON_DISABLE_EOF_CHECK, &problem);
    const json_t *sum = json_object_get(json_object_get(object, "end"), "sum_received");
    return (double) np_json_int(sum, "bytes", 0) * 8 / SECONDS;
}

/* The same by the iperf3 program, the same number of one-off servers and clients. */
static double
measure_iperf3(unsigned processes, const char *folder)
{
    g_autofree GPid *servers = g_new0(GPid, processes), *clients = g_new0(GPid, processes);
    double bps = 0;
    np_autofd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (unsigned i = 0; i < processes; i++) {
        g_autofree char *port = g_strdup_printf("%u", FIRST_PORT + 100 + i);
        const char *argv[] = {"iperf3", "-s", "-1", "-p", port, NULL};
        servers[i] = spawn_in(ends[1].ns, null, null, argv);
        while (!listens(servers[i], FIRST_PORT + 100 + i))
            g_usleep(1000); /* there is no event for it */
    }
    for (unsigned i = 0; i < processes; i++) {
        g_autofree char *port = g_strdup_printf("%u", FIRST_PORT + 100 + i);
        g_autofree char *path = g_strdup_printf("%s/%u.json", folder, i);
        g_autofree char *seconds = g_strdup_printf("%d", SECONDS);
        np_autofd int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        const char *argv[] = {"iperf3", "-J",    "-c", SERVER_ADDRESS, "-p", port,
                              "-t",     seconds, NULL};
        clients[i] = spawn_in(ends[0].ns, null, out, argv);
    }
    for (unsigned i = 0; i < processes; i++) {
        waitpid(clients[i], NULL, 0);
        waitpid(servers[i], NULL, 0);
        g_autofree char *path = g_strdup_printf("%s/%u.json", folder, i);
        bps += received_bps(path);
        unlink(path);
    }
    return bps;
}

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static double
median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void
compare_goodput(unsigned processes, const char *folder)
{
    double ratios[ROUNDS], agent[ROUNDS], iperf3[ROUNDS];
    for (unsigned i = 0; i < ROUNDS; i++) {
        for (unsigned j = 0; j < 2; j++) { /* ABBA: who goes first alternates */
            if ((i + j) % 2)
                agent[i] = measure_agent(processes);
            else
                iperf3[i] = measure_iperf3(processes, folder);
        }
        ratios[i] = agent[i] / iperf3[i];
    }
    double lowest = ratios[0], highest = ratios[0];
    for (unsigned i = 1; i < ROUNDS; i++) {
        lowest = MIN(lowest, ratios[i]);
        highest = MAX(highest, ratios[i]);
    }
    double middle = median(ratios, ROUNDS);
    printf(
        "goodput, %u process%s  agent %.2f Gbit/s, iperf3 %.2f Gbit/s, ratio %.3f (%.3f to %.3f, "
        "%d rounds)\n",
        processes, processes == 1 ? ":  " : "es:", median(agent, ROUNDS) / 1e9,
        median(iperf3, ROUNDS) / 1e9, middle, lowest, highest, ROUNDS);
}

static int64_t
cpu_ns(GPid pid)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return -1;
    return (int64_t) used.tv_sec * NP_NS_PER_S + used.tv_nsec;
}

static bool
never(gconstpointer data)
{
    return false;
}

/* Percent of a core that the agent uses while IDLE_MS pass. */
static double
own_cpu_percent(const End *end)
{
    int64_t cpu_before = cpu_ns(end->pid), before = np_clock_ns();
    (void) np_loop_wait(never, NULL, IDLE_MS, "time", NULL);
    return 100.0 * (double) (cpu_ns(end->pid) - cpu_before) / (double) (np_clock_ns() - before);
}

static void
print_own_cost(void)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/status", ends[1].pid);
    g_autofree char *status = NULL;
    double idle = own_cpu_percent(&ends[1]);
    long rss_kib = 0;
    if (np_file_read(path, 1 << 16, &status, NULL, NULL) && strstr(status, "VmRSS:"))
        rss_kib = strtol(strstr(status, "VmRSS:") + 6, NULL, 10);
    json_decref(must_call(&ends[1], NP_VERB_CPU,
                          json_pack("{s:s, s:i}", "action", "start", "period_ms", 1000)));
    double sampling = own_cpu_percent(&ends[1]);
    json_decref(must_call(&ends[1], NP_VERB_CPU, json_pack("{s:s}", "action", "stop")));
    printf("agent itself:          idle %.3f %%, sampling every second %.3f %% of a core, idle RSS "
           "%.1f MiB\n",
           idle, sampling, (double) rss_kib / 1024);
}

int
main(void)
{
    signal(SIGPIPE, SIG_IGN);
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("nicpass-bench-XXXXXX", &error);
    if (!folder)
        give_up(error);
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
        ends[i].ns = np_netns_new(&error);
        if (ends[i].ns < 0 || !np_parse_mac(ends[i].mac_text, &ends[i].mac, &error))
            give_up(error);
    }
    if (!np_netns_add_veth(ends[0].ns, "np0", &ends[0].mac, ends[1].ns, "np0", &ends[1].mac,
                           &error))
        give_up(error);
    start_agent(&ends[0]);
    start_agent(&ends[1]);
    print_own_cost();
    compare_goodput(1, folder);
    compare_goodput(4, folder);
    rmdir(folder);
    np_peer_free(ends[0].peer);
    np_peer_free(ends[1].peer);
    return 0;
}
