/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: rtnetlink: acknowledgements, dumps into the host, requests, and the real kernel.
 */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include <netlink/attr.h>

#include "lib/apply/linux-net.h"
#include "lib/apply/net-netlink.h"

static GByteArray *
hex(const char *text)
{
    GByteArray *bytes = np_rtnl_parse_hex(text);
    g_assert_nonnull(bytes);
    return bytes;
}

typedef struct {
    const char *name, *bytes;
    bool is_ack;
    int result;
    const char *hint;
} Ack;

/* nlmsghdr (length, type 2, flags, sequence 9, port), nlmsgerr (errno, the request's header). */
static const Ack acks[] = {
    {"success",
     "24000000 0200 0001 09000000 00000000 00000000 20000000 1300 0500 09000000 00000000", true, 0,
     NULL},
    {"busy", "24000000 0200 0001 09000000 00000000 f0ffffff 20000000 1300 0500 09000000 00000000",
     true, -EBUSY, NULL},
    {"words-behind-a-capped-request",
     "30000000 0200 0003 09000000 00000000 a1ffffff 40000000 1300 0500 09000000 00000000"
     "0c00 0100 6e6f2073 70660000",
     true, -EOPNOTSUPP, "no spf"},
    {"words-behind-the-whole-request",
     "38000000 0200 0002 09000000 00000000 eaffffff 18000000 1300 0500 09000000 00000000"
     "aabbccdd 00000000 0c00 0100 6e6f2073 70660000",
     true, -EINVAL, "no spf"},
    {"of-another-request",
     "24000000 0200 0001 08000000 00000000 00000000 20000000 1300 0500 08000000 00000000", false, 0,
     NULL},
    {"short", "14000000 0200 0001 09000000 00000000 00000000", false, 0, NULL},
    {"not-an-error",
     "24000000 1000 0001 09000000 00000000 00000000 20000000 1300 0500 09000000 00000000", false, 0,
     NULL},
    {"positive",
     "24000000 0200 0001 09000000 00000000 01000000 20000000 1300 0500 09000000 00000000", true,
     -EBADMSG, NULL},
};

static void
test_ack(gconstpointer data)
{
    const Ack *row = data;
    g_autoptr(GByteArray) bytes = hex(row->bytes);
    g_autofree char *hint = NULL;
    int result = 0;
    size_t at = 0;
    const struct nlmsghdr *header = np_rtnl_next(bytes->data, bytes->len, &at);
    g_assert_nonnull(header);
    g_assert_cmpint(np_rtnl_parse_ack(header, 9, &result, &hint), ==, row->is_ack);
    g_assert_cmpint(result, ==, row->result);
    g_assert_cmpstr(hint, ==, row->hint);
}

static void
test_hexadecimal_text(void)
{
    g_autoptr(GByteArray) bytes = hex("00 fF# words\n\t7a");
    g_assert_cmpmem(bytes->data, bytes->len, "\x00\xff\x7a", 3);
    g_assert_null(np_rtnl_parse_hex("0"));
    g_assert_null(np_rtnl_parse_hex("0g"));
    g_assert_null(np_rtnl_parse_hex("0 0"));
}

static NpRtnlMessage *
link_message(int ifindex, unsigned flags, const char *name)
{
    NpRtnlMessage *message = np_rtnl_message(RTM_NEWLINK, 0);
    struct ifinfomsg info = {.ifi_index = ifindex, .ifi_flags = flags};
    nlmsg_append(message, &info, sizeof(info), NLMSG_ALIGNTO);
    nla_put_string(message, IFLA_IFNAME, name);
    return message;
}

static void
parse(NpRtnlMessage *message, NpHost *host)
{
    const struct nlmsghdr *header = nlmsg_hdr(message);
    np_net_parse(header, header->nlmsg_len, host);
    nlmsg_free(message);
}

static void
test_links(void)
{
    g_autoptr(NpHost) host = np_host_new();
    NpRtnlMessage *message = link_message(5, 0x11001, "vmbr0.7");
    nla_put_u32(message, IFLA_LINK, 4);
    nla_put_u32(message, IFLA_MASTER, 9);
    nla_put_u32(message, IFLA_MTU, 9000);
    nla_put(message, IFLA_ADDRESS, 6, "\x52\x54\x00\x00\x00\x01");
    struct nlattr *info = nla_nest_start(message, IFLA_LINKINFO);
    nla_put_string(message, IFLA_INFO_KIND, "vlan");
    nla_nest_end(message, info);
    parse(message, host);

    message = link_message(6, 0, "eth0@netns");
    nla_put_u32(message, IFLA_LINK, 5);
    nla_put_u32(message, IFLA_LINK_NETNSID, 1);
    parse(message, host);
    message = link_message(7, 0, "self");
    nla_put_u32(message, IFLA_LINK, 7);
    parse(message, host);
    parse(link_message(-1, 0, "negative"), host);
    parse(link_message(5, 0, "twice"), host);

    g_assert_cmpuint(host->links->len, ==, 3);
    const NpLink *link = np_host_link_by_name(host, "vmbr0.7");
    g_assert_nonnull(link);
    g_assert_cmpint(link->ifindex, ==, 5);
    g_assert_cmpint(link->lower, ==, 4);
    g_assert_cmpint(link->master, ==, 9);
    g_assert_cmpuint(link->mtu, ==, 9000);
    g_assert_cmpstr(link->kind, ==, "vlan");
    g_assert_true(link->up && link->carrier);
    g_assert_cmphex(link->mac.byte[0], ==, 0x52);
    g_assert_cmpint(np_host_link(host, 6)->lower, ==, 0); /* a number of another namespace */
    g_assert_cmpint(np_host_link(host, 7)->lower, ==, 0);
}

static NpRtnlMessage *
route_message(unsigned type, unsigned table, unsigned prefix)
{
    NpRtnlMessage *message = np_rtnl_message(RTM_NEWROUTE, 0);
    struct rtmsg info = {.rtm_family = AF_INET,
                         .rtm_type = (unsigned char) type,
                         .rtm_table = (unsigned char) table,
                         .rtm_dst_len = (unsigned char) prefix};
    nlmsg_append(message, &info, sizeof(info), NLMSG_ALIGNTO);
    return message;
}

static void
test_routes(void)
{
    g_autoptr(NpHost) host = np_host_new();
    NpRtnlMessage *message = route_message(RTN_UNICAST, RT_TABLE_MAIN, 0);
    nla_put_u32(message, RTA_OIF, 3);
    nla_put(message, RTA_GATEWAY, 4, "\x0a\x00\x00\xfe");
    parse(message, host);
    message = route_message(RTN_UNICAST, RT_TABLE_MAIN, 8);
    struct rtnexthop hop = {.rtnh_len = sizeof(hop), .rtnh_ifindex = 4};
    struct rtnexthop hops[2] = {hop, hop};
    hops[1].rtnh_ifindex = 5;
    nla_put(message, RTA_DST, 4, "\x0a\x00\x00\x00");
    nla_put(message, RTA_MULTIPATH, sizeof(hops), hops);
    parse(message, host);
    message = route_message(RTN_UNICAST, RT_TABLE_MAIN, 8);
    hops[0].rtnh_len = 2; /* would never end */
    nla_put(message, RTA_MULTIPATH, sizeof(hops), hops);
    parse(message, host);
    message = route_message(RTN_LOCAL, RT_TABLE_LOCAL, 32);
    nla_put_u32(message, RTA_OIF, 3);
    parse(message, host);
    message = route_message(RTN_UNICAST, RT_TABLE_MAIN, 33);
    nla_put_u32(message, RTA_OIF, 3);
    parse(message, host);

    g_assert_cmpuint(host->routes->len, ==, 3);
    const NpRoute *first = &g_array_index(host->routes, NpRoute, 0);
    g_assert_cmpint(first->ifindex, ==, 3);
    g_assert_cmpuint(first->gateway.byte[3], ==, 0xfe);
    g_assert_cmpint(g_array_index(host->routes, NpRoute, 1).ifindex, ==, 4);
    g_assert_cmpint(g_array_index(host->routes, NpRoute, 2).ifindex, ==, 5);
}

static void
test_addresses_built_are_addresses_read(void)
{
    static const struct {
        const char *ip;
        unsigned prefix;
        const char *text; /* NULL: not shown */
    } rows[] = {
        {"10.0.0.1", 24, "10.0.0.1/24"}, {"fd00::1", 64, "fd00::1/64"}, {"fe80::1", 64, NULL}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(NpHost) host = np_host_new();
        NpIp ip;
        g_assert_true(np_ip_parse(rows[i].ip, &ip));
        parse(np_net_build_address(3, &ip, rows[i].prefix, true), host);
        g_assert_cmpuint(host->addresses->len, ==, 1);
        g_auto(GStrv) texts = np_host_addresses(host, 3);
        g_assert_cmpstr(texts[0], ==, rows[i].text);
    }
}

static void
test_addresses_compare_by_prefix(void)
{
    NpIp ip, net;
    g_assert_true(np_ip_parse("10.7.200.1", &ip) && np_ip_parse("10.7.192.0", &net));
    g_assert_true(np_ip_within(&ip, &net, 18) && np_ip_within(&ip, &net, 0));
    g_assert_false(np_ip_within(&ip, &net, 21) || np_ip_within(&ip, &net, 33));
    g_assert_true(np_ip_parse("::ffff:10.7.200.1", &net) && np_ip_equal(&ip, &net));
    g_assert_false(np_ip_parse("10.7.200", &ip) || np_ip_parse("", &ip) || np_ip_parse(":", &ip));
}

static void
test_bytes_cut_anywhere_are_no_crash(void)
{
    NpRtnlMessage *message = link_message(5, 1, "eno1");
    struct nlattr *info = nla_nest_start(message, IFLA_LINKINFO);
    nla_put_string(message, IFLA_INFO_KIND, "bridge");
    nla_nest_end(message, info);
    const struct nlmsghdr *header = nlmsg_hdr(message);
    for (size_t size = 0; size <= header->nlmsg_len; size++) {
        g_autofree char *part = g_memdup2(header, size ? size : 1);
        g_autoptr(NpHost) host = np_host_new();
        if (size >= sizeof(*header))
            ((struct nlmsghdr *) (void *) part)->nlmsg_len = (uint32_t) size;
        np_net_parse(part, size, host);
        g_assert_cmpuint(host->links->len, <=, 1);
    }
    nlmsg_free(message);
}

/* Any kernel and any user: there is a loopback. */
static void
test_the_kernel_answers(void)
{
    g_autoptr(NpRtnl) rtnl = NULL;
    g_autoptr(NpHost) host = np_host_new();
    if (np_rtnl_open(&rtnl) < 0) {
        g_test_skip("no netlink here");
        return;
    }
    g_assert_cmpint(np_net_collect(rtnl, host), ==, 0);
    const NpLink *lo = np_host_link_by_name(host, "lo");
    g_assert_nonnull(lo);
    g_assert_true(lo->loopback);
    g_auto(NpNetState) state = {0};
    g_assert_cmpint(np_linux_get_net(rtnl, lo->ifindex, &state), ==, 0);
    g_assert_cmpint(state.up, ==, lo->up);
    g_assert_cmpint(np_linux_get_net(rtnl, INT_MAX, &state), ==, -ENODEV);
}

static void
test_the_kernel_refuses_with_an_errno(void)
{
    g_autoptr(NpRtnl) rtnl = NULL;
    g_autoptr(NpRtnlMessage) message = np_net_build_mtu(INT_MAX, 1500);
    g_autofree char *hint = NULL;
    if (np_rtnl_open(&rtnl) < 0) {
        g_test_skip("no netlink here");
        return;
    }
    int result = np_rtnl_change(rtnl, message, 60000, &hint);
    g_assert_true(result == -ENODEV || result == -EPERM);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(acks); i++) {
        g_autofree char *path = g_strdup_printf("/rtnl/ack/%s", acks[i].name);
        g_test_add_data_func(path, &acks[i], test_ack);
    }
    g_test_add_func("/rtnl/hexadecimal-text", test_hexadecimal_text);
    g_test_add_func("/rtnl/the-kernel-answers", test_the_kernel_answers);
    g_test_add_func("/rtnl/the-kernel-refuses-with-an-errno",
                    test_the_kernel_refuses_with_an_errno);
    g_test_add_func("/net-netlink/links", test_links);
    g_test_add_func("/net-netlink/routes", test_routes);
    g_test_add_func("/net-netlink/addresses-built-are-addresses-read",
                    test_addresses_built_are_addresses_read);
    g_test_add_func("/net-netlink/bytes-cut-anywhere-are-no-crash",
                    test_bytes_cut_anywhere_are_no_crash);
    g_test_add_func("/ip/addresses-compare-by-prefix", test_addresses_compare_by_prefix);
    return g_test_run();
}
