/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Use by the host: see host-use.h.
 */
#include "lib/apply/host-use.h"

#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

/* A link on the way up from a port; the way is told backwards through `below`. */
typedef struct {
    const NpLink *link;
    int below; /* index into the way, -1: the port itself */
} Step;

static bool
is_visited(const GArray *way, const NpLink *link)
{
    for (guint i = 0; i < way->len; i++)
        if (g_array_index(way, Step, i).link == link)
            return true;
    return false;
}

static bool
stands_on(const NpLink *upper, const NpLink *lower)
{
    return upper->lower == lower->ifindex || lower->master == upper->ifindex;
}

/* All links that stand on the port, itself first, each once (array of Step). */
static GArray *
climb(const NpHost *host, const NpLink *port)
{
    GArray *way = g_array_new(FALSE, FALSE, sizeof(Step));
    const Step first = {.link = port, .below = -1};
    g_array_append_val(way, first);
    for (guint at = 0; at < way->len; at++) {
        const NpLink *lower = g_array_index(way, Step, at).link;
        for (guint i = 0; i < host->links->len; i++) {
            const NpLink *upper = g_ptr_array_index(host->links, i);
            const Step step = {.link = upper, .below = (int) at};
            if (stands_on(upper, lower) && !is_visited(way, upper))
                g_array_append_val(way, step);
        }
    }
    return way;
}

/* " through bond0, vmbr0", "" for the port itself (transfer full). */
static char *
through(const GArray *way, guint at)
{
    GString *text = g_string_new(NULL);
    for (int i = (int) at; i > 0; i = g_array_index(way, Step, i).below) {
        if (text->len)
            g_string_prepend(text, ", ");
        g_string_prepend(text, g_array_index(way, Step, i).link->name);
    }
    if (text->len)
        g_string_prepend(text, " through ");
    return g_string_free(text, FALSE);
}

static void
add_member(const NpLink *port, const NpLink *upper, NpFunction *function)
{
    const char *kind = upper->kind ? upper->kind : "netdev";
    const char *how = "it is a port of";
    if (port->master != upper->ifindex)
        how = "it carries";
    else if (strcmp(kind, "bond") == 0 || strcmp(kind, "team") == 0)
        how = "it is a member of";
    else if (strcmp(kind, "openvswitch") == 0)
        kind = "Open vSwitch";
    g_autofree char *text = g_strdup_printf("%s %s %s", how, kind, upper->name);
    np_function_add_use(function, NP_USE_MEMBER, text, 0, NULL);
}

static void
add_members(const NpHost *host, const NpLink *port, NpFunction *function)
{
    for (guint i = 0; i < host->links->len; i++) {
        const NpLink *upper = g_ptr_array_index(host->links, i);
        if (upper != port && stands_on(upper, port))
            add_member(port, upper, function);
    }
    if (port->master && !np_host_link(host, port->master))
        np_function_add_use(function, NP_USE_MEMBER, "it is a member of another netdev", 0, NULL);
    if (port->xdp)
        np_function_add_use(function, NP_USE_TRAFFIC_RULE, "an XDP program is attached to it", 0,
                            NULL);
    if (port->tc)
        np_function_add_use(function, NP_USE_TRAFFIC_RULE,
                            "it has rules of traffic control (clsact or ingress)", 0, NULL);
}

static void
add_addresses(const NpHost *host, const GArray *way, guint at, NpFunction *function)
{
    g_autofree char *path = through(way, at);
    g_auto(GStrv) addresses = np_host_addresses(host, g_array_index(way, Step, at).link->ifindex);
    for (char **address = addresses; *address; address++) {
        g_autofree char *text = g_strdup_printf("it carries %s of the host%s", *address, path);
        np_function_add_use(function, NP_USE_ADDRESS, text, 0, NULL);
    }
}

static void
add_routes(const NpHost *host, const GArray *way, guint at, NpFunction *function)
{
    g_autofree char *path = through(way, at);
    for (guint i = 0; i < host->routes->len; i++) {
        const NpRoute *route = &g_array_index(host->routes, NpRoute, i);
        char ip[NP_IP_TEXT_SIZE];
        if (route->ifindex != g_array_index(way, Step, at).link->ifindex || route->by_kernel ||
            (route->prefix && np_ip_is_link_local(&route->destination)))
            continue;
        const char *family = route->destination.family == AF_INET ? "IPv4" : "IPv6";
        g_autofree char *text =
            route->prefix
                ? g_strdup_printf("it carries the route to %s/%u%s",
                                  np_ip_format(&route->destination, ip), route->prefix, path)
                : g_strdup_printf("it carries the %s default route%s", family, path);
        np_function_add_use(function, route->prefix ? NP_USE_ROUTE : NP_USE_DEFAULT_ROUTE, text, 0,
                            NULL);
    }
}

static const NpLinkAddress *
find_address(const NpHost *host, const NpIp *ip)
{
    for (guint i = 0; ip->family && i < host->addresses->len; i++) {
        const NpLinkAddress *address = &g_array_index(host->addresses, NpLinkAddress, i);
        if (np_ip_equal(&address->ip, ip))
            return address;
    }
    return NULL;
}

/* The main table before others, then the longer prefix, then the smaller metric. */
static bool
is_better(const NpRoute *route, const NpRoute *best)
{
    bool main = route->table == RT_TABLE_MAIN;
    if (!best || main != (best->table == RT_TABLE_MAIN))
        return !best || main;
    if (route->prefix != best->prefix)
        return route->prefix > best->prefix;
    return route->metric < best->metric;
}

static const NpRoute *
find_route(const NpHost *host, const NpIp *remote)
{
    const NpRoute *best = NULL;
    for (guint i = 0; i < host->routes->len; i++) {
        const NpRoute *route = &g_array_index(host->routes, NpRoute, i);
        if (np_ip_within(remote, &route->destination, route->prefix) && is_better(route, best))
            best = route;
    }
    return best;
}

static bool
is_hop_of(const NpRoute *hop, const NpRoute *route)
{
    return hop->prefix == route->prefix && hop->table == route->table &&
           hop->metric == route->metric && np_ip_equal(&hop->destination, &route->destination);
}

bool
np_host_reaches(const NpHost *host, const NpPeer *peer, int ifindex)
{
    const NpLinkAddress *local = find_address(host, &peer->local);
    if (find_address(host, &peer->remote) || np_ip_is_loopback(&peer->remote))
        return false;
    if (local)
        return local->ifindex == ifindex;
    const NpRoute *best = peer->remote.family ? find_route(host, &peer->remote) : NULL;
    for (guint i = 0; best && i < host->routes->len; i++) {
        const NpRoute *hop = &g_array_index(host->routes, NpRoute, i);
        if (hop->ifindex == ifindex && is_hop_of(hop, best))
            return true;
    }
    return false;
}

static void
add_peers(const NpHost *host, const GArray *way, guint at, NpFunction *function)
{
    g_autofree char *path = through(way, at);
    for (guint i = 0; i < host->peers->len; i++) {
        const NpPeer *peer = g_ptr_array_index(host->peers, i);
        if (!np_host_reaches(host, peer, g_array_index(way, Step, at).link->ifindex))
            continue;
        g_autofree char *text = g_strdup_printf("it carries %s%s", peer->text, path);
        np_function_add_use(function, peer->kind, text, 0, NULL);
    }
}

void
np_host_add_uses(const NpHost *host, int ifindex, NpFunction *function)
{
    const NpLink *port = np_host_link(host, ifindex);
    if (!port)
        return;
    g_autoptr(GArray) way = climb(host, port);
    add_members(host, port, function);
    for (guint at = 0; at < way->len; at++)
        add_addresses(host, way, at, function);
    for (guint at = 0; at < way->len; at++)
        add_routes(host, way, at, function);
    for (guint at = 0; at < way->len; at++)
        add_peers(host, way, at, function);
}

/* One working default route is enough. */
char *
np_host_path_problem(const NpHost *host)
{
    char *problem = NULL;
    for (guint i = 0; i < host->routes->len; i++) {
        const NpRoute *route = &g_array_index(host->routes, NpRoute, i);
        const NpLink *link = np_host_link(host, route->ifindex);
        if (route->prefix || route->table != RT_TABLE_MAIN)
            continue;
        if (link && link->up && link->carrier) {
            g_free(problem);
            return NULL;
        }
        if (!problem)
            problem = link ? g_strdup_printf("default route through %s has no link", link->name)
                           : g_strdup("default route through a netdev that is gone");
    }
    return problem;
}
