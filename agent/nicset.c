/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * NIC set: see nicset.h.
 */
#include "agent/nicset.h"

#include "agent/ethtool.h"
#include "agent/nicaddress.h"
#include "agent/nicstate.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"

/* Fills in permanent MACs that rtnetlink of kernels before 5.6 does not tell. */
static void
complete_permanent(GPtrArray *links)
{
    np_autofd int fd = np_ethtool_open(NULL);
    for (guint i = 0; fd >= 0 && i < links->len; i++) {
        NpLink *link = links->pdata[i];
        if (!link->has_permanent_mac && !link->stacked && !link->loopback)
            link->has_permanent_mac =
                np_ethtool_permanent_mac(fd, link->name, &link->permanent_mac);
    }
}

/* The links with this MAC that are NICs (not owned). */
static GPtrArray *
candidates(GPtrArray *links, const NpMac *mac, bool permanent)
{
    GPtrArray *found = g_ptr_array_new();
    for (guint i = 0; i < links->len; i++) {
        const NpLink *link = links->pdata[i];
        bool has = permanent ? link->has_permanent_mac : link->has_mac;
        if (has && !link->stacked && !link->loopback &&
            np_mac_equal(permanent ? &link->permanent_mac : &link->mac, mac))
            g_ptr_array_add(found, links->pdata[i]);
    }
    return found;
}

/* A failover pair's three devices share one MAC, and the two below belong to the one to use. */
static void
drop_members(GPtrArray *found)
{
    for (guint i = 0; i < found->len;) {
        const NpLink *link = found->pdata[i];
        bool member = false;
        for (guint j = 0; j < found->len; j++)
            member = member || ((const NpLink *) found->pdata[j])->ifindex == link->master;
        if (member)
            g_ptr_array_remove_index(found, i);
        else
            i++;
    }
}

bool
np_nic_find(NpNetlink *netlink, const char *mac, NpLink *ret_link, GError **error)
{
    NpMac wanted;
    if (!np_parse_mac(mac, &wanted, error))
        return false;
    g_autoptr(GPtrArray) links = np_links_read(netlink, error);
    if (!links)
        return false;
    complete_permanent(links);
    static const bool passes[] = {true, false};
    for (size_t i = 0; i < G_N_ELEMENTS(passes); i++) {
        g_autoptr(GPtrArray) found = candidates(links, &wanted, passes[i]);
        drop_members(found);
        if (found->len > 1)
            return np_throw(error, NP_ERROR_CONFIG,
                            "MAC %s: both '%s' and '%s' have it; give one of them another", mac,
                            ((const NpLink *) found->pdata[0])->name,
                            ((const NpLink *) found->pdata[1])->name);
        if (found->len == 1) {
            *ret_link = *(const NpLink *) found->pdata[0];
            return true;
        }
    }
    return np_throw(error, NP_ERROR_NOT_FOUND,
                    "no network card has MAC %s; is the device in the VM and its driver loaded?",
                    mac);
}

bool
np_nic_check_free(NpNetlink *netlink, const NpLink *link, GError **error)
{
    NpLink master;
    if (link->master == 0 || !np_link_read(netlink, link->master, &master, NULL) ||
        g_strcmp0(master.kind, "vrf") == 0)
        return true;
    return np_throw(error, NP_ERROR_BUSY, "'%s' belongs to '%s': take it out first", link->name,
                    master.name);
}

static bool
set_mtu(NpNetlink *netlink, const NpLink *link, uint32_t mtu, GError **error)
{
    if ((link->mtu_min && mtu < link->mtu_min) || (link->mtu_max && mtu > link->mtu_max))
        return np_throw(error, NP_ERROR_CONFIG, "MTU %u is not from %u to %u", mtu, link->mtu_min,
                        link->mtu_max);
    int status = np_link_set_mtu(netlink, link->ifindex, mtu);
    if (status != 0)
        return np_throw_errno(error, status, "set MTU %u", mtu);
    NpLink now;
    if (!np_link_read(netlink, link->ifindex, &now, error))
        return false;
    if (now.mtu != mtu)
        return np_throw(error, NP_ERROR_IO, "set MTU %u: it became %u", mtu, now.mtu);
    return true;
}

static bool
set_up(NpNetlink *netlink, const NpLink *link, bool up, GError **error)
{
    const char *word = up ? "up" : "down";
    int status = np_link_set_up(netlink, link->ifindex, up);
    if (status != 0)
        return np_throw_errno(error, status, "set %s", word);
    NpLink now;
    if (!np_link_read(netlink, link->ifindex, &now, error))
        return false;
    if (now.up != up)
        return np_throw(error, NP_ERROR_IO, "set %s: it did not stay", word);
    return true;
}

/* MTU before up, since some drivers refuse to change it while running; address last, since the
 * other two can make the kernel drop it. */
static bool
apply_fields(NpNetlink *netlink, const NpLink *link, const json_t *fields, GError **error)
{
    int64_t mtu = np_json_int(fields, "mtu", 0);
    if (mtu > 0 && !set_mtu(netlink, link, (uint32_t) mtu, error))
        return false;
    if (json_object_get(fields, "up") &&
        !set_up(netlink, link, np_json_bool(fields, "up", false), error))
        return false;
    const char *cidr = np_json_string(fields, "address", NULL);
    g_autofree char *address = NULL;
    unsigned prefix = 0;
    return !cidr || (np_parse_cidr(cidr, &address, &prefix, error) &&
                     np_addresses_replace(netlink, link->ifindex, address, prefix, error));
}

bool
np_nic_apply(const NpLink *known, const json_t *fields, GError **error)
{
    g_autoptr(NpNetlink) netlink = np_netlink_open(error);
    NpLink link;
    if (!netlink || !np_link_read(netlink, known->ifindex, &link, error))
        return false;
    g_autoptr(NpNicState) before = np_nic_state_read(netlink, link.ifindex, error);
    if (!before)
        return false;
    g_autoptr(GError) problem = NULL, undo = NULL;
    if (apply_fields(netlink, &link, fields, &problem))
        return true;
    if (!np_nic_state_restore(netlink, before, &undo))
        return np_throw(error, NP_ERROR_ROLLBACK_FAILED, "%s: %s; putting back failed too: %s",
                        link.name, problem->message, undo->message);
    g_propagate_prefixed_error(error, g_steal_pointer(&problem), "'%s': ", link.name);
    return false;
}
