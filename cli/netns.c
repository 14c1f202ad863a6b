/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Network namespaces: see netns.h. Sources: namespaces(7), network_namespaces(7), veth(4).
 */
#include "cli/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>

#include <netlink/route/link.h>
#include <netlink/route/link/bridge.h>
#include <netlink/route/link/veth.h>

#include "lib/base/error.h"
#include "lib/base/fd.h"

typedef struct nl_sock NpSocket;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpSocket, nl_socket_free)
typedef struct rtnl_link NpLinkObject;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpLinkObject, rtnl_link_put)

/* A namespace belongs to a thread: one that lives for a moment makes or enters it, so that the
 * program itself never leaves its own. */
typedef struct {
    int ns;         /* in: to enter, or -1 to make one; out: the one made */
    NpSocket *sock; /* out: a connected rtnetlink socket, which stays in its namespace */
    int errno_value;
} Visit;

static gpointer
visit_thread(gpointer data)
{
    Visit *visit = data;
    bool make = visit->ns < 0;
    if ((make ? unshare(CLONE_NEWNET) : setns(visit->ns, CLONE_NEWNET)) < 0) {
        visit->errno_value = errno;
        return NULL;
    }
    if (make)
        visit->ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    visit->errno_value = visit->ns < 0 ? errno : 0;
    visit->sock = nl_socket_alloc();
    if (visit->ns >= 0 && nl_connect(visit->sock, NETLINK_ROUTE) < 0)
        visit->errno_value = EIO;
    return NULL;
}

/* An rtnetlink socket in *ns, or in a new namespace when *ns is -1. */
static NpSocket *
visit(int *ns, GError **error)
{
    Visit there = {.ns = *ns};
    g_thread_join(g_thread_new("netns", visit_thread, &there));
    if (there.errno_value) {
        np_throw_errno(error, there.errno_value, "%s a network namespace",
                       *ns < 0 ? "make" : "enter");
        g_clear_pointer(&there.sock, nl_socket_free);
        return NULL;
    }
    *ns = there.ns;
    return there.sock;
}

static bool
check_nl(int code, GError **error, const char *what, const char *name)
{
    return code >= 0 || np_throw(error, NP_ERROR_IO, "%s '%s': %s", what, name, nl_geterror(code));
}

static bool
change_link(NpSocket *sock, const char *name, NpLinkObject *change, GError **error)
{
    g_autoptr(NpLinkObject) link = NULL;
    return check_nl(rtnl_link_get_kernel(sock, 0, name, &link), error, "find link", name) &&
           check_nl(rtnl_link_change(sock, link, change, 0), error, "set up link", name);
}

int
np_netns_new(GError **error)
{
    np_autofd int ns = -1;
    g_autoptr(NpSocket) sock = visit(&ns, error);
    g_autoptr(NpLinkObject) up = rtnl_link_alloc();
    rtnl_link_set_flags(up, IFF_UP);
    if (!sock || !change_link(sock, "lo", up, error))
        return -1;
    return np_fd_steal(&ns);
}

static void
set_mac(NpLinkObject *link, const NpMac *mac)
{
    struct nl_addr *address = nl_addr_build(AF_LLC, mac->byte, sizeof(mac->byte));
    rtnl_link_set_addr(link, address);
    nl_addr_put(address);
}

bool
np_netns_add_veth(int ns_a, const char *name_a, const NpMac *mac_a, int ns_b, const char *name_b,
                  const NpMac *mac_b, GError **error)
{
    g_autoptr(NpSocket) sock = visit(&ns_a, error);
    if (!sock)
        return false;
    g_autoptr(NpLinkObject) link = rtnl_link_veth_alloc();
    NpLinkObject *peer = rtnl_link_veth_get_peer(link); /* a reference of ours */
    rtnl_link_set_name(link, name_a);
    set_mac(link, mac_a);
    rtnl_link_set_name(peer, name_b);
    set_mac(peer, mac_b);
    rtnl_link_set_ns_fd(peer, ns_b);
    int code = rtnl_link_add(sock, link, NLM_F_CREATE | NLM_F_EXCL);
    rtnl_link_put(peer);
    return check_nl(code, error, "add veth", name_a);
}

bool
np_netns_add_bridge(int ns, const char *name, GError **error)
{
    g_autoptr(NpSocket) sock = visit(&ns, error);
    return sock && check_nl(rtnl_link_bridge_add(sock, name), error, "add bridge", name);
}

bool
np_netns_set_link(int ns, const char *name, const char *bridge, unsigned mtu, GError **error)
{
    g_autoptr(NpSocket) sock = visit(&ns, error);
    if (!sock)
        return false;
    g_autoptr(NpLinkObject) change = rtnl_link_alloc();
    if (bridge) {
        g_autoptr(NpLinkObject) master = NULL;
        if (!check_nl(rtnl_link_get_kernel(sock, 0, bridge, &master), error, "find bridge", bridge))
            return false;
        rtnl_link_set_master(change, rtnl_link_get_ifindex(master));
    }
    if (mtu)
        rtnl_link_set_mtu(change, mtu);
    rtnl_link_set_flags(change, IFF_UP);
    return change_link(sock, name, change, error);
}
