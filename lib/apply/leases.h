/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Leases: the store in the run folder. A lease is the header of its own journal.
 */
#pragma once

#include "lib/apply/journal.h"
#include "lib/apply/sys.h"

/* How long a VM may take from the end of preparing to its QEMU before its lease counts as dead.
 * Proxmox allows four times max(30, GiB of RAM) seconds. */
#define NP_LEASE_GRACE_MS (15 * 60 * 1000)

/* All leases below run_dir with their lives judged, by id (of NpLease, transfer full). DEAD is: the
 * VM has no QEMU, nobody holds the function's VFIO group, and preparing is either unfinished (the
 * hook that did it held the PF's lock and has died), confirmed as running once, or older than the
 * grace. Call it with the PF's lock held where the answer leads to an act. Files without a complete
 * header are passed over. Throws PROTOCOL, IO. */
GPtrArray *np_leases_list(NpSys *sys, const char *run_dir, GError **error);

/* Records a new lease (lease->id is drawn here) and returns its journal. Throws BUSY when another
 * lease has the function. */
NpJournal *np_leases_create(NpSys *sys, const char *run_dir, NpLease *lease, GError **error);

/* Opens the journal of a lease. NOT_FOUND when it is gone. */
NpJournal *np_leases_open(const char *run_dir, const char *id, GError **error);

/* Notes that preparing is done; that the VM runs (pid of its QEMU). */
bool np_leases_mark_ready(NpJournal *journal, GError **error);
bool np_leases_mark_running(NpJournal *journal, int64_t qemu_pid, GError **error);

/* The journal of changes to a PF that its leases share: RUN/pf/BDF. Open creates it. */
NpJournal *np_leases_open_pf(const char *run_dir, const NpBdf *pf, bool create, GError **error);
