/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Use by the host: what would be cut off without a port. Pure.
 */
#pragma once

#include "lib/apply/host.h"

/* Adds to function what depends on the link ifindex: its place in a bridge, bond and the like, and
 * every address, route, session and connection that stands on it, directly or through bridges,
 * bonds, teams, VLANs, macvlans in any number and order. Each text says through what: "it carries
 * 10.0.0.1/24 of the host through bond0, vmbr0". Links that stand in a circle are no problem. */
void np_host_add_uses(const NpHost *host, int ifindex, NpFunction *function);

/* Whether the host reaches the peer through this link: by the peer's local address if it is one of
 * the host's, else by the most specific route to it. A peer that is the host itself: no. */
bool np_host_reaches(const NpHost *host, const NpPeer *peer, int ifindex);

/* What is wrong with the default route's way out: "default route through vmbr0 has no link", or
 * NULL: it works, or there never was one (transfer full). */
char *np_host_path_problem(const NpHost *host);
