/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Capabilities: what PF drivers can do for their VFs, and their quirks. One table.
 */
#pragma once

#include "lib/model/vf.h"

typedef enum {
    NP_CAP_TRY, /* depends on kernel or card, or not known: ask the kernel and read back */
    NP_CAP_YES,
    NP_CAP_NO,
} NpCap;

/* What can be asked of a PF driver; finer than NpVfFields where drivers differ. */
typedef enum {
    NP_WANT_MAC,
    NP_WANT_VLAN,
    NP_WANT_QOS,
    NP_WANT_8021AD,
    NP_WANT_RATE_MAX,
    NP_WANT_RATE_MIN,
    NP_WANT_SPOOFCHK,
    NP_WANT_LINK,
    NP_WANT_RSS_QUERY,
    NP_WANT_TRUST,
    NP_WANT_COUNT,
} NpWant;

typedef enum {
    NP_QUIRK_PF_UP = 1 << 0,             /* makes no VFs, or loses settings, while the PF is down */
    NP_QUIRK_RATE_NEEDS_LINK = 1 << 1,   /* EINVAL for rates while the PF has no link */
    NP_QUIRK_TRUNK_NEEDS_TRUST = 1 << 2, /* an untrusted VF gets few or no VLANs of its own */
    NP_QUIRK_TRUST_NOT_SWITCHDEV = 1 << 3, /* trust has no effect in switchdev mode */
    NP_QUIRK_VLAN_NOT_SWITCHDEV = 1 << 4,  /* the VLAN belongs to the representor's port there */
} NpQuirks;

typedef struct {
    const char *driver; /* NULL in the entry for drivers we know nothing about */
    NpCap cap[NP_WANT_COUNT];
    NpQuirks quirks;
} NpCaps;

/* Never NULL: an unknown driver gets the entry in which all is TRY. Pure. */
const NpCaps *np_caps_find(const char *driver);

/* The configuration key of a want, such as "vlan-proto = 802.1ad". Never NULL. */
const char *np_want_name(NpWant want);

/* All drivers of the table, for `doctor` (NULL-terminated by an entry without a driver). */
const NpCaps *np_caps_table(void);
