/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * NIC: sets up the guest's network cards by MAC and puts them back.
 */
#pragma once

#include "agent/managers.h"
#include "lib/base/json.h"

/* Remembers every NIC that was changed and what was there before. */
typedef struct NpNics NpNics;

/* The answer to a request: exactly one of ok (transfer full) and error (borrowed). */
typedef void (*NpAnswer)(json_t *ok, const GError *error, gpointer data);

/* managers: keep NetworkManager and systemd-networkd off the NICs (false for an agent in a
 * namespace of its own, which they do not see). */
NpNics *np_nics_new(bool managers);

/* The same with managers elsewhere (nullable, taken over): for tests. */
NpNics *np_nics_new_with(NpManagers *managers);

/* Frees without restoring: restore first. */
void np_nics_free(NpNics *nics);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpNics, np_nics_free)

/* The nic-set and nic-restore verbs; fields: a checked request. The answer comes from the main
 * loop, or at once; requests are carried out one after the other. A nic-set that fails leaves the
 * NIC as it was before (ROLLBACK_FAILED when even that failed). What is kept and put back:
 * nicstate.h. A NIC that is gone by then counts as restored. */
void np_nics_set(NpNics *nics, const json_t *fields, NpAnswer answer, gpointer data);
void np_nics_restore(NpNics *nics, const json_t *fields, NpAnswer answer, gpointer data);

/* Puts everything back without waiting for network managers' helpers: for the end of a session or
 * of the agent. Requests that still wait are answered with INTERRUPTED before this returns. What
 * fails is logged. */
void np_nics_restore_all(NpNics *nics);

/* Runs the default main context until no network manager's helper is left, each of which has a
 * watchdog: for the end of the agent, whose helpers die with it. */
void np_nics_settle(NpNics *nics);
