/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * NIC routes: see nicroute.h.
 */
#include "agent/nicroute.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "agent/netbody.h"

/* Whether a route leaves by the NIC, alone or as one of several ways. */
static bool
route_uses(struct nlattr **table, int ifindex)
{
    if (table[RTA_OIF])
        return nla_get_u32(table[RTA_OIF]) == (uint32_t) ifindex;
    if (!table[RTA_MULTIPATH])
        return false;
    const char *data = nla_data(table[RTA_MULTIPATH]);
    size_t left = (size_t) nla_len(table[RTA_MULTIPATH]);
    while (left >= sizeof(struct rtnexthop)) {
        struct rtnexthop hop;
        memcpy(&hop, data, sizeof(hop));
        if (hop.rtnh_len < sizeof(hop) || hop.rtnh_len > left)
            break;
        if (hop.rtnh_ifindex == ifindex)
            return true;
        size_t step = MIN(NLMSG_ALIGN((size_t) hop.rtnh_len), left);
        data += step;
        left -= step;
    }
    return false;
}

/* Clears the nexthops' state bits (dead, link down, offloaded), which cannot be sent. data: a copy
 * of a whole RTA_MULTIPATH attribute. */
static void
multipath_clean(guint8 *data, size_t size)
{
    for (size_t at = NLA_HDRLEN; at + sizeof(struct rtnexthop) <= size;) {
        struct rtnexthop hop;
        memcpy(&hop, data + at, sizeof(hop));
        if (hop.rtnh_len < sizeof(hop))
            return;
        hop.rtnh_flags &= RTNH_F_ONLINK | RTNH_F_PERVASIVE;
        memcpy(data + at, &hop, sizeof(hop));
        at += NLMSG_ALIGN((size_t) hop.rtnh_len);
    }
}

/* Routes that come and go by themselves. Routes of protocol 'kernel' are kept: network managers
 * make such ones by hand, and the real ones are back with their address before anybody looks. */
static bool
route_is_fleeting(const struct rtmsg *info, struct nlattr **table)
{
    uint32_t table_id = table[RTA_TABLE] ? nla_get_u32(table[RTA_TABLE]) : info->rtm_table;
    if ((info->rtm_flags & RTM_F_CLONED) || table_id == RT_TABLE_LOCAL ||
        info->rtm_protocol == RTPROT_RA || info->rtm_protocol == RTPROT_REDIRECT)
        return true;
    if (!table[RTA_CACHEINFO])
        return false;
    const struct rta_cacheinfo *times = nla_data(table[RTA_CACHEINFO]);
    return times->rta_expires != 0;
}

static GByteArray *
route_parse(struct nlmsghdr *header, int ifindex)
{
    struct nlattr *table[RTA_MAX + 1];
    if (header->nlmsg_type != RTM_NEWROUTE ||
        nlmsg_parse(header, sizeof(struct rtmsg), table, RTA_MAX, NULL) < 0)
        return NULL;
    struct rtmsg info = *(const struct rtmsg *) nlmsg_data(header);
    if ((info.rtm_family != AF_INET && info.rtm_family != AF_INET6) ||
        route_is_fleeting(&info, table) || !route_uses(table, ifindex))
        return NULL;
    GByteArray *body = g_byte_array_new();
    info.rtm_flags &= RTNH_F_ONLINK | RTNH_F_PERVASIVE;
    np_body_append(body, &info, sizeof(info));
    struct nlattr *attribute;
    int left;
    nlmsg_for_each_attr(attribute, header, sizeof(info), left)
    {
        /* A nexthop object's number beside the nexthop itself would be refused. */
        if (nla_type(attribute) == RTA_CACHEINFO || nla_type(attribute) == RTA_NH_ID)
            continue;
        guint start = body->len;
        np_body_append_attribute(body, attribute);
        if (nla_type(attribute) == RTA_MULTIPATH)
            multipath_clean(body->data + start, attribute->nla_len);
    }
    return body;
}

GPtrArray *
np_routes_read(NpNetlink *netlink, int ifindex, GError **error)
{
    static const uint8_t families[] = {AF_INET, AF_INET6};
    g_autoptr(GPtrArray) routes = g_ptr_array_new_with_free_func(np_body_unref);
    for (size_t f = 0; f < G_N_ELEMENTS(families); f++) {
        const struct rtmsg ask = {.rtm_family = families[f]};
        g_autoptr(GPtrArray) answers =
            np_netlink_dump(netlink, RTM_GETROUTE, &ask, sizeof(ask), error);
        if (!answers)
            return NULL;
        for (guint i = 0; i < answers->len; i++) {
            GByteArray *route = route_parse(answers->pdata[i], ifindex);
            if (route)
                g_ptr_array_add(routes, route);
        }
    }
    return g_steal_pointer(&routes);
}

static bool
route_exists(GPtrArray *routes, const GByteArray *wanted)
{
    for (guint i = 0; i < routes->len; i++)
        if (np_body_equal(routes->pdata[i], wanted))
            return true;
    return false;
}

/* A route may need another one to reach its gateway: goes round while that helps. */
int
np_routes_restore(NpNetlink *netlink, int ifindex, const GPtrArray *saved)
{
    g_autoptr(GPtrArray) now = np_routes_read(netlink, ifindex, NULL);
    if (!now)
        return EIO;
    g_autoptr(GPtrArray) missing = g_ptr_array_new();
    for (guint i = 0; i < saved->len; i++)
        if (!route_exists(now, saved->pdata[i]))
            g_ptr_array_add(missing, saved->pdata[i]);
    int status = 0;
    for (bool progress = true; progress && missing->len > 0;) {
        progress = false;
        for (guint i = 0; i < missing->len;) {
            int result = np_body_send(netlink, RTM_NEWROUTE, NLM_F_CREATE, missing->pdata[i]);
            if (result == 0 || result == EEXIST) {
                g_ptr_array_remove_index(missing, i);
                progress = true;
            } else {
                status = result;
                i++;
            }
        }
    }
    return missing->len > 0 ? status : 0;
}
