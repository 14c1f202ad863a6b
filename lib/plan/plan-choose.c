/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Plan, between the parts: which function each NIC gets, and who has the others. See build.h.
 */
#include "lib/base/error.h"
#include "lib/plan/build.h"
#include "lib/plan/guard.h"

NpTarget *
np_build_target(const NpBuild *build, guint i)
{
    return &g_array_index(build->targets, NpTarget, i);
}

static bool
chosen_already(const NpBuild *build, const NpBdf *bdf, const NpTarget *except)
{
    for (guint i = 0; i < build->targets->len; i++) {
        const NpTarget *target = np_build_target(build, i);
        if (target != except && (target->wants_index) && np_bdf_equal(&target->choice.bdf, bdf))
            return true;
    }
    return false;
}

/* The VM for which the configuration names this VF, or NULL when it is none or the VM at hand. */
static const NpNic *
named_for_another(const NpBuild *build, const NpBdf *bdf)
{
    const GPtrArray *nics = build->world->config->nics;
    for (guint i = 0; i < nics->len; i++) {
        const NpNic *nic = g_ptr_array_index(nics, i);
        if (nic->source == NP_SOURCE_VF && np_bdf_equal(&nic->vf, bdf) &&
            !np_vm_matches(build->vm, nic->vm_id))
            return nic;
    }
    return NULL;
}

/* Why the target cannot have the function (nullable while it does not exist): NULL when it can. */
static char *
why_taken(NpBuild *build, const NpTarget *target, const NpBdf *bdf, const NpFunction *function)
{
    const NpLease *lease = np_build_lease(build, bdf, false);
    if (lease)
        return np_lease_describe(lease);
    if (chosen_already(build, bdf, target))
        return g_strdup_printf("another NIC of this VM");
    const NpNic *other = target->wants_index ? NULL : named_for_another(build, bdf);
    if (other)
        return g_strdup_printf("kept for vm %s, which names it", other->vm_id);
    g_autoptr(GError) problem = NULL;
    bool own = build->keep && np_build_lease(build, bdf, true);
    if (function && !own &&
        !np_guard_uses(build->world->inventory, function, build->vm, target->nic->even_if_used,
                       NULL, &problem))
        return g_strdup(problem->message);
    return NULL;
}

char *
np_build_holders(const NpWorld *world, const NpFunction *pf)
{
    g_autoptr(GString) text = g_string_new(NULL);
    const GPtrArray *functions = world->inventory->functions;
    for (guint i = 0; i < functions->len; i++) {
        const NpFunction *vf = g_ptr_array_index(functions, i);
        if (vf->kind != NP_FUNCTION_VF || !np_bdf_equal(&vf->physfn, &pf->bdf))
            continue;
        g_autoptr(GError) problem = NULL;
        g_autofree char *who = NULL;
        for (guint j = 0; j < world->leases->len && !who; j++) {
            const NpLease *lease = g_ptr_array_index(world->leases, j);
            if (np_bdf_equal(&lease->bdf, &vf->bdf))
                who = np_lease_describe(lease);
        }
        if (!who && !np_guard_uses(world->inventory, vf, NULL, false, NULL, &problem))
            who = g_strdup(problem->message);
        if (who)
            g_string_append_printf(text, "%sVF %u: %s", text->len ? "; " : "", vf->vf_index, who);
    }
    return text->len ? g_strdup(text->str) : NULL;
}

/* VFs the PF has, or will have once the plan so far is carried out. */
static unsigned
count_of(const NpBuild *build, const NpFunction *pf)
{
    for (guint i = 0; i < build->plan->ops->len; i++) {
        const NpChange *change = &((const NpOp *) g_ptr_array_index(build->plan->ops, i))->change;
        if (change->kind == NP_OP_MAKE_VFS && np_bdf_equal(&change->object, &pf->bdf))
            return (unsigned) g_ascii_strtoull(change->new_value, NULL, 10);
    }
    return pf->sriov->count;
}

static bool
choose(NpBuild *build, NpTarget *target, GError **error)
{
    g_autoptr(GString) holders = g_string_new(NULL);
    unsigned count = count_of(build, target->pf);
    for (unsigned i = 0; i < count; i++) {
        NpBdf bdf;
        if (!np_inventory_vf_bdf(build->world->inventory, target->pf, i, &bdf))
            continue;
        const NpFunction *function = np_inventory_find(build->world->inventory, &bdf);
        g_autofree char *taken = why_taken(build, target, &bdf, function);
        if (!taken) {
            target->choice.bdf = bdf;
            target->choice.vf_index = i;
            target->choice.exists = function != NULL;
            target->function = function;
            target->wants_index = true;
            return true;
        }
        g_string_append_printf(holders, "; VF %u: %s", i, taken);
    }
    g_autofree char *what = np_function_describe(target->pf);
    char pf[NP_BDF_TEXT_SIZE];
    return np_throw(error, NP_ERROR_BUSY,
                    "nic %u: none of the %u VFs of %s is free%s. For more, when none is in use: "
                    "nicpass vfs %s NUMBER",
                    target->nic->nic, count, what, holders->str,
                    np_bdf_format(&target->pf->bdf, pf));
}

bool
np_build_choices(NpBuild *build, GError **error)
{
    for (guint i = 0; i < build->targets->len; i++) {
        NpTarget *target = np_build_target(build, i);
        const NpLease *own = np_build_own_lease(build, target->nic->nic);
        if (build->keep && !np_bdf_equal(&own->bdf, &target->choice.bdf))
            return np_throw(error, NP_ERROR_BUSY, "nic %u: its lease is for another function",
                            target->nic->nic);
        if (!target->wants_index) {
            if (!choose(build, target, error))
                return false;
            continue;
        }
        char bdf[NP_BDF_TEXT_SIZE];
        np_bdf_format(&target->choice.bdf, bdf);
        if (!target->choice.whole_port && target->choice.vf_index >= count_of(build, target->pf))
            return np_throw(error, NP_ERROR_CONFIG,
                            "nic %u: %s is VF %u, and the PF has %u VFs only", target->nic->nic,
                            bdf, target->choice.vf_index, count_of(build, target->pf));
        const NpLease *lease = np_build_lease(build, &target->choice.bdf, false);
        if (!lease && !chosen_already(build, &target->choice.bdf, target))
            continue; /* the host's own use is judged by the guard */
        g_autofree char *taken = why_taken(build, target, &target->choice.bdf, target->function);
        return np_throw(error, NP_ERROR_BUSY, "nic %u: %s is taken: %s", target->nic->nic, bdf,
                        taken);
    }
    return true;
}
