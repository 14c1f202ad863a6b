/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Network namespaces: nameless ones that the kernel removes with their last user.
 */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "lib/base/parse.h"

/* A network namespace without a name or mount lives as long as a process or descriptor refers to
 * it. So whatever ends this program, SIGKILL included, takes its namespaces and the links in them
 * along. */

/* A new namespace with its loopback up; returns its descriptor, or -1. Throws DENIED without
 * CAP_SYS_ADMIN. The calling process stays where it is. */
int np_netns_new(GError **error);

/* A veth pair, one end in each namespace (they may be the same one), down, with the given names and
 * MACs. names: at most 15 bytes. */
bool np_netns_add_veth(int ns_a, const char *name_a, const NpMac *mac_a, int ns_b,
                       const char *name_b, const NpMac *mac_b, GError **error);

/* A bridge without spanning tree, up. */
bool np_netns_add_bridge(int ns, const char *name, GError **error);

/* Makes the link a port of the bridge (NULL: of none), sets its MTU (0: as it is) and brings it up.
 */
bool np_netns_set_link(int ns, const char *name, const char *bridge, unsigned mtu, GError **error);
