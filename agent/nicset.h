/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * NIC set: finds a NIC by MAC and changes it, all or nothing.
 */
#pragma once

#include "agent/netlink.h"
#include "lib/base/json.h"

/* The one NIC with this MAC: by permanent MAC, else by current MAC, passing over what is stacked on
 * it and copies the MAC. Throws NOT_FOUND, or CONFIG when several have it (naming two). */
bool np_nic_find(NpNetlink *netlink, const char *mac, NpLink *ret_link, GError **error);

/* Throws BUSY for a NIC whose traffic goes to the bridge or bond it belongs to. */
bool np_nic_check_free(NpNetlink *netlink, const NpLink *link, GError **error);

/* Sets what a nic-set's fields (mtu, up, address) ask for, each read back. On failure the NIC is
 * put back to what it was before the call; ROLLBACK_FAILED says that this failed too. Of link only
 * the index counts. */
bool np_nic_apply(const NpLink *link, const json_t *fields, GError **error);
