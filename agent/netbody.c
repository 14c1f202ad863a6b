/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Netlink bodies: see netbody.h.
 */
#include "agent/netbody.h"

#include <errno.h>
#include <string.h>

void
np_body_append(GByteArray *body, const void *data, size_t size)
{
    static const guint8 zero[NLMSG_ALIGNTO];
    g_byte_array_append(body, data, (guint) size);
    g_byte_array_append(body, zero, (guint) (NLMSG_ALIGN(size) - size));
}

void
np_body_append_attribute(GByteArray *body, const struct nlattr *attribute)
{
    np_body_append(body, attribute, attribute->nla_len);
}

void
np_body_append_new(GByteArray *body, uint16_t type, const void *data, size_t size)
{
    const struct nlattr header = {.nla_len = (uint16_t) (NLA_HDRLEN + size), .nla_type = type};
    np_body_append(body, &header, sizeof(header));
    np_body_append(body, data, size);
}

int
np_body_send(NpNetlink *netlink, int type, int flags, const GByteArray *body)
{
    struct nl_msg *request = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);
    if (!request || nlmsg_append(request, body->data, body->len, NLMSG_ALIGNTO) < 0) {
        nlmsg_free(request);
        return EMSGSIZE;
    }
    return np_netlink_talk(netlink, request);
}

bool
np_body_equal(const GByteArray *a, const GByteArray *b)
{
    return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

void
np_body_unref(gpointer body)
{
    g_byte_array_unref(body);
}
