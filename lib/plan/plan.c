/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Plan: see plan.h. The whole, and the two small plans; parts in plan-*.c.
 */
#include "lib/plan/plan.h"

#include <string.h>

#include "lib/base/error.h"
#include "lib/plan/build.h"

static void
op_free(gpointer data)
{
    np_op_free(data);
}

static NpPlan *
plan_new(void)
{
    NpPlan *plan = g_new0(NpPlan, 1);
    plan->ops = g_ptr_array_new_with_free_func(op_free);
    plan->choices = g_array_new(FALSE, FALSE, sizeof(NpChoice));
    plan->warnings = g_ptr_array_new_with_free_func(g_free);
    return plan;
}

void
np_plan_free(NpPlan *plan)
{
    if (!plan)
        return;
    g_ptr_array_unref(plan->ops);
    g_array_unref(plan->choices);
    g_ptr_array_unref(plan->warnings);
    g_free(plan);
}

NpOp *
np_build_op(NpBuild *build, NpOpKind kind, NpRole role, const NpBdf *object, const char *reason)
{
    NpOp *op = g_new0(NpOp, 1);
    op->change = (NpChange){.kind = kind,
                            .role = role,
                            .object = *object,
                            .pf = *object,
                            .attr = np_op_info(kind)->attr};
    op->required = true;
    op->reason = g_strdup(reason);
    g_ptr_array_add(build->plan->ops, op);
    return op;
}

const NpLease *
np_build_own_lease(const NpBuild *build, unsigned nic)
{
    for (guint i = 0; i < build->world->leases->len; i++) {
        const NpLease *lease = g_ptr_array_index(build->world->leases, i);
        if (lease->nic == nic && np_vm_same(lease->vm, build->vm))
            return lease;
    }
    return NULL;
}

const NpLease *
np_build_lease(const NpBuild *build, const NpBdf *bdf, bool own)
{
    for (guint i = 0; i < build->world->leases->len; i++) {
        const NpLease *lease = g_ptr_array_index(build->world->leases, i);
        if (!np_bdf_equal(&lease->bdf, bdf))
            continue;
        if (np_vm_same(lease->vm, build->vm) ? own : lease->life != NP_LIFE_DEAD)
            return lease;
    }
    return NULL;
}

/* The plan as build->keep asks for it; NULL on error. */
static NpPlan *
build_plan(const NpWorld *world, const NpVm *vm, bool keep, GError **error)
{
    g_autoptr(NpPlan) plan = plan_new();
    g_autoptr(GArray) targets = g_array_new(FALSE, TRUE, sizeof(NpTarget));
    NpBuild build = {world, vm, keep, plan, targets};
    if (!np_build_targets(&build, error) || !np_build_pfs(&build, error) ||
        !np_build_choices(&build, error) || !np_build_nics(&build, error))
        return NULL;
    for (guint i = 0; i < targets->len; i++)
        g_array_append_val(plan->choices, g_array_index(targets, NpTarget, i).choice);
    return g_steal_pointer(&plan);
}

/* Whether each configured NIC of the VM has a lease that was prepared to the end, and no other. */
static bool
has_all_leases(const NpWorld *world, const NpVm *vm, const GPtrArray *nics)
{
    guint ready = 0;
    for (guint i = 0; i < world->leases->len; i++) {
        const NpLease *lease = g_ptr_array_index(world->leases, i);
        if (!np_vm_same(lease->vm, vm))
            continue;
        bool configured = false;
        for (guint j = 0; j < nics->len; j++)
            configured |= ((const NpNic *) g_ptr_array_index(nics, j))->nic == lease->nic;
        if (!configured || !lease->ready)
            return false;
        ready++;
    }
    return ready == nics->len;
}

static bool
nics_of(const NpWorld *world, const NpVm *vm, GPtrArray **ret_nics, GError **error)
{
    g_autofree char *who = np_vm_describe(vm);
    *ret_nics = np_config_nics(world->config, vm);
    if ((*ret_nics)->len > 0)
        return true;
    return np_throw(error, NP_ERROR_NOT_FOUND, "the configuration has no NIC for %s", who);
}

NpPlan *
np_plan_claim(const NpWorld *world, const NpVm *vm, GError **error)
{
    g_autoptr(GPtrArray) nics = NULL;
    if (!nics_of(world, vm, &nics, error))
        return NULL;
    if (has_all_leases(world, vm, nics)) {
        /* Anything in the way of keeping is no error: then all is put back and done anew. */
        g_autoptr(NpPlan) kept = build_plan(world, vm, true, NULL);
        if (kept && kept->ops->len == 0)
            return g_steal_pointer(&kept);
    }
    return build_plan(world, vm, false, error);
}

NpPlan *
np_plan_verify(const NpWorld *world, const NpVm *vm, GError **error)
{
    g_autoptr(GPtrArray) nics = NULL;
    if (!nics_of(world, vm, &nics, error))
        return NULL;
    if (!has_all_leases(world, vm, nics)) {
        g_autofree char *who = np_vm_describe(vm);
        np_throw(error, NP_ERROR_NOT_FOUND, "%s does not hold all of its NICs", who);
        return NULL;
    }
    return build_plan(world, vm, true, error);
}

static gint
compare_bdfs(gconstpointer a, gconstpointer b)
{
    return np_bdf_compare(a, b);
}

GArray *
np_plan_pfs(const NpWorld *world, const NpVm *vm, GError **error)
{
    g_autoptr(GPtrArray) nics = NULL;
    g_autoptr(NpPlan) plan = plan_new();
    g_autoptr(GArray) targets = g_array_new(FALSE, TRUE, sizeof(NpTarget));
    NpBuild build = {world, vm, false, plan, targets};
    if (!nics_of(world, vm, &nics, error) || !np_build_targets(&build, error))
        return NULL;
    GArray *pfs = g_array_new(FALSE, FALSE, sizeof(NpBdf));
    for (guint i = 0; i < targets->len; i++)
        g_array_append_val(pfs, g_array_index(targets, NpTarget, i).pf->bdf);
    g_array_sort(pfs, compare_bdfs);
    for (guint i = pfs->len; i-- > 1;)
        if (np_bdf_equal(&g_array_index(pfs, NpBdf, i), &g_array_index(pfs, NpBdf, i - 1)))
            g_array_remove_index(pfs, i);
    return pfs;
}

/* What the three ways to name a port say, for an error (transfer full). */
static char *
describe_ref(const NpPfRef *ref)
{
    GString *text = g_string_new(NULL);
    char bdf[NP_BDF_TEXT_SIZE], mac[NP_MAC_TEXT_SIZE];
    if (ref->has_bdf)
        g_string_append_printf(text, "address %s ", np_bdf_format(&ref->bdf, bdf));
    if (ref->has_mac)
        g_string_append_printf(text, "permanent MAC %s ", np_mac_format(&ref->mac, mac));
    if (ref->name)
        g_string_append_printf(text, "name %s ", ref->name);
    g_string_truncate(text, text->len ? text->len - 1 : 0);
    return g_string_free(text, FALSE);
}

/* Whether a function is what one way of naming it says; those without an interface now can only be
 * found by address, and then the others cannot be checked. */
static bool
fits(const NpFunction *function, const NpPfRef *ref)
{
    if (function->kind == NP_FUNCTION_PORT || function->kind == NP_FUNCTION_VF)
        return false;
    if (ref->has_bdf && !np_bdf_equal(&function->bdf, &ref->bdf))
        return false;
    if (!function->net)
        return ref->has_bdf;
    if (ref->has_mac && !np_mac_equal(&function->net->perm_mac, &ref->mac))
        return false;
    return !ref->name || strcmp(function->net->name, ref->name) == 0;
}

const NpFunction *
np_plan_resolve(const NpInventory *inventory, const NpPfRef *ref, GError **error)
{
    const NpFunction *found = NULL;
    g_autofree char *wanted = describe_ref(ref);
    for (guint i = 0; i < inventory->functions->len; i++) {
        const NpFunction *function = g_ptr_array_index(inventory->functions, i);
        if (!fits(function, ref))
            continue;
        if (found) {
            np_throw(error, NP_ERROR_CONFIG, "more than one port has %s", wanted);
            return NULL;
        }
        found = function;
    }
    if (found)
        return found;
    const NpFunction *there = ref->has_bdf ? np_inventory_find(inventory, &ref->bdf) : NULL;
    g_autofree char *what = there ? np_function_describe(there) : NULL;
    char mac[NP_MAC_TEXT_SIZE];
    if (what && there->net && there->kind != NP_FUNCTION_VF)
        np_throw(error, NP_ERROR_CONFIG,
                 "no port has %s: there is %s with the permanent MAC %s; was a card moved?", wanted,
                 what, np_mac_format(&there->net->perm_mac, mac));
    else if (what)
        np_throw(error, NP_ERROR_CONFIG, "no port has %s: %s is none", wanted, what);
    else
        np_throw(error, NP_ERROR_CONFIG, "no port has %s", wanted);
    return NULL;
}

/* Values from and to as numbers. */
static void
add_count(NpBuild *build, NpOpKind kind, const NpBdf *pf, unsigned from, unsigned to,
          const char *reason)
{
    NpOp *op = np_build_op(build, kind, NP_ROLE_PF, pf, reason);
    op->change.old_value = g_strdup_printf("%u", from);
    op->change.new_value = g_strdup_printf("%u", to);
}

static bool
check_count(const NpFunction *pf, unsigned count, GError **error)
{
    g_autofree char *what = np_function_describe(pf);
    if (!pf->sriov)
        return np_throw(error, NP_ERROR_CONFIG, "%s cannot do SR-IOV", what);
    if (count > pf->sriov->total)
        return np_throw(error, NP_ERROR_CONFIG, "%s can have %u VFs at most, not %u", what,
                        pf->sriov->total, count);
    return true;
}

NpPlan *
np_plan_vfs(const NpWorld *world, const NpPfRef *ref, unsigned count, GError **error)
{
    const NpFunction *pf = np_plan_resolve(world->inventory, ref, error);
    if (!pf || !check_count(pf, count, error))
        return NULL;
    g_autoptr(NpPlan) plan = plan_new();
    NpBuild build = {world, NULL, false, plan, NULL};
    unsigned now = pf->sriov->count;
    if (now == count)
        return g_steal_pointer(&plan);
    g_autofree char *holders = np_build_holders(world, pf);
    if (holders) {
        g_autofree char *what = np_function_describe(pf);
        np_throw(error, NP_ERROR_BUSY, "%s: its %u VFs cannot be removed, for some are in use: %s",
                 what, now, holders);
        return NULL;
    }
    np_build_op(&build, NP_OP_LOCK, NP_ROLE_PF, &pf->bdf, "its number of VFs changes");
    if (now > 0)
        add_count(&build, NP_OP_REMOVE_VFS, &pf->bdf, now, 0,
                  "the number can only be changed from 0, and nobody uses a VF");
    if (count > 0) {
        add_count(&build, NP_OP_MAKE_VFS, &pf->bdf, 0, count, "as asked");
        np_build_op(&build, NP_OP_WAIT_VFS, NP_ROLE_PF, &pf->bdf, "until all are there");
    }
    np_build_op(&build, NP_OP_UNLOCK, NP_ROLE_PF, &pf->bdf, "done");
    return g_steal_pointer(&plan);
}
