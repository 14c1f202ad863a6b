/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Local stage: see local.h.
 */
#include "cli/local.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/netns.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/base/loop.h"

#define GOODBYE_MS 5000

/* Addresses of RFC 2544's benchmarking range and locally administered MACs: seen by nobody but the
 * two. */
static const NpMac macs[] = {{{0x02, 0x4e, 0x50, 0, 0, 1}}, {{0x02, 0x4e, 0x50, 0, 0, 2}}};
static const NpMac port_macs[] = {{{0x02, 0x4e, 0x50, 0, 1, 1}}, {{0x02, 0x4e, 0x50, 0, 1, 2}}};
static const char *const addresses[] = {"198.18.0.1", "198.18.0.2"};
static const char *const names[] = {"sender", "receiver"};
#define PREFIX 24

typedef struct {
    GPid pid; /* 0: none, or reaped */
} Agent;

typedef struct {
    int ns[2], bridge_ns; /* -1: none */
    Agent agents[2];
} Handle;

static void
note_exit(GPid pid, gint status, gpointer data)
{
    Agent *agent = data;
    agent->pid = 0;
}

static bool
agent_exited(gconstpointer data)
{
    return ((const Agent *) data)->pid == 0;
}

/* The agent leaves by itself once its channel is closed; one that does not is killed. */
static void
agent_stop(Agent *agent)
{
    if (agent->pid == 0 || np_loop_wait(agent_exited, agent, GOODBYE_MS, "agent", NULL))
        return;
    kill(agent->pid, SIGKILL);
    while (agent->pid != 0)
        g_main_context_iteration(NULL, TRUE);
}

static void
local_halt(NpBoot *boot)
{
    Handle *handle = boot->handle;
    for (size_t i = 0; i < G_N_ELEMENTS(handle->agents); i++) {
        agent_stop(&handle->agents[i]);
        np_fd_clear(&handle->ns[i]);
    }
    np_fd_clear(&handle->bridge_ns);
    g_free(handle);
}

/* The agent beside this program, or where `make install` puts it. */
static char *
agent_path(GError **error)
{
    g_autofree char *self = g_file_read_link("/proc/self/exe", error);
    if (!self)
        return NULL;
    g_autofree char *folder = g_path_get_dirname(self);
    g_autofree char *beside = g_build_filename(folder, "nicpass-agent", NULL);
    if (g_file_test(beside, G_FILE_TEST_IS_EXECUTABLE))
        return g_steal_pointer(&beside);
    if (g_file_test(NP_SBINDIR "/nicpass-agent", G_FILE_TEST_IS_EXECUTABLE))
        return g_strdup(NP_SBINDIR "/nicpass-agent");
    np_throw(error, NP_ERROR_NOT_FOUND,
             "nicpass-agent is neither beside this program (%s) nor in %s: install the "
             "nicpass-agent package, or run make",
             folder, NP_SBINDIR);
    return NULL;
}

/* Runs in the child between fork and exec: async-signal-safe calls only. */
static void
enter_namespace(gpointer data)
{
    int ns = GPOINTER_TO_INT(data);
    /* A group of its own: Ctrl-C on the terminal is for us, who end the agent in order. */
    if (setns(ns, CLONE_NEWNET) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || setpgid(0, 0) < 0)
        _exit(127);
}

static bool
agent_start(Agent *agent, int ns, const char *name, NpPeerEvent event, gpointer data,
            NpPeer **ret_peer, GError **error)
{
    g_autofree char *path = agent_path(error);
    if (!path)
        return false;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return np_throw_errno(error, errno, "socketpair");
    np_autofd int ours = pair[0], theirs = pair[1];
    const char *argv[] = {path, "--stdio", "--leave-managers", NULL};
    if (!g_spawn_async_with_pipes_and_fds(NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD,
                                          enter_namespace, GINT_TO_POINTER(ns), theirs, theirs, -1,
                                          NULL, NULL, 0, &agent->pid, NULL, NULL, NULL, error))
        return false;
    g_child_watch_add(agent->pid, note_exit, agent);
    *ret_peer = np_peer_new(np_fd_steal(&ours), name, event, data);
    return true;
}

static bool
join_direct(Handle *handle, GError **error)
{
    return np_netns_add_veth(handle->ns[0], "np0", &macs[0], handle->ns[1], "np0", &macs[1], error);
}

static bool
join_bridge(Handle *handle, unsigned mtu, GError **error)
{
    static const char *const ports[] = {"port0", "port1"};
    handle->bridge_ns = np_netns_new(error);
    if (handle->bridge_ns < 0 || !np_netns_add_bridge(handle->bridge_ns, "br0", error))
        return false;
    for (size_t i = 0; i < G_N_ELEMENTS(ports); i++)
        if (!np_netns_add_veth(handle->ns[i], "np0", &macs[i], handle->bridge_ns, ports[i],
                               &port_macs[i], error) ||
            !np_netns_set_link(handle->bridge_ns, ports[i], "br0", mtu, error))
            return false;
    return np_netns_set_link(handle->bridge_ns, "br0", NULL, 0, error);
}

static bool
make_namespaces(Handle *handle, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(handle->ns); i++) {
        handle->ns[i] = np_netns_new(error);
        if (handle->ns[i] < 0) {
            if (error && g_error_matches(*error, NP_ERROR, NP_ERROR_DENIED))
                g_prefix_error(error, "local endpoints live in network namespaces, which only "
                                      "root may make (try sudo): ");
            return false;
        }
    }
    return true;
}

static void
fill_end(NpEnd *end, size_t i)
{
    char mac[NP_MAC_TEXT_SIZE];
    end->endpoint = g_strdup("local");
    end->mac = g_strdup(np_mac_format(&macs[i], mac));
    end->address = g_strdup(addresses[i]);
    end->cidr = g_strdup_printf("%s/%d", addresses[i], PREFIX);
}

static bool
local_boot(const NpTopology *topology, NpPeerEvent event, gpointer data, NpBoot *ret_boot,
           GError **error)
{
    Handle *handle = g_new0(Handle, 1);
    handle->ns[0] = handle->ns[1] = handle->bridge_ns = -1;
    ret_boot->handle = handle;
    ret_boot->shared_kernel = true;
    NpEnd *ends[] = {&ret_boot->sender, &ret_boot->receiver};
    if (!make_namespaces(handle, error))
        return false;
    bool joined = topology->link == NP_LINK_BRIDGE ? join_bridge(handle, topology->mtu, error)
                                                   : join_direct(handle, error);
    for (size_t i = 0; joined && i < G_N_ELEMENTS(ends); i++) {
        fill_end(ends[i], i);
        joined = agent_start(&handle->agents[i], handle->ns[i], names[i], event, data,
                             &ends[i]->peer, error);
    }
    return joined;
}

const NpStage np_local_stage = {local_boot, local_halt};
