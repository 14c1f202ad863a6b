/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Capabilities: see caps.h.
 */
#include "lib/model/caps.h"

#include <string.h>

#include <glib.h>

/* Sources: LAB: tried on Linux 6.1 with QEMU's igb. ISS: reports of users and maintainers.
 * SRC: the driver's ndo_set_vf_* functions in the kernel tree. TRY where none of them says. */

#define Y NP_CAP_YES
#define N NP_CAP_NO
#define T NP_CAP_TRY

static const NpCaps table[] = {
    /* LAB L16, L17: state and RSS query EOPNOTSUPP, 802.1ad EPROTONOSUPPORT, minimum rate EINVAL,
     * maximum rate EINVAL while the link is down; the rest is accepted with the PF down. */
    {.driver = "igb",
     .cap = {[NP_WANT_MAC] = Y,
             [NP_WANT_VLAN] = Y,
             [NP_WANT_QOS] = Y,
             [NP_WANT_8021AD] = N,
             [NP_WANT_RATE_MAX] = Y,
             [NP_WANT_RATE_MIN] = N,
             [NP_WANT_SPOOFCHK] = Y,
             [NP_WANT_LINK] = N,
             [NP_WANT_RSS_QUERY] = N,
             [NP_WANT_TRUST] = Y},
     .quirks = NP_QUIRK_RATE_NEEDS_LINK},
    /* SRC ixgbe_sriov.c: 802.1ad EPROTONOSUPPORT; minimum rate EINVAL, and any rate without a link
     * of 10 Gbit/s; RSS query on 82599 and X540 only; link state missing in older kernels (ISS),
     * and "up" accepted without effect in newer ones, which only reading back shows. */
    {.driver = "ixgbe",
     .cap = {[NP_WANT_MAC] = Y,
             [NP_WANT_VLAN] = Y,
             [NP_WANT_QOS] = Y,
             [NP_WANT_8021AD] = N,
             [NP_WANT_RATE_MAX] = Y,
             [NP_WANT_RATE_MIN] = N,
             [NP_WANT_SPOOFCHK] = Y,
             [NP_WANT_LINK] = T,
             [NP_WANT_RSS_QUERY] = T,
             [NP_WANT_TRUST] = Y},
     .quirks = NP_QUIRK_PF_UP | NP_QUIRK_RATE_NEEDS_LINK | NP_QUIRK_TRUNK_NEEDS_TRUST},
    /* ISS: settings are lost silently while the PF is down; an untrusted VF gets 8 VLANs.
     * SRC i40e_virtchnl_pf.c: 802.1ad EPROTONOSUPPORT, minimum rate EINVAL, no RSS query. */
    {.driver = "i40e",
     .cap = {[NP_WANT_MAC] = Y,
             [NP_WANT_VLAN] = Y,
             [NP_WANT_QOS] = Y,
             [NP_WANT_8021AD] = N,
             [NP_WANT_RATE_MAX] = Y,
             [NP_WANT_RATE_MIN] = N,
             [NP_WANT_SPOOFCHK] = Y,
             [NP_WANT_LINK] = Y,
             [NP_WANT_RSS_QUERY] = N,
             [NP_WANT_TRUST] = Y},
     .quirks = NP_QUIRK_PF_UP | NP_QUIRK_TRUNK_NEEDS_TRUST},
    /* SRC ice_sriov.c: 802.1ad in double VLAN mode only; minimum rate unless in switchdev. */
    {.driver = "ice",
     .cap = {[NP_WANT_MAC] = Y,
             [NP_WANT_VLAN] = Y,
             [NP_WANT_QOS] = Y,
             [NP_WANT_8021AD] = T,
             [NP_WANT_RATE_MAX] = Y,
             [NP_WANT_RATE_MIN] = T,
             [NP_WANT_SPOOFCHK] = Y,
             [NP_WANT_LINK] = Y,
             [NP_WANT_RSS_QUERY] = N,
             [NP_WANT_TRUST] = Y},
     .quirks = NP_QUIRK_PF_UP | NP_QUIRK_TRUNK_NEEDS_TRUST | NP_QUIRK_TRUST_NOT_SWITCHDEV |
               NP_QUIRK_VLAN_NOT_SWITCHDEV},
    /* ISS: trust has no effect in switchdev mode, where the VLAN lives on the representor's port.
     * 802.1ad and rates depend on card and firmware. */
    {.driver = "mlx5_core",
     .cap = {[NP_WANT_MAC] = Y,
             [NP_WANT_VLAN] = Y,
             [NP_WANT_QOS] = Y,
             [NP_WANT_8021AD] = T,
             [NP_WANT_RATE_MAX] = T,
             [NP_WANT_RATE_MIN] = T,
             [NP_WANT_SPOOFCHK] = Y,
             [NP_WANT_LINK] = Y,
             [NP_WANT_RSS_QUERY] = N,
             [NP_WANT_TRUST] = Y},
     .quirks = NP_QUIRK_TRUST_NOT_SWITCHDEV | NP_QUIRK_VLAN_NOT_SWITCHDEV},
    /* ISS: no VFs while the PF is down. SRC bnxt_sriov.c: spoofchk, VLAN and 802.1ad depend on the
     * firmware. */
    {.driver = "bnxt_en",
     .cap = {[NP_WANT_MAC] = Y,
             [NP_WANT_VLAN] = T,
             [NP_WANT_QOS] = T,
             [NP_WANT_8021AD] = T,
             [NP_WANT_RATE_MAX] = Y,
             [NP_WANT_RATE_MIN] = Y,
             [NP_WANT_SPOOFCHK] = T,
             [NP_WANT_LINK] = Y,
             [NP_WANT_RSS_QUERY] = N,
             [NP_WANT_TRUST] = Y},
     .quirks = NP_QUIRK_PF_UP},
    {.driver = NULL},
};

static const char *const want_names[] = {
    [NP_WANT_MAC] = "mac",
    [NP_WANT_VLAN] = "vlan",
    [NP_WANT_QOS] = "vlan-qos",
    [NP_WANT_8021AD] = "vlan-proto = 802.1ad",
    [NP_WANT_RATE_MAX] = "rate-max",
    [NP_WANT_RATE_MIN] = "rate-min",
    [NP_WANT_SPOOFCHK] = "spoofchk",
    [NP_WANT_LINK] = "link",
    [NP_WANT_RSS_QUERY] = "rss-query",
    [NP_WANT_TRUST] = "trust",
};

const NpCaps *
np_caps_find(const char *driver)
{
    const NpCaps *entry = table;
    while (entry->driver && g_strcmp0(entry->driver, driver) != 0)
        entry++;
    return entry;
}

const char *
np_want_name(NpWant want)
{
    g_return_val_if_fail((size_t) want < G_N_ELEMENTS(want_names), "");
    return want_names[want];
}

const NpCaps *
np_caps_table(void)
{
    return table;
}
