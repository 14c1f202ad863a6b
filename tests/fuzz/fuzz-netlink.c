/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Fuzzer: answers of rtnetlink. Input: the bytes of an answer.
 */
#include <stddef.h>
#include <stdint.h>

#include "lib/apply/host-use.h"
#include "lib/apply/net-netlink.h"
#include "lib/apply/vf-netlink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
read_acks(const void *data, size_t size)
{
    size_t at = 0;
    const struct nlmsghdr *header;
    while ((header = np_rtnl_next(data, size, &at))) {
        g_autofree char *hint = NULL;
        int result = 1;
        if (np_rtnl_parse_ack(header, header->nlmsg_seq, &result, &hint))
            g_assert_cmpint(result, <=, 0);
    }
}

static void
read_host(const void *data, size_t size)
{
    const NpBdf bdf = {.bus = 1};
    g_autoptr(NpHost) host = np_host_new();
    np_net_parse(data, size, host);
    for (guint i = 0; i < host->links->len; i++) {
        const NpLink *link = g_ptr_array_index(host->links, i);
        g_autoptr(NpFunction) function = np_function_new(&bdf, NP_FUNCTION_PLAIN);
        np_host_add_uses(host, link->ifindex, function);
        for (const char *at = link->name; *at; at++)
            g_assert_true(g_ascii_isprint(*at));
    }
    g_free(np_host_path_problem(host));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 65536)
        return 0;
    g_autofree uint8_t *aligned = g_memdup2(data, size ? size : 1);
    g_autoptr(GArray) attrs = NULL;
    read_acks(aligned, size);
    read_host(aligned, size);
    if (np_vf_parse_link(aligned, size, &attrs) == 0)
        for (guint i = 0; i < attrs->len && i < 64; i++)
            for (unsigned field = 0; field < NP_VF_FIELD_COUNT; field++)
                g_free(
                    np_vf_format(&g_array_index(attrs, NpVfAttrs, i), (NpVfFields) (1 << field)));
    return 0;
}
