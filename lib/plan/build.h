/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Building a plan: what the parts of lib/plan share; for them only.
 */
#pragma once

#include "lib/plan/plan.h"

/* A NIC on its way into the plan. */
typedef struct {
    const NpNic *nic;
    const NpPool *pool;         /* nullable: of a POOL */
    const NpFunction *pf;       /* the PF, or the whole port */
    const NpFunction *function; /* what is given away; NULL while it does not exist */
    bool wants_index;           /* the VF is fixed, by configuration or by the VM's definition */
    NpChoice choice;
    const char *driver; /* to bind to */
} NpTarget;

typedef struct {
    const NpWorld *world;
    const NpVm *vm;
    bool keep; /* the VM's own leases stand: their functions are the choice */
    NpPlan *plan;
    GArray *targets; /* of NpTarget, by NIC number */
} NpBuild;

/* Appends an operation of the plan; the caller fills in what its kind needs. reason is copied. */
NpOp *
np_build_op(NpBuild *build, NpOpKind kind, NpRole role, const NpBdf *object, const char *reason);

NpTarget *np_build_target(const NpBuild *build, guint i);

/* Finds PF, pool and, if it is fixed, the function of each NIC. */
bool np_build_targets(NpBuild *build, GError **error);

/* Operations on PFs: one run for each, in the order of BDF. */
bool np_build_pfs(NpBuild *build, GError **error);

/* Chooses functions where that is left to us. */
bool np_build_choices(NpBuild *build, GError **error);

/* Operations on the functions given away, guards included. */
bool np_build_nics(NpBuild *build, GError **error);

/* The lease of a function whose holder counts, or NULL: not that of a VM that is dead, nor (unless
 * own is true) the VM's own. */
const NpLease *np_build_lease(const NpBuild *build, const NpBdf *bdf, bool own);

/* The VM's own lease for a NIC, or NULL. */
const NpLease *np_build_own_lease(const NpBuild *build, unsigned nic);

/* Who holds VFs of a PF: "VF 0: VM 101 nic 0; VF 3: reserved by VM 7" (transfer full), NULL when
 * nobody does. */
char *np_build_holders(const NpWorld *world, const NpFunction *pf);
