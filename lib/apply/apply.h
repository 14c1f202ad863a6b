/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Apply: carries plans out and puts everything back. What hooks and verbs call.
 */
#pragma once

#include "lib/apply/leases.h"
#include "lib/plan/plan.h"

/* The environment of one run. */
typedef struct {
    NpSys *sys;              /* borrowed */
    const NpConfig *config;  /* borrowed; may be NULL for release and repair */
    const char *run_dir;     /* NP_RUN_DIR, tests their own */
    int64_t lock_timeout_ms; /* how long to wait for another run on the same PF */
    GPtrArray *warnings;     /* of char *, filled; the caller logs them */
} NpApply;

#define NP_RUN_DIR         "/run/nicpass"
#define NP_LOCK_TIMEOUT_MS 60000

/* Before a VM starts (Proxmox pre-start, libvirt prepare): locks the PFs, undoes dead leases,
 * scans, plans, carries out. Repeating it is fine. ret_plan (nullable): what was done, as it would
 * have been printed. On failure everything done for this VM has been put back (VFs made stay) and
 * the error says what went wrong; ROLLBACK_FAILED: putting back failed as well, the lease and its
 * journal remain for np_repair. Throws what np_plan_claim throws, BUSY for the lock, or the failing
 * operation's error with "VM 101: unbind 0000:3b:02.1: " before it. NOT_FOUND: no NIC is configured
 * for the VM. */
bool np_claim(const NpApply *apply, const NpVm *vm, NpPlan **ret_plan, GError **error);

/* When the VM runs (post-start, started): notes its QEMU's pid in the leases. No lease is fine. */
bool np_confirm(const NpApply *apply, const NpVm *vm, int64_t qemu_pid, GError **error);

/* After a VM stopped (post-stop, release): undoes all its leases. None, or half-done ones, are
 * fine. Throws BUSY while a process holds the function (the next claim or repair will do it),
 * ROLLBACK_FAILED when a value could not be put back: the rest is, and the journal keeps what is
 * not. */
bool np_release(const NpApply *apply, const NpVm *vm, GError **error);

/* The same for one lease by id; NOT_FOUND when there is none such. */
bool np_release_lease(const NpApply *apply, const char *id, GError **error);

/* Compares what the VM's leases say with what is, without changing anything: one text a difference
 * (of char *, transfer full; empty: all is well). For `verify`, libvirt's reconnect and post-start.
 */
bool np_verify(const NpApply *apply, const NpVm *vm, GPtrArray **ret_problems, GError **error);

/* Undoes what dead leases and crashed runs left on any PF, removes void files; with vm not NULL
 * only the dead leases of that VM. One text an act (of char *, transfer full). Goes on after a
 * failure and reports the first. */
bool np_repair(const NpApply *apply, const NpVm *vm, GPtrArray **ret_done, GError **error);

/* The explicit verb: sets the number of VFs of a PF (np_plan_vfs, under the lock, groups probed
 * again right before the write). ret_plan nullable. */
bool np_set_vfs(const NpApply *apply, const NpPfRef *pf, unsigned count, NpPlan **ret_plan,
                GError **error);

/* What np_claim would do, without the lock and without effects: for `plan`. */
NpPlan *np_preview(const NpApply *apply, const NpVm *vm, GError **error);
