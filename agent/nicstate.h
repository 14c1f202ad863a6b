/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * NIC state: a NIC's MTU, up state, addresses and routes, kept so that they can be put back.
 */
#pragma once

#include <stdbool.h>

#include "agent/netlink.h"

/* What is kept: MTU, up or down; every address with prefix, peer, broadcast, label, scope, metric,
 * flags that can be set, and what is left of its lifetime; every route of any table but 'local'
 * that leaves by this NIC. Not kept: IPv6's temporary addresses, the routes that router
 * advertisements bring and redirects (the kernel makes them anew), neighbours, qdiscs, sysctls. A
 * route through a nexthop object comes back with the nexthop written out. */
typedef struct NpNicState NpNicState;

/* Reads it all. Throws NOT_FOUND when there is no such NIC, IO. */
NpNicState *np_nic_state_read(NpNetlink *netlink, int ifindex, GError **error);
void np_nic_state_free(NpNicState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpNicState, np_nic_state_free)

/* Puts the NIC back into the state and reads back. A NIC that is gone is success. On failure goes
 * on with the rest, and throws the first error. */
bool np_nic_state_restore(NpNetlink *netlink, const NpNicState *state, GError **error);
