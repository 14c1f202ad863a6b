/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Linux, inner part: a netdev's state by its ifindex.
 */
#pragma once

#include "lib/apply/rtnl.h"
#include "lib/apply/sys.h"

/* As NpSys' get_net, set_net, get_mac; ret_hint as np_rtnl_change. */
int np_linux_get_net(NpRtnl *rtnl, int ifindex, NpNetState *ret_state);
int np_linux_set_net(NpRtnl *rtnl, int ifindex, const NpNetState *state, int64_t timeout_ms,
                     char **ret_hint);
int np_linux_get_mac(NpRtnl *rtnl, int ifindex, NpMac *ret_mac);
