/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * NIC: sets up the guest's network cards by MAC and puts them back.
 */
#pragma once

#include "lib/base/json.h"

/* Remembers every NIC that was changed and what was there before. */
typedef struct NpNics NpNics;

/* The answer to a request: exactly one of ok (transfer full) and error (borrowed). */
typedef void (*NpAnswer)(json_t *ok, const GError *error, gpointer data);

/* managers: keep NetworkManager and systemd-networkd off the NICs (false for an agent in a
 * namespace of its own, which they do not see). */
NpNics *np_nics_new(bool managers);

/* Frees without restoring: restore first. */
void np_nics_free(NpNics *nics);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpNics, np_nics_free)

/* The nic-set and nic-restore verbs; fields: a checked request. The answer comes from the main
 * loop, or at once. */
void np_nics_set(NpNics *nics, const json_t *fields, NpAnswer answer, gpointer data);
void np_nics_restore(NpNics *nics, const json_t *fields, NpAnswer answer, gpointer data);

/* Puts everything back without waiting for network managers' helpers: for the end of a session or
 * of the agent. */
void np_nics_restore_all(NpNics *nics);
