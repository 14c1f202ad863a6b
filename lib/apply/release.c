/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Releasing and repairing: everything back as it was. See apply.h.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "lib/apply/apply.h"
#include "lib/apply/attr.h"
#include "lib/apply/run.h"
#include "lib/base/error.h"

/* Which leases an act is about. */
typedef bool (*Wanted)(const NpLease *lease, const void *data);

/* Keeps the first failure; later ones become warnings. */
static void
keep_first(const NpApply *apply, GError **first, GError **problem)
{
    if (!*problem)
        return;
    if (*first)
        np_run_warn(apply, "%s", (*problem)->message);
    else
        *first = g_steal_pointer(problem);
    g_clear_error(problem);
}

/* Ends one lease under the lock of its PF, judging it once more there. */
static void
end_one(NpRun *run, const NpLease *lease, Wanted wanted, const void *data, GPtrArray *done,
        GError **error)
{
    const NpApply *apply = run->apply;
    g_autofree char *whose = np_lease_describe(lease);
    g_autoptr(GPtrArray) leases = NULL;
    char bdf[NP_BDF_TEXT_SIZE];
    if (!np_run_lock(run, &lease->pf, error))
        return;
    leases = np_leases_list(apply->sys, apply->run_dir, error);
    for (guint i = 0; leases && i < leases->len; i++) {
        const NpLease *now = g_ptr_array_index(leases, i);
        if (strcmp(now->id, lease->id) != 0 || !wanted(now, data))
            continue;
        if (!np_run_end_lease(run, now->id, error))
            g_prefix_error(error, "%s: ", whose);
        else if (done)
            g_ptr_array_add(done, g_strdup_printf("put back %s from %s",
                                                  np_bdf_format(&lease->bdf, bdf), whose));
    }
}

/* Ends all wanted leases, one PF's lock at a time; goes on after a failure. */
static bool
end_leases(const NpApply *apply, Wanted wanted, const void *data, GPtrArray *done, GError **error)
{
    g_autoptr(GPtrArray) leases = np_leases_list(apply->sys, apply->run_dir, error);
    g_autoptr(GError) first = NULL;
    if (!leases)
        return false;
    for (guint i = 0; i < leases->len; i++) {
        const NpLease *lease = g_ptr_array_index(leases, i);
        g_autoptr(NpRun) run = np_run_new(apply, NULL);
        g_autoptr(GError) problem = NULL;
        if (!wanted(lease, data))
            continue;
        end_one(run, lease, wanted, data, done, &problem);
        if (!problem)
            (void) np_run_settle_pf(run, &lease->pf, &problem); /* reported by problem */
        keep_first(apply, &first, &problem);
    }
    if (!first)
        return true;
    g_propagate_error(error, g_steal_pointer(&first));
    return false;
}

static bool
is_of_vm(const NpLease *lease, const void *data)
{
    return np_vm_same(lease->vm, data);
}

static bool
has_id(const NpLease *lease, const void *data)
{
    return strcmp(lease->id, data) == 0;
}

/* data: the VM whose leases are meant, NULL for any. */
static bool
is_dead(const NpLease *lease, const void *data)
{
    return lease->life == NP_LIFE_DEAD && (!data || np_vm_same(lease->vm, data));
}

bool
np_release(const NpApply *apply, const NpVm *vm, GError **error)
{
    return end_leases(apply, is_of_vm, vm, NULL, error);
}

bool
np_release_lease(const NpApply *apply, const char *id, GError **error)
{
    g_autoptr(NpJournal) journal = np_leases_open(apply->run_dir, id, error);
    return journal && end_leases(apply, has_id, id, NULL, error);
}

bool
np_confirm(const NpApply *apply, const NpVm *vm, int64_t qemu_pid, GError **error)
{
    g_autoptr(GPtrArray) leases = np_leases_list(apply->sys, apply->run_dir, error);
    if (!leases)
        return false;
    for (guint i = 0; i < leases->len; i++) {
        const NpLease *lease = g_ptr_array_index(leases, i);
        if (!np_vm_same(lease->vm, vm))
            continue;
        g_autoptr(NpRun) run = np_run_new(apply, vm);
        if (!np_run_lock(run, &lease->pf, error))
            return false;
        g_autoptr(NpJournal) journal = np_leases_open(apply->run_dir, lease->id, error);
        if (!journal || !np_leases_mark_running(journal, qemu_pid, error))
            return false;
    }
    return true;
}

/* Files of the folder below run_dir (of char *, transfer full). */
static GPtrArray *
list_files(const char *run_dir, const char *folder)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *path = g_build_filename(run_dir, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        g_ptr_array_add(names, g_strdup(name));
    return names;
}

/* PFs whose journal was left behind without a lease. */
static void
settle_pfs(const NpApply *apply, GPtrArray *done, GError **first)
{
    g_autoptr(GPtrArray) names = list_files(apply->run_dir, "pf");
    for (guint i = 0; i < names->len; i++) {
        g_auto(GStrv) parts = g_strsplit(g_ptr_array_index(names, i), ".jsonl", 2);
        g_autoptr(NpRun) run = np_run_new(apply, NULL);
        g_autoptr(GError) problem = NULL;
        g_autofree char *path =
            g_build_filename(apply->run_dir, "pf", g_ptr_array_index(names, i), NULL);
        NpBdf pf;
        if (!parts[1] || *parts[1] || !np_parse_bdf(parts[0], &pf, NULL))
            continue;
        if (np_run_lock(run, &pf, &problem) && np_run_settle_pf(run, &pf, &problem) &&
            access(path, F_OK) < 0)
            g_ptr_array_add(done, g_strdup_printf("put back settings of %s", parts[0]));
        keep_first(apply, first, &problem);
    }
}

/* Drafts of files (their name ends in a pid) whose process is gone: nothing was done yet. */
static void
remove_drafts(const NpApply *apply, const char *folder)
{
    g_autoptr(GPtrArray) names = list_files(apply->run_dir, folder);
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i), *dot = strrchr(name, '.');
        uint64_t pid;
        if (!dot || !np_parse_uint(dot + 1, 1, INT32_MAX, &pid, NULL) ||
            kill((pid_t) pid, 0) == 0 || errno != ESRCH)
            continue;
        g_autofree char *path = g_build_filename(apply->run_dir, folder, name, NULL);
        if (g_unlink(path) < 0)
            np_run_warn(apply, "%s: %s", path, g_strerror(errno));
    }
}

bool
np_repair(const NpApply *apply, const NpVm *vm, GPtrArray **ret_done, GError **error)
{
    g_autoptr(GPtrArray) done = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) first = NULL, problem = NULL;
    if (!end_leases(apply, is_dead, vm, done, &problem))
        keep_first(apply, &first, &problem);
    if (!vm) {
        settle_pfs(apply, done, &first);
        remove_drafts(apply, "leases");
        remove_drafts(apply, "pf");
    }
    *ret_done = g_steal_pointer(&done);
    if (!first)
        return true;
    g_propagate_error(error, g_steal_pointer(&first));
    return false;
}

/* Right before VFs are removed: the write would block until every holder is gone. */
static bool
check_unheld(NpSys *sys, const NpInventory *inventory, const NpBdf *pf, GError **error)
{
    for (guint i = 0; i < inventory->functions->len; i++) {
        const NpFunction *vf = g_ptr_array_index(inventory->functions, i);
        NpVfioState state = NP_VFIO_NONE;
        bool viable;
        if (vf->kind != NP_FUNCTION_VF || !np_bdf_equal(&vf->physfn, pf))
            continue;
        int result = sys->probe_vfio(sys, &vf->bdf, &state, &viable);
        if (result == 0 && state == NP_VFIO_BUSY) {
            g_autofree char *what = np_function_describe(vf);
            return np_throw(error, NP_ERROR_BUSY, "%s is in use", what);
        }
    }
    return true;
}

/* No journal: nothing here is ever to be put back, and a crash leaves a number that shows. */
bool
np_set_vfs(const NpApply *apply, const NpPfRef *pf, unsigned count, NpPlan **ret_plan,
           GError **error)
{
    g_auto(NpLook) look = {0};
    g_autoptr(NpRun) run = np_run_new(apply, NULL);
    if (!np_look_take(&look, apply, error))
        return false;
    const NpFunction *port = np_plan_resolve(look.inventory, pf, error);
    if (!port)
        return false;
    NpBdf bdf = port->bdf;
    if (!np_run_lock(run, &bdf, error) || !np_look_take(&look, apply, error))
        return false;
    g_autoptr(NpPlan) plan = np_plan_vfs(&look.world, pf, count, error);
    if (!plan || !check_unheld(apply->sys, look.inventory, &bdf, error))
        return false;
    for (guint i = 0; i < plan->ops->len; i++) {
        const NpOp *op = g_ptr_array_index(plan->ops, i);
        bool writes = np_op_info(op->change.kind)->writes;
        if (writes && !np_attr_write(apply->sys, &op->change, op->change.new_value, error))
            return false;
        if (!writes && !np_run_ops(run, plan, i, i + 1, error))
            return false;
    }
    if (ret_plan)
        *ret_plan = g_steal_pointer(&plan);
    return true;
}
