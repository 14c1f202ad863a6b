/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Guards: reasons why a function must not be given away, in words. Pure.
 */
#pragma once

#include "lib/plan/plan.h"

/* The IOMMU group: none, or other endpoints in it than those of ours (array of NpBdf, the functions
 * that go to the same VM together). Throws DENIED: names each of them and the port without ACS. */
bool np_guard_group(const NpInventory *inventory, const NpFunction *function, const GArray *ours,
                    GError **error);

/* The same question before the VFs of a PF exist: they would join their PF's group when a port
 * above has no ACS. */
bool np_guard_future_group(const NpInventory *inventory, const NpFunction *pf, GError **error);

/* The host's use of the function itself; for a whole port also that it has VFs. vm: whose
 * reservations and domains do not count (nullable). even_if_used lets bridge membership and
 * addresses pass with a warning added to warnings (nullable), but never routes, ssh, corosync or
 * storage. Throws DENIED or, for another VM's hold, BUSY. */
bool np_guard_uses(const NpInventory *inventory, const NpFunction *function, const NpVm *vm,
                   bool even_if_used, GPtrArray *warnings, GError **error);

/* What nic asks against what the PF's driver can do: UNSUPPORTED for the first required thing it
 * cannot; the optional ones it cannot are taken out of *fields with a warning. */
bool np_guard_caps(const NpFunction *pf, const NpNic *nic, NpVfFields *fields, GPtrArray *warnings,
                   GError **error);

/* All the guards for one function, for `status` and `doctor`: NULL when it may be given away, else
 * the reasons joined by "; " (transfer full). */
char *
np_guard_verdict(const NpInventory *inventory, const NpFunction *function, const GPtrArray *leases);
