/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * One run: locks held, operations carried out, journals undone; shared by the files of lib/apply.
 */
#pragma once

#include "lib/apply/apply.h"

typedef struct {
    const NpApply *apply;
    const NpVm *vm;      /* nullable */
    GArray *pfs;         /* of NpBdf: those locked */
    GArray *locks;       /* of int, parallel */
    GPtrArray *journals; /* of NpJournal: leases made in this run, by the plan's order of NICs */
    GArray *nics;        /* of unsigned, parallel to journals */
    GPtrArray *stuck;    /* of char *: ids of other VMs' leases that could not be undone */
} NpRun;

NpRun *np_run_new(const NpApply *apply, const NpVm *vm);
void np_run_free(NpRun *run); /* lets the locks go */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpRun, np_run_free)

/* Locks a PF; fine when it is locked by this run already. */
bool np_run_lock(NpRun *run, const NpBdf *pf, GError **error);

/* Carries out the operations with from <= index < to. On failure, what was done stands: the caller
 * undoes run->journals. The message begins with the operation's name and object. */
bool np_run_ops(NpRun *run, const NpPlan *plan, guint from, guint to, GError **error);

/* Puts back what the journal says, newest first, and goes on after a failure unless it was that of
 * a driver: what could not be put back stays open in it. What no longer exists needs no putting
 * back and is added to warnings. Throws ROLLBACK_FAILED. */
bool np_run_undo(NpSys *sys, NpJournal *journal, GPtrArray *warnings, GError **error);

/* Undoes a lease and removes it. The PF must be locked. A lease that is gone is fine. */
bool np_run_end_lease(NpRun *run, const char *id, GError **error);

/* Undoes what leases of a PF shared (its up-state and MTU) if there are none any more and no
 * process has one of its VFs open. The PF must be locked. */
bool np_run_settle_pf(NpRun *run, const NpBdf *pf, GError **error);

/* Adds a warning. */
void np_run_warn(const NpApply *apply, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Scan, configuration and judged leases. */
typedef struct {
    NpWorld world; /* borrows the others */
    NpInventory *inventory;
    GPtrArray *leases;
} NpLook;

bool np_look_take(NpLook *look, const NpApply *apply, GError **error);
void np_look_clear(NpLook *look);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NpLook, np_look_clear)
