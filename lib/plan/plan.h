/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Plan: inventory, configuration, VM and leases in; ordered operations out. Pure.
 */
#pragma once

#include "lib/model/config.h"
#include "lib/model/inventory.h"
#include "lib/plan/op.h"

/* Borrowed. */
typedef struct {
    const NpInventory *inventory;
    const NpConfig *config;
    const GPtrArray *leases; /* of NpLease, with life judged: those of DEAD VMs count as free */
} NpWorld;

/* One NIC's answer: which function it gets. */
typedef struct {
    const NpNic *nic; /* borrowed from the configuration */
    NpBdf bdf, pf;
    unsigned vf_index;
    bool whole_port;
    bool exists; /* false: the plan makes it */
} NpChoice;

typedef struct {
    GPtrArray *ops;      /* of NpOp; empty: nothing to do */
    GArray *choices;     /* of NpChoice, by NIC number */
    GPtrArray *warnings; /* of char *: what is gone along with */
} NpPlan;

void np_plan_free(NpPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpPlan, np_plan_free)

/* All that must happen before the VM can start, in order; all guards are asked here. The VM's own
 * lease is kept when it is ready and nothing has to change; otherwise the plan starts with
 * reclaiming it, and old values are those from before that. When VFs must be made first, their
 * addresses come from offset and stride and their old values are not known (NULL).
 * Throws, in words that name device, port and holder:
 *   CONFIG       a pool, PF or VF named does not exist or does not fit; firmware has SR-IOV off
 *   NOT_FOUND    the configuration has no NIC for the VM
 *   BUSY         no VF free (who has them); the VF wanted is taken; count is wrong and not 0
 *   DENIED       a guard: the host uses it, or the IOMMU group holds another function
 *   UNSUPPORTED  the PF's driver cannot do what is required
 * Pure. */
NpPlan *np_plan_claim(const NpWorld *world, const NpVm *vm, GError **error);

/* What is not as it should be for a VM that has its leases: the operations that would set it right,
 * for the functions it has. Empty: all is well. NOT_FOUND: no lease. For `verify`; nothing but
 * np_plan_claim's plans is ever carried out. Pure. */
NpPlan *np_plan_verify(const NpWorld *world, const NpVm *vm, GError **error);

/* Operations that bring PF's number of VFs to count (the explicit verb): refused with BUSY, naming
 * the holders, while any of its VFs is leased, open, reserved, or used by the host. From a count
 * other than 0 it goes through 0. Pure. */
NpPlan *np_plan_vfs(const NpWorld *world, const NpPfRef *pf, unsigned count, GError **error);

/* The PFs (and whole ports) that the VM's NICs come from, in the order of BDF, each once (of NpBdf,
 * transfer full): what to lock before np_plan_claim's world is looked at. Throws as np_plan_claim.
 * Pure. */
GArray *np_plan_pfs(const NpWorld *world, const NpVm *vm, GError **error);

/* The function a reference means; bdf, permanent MAC and name must agree where given. Throws CONFIG
 * (what each of them says when they do not). Pure. */
const NpFunction *np_plan_resolve(const NpInventory *inventory, const NpPfRef *ref, GError **error);

/* For people, numbered: "name object attribute: old -> new (reason)", the reason on a line of its
 * own where 80 columns do not hold both; "nothing to do" when empty; warnings behind. For programs:
 * {"vm", "nics", "operations", "warnings"}, fields as np_change_to_json plus nic, required, reason.
 * (transfer full) Pure. */
char *np_plan_to_text(const NpPlan *plan, const NpVm *vm);
json_t *np_plan_to_json(const NpPlan *plan, const NpVm *vm);
