/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Claiming: from the wish to a function that a VM can open. See apply.h.
 */
#include "lib/apply/apply.h"

#include "lib/apply/attr.h"
#include "lib/apply/run.h"
#include "lib/base/error.h"

#define ROUNDS_MAX 6 /* reclaim, make VFs, carry out; and some for what happens meanwhile */

/* What a plan's first part asks for before the rest can be planned on facts. */
static guint
end_of_first_part(const NpPlan *plan)
{
    guint end = 0;
    for (guint i = 0; i < plan->ops->len; i++)
        if (((const NpOp *) g_ptr_array_index(plan->ops, i))->change.kind == NP_OP_WAIT_VFS)
            end = i + 1;
    return end;
}

/* Ends one lease that the plan reclaims. What a VM that is gone has left is no reason not to start
 * another: if it cannot be put back, that function stays taken. */
static bool
reclaim_one(NpRun *run, const NpLease *lease, GError **error)
{
    g_autoptr(GError) problem = NULL;
    g_autofree char *whose = np_lease_describe(lease);
    if (np_run_end_lease(run, lease->id, &problem))
        return true;
    g_prefix_error(&problem, "reclaim from %s: ", whose);
    if (np_vm_same(lease->vm, run->vm)) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    np_run_warn(run->apply, "%s", problem->message);
    g_ptr_array_add(run->stuck, g_strdup(lease->id));
    return true;
}

/* Undoes the leases that the plan reclaims; *ret_any tells whether there were some. */
static bool
reclaim(NpRun *run, const NpPlan *plan, const GPtrArray *leases, bool *ret_any, GError **error)
{
    *ret_any = false;
    for (guint i = 0; i < plan->ops->len; i++) {
        const NpChange *change = &((const NpOp *) g_ptr_array_index(plan->ops, i))->change;
        for (guint j = 0; change->kind == NP_OP_RECLAIM && j < leases->len; j++) {
            const NpLease *lease = g_ptr_array_index(leases, j);
            if (!np_bdf_equal(&lease->bdf, &change->object))
                continue;
            *ret_any = true;
            if (!reclaim_one(run, lease, error))
                return false;
        }
    }
    return true;
}

/* Looks at the host; leases that could not be undone count as held. */
static bool
look_again(NpRun *run, NpLook *look, GError **error)
{
    if (!np_look_take(look, run->apply, error))
        return false;
    for (guint i = 0; i < look->leases->len; i++) {
        NpLease *lease = g_ptr_array_index(look->leases, i);
        if (g_ptr_array_find_with_equal_func(run->stuck, lease->id, g_str_equal, NULL))
            lease->life = NP_LIFE_UNKNOWN;
    }
    return true;
}

static bool
lock_pfs(NpRun *run, const NpWorld *world, GError **error)
{
    g_autoptr(GArray) pfs = np_plan_pfs(world, run->vm, error);
    if (!pfs)
        return false;
    for (guint i = 0; i < pfs->len; i++)
        if (!np_run_lock(run, &g_array_index(pfs, NpBdf, i), error))
            return false;
    return true;
}

static void
take_warnings(NpRun *run, const NpPlan *plan)
{
    for (guint i = 0; i < plan->warnings->len; i++)
        np_run_warn(run->apply, "%s", (const char *) g_ptr_array_index(plan->warnings, i));
}

/* Plans and carries out until there is nothing left to do. What can only be planned on facts (old
 * leases put back, VFs made) is done first, then all is looked at anew. */
static bool
carry_out(NpRun *run, NpPlan **ret_plan, GError **error)
{
    g_auto(NpLook) look = {0};
    g_autoptr(NpPlan) printed = NULL;
    for (unsigned round = 0; round < ROUNDS_MAX; round++) {
        bool reclaimed;
        if (!look_again(run, &look, error))
            return false;
        g_autoptr(NpPlan) plan = np_plan_claim(&look.world, run->vm, error);
        if (!plan || !reclaim(run, plan, look.leases, &reclaimed, error))
            return false;
        guint first_part = end_of_first_part(plan);
        bool last = !reclaimed && first_part == 0;
        if (!reclaimed && !np_run_ops(run, plan, 0, last ? plan->ops->len : first_part, error))
            return false;
        if (last)
            take_warnings(run, plan);
        if (!printed)
            printed = g_steal_pointer(&plan);
        if (last) {
            if (ret_plan)
                *ret_plan = g_steal_pointer(&printed);
            return true;
        }
    }
    return np_throw(error, NP_ERROR_BUSY, "the host changes faster than it can be planned for");
}

/* Marks the leases of this run as prepared to the end. */
static bool
finish(NpRun *run, GError **error)
{
    for (guint i = 0; i < run->journals->len; i++)
        if (!np_leases_mark_ready(g_ptr_array_index(run->journals, i), error))
            return false;
    return true;
}

/* Puts everything of this run back; what the cause was is already in *error. */
static bool
give_up(NpRun *run, GError **error)
{
    g_autoptr(GError) problem = NULL;
    g_autoptr(GString) failures = g_string_new(NULL);
    for (guint i = run->journals->len; i-- > 0;) {
        NpJournal *journal = g_ptr_array_index(run->journals, i);
        if (np_run_undo(run->apply->sys, journal, run->apply->warnings, &problem) &&
            np_journal_remove(journal, &problem))
            continue;
        g_string_append_printf(failures, "; %s", problem->message);
        g_clear_error(&problem);
    }
    for (guint i = 0; i < run->pfs->len; i++) {
        if (np_run_settle_pf(run, &g_array_index(run->pfs, NpBdf, i), &problem))
            continue;
        g_string_append_printf(failures, "; %s", problem->message);
        g_clear_error(&problem);
    }
    if (failures->len == 0 || !error)
        return false;
    g_autoptr(GError) cause = g_steal_pointer(error);
    return np_throw(error, NP_ERROR_ROLLBACK_FAILED, "%s%s; nicpass repair tries again",
                    cause->message, failures->str);
}

bool
np_claim(const NpApply *apply, const NpVm *vm, NpPlan **ret_plan, GError **error)
{
    g_autofree char *who = np_vm_describe(vm);
    g_autoptr(NpRun) run = np_run_new(apply, vm);
    g_autoptr(NpPlan) plan = NULL;
    g_auto(NpLook) look = {0};
    g_autoptr(GError) problem = NULL;
    bool locked = np_look_take(&look, apply, &problem) && lock_pfs(run, &look.world, &problem);
    bool done = locked && carry_out(run, &plan, &problem) && finish(run, &problem);
    if (!done) {
        (void) give_up(run, &problem); /* the claim has failed either way */
        g_prefix_error(&problem, "%s: ", who);
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    if (ret_plan)
        *ret_plan = g_steal_pointer(&plan);
    return true;
}

NpPlan *
np_preview(const NpApply *apply, const NpVm *vm, GError **error)
{
    g_auto(NpLook) look = {0};
    if (!np_look_take(&look, apply, error))
        return NULL;
    return np_plan_claim(&look.world, vm, error);
}

static void
describe_difference(const NpOp *op, GPtrArray *problems)
{
    char bdf[NP_BDF_TEXT_SIZE];
    const NpChange *change = &op->change;
    if (!np_op_info(change->kind)->writes || !change->new_value)
        return;
    g_ptr_array_add(
        problems, g_strdup_printf("nic %u: %s of %s is '%s', should be '%s'", op->nic,
                                  np_attr_name(change->attr), np_bdf_format(&change->object, bdf),
                                  change->old_value ? change->old_value : "?", change->new_value));
}

bool
np_verify(const NpApply *apply, const NpVm *vm, GPtrArray **ret_problems, GError **error)
{
    g_auto(NpLook) look = {0};
    g_autoptr(GError) problem = NULL;
    if (!np_look_take(&look, apply, error))
        return false;
    GPtrArray *problems = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(NpPlan) plan = np_plan_verify(&look.world, vm, &problem);
    if (!plan)
        g_ptr_array_add(problems, g_strdup(problem->message));
    for (guint i = 0; plan && i < plan->ops->len; i++)
        describe_difference(g_ptr_array_index(plan->ops, i), problems);
    *ret_problems = problems;
    return true;
}
