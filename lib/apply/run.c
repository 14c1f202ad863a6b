/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Runs: locks, the look at the host, and the ends of leases. See run.h.
 */
#include "lib/apply/run.h"

#include "lib/apply/lock.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"

#define LETTING_GO_MS 3000 /* a QEMU that has just ended may still be closing its group */
#define POLL_MS       100

static void
journal_free(gpointer data)
{
    np_journal_free(data);
}

NpRun *
np_run_new(const NpApply *apply, const NpVm *vm)
{
    NpRun *run = g_new0(NpRun, 1);
    run->apply = apply;
    run->vm = vm;
    run->pfs = g_array_new(FALSE, FALSE, sizeof(NpBdf));
    run->locks = g_array_new(FALSE, FALSE, sizeof(int));
    run->journals = g_ptr_array_new_with_free_func(journal_free);
    run->nics = g_array_new(FALSE, FALSE, sizeof(unsigned));
    run->stuck = g_ptr_array_new_with_free_func(g_free);
    return run;
}

void
np_run_free(NpRun *run)
{
    if (!run)
        return;
    for (guint i = 0; i < run->locks->len; i++)
        np_fd_clear(&g_array_index(run->locks, int, i));
    g_array_unref(run->locks);
    g_array_unref(run->pfs);
    g_ptr_array_unref(run->journals);
    g_array_unref(run->nics);
    g_ptr_array_unref(run->stuck);
    g_free(run);
}

void
np_run_warn(const NpApply *apply, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(apply->warnings, g_strdup_vprintf(format, args));
    va_end(args);
}

bool
np_run_lock(NpRun *run, const NpBdf *pf, GError **error)
{
    for (guint i = 0; i < run->pfs->len; i++)
        if (np_bdf_equal(&g_array_index(run->pfs, NpBdf, i), pf))
            return true;
    int fd = np_lock_pf(run->apply->run_dir, pf, run->apply->lock_timeout_ms, error);
    if (fd < 0)
        return false;
    g_array_append_val(run->pfs, *pf);
    g_array_append_val(run->locks, fd);
    return true;
}

bool
np_look_take(NpLook *look, const NpApply *apply, GError **error)
{
    np_look_clear(look);
    if (!apply->sys->scan(apply->sys, &look->inventory, error))
        return false;
    look->leases = np_leases_list(apply->sys, apply->run_dir, error);
    look->world = (NpWorld){look->inventory, apply->config, look->leases};
    return look->leases != NULL;
}

void
np_look_clear(NpLook *look)
{
    g_clear_pointer(&look->inventory, np_inventory_free);
    g_clear_pointer(&look->leases, g_ptr_array_unref);
}

static NpVfioState
vfio_state(NpSys *sys, const NpBdf *bdf)
{
    NpVfioState state;
    bool viable;
    return sys->probe_vfio(sys, bdf, &state, &viable) == 0 ? state : NP_VFIO_NONE;
}

/* A function that a process holds cannot be taken back: unbinding it would block until the process
 * is gone, inside the kernel. */
static bool
wait_until_free(NpSys *sys, const NpLease *lease, GError **error)
{
    int64_t deadline_ms = sys->now_ms(sys) + LETTING_GO_MS;
    while (vfio_state(sys, &lease->bdf) == NP_VFIO_BUSY) {
        char bdf[NP_BDF_TEXT_SIZE];
        g_autofree char *whose = np_lease_describe(lease);
        if (sys->now_ms(sys) >= deadline_ms)
            return np_throw(error, NP_ERROR_BUSY, "%s: a process still has %s open", whose,
                            np_bdf_format(&lease->bdf, bdf));
        sys->sleep_ms(sys, POLL_MS);
    }
    return true;
}

bool
np_run_end_lease(NpRun *run, const char *id, GError **error)
{
    NpSys *sys = run->apply->sys;
    g_autoptr(GError) problem = NULL;
    g_autoptr(NpJournal) journal = np_leases_open(run->apply->run_dir, id, &problem);
    if (g_error_matches(problem, NP_ERROR, NP_ERROR_NOT_FOUND))
        return true;
    if (!journal) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    g_autoptr(NpLease) lease = np_lease_from_json(np_journal_header(journal), error);
    return lease && wait_until_free(sys, lease, error) &&
           np_run_undo(sys, journal, run->apply->warnings, error) &&
           np_journal_remove(journal, error);
}

/* Whether a lease, or a process without one, still needs the PF as it is. */
static bool
is_needed(NpRun *run, const NpBdf *pf, bool *ret_needed, GError **error)
{
    NpSys *sys = run->apply->sys;
    char bdf[NP_BDF_TEXT_SIZE];
    g_autoptr(GPtrArray) leases = np_leases_list(sys, run->apply->run_dir, error);
    if (!leases)
        return false;
    *ret_needed = true;
    for (guint i = 0; i < leases->len; i++)
        if (np_bdf_equal(&((const NpLease *) g_ptr_array_index(leases, i))->pf, pf))
            return true;
    g_autofree char *folder = g_strconcat("bus/pci/devices/", np_bdf_format(pf, bdf), NULL);
    g_autoptr(GPtrArray) names = NULL;
    *ret_needed = false;
    if (sys->list(sys, folder, &names) < 0)
        return true; /* the PF is gone, and its VFs with it */
    for (guint i = 0; i < names->len && !*ret_needed; i++) {
        const char *name = g_ptr_array_index(names, i);
        g_autofree char *path = g_strdup_printf("%s/%s", folder, name);
        g_autofree char *target = NULL;
        NpBdf vf;
        *ret_needed = g_str_has_prefix(name, "virtfn") && sys->readlink(sys, path, &target) == 0 &&
                      np_parse_bdf(target, &vf, NULL) && vfio_state(sys, &vf) == NP_VFIO_BUSY;
    }
    return true;
}

bool
np_run_settle_pf(NpRun *run, const NpBdf *pf, GError **error)
{
    g_autoptr(GError) problem = NULL;
    bool needed;
    if (!is_needed(run, pf, &needed, error))
        return false;
    if (needed)
        return true;
    g_autoptr(NpJournal) journal = np_leases_open_pf(run->apply->run_dir, pf, false, &problem);
    if (g_error_matches(problem, NP_ERROR, NP_ERROR_NOT_FOUND))
        return true;
    if (!journal) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    return np_run_undo(run->apply->sys, journal, run->apply->warnings, error) &&
           np_journal_remove(journal, error);
}
