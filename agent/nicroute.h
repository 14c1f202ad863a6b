/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * NIC routes: reads the routes that leave by a NIC and puts them back.
 */
#pragma once

#include "agent/netlink.h"

/* The routes of every table but 'local' that leave by the NIC, without those that come and go by
 * themselves (router advertisements, redirects, expiring ones), as GByteArray (transfer full).
 * Throws IO. */
GPtrArray *np_routes_read(NpNetlink *netlink, int ifindex, GError **error);

/* Adds those that are missing and removes none. Goes on after failures and returns an errno of
 * them, or 0. */
int np_routes_restore(NpNetlink *netlink, int ifindex, const GPtrArray *saved);
