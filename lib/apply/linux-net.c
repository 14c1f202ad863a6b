/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Linux, inner part: see linux-net.h.
 */
#include "lib/apply/linux-net.h"

#include <errno.h>
#include <string.h>

#include "lib/apply/host.h"
#include "lib/apply/net-netlink.h"

static int
find_link(NpRtnl *rtnl, int ifindex, NpHost *host, const NpLink **ret_link)
{
    int result = np_net_collect(rtnl, host);
    if (result < 0)
        return result;
    *ret_link = np_host_link(host, ifindex);
    return *ret_link ? 0 : -ENODEV;
}

int
np_linux_get_net(NpRtnl *rtnl, int ifindex, NpNetState *ret_state)
{
    g_autoptr(NpHost) host = np_host_new();
    const NpLink *link;
    int result = find_link(rtnl, ifindex, host, &link);
    if (result < 0)
        return result;
    const NpLink *master = link->master ? np_host_link(host, link->master) : NULL;
    *ret_state = (NpNetState){.has = NP_NET_UP | NP_NET_MTU | NP_NET_MASTER | NP_NET_ADDRESSES,
                              .up = link->up,
                              .mtu = link->mtu,
                              .master = master ? g_strdup(master->name) : NULL,
                              .addresses = np_host_addresses(host, ifindex)};
    return 0;
}

int
np_linux_get_mac(NpRtnl *rtnl, int ifindex, NpMac *ret_mac)
{
    g_autoptr(NpHost) host = np_host_new();
    const NpLink *link;
    int result = find_link(rtnl, ifindex, host, &link);
    if (result == 0)
        *ret_mac = link->mac;
    return result;
}

/* One run of changes: stops at the first failure. */
typedef struct {
    NpRtnl *rtnl;
    int ifindex;
    int64_t timeout_ms;
    char **ret_hint;
    int result;
} Changes;

static void
change(Changes *changes, NpRtnlMessage *message)
{
    g_autoptr(NpRtnlMessage) owned = message;
    g_clear_pointer(changes->ret_hint, g_free);
    if (changes->result == 0)
        changes->result =
            np_rtnl_change(changes->rtnl, owned, changes->timeout_ms, changes->ret_hint);
}

static void
change_master(Changes *changes, const NpHost *host, const char *name)
{
    const NpLink *master = name ? np_host_link_by_name(host, name) : NULL;
    if (name && !master)
        changes->result = -ENODEV;
    else
        change(changes, np_net_build_master(changes->ifindex, master ? master->ifindex : 0));
}

static void
change_address(Changes *changes, const char *text, bool add)
{
    g_autofree char *plain = NULL;
    unsigned prefix;
    NpIp ip;
    if (!np_parse_cidr(text, &plain, &prefix, NULL) || !np_ip_parse(plain, &ip))
        changes->result = -EINVAL;
    else
        change(changes, np_net_build_address(changes->ifindex, &ip, prefix, add));
}

static void
change_addresses(Changes *changes, const NpHost *host, char **wanted)
{
    g_auto(GStrv) now = np_host_addresses(host, changes->ifindex);
    for (char **text = wanted; text && *text && changes->result == 0; text++)
        if (**text && !g_strv_contains((const char *const *) now, *text))
            change_address(changes, *text, true);
    for (char **text = now; *text && changes->result == 0; text++)
        if (!wanted || !g_strv_contains((const char *const *) wanted, *text))
            change_address(changes, *text, false);
}

int
np_linux_set_net(NpRtnl *rtnl, int ifindex, const NpNetState *state, int64_t timeout_ms,
                 char **ret_hint)
{
    g_autoptr(NpHost) host = np_host_new();
    const NpLink *link;
    int result = find_link(rtnl, ifindex, host, &link);
    if (result < 0)
        return result;
    Changes changes = {
        .rtnl = rtnl, .ifindex = ifindex, .timeout_ms = timeout_ms, .ret_hint = ret_hint};
    if (state->has & NP_NET_MTU)
        change(&changes, np_net_build_mtu(ifindex, state->mtu));
    if (changes.result == 0 && state->has & NP_NET_MASTER)
        change_master(&changes, host, state->master);
    if (changes.result == 0 && state->has & NP_NET_UP)
        change(&changes, np_net_build_up(ifindex, state->up));
    if (changes.result == 0 && state->has & NP_NET_ADDRESSES)
        change_addresses(&changes, host, state->addresses);
    return changes.result;
}
