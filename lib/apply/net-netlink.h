/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Links, addresses and routes over rtnetlink: dumps into NpHost, and requests that change a link.
 */
#pragma once

#include "lib/apply/host.h"
#include "lib/apply/rtnl.h"

/* Asks for links, addresses, routes and qdiscs and fills host. Returns 0 or a negative errno. */
int np_net_collect(NpRtnl *rtnl, NpHost *host);

/* One answer into host: each takes any mixture of messages and passes over those it does not know
 * and those that do not fit. Pure. */
void np_net_parse(const void *answer, size_t size, NpHost *host);

/* Requests. What has not its bit in the link's state stays. */
NpRtnlMessage *np_net_build_mtu(int ifindex, unsigned mtu);
NpRtnlMessage *np_net_build_master(int ifindex, int master);
NpRtnlMessage *np_net_build_up(int ifindex, bool up);
NpRtnlMessage *np_net_build_address(int ifindex, const NpIp *ip, unsigned prefix, bool add);
