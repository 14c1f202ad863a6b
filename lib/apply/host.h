/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Host: what is known of the host's network. Plain data, filled by net-netlink.c and peers.c.
 */
#pragma once

#include "lib/apply/ip.h"
#include "lib/model/inventory.h"

typedef struct {
    int ifindex;
    char *name;
    char *kind; /* nullable: "bridge", "bond", "team", "vlan", "macvlan", "openvswitch", "veth" */
    int master; /* ifindex, 0: none */
    int lower;  /* of a VLAN and the like: the netdev below in this namespace, 0: none */
    bool up, carrier, loopback;
    bool xdp, tc; /* an XDP program; a clsact or ingress qdisc */
    unsigned mtu;
    NpMac mac, perm_mac;
} NpLink;

typedef struct {
    int ifindex;
    NpIp ip;
    unsigned prefix;
} NpLinkAddress;

/* One next hop of a unicast route of any table but `local`. */
typedef struct {
    int ifindex;
    NpIp destination; /* family is set in any case */
    unsigned prefix;
    NpIp gateway; /* family 0: none */
    uint32_t table, metric;
    bool by_kernel; /* a connected network: follows from an address */
} NpRoute;

/* Somebody the host talks to, and what breaks when it cannot any more. */
typedef struct {
    NpUseKind kind; /* SSH, COROSYNC, STORAGE */
    NpIp local;     /* family 0: not known */
    NpIp remote;    /* family 0: not known */
    char *text;     /* "the ssh session from 10.0.0.9" */
} NpPeer;

typedef struct {
    GPtrArray *links;  /* of NpLink */
    GArray *addresses; /* of NpLinkAddress */
    GArray *routes;    /* of NpRoute */
    GPtrArray *peers;  /* of NpPeer */
} NpHost;

NpHost *np_host_new(void);
void np_host_free(NpHost *host);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpHost, np_host_free)

void np_link_free(NpLink *link);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpLink, np_link_free)

/* Adds a link with that ifindex (owned by host). name is copied; what the kernel would not accept
 * as a name, or what a terminal should not see, is escaped. */
NpLink *np_host_add_link(NpHost *host, int ifindex, const char *name);
void np_host_add_address(NpHost *host, int ifindex, const NpIp *ip, unsigned prefix);

/* Adds a peer unless one of the same kind and text is there. local and remote may be NULL. */
void np_host_add_peer(NpHost *host, NpUseKind kind, const NpIp *local, const NpIp *remote,
                      const char *text);

/* NULL when absent (owned by host). */
NpLink *np_host_link(const NpHost *host, int ifindex);
NpLink *np_host_link_by_name(const NpHost *host, const char *name);

/* The link's addresses, "10.0.0.2/24", without IPv6 link-local ones (transfer full). */
char **np_host_addresses(const NpHost *host, int ifindex);
