/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * NIC addresses: reads a NIC's addresses, replaces them, puts them back.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agent/netlink.h"

/* A NIC's addresses in the kernel's order, without IPv6's temporary ones; opaque elements (transfer
 * full). Throws IO. */
GPtrArray *np_addresses_read(NpNetlink *netlink, int ifindex, GError **error);

/* Makes the NIC's addresses those that were read passed_s seconds ago; lifetimes have gone on
 * meanwhile. Goes on after failures and returns the first errno, or 0. */
int np_addresses_restore(NpNetlink *netlink, int ifindex, const GPtrArray *saved, int64_t passed_s);

/* Makes address/prefix the NIC's only address of its family and reads back; IPv6's link-local
 * addresses stay, since IPv6 does not work without them. IPv6's duplicate detection is skipped, so
 * that the address is usable at once. Throws whatever the kernel says; the old addresses may then
 * be gone: restore. */
bool np_addresses_replace(NpNetlink *netlink, int ifindex, const char *address, unsigned prefix,
                          GError **error);
