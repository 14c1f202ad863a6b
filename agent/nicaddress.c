/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * NIC addresses: see nicaddress.h.
 */
#include "agent/nicaddress.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "agent/netbody.h"
#include "lib/base/error.h"

#define LIFETIME_FOREVER UINT32_MAX

/* Flags of an address that may be set; the others are the kernel's own findings. */
#define ADDRESS_FLAGS                                                                              \
    (IFA_F_NODAD | IFA_F_HOMEADDRESS | IFA_F_MANAGETEMPADDR | IFA_F_NOPREFIXROUTE |                \
     IFA_F_MCAUTOJOIN)

typedef struct {
    GByteArray *body; /* header and attributes, ready to send */
    int family;
    bool secondary;  /* IPv4: stands behind a primary address of its subnet */
    bool link_local; /* IPv6 fe80::/10 */
    uint32_t valid_s, preferred_s;
} Address;

static void
address_free(gpointer data)
{
    Address *address = data;
    g_byte_array_unref(address->body);
    g_free(address);
}

static bool
is_link_local(const struct ifaddrmsg *info, const struct nlattr *attribute)
{
    return info->ifa_family == AF_INET6 && attribute &&
           nla_len(attribute) == sizeof(struct in6_addr) &&
           IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *) nla_data(attribute));
}

/* The address in a message, or NULL when it is another NIC's or the kernel's own affair. */
static Address *
address_parse(struct nlmsghdr *header, int ifindex)
{
    if (header->nlmsg_type != RTM_NEWADDR || !nlmsg_valid_hdr(header, sizeof(struct ifaddrmsg)))
        return NULL;
    struct ifaddrmsg info = *(const struct ifaddrmsg *) nlmsg_data(header);
    const struct nlattr *wide =
        nlmsg_find_attr(header, sizeof(info), IFA_FLAGS); /* flags beyond the eighth */
    uint32_t flags = wide ? nla_get_u32(wide) : info.ifa_flags;
    if ((int) info.ifa_index != ifindex ||
        (info.ifa_family != AF_INET && info.ifa_family != AF_INET6) ||
        (info.ifa_family == AF_INET6 && (flags & IFA_F_TEMPORARY)))
        return NULL;
    Address *address = g_new0(Address, 1);
    address->body = g_byte_array_new();
    address->family = info.ifa_family;
    address->secondary = info.ifa_family == AF_INET && (flags & IFA_F_SECONDARY);
    address->link_local = is_link_local(&info, nlmsg_find_attr(header, sizeof(info), IFA_ADDRESS));
    address->valid_s = address->preferred_s = LIFETIME_FOREVER;
    info.ifa_flags = (uint8_t) (flags & ADDRESS_FLAGS);
    np_body_append(address->body, &info, sizeof(info));
    struct nlattr *attribute;
    int left;
    nlmsg_for_each_attr(attribute, header, sizeof(info), left)
    {
        if (nla_type(attribute) == IFA_CACHEINFO) {
            const struct ifa_cacheinfo *times = nla_data(attribute);
            address->valid_s = times->ifa_valid;
            address->preferred_s = times->ifa_prefered;
        } else if (nla_type(attribute) != IFA_FLAGS)
            np_body_append_attribute(address->body, attribute);
    }
    flags &= ADDRESS_FLAGS;
    np_body_append_new(address->body, IFA_FLAGS, &flags, sizeof(flags));
    return address;
}

GPtrArray *
np_addresses_read(NpNetlink *netlink, int ifindex, GError **error)
{
    const struct ifaddrmsg ask = {.ifa_family = AF_UNSPEC};
    g_autoptr(GPtrArray) answers = np_netlink_dump(netlink, RTM_GETADDR, &ask, sizeof(ask), error);
    if (!answers)
        return NULL;
    GPtrArray *addresses = g_ptr_array_new_with_free_func(address_free);
    for (guint i = 0; i < answers->len; i++) {
        Address *address = address_parse(answers->pdata[i], ifindex);
        if (address)
            g_ptr_array_add(addresses, address);
    }
    return addresses;
}

static bool
address_find(const GPtrArray *addresses, const Address *wanted)
{
    for (guint i = 0; i < addresses->len; i++) {
        const Address *address = addresses->pdata[i];
        if (np_body_equal(address->body, wanted->body))
            return true;
    }
    return false;
}

/* Deleting an IPv4 address may take its secondaries along, hence the tolerance. */
static int
address_delete(NpNetlink *netlink, const Address *address)
{
    int status = np_body_send(netlink, RTM_DELADDR, 0, address->body);
    return status == EADDRNOTAVAIL ? 0 : status;
}

/* Adds an address with what is left of its lifetime after passed_s; one that has run out stays
 * away. */
static int
address_add(NpNetlink *netlink, const Address *address, int64_t passed_s)
{
    struct ifa_cacheinfo times = {.ifa_valid = address->valid_s,
                                  .ifa_prefered = address->preferred_s};
    if (times.ifa_valid != LIFETIME_FOREVER) {
        if (times.ifa_valid <= passed_s)
            return 0;
        times.ifa_valid -= (uint32_t) passed_s;
    }
    if (times.ifa_prefered != LIFETIME_FOREVER)
        times.ifa_prefered -= (uint32_t) MIN(times.ifa_prefered, passed_s);
    g_autoptr(GByteArray) body = g_byte_array_new();
    g_byte_array_append(body, address->body->data, address->body->len);
    np_body_append_new(body, IFA_CACHEINFO, &times, sizeof(times));
    int status = np_body_send(netlink, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, body);
    return status == EEXIST ? 0 : status;
}

/* Keeps the first failure. */
static void
note(int status, int *first)
{
    if (*first == 0)
        *first = status;
}

/* Whether both lists have the same IPv4 addresses in the same order and rank. */
static bool
same_order(const GPtrArray *a, const GPtrArray *b)
{
    guint i = 0, j = 0;
    for (;;) {
        while (i < a->len && ((Address *) a->pdata[i])->family != AF_INET)
            i++;
        while (j < b->len && ((Address *) b->pdata[j])->family != AF_INET)
            j++;
        if (i == a->len || j == b->len)
            return i == a->len && j == b->len;
        const Address *left = a->pdata[i++], *right = b->pdata[j++];
        if (!np_body_equal(left->body, right->body) || left->secondary != right->secondary)
            return false;
    }
}

int
np_addresses_restore(NpNetlink *netlink, int ifindex, const GPtrArray *saved, int64_t passed_s)
{
    g_autoptr(GPtrArray) now = np_addresses_read(netlink, ifindex, NULL);
    if (!now)
        return EIO;
    int first = 0;
    /* IPv4's order decides which address is primary, so a different order means: all anew. */
    bool keep_ipv4 = same_order(now, saved);
    for (guint i = 0; i < now->len; i++) {
        const Address *address = now->pdata[i];
        if (address->family == AF_INET ? keep_ipv4 : address_find(saved, address))
            continue;
        note(address_delete(netlink, address), &first);
    }
    for (guint i = 0; i < saved->len; i++) {
        const Address *address = saved->pdata[i];
        if (address->family == AF_INET && !keep_ipv4)
            note(address_add(netlink, address, passed_s), &first);
    }
    /* The kernel puts a new IPv6 address before the others of its scope. */
    for (guint i = saved->len; i-- > 0;) {
        const Address *address = saved->pdata[i];
        if (address->family == AF_INET6 && !address_find(now, address))
            note(address_add(netlink, address, passed_s), &first);
    }
    return first;
}

static Address *
address_new(int ifindex, const char *text, unsigned prefix)
{
    guint8 bytes[sizeof(struct in6_addr)];
    bool v6 = strchr(text, ':') != NULL;
    int family = v6 ? AF_INET6 : AF_INET;
    uint16_t size = v6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);
    if (inet_pton(family, text, bytes) != 1)
        return NULL;
    const struct ifaddrmsg info = {.ifa_family = (uint8_t) family,
                                   .ifa_prefixlen = (uint8_t) prefix,
                                   .ifa_flags = v6 ? IFA_F_NODAD : 0,
                                   .ifa_index = (uint32_t) ifindex};
    Address *address = g_new0(Address, 1);
    address->body = g_byte_array_new();
    address->family = family;
    address->valid_s = address->preferred_s = LIFETIME_FOREVER;
    np_body_append(address->body, &info, sizeof(info));
    np_body_append_new(address->body, IFA_LOCAL, bytes, size);
    np_body_append_new(address->body, IFA_ADDRESS, bytes, size);
    return address;
}

/* Whether have is the address that was asked for, whatever else the kernel says about it. */
static bool
address_is(const Address *have, const Address *wanted)
{
    const struct ifaddrmsg *a = (const void *) have->body->data,
                           *b = (const void *) wanted->body->data;
    if (a->ifa_family != b->ifa_family || a->ifa_prefixlen != b->ifa_prefixlen)
        return false;
    const struct nlattr *wanted_bytes = (const void *) (wanted->body->data + sizeof(*b));
    const struct nlattr *found =
        nla_find((const struct nlattr *) (const void *) (have->body->data + sizeof(*a)),
                 (int) (have->body->len - sizeof(*a)), IFA_ADDRESS);
    return found && nla_len(found) == nla_len(wanted_bytes) &&
           memcmp(nla_data(found), nla_data(wanted_bytes), (size_t) nla_len(found)) == 0;
}

bool
np_addresses_replace(NpNetlink *netlink, int ifindex, const char *address, unsigned prefix,
                     GError **error)
{
    Address *wanted = address_new(ifindex, address, prefix);
    if (!wanted)
        return np_throw(error, NP_ERROR_CONFIG, "'%s' is no address", address);
    g_autoptr(GPtrArray) owner = g_ptr_array_new_with_free_func(address_free);
    g_ptr_array_add(owner, wanted);
    g_autoptr(GPtrArray) before = np_addresses_read(netlink, ifindex, error);
    if (!before)
        return false;
    for (guint i = 0; i < before->len; i++) {
        const Address *old = before->pdata[i];
        if (old->family != wanted->family || old->link_local || address_is(old, wanted))
            continue;
        int status = address_delete(netlink, old);
        if (status != 0)
            return np_throw_errno(error, status, "remove an old address");
    }
    int status = address_add(netlink, wanted, 0);
    if (status != 0)
        return np_throw_errno(error, status, "add address %s/%u", address, prefix);
    g_autoptr(GPtrArray) after = np_addresses_read(netlink, ifindex, error);
    if (!after)
        return false;
    bool found = false;
    for (guint i = 0; i < after->len; i++)
        found = found || address_is(after->pdata[i], wanted);
    if (!found)
        return np_throw(error, NP_ERROR_IO, "address %s/%u did not stay", address, prefix);
    return true;
}
