/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Links, addresses and routes over rtnetlink: see net-netlink.h.
 */
#include "lib/apply/net-netlink.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include <netlink/attr.h>

#define TEXT_MAX 64

/* Attributes behind a header of `size` bytes; false when the message is too short for that. */
static bool
attributes_of(const struct nlmsghdr *header, size_t size, int max, struct nlattr **attribute)
{
    if (header->nlmsg_len < NLMSG_SPACE(size))
        return false;
    struct nlattr *first =
        (struct nlattr *) (void *) ((char *) nlmsg_data(header) + NLMSG_ALIGN(size));
    int left = (int) (header->nlmsg_len - NLMSG_SPACE(size));
    return nla_parse(attribute, max, first, left, NULL) >= 0;
}

static uint32_t
number_of(const struct nlattr *attribute, uint32_t fallback)
{
    uint32_t value;
    if (!attribute || nla_len(attribute) != sizeof(value))
        return fallback;
    memcpy(&value, nla_data(attribute), sizeof(value));
    return value;
}

/* A text of at most TEXT_MAX bytes, which need not end with NUL (transfer full); NULL: absent. */
static char *
text_of(const struct nlattr *attribute)
{
    if (!attribute || nla_len(attribute) <= 0)
        return NULL;
    return g_strndup(nla_data(attribute), MIN((size_t) nla_len(attribute), TEXT_MAX));
}

static bool
ip_of(const struct nlattr *attribute, NpIp *ret_ip)
{
    return attribute && np_ip_from_bytes(nla_data(attribute), (size_t) nla_len(attribute), ret_ip);
}

static void
mac_of(const struct nlattr *attribute, NpMac *mac)
{
    if (attribute && nla_len(attribute) == sizeof(mac->byte))
        memcpy(mac->byte, nla_data(attribute), sizeof(mac->byte));
}

static const struct nlattr *
nested(const struct nlattr *attribute, int type)
{
    return attribute ? nla_find(nla_data(attribute), nla_len(attribute), type) : NULL;
}

static bool
has_xdp(const struct nlattr *attribute)
{
    const struct nlattr *attached = nested(attribute, IFLA_XDP_ATTACHED);
    return attached && nla_len(attached) > 0 && *(const uint8_t *) nla_data(attached) != 0;
}

static void
parse_link(const struct nlmsghdr *header, NpHost *host)
{
    const struct ifinfomsg *info = nlmsg_data(header);
    struct nlattr *attribute[IFLA_MAX + 1];
    if (!attributes_of(header, sizeof(*info), IFLA_MAX, attribute))
        return;
    g_autofree char *name = text_of(attribute[IFLA_IFNAME]);
    if (!name || info->ifi_index <= 0 || np_host_link(host, info->ifi_index))
        return;
    NpLink *link = np_host_add_link(host, info->ifi_index, name);
    link->kind = text_of(nested(attribute[IFLA_LINKINFO], IFLA_INFO_KIND));
    link->master = (int) number_of(attribute[IFLA_MASTER], 0);
    /* With a namespace id, the netdev below is in another namespace: no number of ours. A veth's
     * other end is not below it either. */
    if (!attribute[IFLA_LINK_NETNSID] && g_strcmp0(link->kind, "veth") != 0)
        link->lower = (int) number_of(attribute[IFLA_LINK], 0);
    if (link->lower == link->ifindex)
        link->lower = 0;
    link->up = info->ifi_flags & IFF_UP;
    link->carrier = info->ifi_flags & IFF_LOWER_UP;
    link->loopback = info->ifi_flags & IFF_LOOPBACK;
    link->mtu = number_of(attribute[IFLA_MTU], 0);
    link->xdp = has_xdp(attribute[IFLA_XDP]);
    mac_of(attribute[IFLA_ADDRESS], &link->mac);
    mac_of(attribute[IFLA_PERM_ADDRESS], &link->perm_mac);
}

static void
parse_address(const struct nlmsghdr *header, NpHost *host)
{
    const struct ifaddrmsg *info = nlmsg_data(header);
    struct nlattr *attribute[IFA_MAX + 1];
    NpIp ip;
    if (!attributes_of(header, sizeof(*info), IFA_MAX, attribute))
        return;
    /* IFA_ADDRESS is the other end's on a point-to-point link. */
    if (ip_of(attribute[IFA_LOCAL] ? attribute[IFA_LOCAL] : attribute[IFA_ADDRESS], &ip) &&
        info->ifa_prefixlen <= np_ip_bits(&ip))
        np_host_add_address(host, (int) info->ifa_index, &ip, info->ifa_prefixlen);
}

static void
add_next_hop(NpHost *host, const NpRoute *route, int ifindex, const struct nlattr *gateway)
{
    NpRoute hop = *route;
    hop.ifindex = ifindex;
    (void) ip_of(gateway, &hop.gateway);
    if (ifindex > 0)
        g_array_append_val(host->routes, hop);
}

static void
parse_next_hops(const struct nlattr *list, const NpRoute *route, NpHost *host)
{
    const char *at = nla_data(list);
    size_t left = (size_t) nla_len(list);
    while (left >= sizeof(struct rtnexthop)) {
        const struct rtnexthop *hop = (const struct rtnexthop *) (const void *) at;
        if (hop->rtnh_len < sizeof(*hop) || hop->rtnh_len > left)
            return;
        const struct nlattr *first = (const struct nlattr *) (const void *) (at + sizeof(*hop));
        add_next_hop(host, route, hop->rtnh_ifindex,
                     nla_find(first, (int) (hop->rtnh_len - sizeof(*hop)), RTA_GATEWAY));
        size_t step = MIN(NLMSG_ALIGN((size_t) hop->rtnh_len), left);
        at += step;
        left -= step;
    }
}

static void
parse_route(const struct nlmsghdr *header, NpHost *host)
{
    const struct rtmsg *info = nlmsg_data(header);
    struct nlattr *attribute[RTA_MAX + 1];
    if (!attributes_of(header, sizeof(*info), RTA_MAX, attribute) ||
        info->rtm_type != RTN_UNICAST || info->rtm_flags & RTM_F_CLONED ||
        (info->rtm_family != AF_INET && info->rtm_family != AF_INET6))
        return;
    NpRoute route = {.destination.family = info->rtm_family,
                     .prefix = info->rtm_dst_len,
                     .table = number_of(attribute[RTA_TABLE], info->rtm_table),
                     .metric = number_of(attribute[RTA_PRIORITY], 0),
                     .by_kernel = info->rtm_protocol == RTPROT_KERNEL};
    if (route.table == RT_TABLE_LOCAL || route.prefix > np_ip_bits(&route.destination))
        return;
    if (attribute[RTA_DST] && !ip_of(attribute[RTA_DST], &route.destination))
        return;
    if (attribute[RTA_MULTIPATH])
        parse_next_hops(attribute[RTA_MULTIPATH], &route, host);
    else
        add_next_hop(host, &route, (int) number_of(attribute[RTA_OIF], 0), attribute[RTA_GATEWAY]);
}

static void
parse_qdisc(const struct nlmsghdr *header, NpHost *host)
{
    const struct tcmsg *info = nlmsg_data(header);
    struct nlattr *attribute[TCA_MAX + 1];
    if (!attributes_of(header, sizeof(*info), TCA_MAX, attribute))
        return;
    g_autofree char *kind = text_of(attribute[TCA_KIND]);
    NpLink *link = np_host_link(host, info->tcm_ifindex);
    if (link && (g_strcmp0(kind, "clsact") == 0 || g_strcmp0(kind, "ingress") == 0))
        link->tc = true;
}

void
np_net_parse(const void *answer, size_t size, NpHost *host)
{
    size_t at = 0;
    const struct nlmsghdr *header;
    while ((header = np_rtnl_next(answer, size, &at))) {
        if (header->nlmsg_type == RTM_NEWLINK)
            parse_link(header, host);
        else if (header->nlmsg_type == RTM_NEWADDR)
            parse_address(header, host);
        else if (header->nlmsg_type == RTM_NEWROUTE)
            parse_route(header, host);
        else if (header->nlmsg_type == RTM_NEWQDISC)
            parse_qdisc(header, host);
    }
}

static void
append(NpRtnlMessage *message, const void *data, size_t size)
{
    if (nlmsg_append(message, (void *) (uintptr_t) data, size, NLMSG_ALIGNTO) < 0)
        g_error("a netlink message is too small");
}

static void
put(NpRtnlMessage *message, int type, const void *data, size_t size)
{
    if (nla_put(message, type, (int) size, data) < 0)
        g_error("a netlink message is too small");
}

static int
collect_one(NpRtnl *rtnl, int type, const void *info, size_t size, const char *name, NpHost *host)
{
    g_autoptr(NpRtnlMessage) request = np_rtnl_message(type, NLM_F_DUMP);
    g_autoptr(GByteArray) answer = NULL;
    append(request, info, size);
    if (type == RTM_GETLINK) {
        /* Without VFs: those are asked one PF at a time. */
        const uint32_t mask = RTEXT_FILTER_SKIP_STATS;
        put(request, IFLA_EXT_MASK, &mask, sizeof(mask));
    }
    int result = np_rtnl_query(rtnl, request, name, &answer);
    if (result == 0)
        np_net_parse(answer->data, answer->len, host);
    return result;
}

int
np_net_collect(NpRtnl *rtnl, NpHost *host)
{
    const struct ifinfomsg link = {.ifi_family = AF_UNSPEC};
    const struct ifaddrmsg address = {.ifa_family = AF_UNSPEC};
    const struct rtmsg route4 = {.rtm_family = AF_INET};
    const struct rtmsg route6 = {.rtm_family = AF_INET6};
    const struct tcmsg qdisc = {.tcm_family = AF_UNSPEC};
    int result = collect_one(rtnl, RTM_GETLINK, &link, sizeof(link), "links", host);
    if (result == 0)
        result = collect_one(rtnl, RTM_GETADDR, &address, sizeof(address), "addresses", host);
    if (result == 0)
        result = collect_one(rtnl, RTM_GETROUTE, &route4, sizeof(route4), "routes4", host);
    if (result < 0)
        return result;
    /* A kernel without IPv6 or traffic control answers with an error: then there are none. */
    (void) collect_one(rtnl, RTM_GETROUTE, &route6, sizeof(route6), "routes6", host);
    (void) collect_one(rtnl, RTM_GETQDISC, &qdisc, sizeof(qdisc), "qdiscs", host);
    return 0;
}

static NpRtnlMessage *
build_link(const struct ifinfomsg *info)
{
    NpRtnlMessage *message = np_rtnl_message(RTM_SETLINK, NLM_F_ACK);
    append(message, info, sizeof(*info));
    return message;
}

NpRtnlMessage *
np_net_build_mtu(int ifindex, unsigned mtu)
{
    const struct ifinfomsg info = {.ifi_index = ifindex};
    const uint32_t value = mtu;
    NpRtnlMessage *message = build_link(&info);
    put(message, IFLA_MTU, &value, sizeof(value));
    return message;
}

NpRtnlMessage *
np_net_build_master(int ifindex, int master)
{
    const struct ifinfomsg info = {.ifi_index = ifindex};
    const uint32_t value = (uint32_t) master;
    NpRtnlMessage *message = build_link(&info);
    put(message, IFLA_MASTER, &value, sizeof(value));
    return message;
}

NpRtnlMessage *
np_net_build_up(int ifindex, bool up)
{
    const struct ifinfomsg info = {
        .ifi_index = ifindex, .ifi_flags = up ? IFF_UP : 0, .ifi_change = IFF_UP};
    return build_link(&info);
}

NpRtnlMessage *
np_net_build_address(int ifindex, const NpIp *ip, unsigned prefix, bool add)
{
    const struct ifaddrmsg info = {.ifa_family = ip->family,
                                   .ifa_prefixlen = (uint8_t) prefix,
                                   .ifa_index = (unsigned) ifindex};
    NpRtnlMessage *message = np_rtnl_message(add ? RTM_NEWADDR : RTM_DELADDR,
                                             NLM_F_ACK | (add ? NLM_F_CREATE | NLM_F_EXCL : 0));
    append(message, &info, sizeof(info));
    put(message, IFA_LOCAL, ip->byte, np_ip_bits(ip) / 8);
    put(message, IFA_ADDRESS, ip->byte, np_ip_bits(ip) / 8);
    return message;
}
