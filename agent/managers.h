/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Managers: keeps NetworkManager and systemd-networkd off chosen NICs, the documented way.
 */
#pragma once

#include <stdbool.h>

#include "agent/netlink.h"

/* NetworkManager is told by `nmcli device set IF managed no` (nmcli(1)), whose success is only
 * believed once the device's state says the same; systemd-networkd by a
 * .network file with `[Link] Unmanaged=yes` (systemd.network(5)) and `networkctl reload`. What
 * NetworkManager did not manage before is never touched. A manager that is not installed or not
 * running is no error. */
typedef struct NpManagers NpManagers;

/* Where things are; NULL members are left out. */
typedef struct {
    const char *nmcli, *networkctl, *systemctl;
    const char *nm_run_dir, *networkd_run_dir; /* exist once the manager has run */
    const char *network_file;                  /* exists, writable, rewritten in place */
    unsigned again_ms; /* after a look that found NetworkManager unmoved, until the next try */
} NpManagersPaths;

/* Borrows error (NULL: success). */
typedef void (*NpManagersDone)(const GError *error, gpointer data);

/* paths: NULL for the system's; else its strings must live as long as the managers. */
NpManagers *np_managers_new(const NpManagersPaths *paths);

/* Helpers that still run go on, but their done is not called any more. */
void np_managers_free(NpManagers *managers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpManagers, np_managers_free)

/* Keeps the managers off the NIC, or gives it back. done comes from the main loop, or at once when
 * there is nothing to do; it gets DENIED, IO, TIMEOUT or FAILED with what the helper wrote to
 * stderr, and UNSUPPORTED for a NIC whose name nmcli would take for an option. One that failed
 * half-way may be repeated. Operations are carried out one after the other. link: its index, name
 * and MACs. */
void np_managers_hold(NpManagers *managers, const NpLink *link, NpManagersDone done, gpointer data);
void
np_managers_release(NpManagers *managers, const NpLink *link, NpManagersDone done, gpointer data);

/* Whether any helper still runs. */
bool np_managers_busy(const NpManagers *managers);
