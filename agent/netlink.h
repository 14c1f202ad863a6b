/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Netlink: whole rtnetlink exchanges on one socket, and links as plain structs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <netlink/msg.h>
#include <netlink/netlink.h>

#include <glib.h>

#include "lib/base/parse.h"

/* One socket, its requests numbered by libnl. */
typedef struct nl_sock NpNetlink;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpNetlink, nl_socket_free)

/* What one link says about itself. Stacked: made on top of others (bridge, bond, VLAN, macvlan ..),
 * so that its MAC may be a copy; a veth end or a test device counts as a NIC. */
typedef struct {
    int ifindex;
    char name[16];
    bool has_mac, has_permanent_mac; /* six bytes and not all zero; permanent only where the
                                        kernel tells it over rtnetlink (since 5.6) */
    NpMac mac, permanent_mac;
    uint32_t mtu, mtu_min, mtu_max; /* 0: not told */
    int up, carrier;                /* 0 or 1; carrier -1: not told */
    char kind[24];                  /* "" for hardware */
    char qdisc[16];                 /* of the whole link, such as "mq"; "": not told */
    bool stacked, loopback;
    int master; /* ifindex of the bridge, bond .. it belongs to, or 0 */
    uint32_t queues_rx, queues_tx;
    bool has_counters;
    uint64_t rx_bytes, tx_bytes, rx_packets, tx_packets;
} NpLink;

/* An rtnetlink socket of the calling thread's network namespace. Throws IO. */
NpNetlink *np_netlink_open(GError **error);

/* Sends a request (transfer full) and waits for the kernel's verdict: 0 or a positive errno. */
int np_netlink_talk(NpNetlink *socket, struct nl_msg *request);

/* Dumps with the given header as the request's body; the answers are struct nlmsghdr (transfer
 * full). A dump that the kernel marks as torn by a change is repeated. Throws IO. */
GPtrArray *
np_netlink_dump(NpNetlink *socket, int type, const void *header, size_t size, GError **error);

/* All links in the kernel's order, as NpLink (transfer full). Throws IO. */
GPtrArray *np_links_read(NpNetlink *socket, GError **error);

/* One link. Throws NOT_FOUND when there is none with this index. */
bool np_link_read(NpNetlink *socket, int ifindex, NpLink *ret_link, GError **error);

/* Reads only the four counters of one link, into *link; the other members stay. Cheaper than
 * np_link_read by the hundred attributes that are not asked for. Throws NOT_FOUND or IO. */
bool np_link_read_counters(NpNetlink *socket, NpLink *link, GError **error);

/* Changes one thing, by index since names may change at any moment, and does not read back. 0 or
 * a positive errno. */
int np_link_set_mtu(NpNetlink *socket, int ifindex, uint32_t mtu);
int np_link_set_up(NpNetlink *socket, int ifindex, bool up);
