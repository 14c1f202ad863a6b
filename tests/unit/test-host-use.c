/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: what of the host stands on a port, through anything that can stand on it.
 */
#include <string.h>
#include <sys/socket.h>

#include <linux/rtnetlink.h>

#include "lib/apply/host-use.h"

typedef struct {
    int ifindex;
    const char *name, *kind;
    int master, lower;
} LinkRow;

typedef struct {
    int ifindex;
    const char *address; /* "10.0.0.1/24" */
} AddressRow;

typedef struct {
    int ifindex;
    const char *destination; /* "0.0.0.0/0" */
    const char *gateway;
    bool by_kernel;
    uint32_t metric;
} RouteRow;

typedef struct {
    NpUseKind kind;
    const char *local, *remote, *text;
} PeerRow;

typedef struct {
    NpUseKind kind;
    const char *text;
} UseRow;

typedef struct {
    const char *name;
    int port;
    LinkRow links[8];
    AddressRow addresses[6];
    RouteRow routes[6];
    PeerRow peers[4];
    UseRow uses[8]; /* in order */
} Case;

#define TWO_PORTS_BOND_VLAN_BRIDGE                                                                 \
    {                                                                                              \
        {1, "eno1", NULL, 3, 0}, {2, "eno2", NULL, 3, 0}, {3, "bond0", "bond", 0, 0},              \
            {4, "bond0.7", "vlan", 5, 3}, {5, "vmbr0", "bridge", 0, 0},                            \
    }

static const Case cases[] = {
    {.name = "nothing",
     .port = 1,
     .links = {{1, "eno1", NULL, 0, 0}, {2, "eno2", NULL, 0, 0}},
     .addresses = {{2, "10.0.0.1/24"}},
     .routes = {{2, "0.0.0.0/0", "10.0.0.254", false, 0}}},
    {.name = "own-address",
     .port = 1,
     .links = {{1, "eno1", NULL, 0, 0}},
     .addresses = {{1, "10.0.0.1/24"}, {1, "fe80::1/64"}, {1, "fd00::1/64"}},
     .routes = {{1, "10.0.0.0/24", NULL, true, 0}},
     .uses = {{NP_USE_ADDRESS, "it carries 10.0.0.1/24 of the host"},
              {NP_USE_ADDRESS, "it carries fd00::1/64 of the host"}}},
    {.name = "bridge",
     .port = 1,
     .links = {{1, "eno1", NULL, 2, 0}, {2, "vmbr0", "bridge", 0, 0}},
     .addresses = {{2, "10.0.0.1/24"}},
     .routes = {{2, "0.0.0.0/0", "10.0.0.254", false, 0}, {2, "10.9.0.0/16", "10.0.0.9", false, 0}},
     .uses = {{NP_USE_MEMBER, "it is a port of bridge vmbr0"},
              {NP_USE_ADDRESS, "it carries 10.0.0.1/24 of the host through vmbr0"},
              {NP_USE_DEFAULT_ROUTE, "it carries the IPv4 default route through vmbr0"},
              {NP_USE_ROUTE, "it carries the route to 10.9.0.0/16 through vmbr0"}}},
    {.name = "bridge-over-vlan-over-bond-first-port",
     .port = 1,
     .links = TWO_PORTS_BOND_VLAN_BRIDGE,
     .addresses = {{5, "10.0.0.1/24"}},
     .uses = {{NP_USE_MEMBER, "it is a member of bond bond0"},
              {NP_USE_ADDRESS,
               "it carries 10.0.0.1/24 of the host through bond0, bond0.7, vmbr0"}}},
    {.name = "bridge-over-vlan-over-bond-second-port",
     .port = 2,
     .links = TWO_PORTS_BOND_VLAN_BRIDGE,
     .addresses = {{5, "10.0.0.1/24"}},
     .uses = {{NP_USE_MEMBER, "it is a member of bond bond0"},
              {NP_USE_ADDRESS,
               "it carries 10.0.0.1/24 of the host through bond0, bond0.7, vmbr0"}}},
    {.name = "vlan-and-macvlan-on-the-port",
     .port = 1,
     .links = {{1, "eno1", NULL, 0, 0}, {2, "eno1.5", "vlan", 0, 1}, {3, "mac0", "macvlan", 0, 1}},
     .addresses = {{2, "10.5.0.1/24"}},
     .uses = {{NP_USE_MEMBER, "it carries vlan eno1.5"},
              {NP_USE_MEMBER, "it carries macvlan mac0"},
              {NP_USE_ADDRESS, "it carries 10.5.0.1/24 of the host through eno1.5"}}},
    {.name = "team",
     .port = 1,
     .links = {{1, "eno1", NULL, 2, 0}, {2, "team0", "team", 0, 0}},
     .uses = {{NP_USE_MEMBER, "it is a member of team team0"}}},
    {.name = "open-vswitch",
     .port = 1,
     .links = {{1, "eno1", NULL, 2, 0}, {2, "ovs-system", "openvswitch", 0, 0}},
     .uses = {{NP_USE_MEMBER, "it is a port of Open vSwitch ovs-system"}}},
    {.name = "master-of-another-namespace",
     .port = 1,
     .links = {{1, "eno1", NULL, 99, 0}},
     .uses = {{NP_USE_MEMBER, "it is a member of another netdev"}}},
    {.name = "circle",
     .port = 1,
     .links = {{1, "a", NULL, 2, 3}, {2, "b", "bridge", 3, 1}, {3, "c", "vlan", 1, 2}},
     .addresses = {{3, "10.0.0.1/24"}},
     .uses = {{NP_USE_MEMBER, "it is a port of bridge b"},
              {NP_USE_ADDRESS, "it carries 10.0.0.1/24 of the host through b, c"}}},
    {.name = "session-by-own-address",
     .port = 1,
     .links = {{1, "eno1", NULL, 2, 0}, {2, "vmbr0", "bridge", 0, 0}, {3, "eno2", NULL, 0, 0}},
     .addresses = {{2, "10.0.0.1/24"}},
     .routes = {{3, "0.0.0.0/0", "10.1.0.254", false, 0}},
     .peers = {{NP_USE_SSH, "10.0.0.1", "172.16.0.9", "the ssh session from 172.16.0.9"}},
     .uses = {{NP_USE_MEMBER, "it is a port of bridge vmbr0"},
              {NP_USE_ADDRESS, "it carries 10.0.0.1/24 of the host through vmbr0"},
              {NP_USE_SSH, "it carries the ssh session from 172.16.0.9 through vmbr0"}}},
    {.name = "peer-by-the-longest-prefix",
     .port = 1,
     .links = {{1, "eno1", NULL, 0, 0}, {2, "eno2", NULL, 0, 0}},
     .routes = {{2, "0.0.0.0/0", "10.1.0.254", false, 0},
                {1, "10.7.0.0/16", NULL, true, 0},
                {2, "10.7.0.0/16", NULL, true, 50}},
     .peers = {{NP_USE_STORAGE, NULL, "10.7.1.1", "storage traffic (NFS) with 10.7.1.1"},
               {NP_USE_COROSYNC, NULL, "10.8.1.1", "corosync traffic with 10.8.1.1"}},
     .uses = {{NP_USE_STORAGE, "it carries storage traffic (NFS) with 10.7.1.1"}}},
    {.name = "peer-by-either-hop",
     .port = 1,
     .links = {{1, "eno1", NULL, 0, 0}, {2, "eno2", NULL, 0, 0}},
     .routes = {{2, "10.7.0.0/16", "10.1.0.1", true, 0}, {1, "10.7.0.0/16", "10.2.0.1", true, 0}},
     .peers = {{NP_USE_STORAGE, NULL, "10.7.1.1", "x"}},
     .uses = {{NP_USE_STORAGE, "it carries x"}}},
    {.name = "the-host-itself-is-no-peer",
     .port = 1,
     .links = {{1, "eno1", NULL, 0, 0}, {2, "lo", NULL, 0, 0}},
     .addresses = {{2, "10.0.0.1/32"}},
     .routes = {{1, "10.0.0.0/8", NULL, true, 0}},
     .peers = {{NP_USE_STORAGE, "10.0.0.1", "10.0.0.1", "x"},
               {NP_USE_SSH, NULL, "127.0.0.1", "y"}}},
};

static void
add_cidr(const char *text, NpIp *ret_ip, unsigned *ret_prefix)
{
    g_autofree char *plain = NULL;
    g_assert_true(np_parse_cidr(text, &plain, ret_prefix, NULL));
    g_assert_true(np_ip_parse(plain, ret_ip));
}

static NpHost *
build(const Case *row)
{
    NpHost *host = np_host_new();
    for (const LinkRow *link = row->links; link->name; link++) {
        NpLink *added = np_host_add_link(host, link->ifindex, link->name);
        added->kind = g_strdup(link->kind);
        added->master = link->master;
        added->lower = link->lower;
    }
    for (const AddressRow *address = row->addresses; address->address; address++) {
        NpIp ip;
        unsigned prefix;
        add_cidr(address->address, &ip, &prefix);
        np_host_add_address(host, address->ifindex, &ip, prefix);
    }
    for (const RouteRow *route = row->routes; route->destination; route++) {
        NpRoute added = {.ifindex = route->ifindex,
                         .table = RT_TABLE_MAIN,
                         .metric = route->metric,
                         .by_kernel = route->by_kernel};
        add_cidr(route->destination, &added.destination, &added.prefix);
        if (route->gateway)
            g_assert_true(np_ip_parse(route->gateway, &added.gateway));
        g_array_append_val(host->routes, added);
    }
    for (const PeerRow *peer = row->peers; peer->text; peer++) {
        NpIp local = {0}, remote = {0};
        g_assert_true(!peer->local || np_ip_parse(peer->local, &local));
        g_assert_true(!peer->remote || np_ip_parse(peer->remote, &remote));
        np_host_add_peer(host, peer->kind, &local, &remote, peer->text);
    }
    return host;
}

static void
test_uses(gconstpointer data)
{
    const Case *row = data;
    const NpBdf bdf = {.bus = 1};
    g_autoptr(NpHost) host = build(row);
    g_autoptr(NpFunction) function = np_function_new(&bdf, NP_FUNCTION_PLAIN);
    np_host_add_uses(host, row->port, function);
    guint i = 0;
    for (; row->uses[i].text && i < function->uses->len; i++) {
        const NpUse *use = g_ptr_array_index(function->uses, i);
        g_assert_cmpstr(use->text, ==, row->uses[i].text);
        g_assert_cmpint(use->kind, ==, row->uses[i].kind);
    }
    g_assert_null(row->uses[i].text);
    g_assert_cmpuint(function->uses->len, ==, i);
}

static void
test_rules_of_traffic_control_and_xdp_count(void)
{
    const NpBdf bdf = {.bus = 1};
    g_autoptr(NpHost) host = np_host_new();
    g_autoptr(NpFunction) function = np_function_new(&bdf, NP_FUNCTION_PLAIN);
    NpLink *link = np_host_add_link(host, 1, "eno1");
    link->xdp = link->tc = true;
    np_host_add_uses(host, 1, function);
    g_assert_cmpuint(function->uses->len, ==, 2);
    g_assert_cmpint(((const NpUse *) g_ptr_array_index(function->uses, 0))->kind, ==,
                    NP_USE_TRAFFIC_RULE);
}

static void
test_a_default_route_without_link_is_a_problem(void)
{
    g_autoptr(NpHost) host = np_host_new();
    g_assert_null(np_host_path_problem(host));
    NpRoute route = {.ifindex = 1, .table = RT_TABLE_MAIN, .destination.family = AF_INET};
    NpLink *first = np_host_add_link(host, 1, "vmbr0"), *second = np_host_add_link(host, 2, "wg0");
    g_array_append_val(host->routes, route);
    first->up = true;
    g_autofree char *problem = np_host_path_problem(host);
    g_assert_cmpstr(problem, ==, "default route through vmbr0 has no link");
    route.ifindex = 2;
    g_array_append_val(host->routes, route);
    second->up = second->carrier = true;
    g_assert_null(np_host_path_problem(host)); /* one way out is enough */
}

static void
test_names_that_a_terminal_should_not_see_are_escaped(void)
{
    g_autoptr(NpHost) host = np_host_new();
    g_assert_cmpstr(np_host_add_link(host, 1, "eth0\033[2J")->name, ==, "'eth0\\x1b[2J'");
    g_assert_cmpstr(np_host_add_link(host, 2, "\xff")->name, ==, "'\\xff'");
    g_assert_cmpstr(np_host_add_link(host, 3, "eno1np0")->name, ==, "eno1np0");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/host-use/%s", cases[i].name);
        g_test_add_data_func(path, &cases[i], test_uses);
    }
    g_test_add_func("/host-use/rules-of-traffic-control-and-xdp-count",
                    test_rules_of_traffic_control_and_xdp_count);
    g_test_add_func("/host-use/a-default-route-without-link-is-a-problem",
                    test_a_default_route_without_link_is_a_problem);
    g_test_add_func("/host-use/names-that-a-terminal-should-not-see-are-escaped",
                    test_names_that_a_terminal_should_not_see_are_escaped);
    return g_test_run();
}
