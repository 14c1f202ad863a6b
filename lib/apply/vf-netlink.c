/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * VF attributes over rtnetlink: see vf-netlink.h. libnl-route has an interface of its own for VFs;
 * it sends uninitialised padding in struct ifla_vf_vlan_info and takes the VLAN protocol in network
 * byte order in one direction only, so the attributes are put together here, from the kernel's own
 * structures.
 */
#include "lib/apply/vf-netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include <netlink/attr.h>

#define VF_INDEX_MAX 65535

/* The kernel sets these to all ones before it asks the driver. */
#define NOT_REPORTED UINT32_MAX

static void
put(NpRtnlMessage *message, int type, const void *data, size_t size)
{
    if (nla_put(message, type, (int) size, data) < 0)
        g_error("a netlink message is too small");
}

static struct nlattr *
nest(NpRtnlMessage *message, int type)
{
    /* Not nla_nest_start: whether it sets NLA_F_NESTED depends on libnl's version, and the bytes
     * are to be the same everywhere. The kernel takes these nests without the flag. */
    struct nlattr *attribute = nla_reserve(message, type, 0);
    if (!attribute)
        g_error("a netlink message is too small");
    return attribute;
}

static void
nest_end(NpRtnlMessage *message, struct nlattr *attribute)
{
    const char *end = (const char *) nlmsg_tail(nlmsg_hdr(message));
    attribute->nla_len = (uint16_t) (end - (const char *) attribute);
}

static void
put_setting(NpRtnlMessage *message, int type, unsigned vf_index, uint32_t setting)
{
    const struct ifla_vf_spoofchk value = {.vf = vf_index, .setting = setting};
    _Static_assert(sizeof(value) == sizeof(struct ifla_vf_trust) &&
                       sizeof(value) == sizeof(struct ifla_vf_rss_query_en) &&
                       sizeof(value) == sizeof(struct ifla_vf_link_state),
                   "all settings look the same");
    put(message, type, &value, sizeof(value));
}

static void
put_vlan(NpRtnlMessage *message, unsigned vf_index, const NpVfAttrs *attrs)
{
    if (attrs->proto != NP_PROTO_8021AD) { /* also understood by kernels before 4.9 */
        const struct ifla_vf_vlan vlan = {.vf = vf_index, .vlan = attrs->vlan, .qos = attrs->qos};
        put(message, IFLA_VF_VLAN, &vlan, sizeof(vlan));
        return;
    }
    struct ifla_vf_vlan_info info;
    memset(&info, 0, sizeof(info));
    info.vf = vf_index;
    info.vlan = attrs->vlan;
    info.qos = attrs->qos;
    info.vlan_proto = htons(attrs->proto);
    struct nlattr *list = nest(message, IFLA_VF_VLAN_LIST);
    put(message, IFLA_VF_VLAN_INFO, &info, sizeof(info));
    nest_end(message, list);
}

static void
put_attrs(NpRtnlMessage *message, unsigned vf_index, const NpVfAttrs *attrs)
{
    if (attrs->has & NP_VF_MAC) {
        struct ifla_vf_mac mac = {.vf = vf_index};
        memcpy(mac.mac, attrs->mac.byte, sizeof(attrs->mac.byte));
        put(message, IFLA_VF_MAC, &mac, sizeof(mac));
    }
    if (attrs->has & NP_VF_VLAN)
        put_vlan(message, vf_index, attrs);
    if (attrs->has & NP_VF_RATE) {
        const struct ifla_vf_rate rate = {
            .vf = vf_index, .min_tx_rate = attrs->min_mbps, .max_tx_rate = attrs->max_mbps};
        put(message, IFLA_VF_RATE, &rate, sizeof(rate));
    }
    if (attrs->has & NP_VF_SPOOFCHK)
        put_setting(message, IFLA_VF_SPOOFCHK, vf_index, attrs->spoofchk);
    if (attrs->has & NP_VF_LINK)
        put_setting(message, IFLA_VF_LINK_STATE, vf_index, attrs->link);
    if (attrs->has & NP_VF_RSS_QUERY)
        put_setting(message, IFLA_VF_RSS_QUERY_EN, vf_index, attrs->rss_query);
    if (attrs->has & NP_VF_TRUST)
        put_setting(message, IFLA_VF_TRUST, vf_index, attrs->trust);
}

static NpRtnlMessage *
link_message(int type, int flags, int ifindex)
{
    NpRtnlMessage *message = np_rtnl_message(type, flags);
    const struct ifinfomsg info = {.ifi_family = AF_UNSPEC, .ifi_index = ifindex};
    struct ifinfomsg *place = nlmsg_reserve(message, sizeof(info), NLMSG_ALIGNTO);
    if (!place)
        g_error("a netlink message is too small");
    *place = info;
    return message;
}

NpRtnlMessage *
np_vf_build_set(int ifindex, unsigned vf_index, const NpVfAttrs *attrs)
{
    NpRtnlMessage *message = link_message(RTM_SETLINK, NLM_F_ACK, ifindex);
    struct nlattr *list = nest(message, IFLA_VFINFO_LIST);
    struct nlattr *vf = nest(message, IFLA_VF_INFO);
    put_attrs(message, vf_index, attrs);
    nest_end(message, vf);
    nest_end(message, list);
    return message;
}

NpRtnlMessage *
np_vf_build_get(int ifindex)
{
    NpRtnlMessage *message = link_message(RTM_GETLINK, 0, ifindex);
    const uint32_t mask = RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS;
    put(message, IFLA_EXT_MASK, &mask, sizeof(mask));
    return message;
}

/* Lengths are checked where a value is taken; this also refuses what is too short. */
static const void *
value_of(struct nlattr *const *attribute, int type, size_t size)
{
    const struct nlattr *found = attribute[type];
    return found && (size_t) nla_len(found) >= size ? nla_data(found) : NULL;
}

static bool
setting_of(struct nlattr *const *attribute, int type, uint32_t *ret_setting)
{
    const struct ifla_vf_spoofchk *value = value_of(attribute, type, sizeof(*value));
    if (!value || value->setting == NOT_REPORTED)
        return false;
    *ret_setting = value->setting;
    return true;
}

static void
parse_vlan(struct nlattr *const *attribute, NpVfAttrs *attrs)
{
    const struct ifla_vf_vlan *vlan = value_of(attribute, IFLA_VF_VLAN, sizeof(*vlan));
    if (vlan) {
        attrs->has |= NP_VF_VLAN;
        attrs->vlan = (uint16_t) MIN(vlan->vlan, 4095);
        attrs->qos = (uint8_t) MIN(vlan->qos, 7);
        attrs->proto = NP_PROTO_8021Q;
    }
    const struct nlattr *list = attribute[IFLA_VF_VLAN_LIST];
    const struct nlattr *entry =
        list ? nla_find(nla_data(list), nla_len(list), IFLA_VF_VLAN_INFO) : NULL;
    if (!entry || (size_t) nla_len(entry) < sizeof(struct ifla_vf_vlan_info))
        return;
    const struct ifla_vf_vlan_info *info = nla_data(entry);
    attrs->has |= NP_VF_VLAN;
    attrs->vlan = (uint16_t) MIN(info->vlan, 4095);
    attrs->qos = (uint8_t) MIN(info->qos, 7);
    attrs->proto = ntohs(info->vlan_proto);
}

static void
parse_rate(struct nlattr *const *attribute, NpVfAttrs *attrs)
{
    const struct ifla_vf_rate *rate = value_of(attribute, IFLA_VF_RATE, sizeof(*rate));
    const struct ifla_vf_tx_rate *old = value_of(attribute, IFLA_VF_TX_RATE, sizeof(*old));
    if (!rate && !old)
        return;
    attrs->has |= NP_VF_RATE;
    attrs->min_mbps = rate ? rate->min_tx_rate : 0;
    attrs->max_mbps = rate ? rate->max_tx_rate : old->rate;
}

static void
parse_settings(struct nlattr *const *attribute, NpVfAttrs *attrs)
{
    uint32_t setting;
    if (setting_of(attribute, IFLA_VF_SPOOFCHK, &setting)) {
        attrs->has |= NP_VF_SPOOFCHK;
        attrs->spoofchk = setting != 0;
    }
    if (setting_of(attribute, IFLA_VF_LINK_STATE, &setting) && setting <= NP_LINK_DOWN) {
        attrs->has |= NP_VF_LINK;
        attrs->link = (NpLinkState) setting;
    }
    if (setting_of(attribute, IFLA_VF_RSS_QUERY_EN, &setting)) {
        attrs->has |= NP_VF_RSS_QUERY;
        attrs->rss_query = setting != 0;
    }
    if (setting_of(attribute, IFLA_VF_TRUST, &setting)) {
        attrs->has |= NP_VF_TRUST;
        attrs->trust = setting != 0;
    }
}

static int
parse_vf(const struct nlattr *entry, GArray *attrs)
{
    struct nlattr *attribute[IFLA_VF_MAX + 1];
    struct nlattr *first = nla_data(entry);
    if (nla_parse(attribute, IFLA_VF_MAX, first, nla_len(entry), NULL) < 0)
        return -EBADMSG;
    const struct ifla_vf_mac *mac = value_of(attribute, IFLA_VF_MAC, sizeof(*mac));
    if (!mac || mac->vf > VF_INDEX_MAX)
        return -EBADMSG;
    if (mac->vf >= attrs->len)
        g_array_set_size(attrs, mac->vf + 1);
    NpVfAttrs *vf = &g_array_index(attrs, NpVfAttrs, mac->vf);
    *vf = (NpVfAttrs){.has = NP_VF_MAC};
    memcpy(vf->mac.byte, mac->mac, sizeof(vf->mac.byte));
    parse_vlan(attribute, vf);
    parse_rate(attribute, vf);
    parse_settings(attribute, vf);
    return 0;
}

int
np_vf_parse_link(const void *answer, size_t size, GArray **ret_attrs)
{
    size_t at = 0;
    const struct nlmsghdr *header;
    while ((header = np_rtnl_next(answer, size, &at)) && header->nlmsg_type != RTM_NEWLINK)
        continue;
    if (!header)
        return -ENODATA;
    if (header->nlmsg_len < NLMSG_SPACE(sizeof(struct ifinfomsg)))
        return -EBADMSG;
    int left = (int) (header->nlmsg_len - NLMSG_SPACE(sizeof(struct ifinfomsg)));
    const struct nlattr *first =
        (const struct nlattr *) (const void *) ((const char *) header +
                                                NLMSG_SPACE(sizeof(struct ifinfomsg)));
    g_autoptr(GArray) attrs = g_array_new(FALSE, TRUE, sizeof(NpVfAttrs));
    const struct nlattr *list = nla_find(first, left, IFLA_VFINFO_LIST);
    if (list) {
        int rest = nla_len(list);
        for (const struct nlattr *entry = nla_data(list); nla_ok(entry, rest);
             entry = nla_next(entry, &rest)) {
            int result = nla_type(entry) == IFLA_VF_INFO ? parse_vf(entry, attrs) : 0;
            if (result < 0)
                return result;
        }
    }
    *ret_attrs = g_steal_pointer(&attrs);
    return 0;
}
