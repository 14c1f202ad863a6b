/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * NIC state: see nicstate.h.
 */
#include "agent/nicstate.h"

#include <errno.h>

#include "agent/nicaddress.h"
#include "agent/nicroute.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"

struct NpNicState {
    NpLink link;
    int64_t read_at_ns;
    GPtrArray *addresses, *routes;
};

void
np_nic_state_free(NpNicState *state)
{
    if (!state)
        return;
    g_ptr_array_unref(state->addresses);
    g_ptr_array_unref(state->routes);
    g_free(state);
}

NpNicState *
np_nic_state_read(NpNetlink *netlink, int ifindex, GError **error)
{
    NpLink link;
    if (!np_link_read(netlink, ifindex, &link, error))
        return NULL;
    g_autoptr(GPtrArray) addresses = np_addresses_read(netlink, ifindex, error);
    if (!addresses)
        return NULL;
    g_autoptr(GPtrArray) routes = np_routes_read(netlink, ifindex, error);
    if (!routes)
        return NULL;
    NpNicState *state = g_new0(NpNicState, 1);
    state->link = link;
    state->read_at_ns = np_clock_ns();
    state->addresses = g_steal_pointer(&addresses);
    state->routes = g_steal_pointer(&routes);
    return state;
}

/* Keeps the first failure: errno in *first, what was being done in *what. */
static void
note(int status, const char *doing, int *first, const char **what)
{
    if (status == 0 || *first != 0)
        return;
    *first = status;
    *what = doing;
}

bool
np_nic_state_restore(NpNetlink *netlink, const NpNicState *state, GError **error)
{
    int ifindex = state->link.ifindex, first = 0;
    const char *what = NULL;
    NpLink now;
    g_autoptr(GError) problem = NULL;
    if (!np_link_read(netlink, ifindex, &now, &problem)) {
        if (g_error_matches(problem, NP_ERROR, NP_ERROR_NOT_FOUND))
            return true;
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    /* MTU and up state first: both make the kernel drop addresses and routes. */
    if (now.mtu != state->link.mtu)
        note(np_link_set_mtu(netlink, ifindex, state->link.mtu), "set the MTU", &first, &what);
    if (now.up != state->link.up)
        note(np_link_set_up(netlink, ifindex, state->link.up), "set up or down", &first, &what);
    int64_t passed_s = (np_clock_ns() - state->read_at_ns) / NP_NS_PER_S;
    note(np_addresses_restore(netlink, ifindex, state->addresses, passed_s), "put back addresses",
         &first, &what);
    note(np_routes_restore(netlink, ifindex, state->routes), "put back routes", &first, &what);
    if (!np_link_read(netlink, ifindex, &now, NULL))
        return true; /* went away meanwhile, which explains whatever failed */
    if (first != 0)
        return np_throw_errno(error, first, "'%s': %s", now.name, what);
    if (now.mtu != state->link.mtu || now.up != state->link.up)
        return np_throw(error, NP_ERROR_IO, "'%s': MTU or up state did not stay as set", now.name);
    return true;
}
