/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: requests for VF attributes byte by byte, and answers with them.
 */
#include <errno.h>
#include <string.h>

#include "lib/apply/vf-netlink.h"

#define IFINDEX 7

static GByteArray *
read_hex(const char *name)
{
    g_autofree char *path = g_strdup_printf("tests/data/%s.hex", name);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    GByteArray *bytes = np_rtnl_parse_hex(text);
    g_assert_nonnull(bytes);
    return bytes;
}

typedef struct {
    const char *name;
    unsigned vf;
    NpVfAttrs attrs;
} Request;

static const Request requests[] = {
    {"setlink-all",
     3,
     {.has = NP_VF_ALL,
      .mac = {{0x52, 0x54, 0x00, 0x12, 0x34, 0x56}},
      .vlan = 100,
      .qos = 5,
      .proto = NP_PROTO_8021Q,
      .min_mbps = 100,
      .max_mbps = 2000,
      .spoofchk = true,
      .link = NP_LINK_DOWN,
      .trust = true}},
    {"setlink-802.1ad",
     3,
     {.has = NP_VF_VLAN, .vlan = 200, .qos = 1, .proto = NP_PROTO_8021AD, .max_mbps = 5}},
    {"setlink-no-vlan", 0, {.has = NP_VF_VLAN, .trust = true}},
};

static void
test_a_vf_is_set_with_one_request(gconstpointer data)
{
    const Request *request = data;
    g_autoptr(GByteArray) wanted = read_hex(request->name);
    g_autoptr(NpRtnlMessage) message = np_vf_build_set(IFINDEX, request->vf, &request->attrs);
    const struct nlmsghdr *header = nlmsg_hdr(message);
    g_assert_cmpmem(header, header->nlmsg_len, wanted->data, wanted->len);
}

static void
test_values_and_what_is_not_reported(void)
{
    static const struct {
        NpVfFields has;
        uint16_t vlan, proto;
        uint8_t qos;
        uint32_t min, max;
        bool spoofchk, rss_query, trust;
        NpLinkState link;
    } wanted[] = {
        {NP_VF_MAC | NP_VF_VLAN | NP_VF_RATE | NP_VF_SPOOFCHK | NP_VF_LINK | NP_VF_TRUST, 0,
         NP_PROTO_8021Q, 0, 0, 0, true, false, false, NP_LINK_AUTO},
        {NP_VF_MAC | NP_VF_VLAN | NP_VF_RATE | NP_VF_SPOOFCHK | NP_VF_LINK | NP_VF_RSS_QUERY, 4094,
         NP_PROTO_8021AD, 7, 100, 2500, false, true, false, NP_LINK_DOWN},
        {NP_VF_MAC | NP_VF_VLAN | NP_VF_RATE | NP_VF_LINK, 4095, 0, 0, 0, 0, false, false, false,
         NP_LINK_UP},
    };
    g_autoptr(GByteArray) answer = read_hex("getlink-vfs");
    g_autoptr(GArray) attrs = NULL;
    g_assert_cmpint(np_vf_parse_link(answer->data, answer->len, &attrs), ==, 0);
    g_assert_cmpuint(attrs->len, ==, G_N_ELEMENTS(wanted));
    for (guint i = 0; i < attrs->len; i++) {
        const NpVfAttrs *vf = &g_array_index(attrs, NpVfAttrs, i);
        g_assert_cmphex(vf->has, ==, wanted[i].has);
        g_assert_cmpuint(vf->vlan, ==, wanted[i].vlan);
        g_assert_cmphex(vf->proto, ==, wanted[i].proto);
        g_assert_cmpuint(vf->qos, ==, wanted[i].qos);
        g_assert_cmpuint(vf->min_mbps, ==, wanted[i].min);
        g_assert_cmpuint(vf->max_mbps, ==, wanted[i].max);
        g_assert_cmpint(vf->spoofchk, ==, wanted[i].spoofchk);
        g_assert_cmpint(vf->rss_query, ==, wanted[i].rss_query);
        g_assert_cmpint(vf->trust, ==, wanted[i].trust);
        g_assert_cmpint(vf->link, ==, wanted[i].link);
    }
    g_assert_cmphex(g_array_index(attrs, NpVfAttrs, 1).mac.byte[5], ==, 0x02);
}

static void
test_what_is_set_is_what_is_read(void)
{
    NpVfAttrs attrs = requests[0].attrs;
    attrs.proto = NP_PROTO_8021AD;
    g_autoptr(NpRtnlMessage) message = np_vf_build_set(IFINDEX, 2, &attrs);
    g_autoptr(GArray) back = NULL;
    struct nlmsghdr *header = nlmsg_hdr(message);
    header->nlmsg_type = 16; /* as the kernel would answer */
    g_assert_cmpint(np_vf_parse_link(header, header->nlmsg_len, &back), ==, 0);
    g_assert_cmpuint(back->len, ==, 3);
    g_assert_cmphex(g_array_index(back, NpVfAttrs, 0).has, ==, 0); /* a hole */
    const NpVfAttrs *vf = &g_array_index(back, NpVfAttrs, 2);
    for (unsigned i = 0; i < NP_VF_FIELD_COUNT; i++) {
        g_autofree char *old_text = np_vf_format(&attrs, (NpVfFields) (1 << i));
        g_autofree char *new_text = np_vf_format(vf, (NpVfFields) (1 << i));
        g_assert_cmpstr(new_text, ==, old_text);
    }
}

static void
test_an_answer_cut_anywhere_is_no_crash(void)
{
    g_autoptr(GByteArray) answer = read_hex("getlink-vfs");
    for (guint size = 0; size < answer->len; size++) {
        g_autofree guint8 *part = g_memdup2(answer->data, size ? size : 1);
        g_autoptr(GArray) attrs = NULL;
        if (size >= sizeof(struct nlmsghdr))
            ((struct nlmsghdr *) (void *) part)->nlmsg_len = size;
        int result = np_vf_parse_link(part, size, &attrs);
        g_assert_true((result == 0) == (attrs != NULL));
        g_assert_true(!attrs || attrs->len <= 3);
    }
}

static void
test_an_answer_without_vfs_has_none(void)
{
    g_autoptr(NpRtnlMessage) message = np_vf_build_get(IFINDEX);
    g_autoptr(GArray) attrs = NULL;
    struct nlmsghdr *header = nlmsg_hdr(message);
    g_assert_cmpint(np_vf_parse_link(header, header->nlmsg_len, &attrs), ==, -ENODATA);
    header->nlmsg_type = 16;
    g_assert_cmpint(np_vf_parse_link(header, header->nlmsg_len, &attrs), ==, 0);
    g_assert_cmpuint(attrs->len, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(requests); i++) {
        g_autofree char *path = g_strdup_printf("/vf-netlink/golden/%s", requests[i].name);
        g_test_add_data_func(path, &requests[i], test_a_vf_is_set_with_one_request);
    }
    g_test_add_func("/vf-netlink/values-and-what-is-not-reported",
                    test_values_and_what_is_not_reported);
    g_test_add_func("/vf-netlink/what-is-set-is-what-is-read", test_what_is_set_is_what_is_read);
    g_test_add_func("/vf-netlink/an-answer-cut-anywhere-is-no-crash",
                    test_an_answer_cut_anywhere_is_no_crash);
    g_test_add_func("/vf-netlink/an-answer-without-vfs-has-none",
                    test_an_answer_without_vfs_has_none);
    return g_test_run();
}
