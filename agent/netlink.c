/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Netlink: see netlink.h.
 *
 * Messages are kept and parsed as the kernel sends them instead of through libnl's objects: those
 * do not carry the permanent MAC, and they drop attributes of addresses and routes that must come
 * back exactly.
 */
#include "agent/netlink.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "lib/base/error.h"

/* How often a torn dump is repeated before giving up: each repeat means that somebody changed the
 * very thing that is being read. */
#define DUMP_TRIES 10

/* <linux/if_link.h> of the oldest build machines lacks it; the number is kernel interface. */
#define ATTRIBUTE_PERM_ADDRESS 54

typedef struct {
    GPtrArray *answers; /* nullable */
    int error;
    bool done;
} Exchange;

static int
on_valid(struct nl_msg *message, void *data)
{
    Exchange *exchange = data;
    const struct nlmsghdr *header = nlmsg_hdr(message);
    if (exchange->answers)
        g_ptr_array_add(exchange->answers, g_memdup2(header, header->nlmsg_len));
    return NL_OK;
}

static int
on_done(struct nl_msg *message, void *data)
{
    ((Exchange *) data)->done = true;
    return NL_STOP;
}

static int
on_error(struct sockaddr_nl *from, struct nlmsgerr *problem, void *data)
{
    Exchange *exchange = data;
    exchange->error = -problem->error;
    exchange->done = true;
    return NL_STOP;
}

/* 0, a positive errno, or EINTR for a torn dump. libnl's own codes would lose the errno. */
static int
exchange_run(NpNetlink *socket, struct nl_msg *request, GPtrArray *answers)
{
    Exchange exchange = {.answers = answers};
    struct nl_cb *callbacks = nl_cb_alloc(NL_CB_DEFAULT);
    if (!callbacks)
        g_error("out of memory");
    nl_cb_set(callbacks, NL_CB_VALID, NL_CB_CUSTOM, on_valid, &exchange);
    nl_cb_set(callbacks, NL_CB_FINISH, NL_CB_CUSTOM, on_done, &exchange);
    nl_cb_set(callbacks, NL_CB_ACK, NL_CB_CUSTOM, on_done, &exchange);
    nl_cb_err(callbacks, NL_CB_CUSTOM, on_error, &exchange);
    int status = nl_send_auto(socket, request);
    bool torn = false;
    while (status >= 0 && !exchange.done) {
        status = nl_recvmsgs(socket, callbacks);
        if (status == -NLE_DUMP_INTR) {
            torn = true;
            status = 0;
        }
    }
    nl_cb_put(callbacks);
    if (exchange.error)
        return exchange.error;
    if (status < 0 && !exchange.done)
        return EIO;
    return torn ? EINTR : 0;
}

NpNetlink *
np_netlink_open(GError **error)
{
    g_autoptr(NpNetlink) socket = nl_socket_alloc();
    if (!socket)
        g_error("out of memory");
    int status = nl_connect(socket, NETLINK_ROUTE);
    if (status < 0) {
        np_throw(error, NP_ERROR_IO, "open an rtnetlink socket: %s", nl_geterror(status));
        return NULL;
    }
    /* Messages of links with many VFs outgrow any fixed buffer. */
    nl_socket_enable_msg_peek(socket);
    return g_steal_pointer(&socket);
}

int
np_netlink_talk(NpNetlink *socket, struct nl_msg *request)
{
    int status = exchange_run(socket, request, NULL);
    nlmsg_free(request);
    return status;
}

GPtrArray *
np_netlink_dump(NpNetlink *socket, int type, const void *header, size_t size, GError **error)
{
    int status = EINTR;
    for (int i = 0; i < DUMP_TRIES && status == EINTR; i++) {
        g_autoptr(GPtrArray) answers = g_ptr_array_new_with_free_func(g_free);
        struct nl_msg *request = nlmsg_alloc_simple(type, NLM_F_REQUEST | NLM_F_DUMP);
        nlmsg_append(request, (void *) (uintptr_t) header, size, NLMSG_ALIGNTO);
        status = exchange_run(socket, request, answers);
        nlmsg_free(request);
        if (status == 0)
            return g_steal_pointer(&answers);
    }
    np_throw_errno(error, status, "rtnetlink dump (message type %d)", type);
    return NULL;
}

static bool
read_mac(const struct nlattr *attribute, NpMac *ret_mac)
{
    static const NpMac zero;
    if (!attribute || nla_len(attribute) != sizeof(NpMac))
        return false;
    NpMac mac;
    memcpy(&mac, nla_data(attribute), sizeof(mac));
    if (np_mac_equal(&mac, &zero))
        return false;
    *ret_mac = mac;
    return true;
}

static uint32_t
read_u32(struct nlattr **table, int type)
{
    return table[type] && nla_len(table[type]) == 4 ? nla_get_u32(table[type]) : 0;
}

static void
read_counters(const struct nlattr *attribute, NpLink *link)
{
    /* Newer kernels append members, older ones lack the last: the first four never moved. */
    uint64_t first[4];
    if (!attribute || nla_len(attribute) < (int) sizeof(first))
        return;
    memcpy(first, nla_data(attribute), sizeof(first));
    link->has_counters = true;
    link->rx_packets = first[0];
    link->tx_packets = first[1];
    link->rx_bytes = first[2];
    link->tx_bytes = first[3];
}

static void
read_kind(struct nlattr **table, NpLink *link)
{
    static const char *const plain[] = {"", "veth", "dummy", "netdevsim", NULL};
    struct nlattr *info[IFLA_INFO_MAX + 1];
    if (table[IFLA_LINKINFO] &&
        nla_parse_nested(info, IFLA_INFO_MAX, table[IFLA_LINKINFO], NULL) == 0 &&
        info[IFLA_INFO_KIND])
        nla_strlcpy(link->kind, info[IFLA_INFO_KIND], sizeof(link->kind));
    link->stacked = !g_strv_contains(plain, link->kind);
}

static bool
parse_link(struct nlmsghdr *header, NpLink *ret_link)
{
    enum { LAST = ATTRIBUTE_PERM_ADDRESS };
    struct nlattr *table[LAST + 1];
    if (header->nlmsg_type != RTM_NEWLINK ||
        nlmsg_parse(header, sizeof(struct ifinfomsg), table, LAST, NULL) < 0 || !table[IFLA_IFNAME])
        return false;
    const struct ifinfomsg *info = nlmsg_data(header);
    NpLink link = {.ifindex = info->ifi_index, .carrier = -1};
    nla_strlcpy(link.name, table[IFLA_IFNAME], sizeof(link.name));
    link.has_mac = read_mac(table[IFLA_ADDRESS], &link.mac);
    link.has_permanent_mac = read_mac(table[ATTRIBUTE_PERM_ADDRESS], &link.permanent_mac);
    link.mtu = read_u32(table, IFLA_MTU);
    link.mtu_min = read_u32(table, IFLA_MIN_MTU);
    link.mtu_max = read_u32(table, IFLA_MAX_MTU);
    link.up = (info->ifi_flags & IFF_UP) != 0;
    link.loopback = (info->ifi_flags & IFF_LOOPBACK) != 0;
    /* The carrier of a link that is down is not known. */
    if (link.up && table[IFLA_CARRIER])
        link.carrier = nla_get_u8(table[IFLA_CARRIER]) != 0;
    link.master = (int) read_u32(table, IFLA_MASTER);
    link.queues_rx = read_u32(table, IFLA_NUM_RX_QUEUES);
    link.queues_tx = read_u32(table, IFLA_NUM_TX_QUEUES);
    if (table[IFLA_QDISC])
        nla_strlcpy(link.qdisc, table[IFLA_QDISC], sizeof(link.qdisc));
    read_counters(table[IFLA_STATS64], &link);
    read_kind(table, &link);
    *ret_link = link;
    return true;
}

GPtrArray *
np_links_read(NpNetlink *socket, GError **error)
{
    const struct ifinfomsg ask = {.ifi_family = AF_UNSPEC};
    g_autoptr(GPtrArray) answers = np_netlink_dump(socket, RTM_GETLINK, &ask, sizeof(ask), error);
    if (!answers)
        return NULL;
    GPtrArray *links = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < answers->len; i++) {
        NpLink link;
        if (parse_link(answers->pdata[i], &link))
            g_ptr_array_add(links, g_memdup2(&link, sizeof(link)));
    }
    return links;
}

/* The first answer to a request about one link (transfer full). */
static struct nlmsghdr *
ask_one(NpNetlink *socket, int type, const void *body, size_t size, int ifindex, GError **error)
{
    g_autoptr(GPtrArray) answers = g_ptr_array_new_with_free_func(g_free);
    struct nl_msg *request = nlmsg_alloc_simple(type, NLM_F_REQUEST);
    nlmsg_append(request, (void *) (uintptr_t) body, size, NLMSG_ALIGNTO);
    int status = exchange_run(socket, request, answers);
    nlmsg_free(request);
    if (status == 0 && answers->len == 0)
        status = ENODEV;
    if (status != 0) {
        np_throw_errno(error, status, "network interface number %d", ifindex);
        return NULL;
    }
    return g_ptr_array_steal_index(answers, 0);
}

bool
np_link_read(NpNetlink *socket, int ifindex, NpLink *ret_link, GError **error)
{
    const struct ifinfomsg ask = {.ifi_family = AF_UNSPEC, .ifi_index = ifindex};
    g_autofree struct nlmsghdr *answer =
        ask_one(socket, RTM_GETLINK, &ask, sizeof(ask), ifindex, error);
    if (!answer)
        return false;
    if (!parse_link(answer, ret_link))
        return np_throw(error, NP_ERROR_IO, "network interface number %d: odd answer", ifindex);
    return true;
}

bool
np_link_read_counters(NpNetlink *socket, NpLink *link, GError **error)
{
    const struct if_stats_msg ask = {
        .ifindex = (uint32_t) link->ifindex,
        .filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64),
    };
    g_autofree struct nlmsghdr *answer =
        ask_one(socket, RTM_GETSTATS, &ask, sizeof(ask), link->ifindex, error);
    if (!answer)
        return false;
    link->has_counters = false;
    if (answer->nlmsg_type == RTM_NEWSTATS)
        read_counters(nlmsg_find_attr(answer, sizeof(struct if_stats_msg), IFLA_STATS_LINK_64),
                      link);
    if (!link->has_counters)
        return np_throw(error, NP_ERROR_IO, "'%s': no counters in the answer", link->name);
    return true;
}

static int
change_link(NpNetlink *socket, const struct ifinfomsg *info, uint32_t mtu)
{
    struct nl_msg *request = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_REQUEST);
    nlmsg_append(request, (void *) (uintptr_t) info, sizeof(*info), NLMSG_ALIGNTO);
    if (mtu > 0)
        nla_put_u32(request, IFLA_MTU, mtu);
    return np_netlink_talk(socket, request);
}

int
np_link_set_mtu(NpNetlink *socket, int ifindex, uint32_t mtu)
{
    return change_link(socket, &(struct ifinfomsg){.ifi_index = ifindex}, mtu);
}

int
np_link_set_up(NpNetlink *socket, int ifindex, bool up)
{
    const struct ifinfomsg info = {
        .ifi_index = ifindex, .ifi_change = IFF_UP, .ifi_flags = up ? IFF_UP : 0};
    return change_link(socket, &info, 0);
}
