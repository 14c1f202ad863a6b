/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * VF attributes: what a PF lets its host set for a VF, with their text forms.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/parse.h"

/* One bit an attribute. In what the kernel reports, a missing bit means that the driver does not
 * report it (and so does not support it); in a request, that it stays as it is. The order is that
 * in which the kernel carries out one RTM_SETLINK (do_setvfinfo). */
typedef enum {
    NP_VF_MAC = 1 << 0,
    NP_VF_VLAN = 1 << 1, /* id, QoS and protocol: one request */
    NP_VF_RATE = 1 << 2, /* minimum and maximum: setting one alone clears the other */
    NP_VF_SPOOFCHK = 1 << 3,
    NP_VF_LINK = 1 << 4,
    NP_VF_RSS_QUERY = 1 << 5,
    NP_VF_TRUST = 1 << 6,
} NpVfFields;

#define NP_VF_FIELD_COUNT 7

typedef enum {
    NP_LINK_AUTO, /* values as IFLA_VF_LINK_STATE_* */
    NP_LINK_UP,
    NP_LINK_DOWN,
} NpLinkState;

#define NP_PROTO_8021Q  0x8100
#define NP_PROTO_8021AD 0x88a8

typedef struct {
    NpVfFields has;
    NpMac mac;      /* the admin MAC; all zero: none */
    uint16_t vlan;  /* 0 to 4094; 0: none. Some mlx5 kernels report none as 4095: np_vf_clean */
    uint8_t qos;    /* 0 to 7 */
    uint16_t proto; /* NP_PROTO_* */
    uint32_t min_mbps, max_mbps; /* Mbit/s, 0: no limit */
    bool spoofchk, rss_query, trust;
    NpLinkState link;
} NpVfAttrs;

/* "mac", "vlan", "rate", "spoofchk", "link", "rss-query" or "trust". */
const char *np_vf_name(NpVfFields field);

/* Normal form of what a driver reported: VLAN 4095 is none, a protocol of 0 is 802.1Q, QoS and
 * protocol without VLAN are 0 and 802.1Q, 02:00:00:00:00:00 (set where zero is refused) is zero.
 * Pure. */
void np_vf_clean(NpVfAttrs *attrs);

/* The text form of one attribute (transfer full): "52:54:00:00:00:01"; "none", "100", "100 qos 3"
 * or "100 qos 3 802.1ad"; "min 0 max 1000"; "on" and "off"; "auto", "up", "down". NULL when attrs
 * does not have it. Pure. */
char *np_vf_format(const NpVfAttrs *attrs, NpVfFields field);

/* The inverse: sets the one attribute and its bit. Throws CONFIG. Pure. */
bool np_vf_parse(NpVfFields field, const char *text, NpVfAttrs *attrs, GError **error);
