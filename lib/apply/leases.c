/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Leases: see leases.h.
 */
#include "lib/apply/leases.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "lib/base/error.h"

#define SUFFIX     ".jsonl"
#define LEASES_MAX 65536

static char *
lease_path(const char *run_dir, const char *id)
{
    g_autofree char *name = g_strconcat(id, SUFFIX, NULL);
    return g_build_filename(run_dir, "leases", name, NULL);
}

/* What the marks say of a lease. */
static void
take_marks(NpLease *lease, const json_t *marks)
{
    size_t index;
    json_t *mark;
    json_array_foreach((json_t *) (uintptr_t) marks, index, mark)
    {
        const char *name = np_json_string(mark, "mark", "");
        if (strcmp(name, "ready") == 0)
            lease->ready = true;
        if (strcmp(name, "running") == 0)
            lease->qemu_pid = np_json_int(mark, "pid", 0);
    }
}

static NpLife
judge(NpSys *sys, const NpLease *lease)
{
    NpLife life = sys->vm_life(sys, lease);
    NpVfioState state = NP_VFIO_NONE;
    bool viable;
    if (life != NP_LIFE_DEAD)
        return life;
    /* No group to open is no holder either. */
    if (sys->probe_vfio(sys, &lease->bdf, &state, &viable) == 0 && state == NP_VFIO_BUSY)
        return NP_LIFE_ALIVE;
    if (!lease->ready || lease->qemu_pid != 0)
        return NP_LIFE_DEAD;
    bool starting = sys->now_ms(sys) - lease->claimed_ms < NP_LEASE_GRACE_MS;
    return starting ? NP_LIFE_ALIVE : NP_LIFE_DEAD;
}

/* One lease from its file; *ret_lease is NULL when the file is gone or never begun. */
static bool
read_lease(NpSys *sys, const char *run_dir, const char *id, NpLease **ret_lease, GError **error)
{
    g_autoptr(GError) problem = NULL;
    g_autoptr(NpJournal) journal = np_leases_open(run_dir, id, &problem);
    if (g_error_matches(problem, NP_ERROR, NP_ERROR_NOT_FOUND)) {
        *ret_lease = NULL;
        return true;
    }
    if (!journal) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    NpLease *lease = np_lease_from_json(np_journal_header(journal), error);
    if (!lease) {
        g_prefix_error(error, "lease %s: ", id);
        return false;
    }
    take_marks(lease, np_journal_marks(journal));
    lease->life = judge(sys, lease);
    *ret_lease = lease;
    return true;
}

static void
lease_free(gpointer data)
{
    np_lease_free(data);
}

static gint
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Ids of the leases, sorted; none when the folder does not exist yet. */
static bool
list_ids(const char *run_dir, GPtrArray *ids, GError **error)
{
    g_autofree char *folder = g_build_filename(run_dir, "leases", NULL);
    DIR *dir = opendir(folder);
    if (!dir)
        return errno == ENOENT || np_throw_errno(error, errno, "%s", folder);
    for (const struct dirent *entry; (entry = readdir(dir)) && ids->len < LEASES_MAX;)
        if (strlen(entry->d_name) == NP_LEASE_ID_SIZE - 1 + strlen(SUFFIX) &&
            g_str_has_suffix(entry->d_name, SUFFIX))
            g_ptr_array_add(ids, g_strndup(entry->d_name, NP_LEASE_ID_SIZE - 1));
    (void) closedir(dir); /* only read */
    g_ptr_array_sort(ids, compare_names);
    return true;
}

GPtrArray *
np_leases_list(NpSys *sys, const char *run_dir, GError **error)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) leases = g_ptr_array_new_with_free_func(lease_free);
    if (!list_ids(run_dir, ids, error))
        return NULL;
    for (guint i = 0; i < ids->len; i++) {
        NpLease *lease = NULL;
        if (!read_lease(sys, run_dir, g_ptr_array_index(ids, i), &lease, error))
            return NULL;
        if (lease)
            g_ptr_array_add(leases, lease);
    }
    return g_steal_pointer(&leases);
}

static bool
draw_id(char id[static NP_LEASE_ID_SIZE], GError **error)
{
    uint64_t random;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return np_throw_errno(error, errno, "draw a lease id");
    g_snprintf(id, NP_LEASE_ID_SIZE, "%016" G_GINT64_MODIFIER "x", random);
    return true;
}

NpJournal *
np_leases_create(NpSys *sys, const char *run_dir, NpLease *lease, GError **error)
{
    g_autoptr(GPtrArray) others = np_leases_list(sys, run_dir, error);
    if (!others || !draw_id(lease->id, error))
        return NULL;
    for (guint i = 0; i < others->len; i++) {
        const NpLease *other = g_ptr_array_index(others, i);
        if (!np_bdf_equal(&other->bdf, &lease->bdf))
            continue;
        char bdf[NP_BDF_TEXT_SIZE];
        g_autofree char *whose = np_lease_describe(other);
        np_throw(error, NP_ERROR_BUSY, "%s belongs to %s", np_bdf_format(&lease->bdf, bdf), whose);
        return NULL;
    }
    lease->claimed_ms = sys->now_ms(sys);
    g_autoptr(json_t) header = np_lease_to_json(lease);
    g_autofree char *path = lease_path(run_dir, lease->id);
    return np_journal_create(path, header, error);
}

NpJournal *
np_leases_open(const char *run_dir, const char *id, GError **error)
{
    if (!np_parse_name(id, error)) /* it becomes part of a path */
        return NULL;
    g_autofree char *path = lease_path(run_dir, id);
    return np_journal_open(path, error);
}

bool
np_leases_mark_ready(NpJournal *journal, GError **error)
{
    g_autoptr(json_t) mark = json_pack("{s:s}", "mark", "ready");
    return np_journal_mark(journal, mark, error);
}

bool
np_leases_mark_running(NpJournal *journal, int64_t qemu_pid, GError **error)
{
    g_autoptr(json_t) mark =
        json_pack("{s:s, s:I}", "mark", "running", "pid", (json_int_t) qemu_pid);
    return np_journal_mark(journal, mark, error);
}

NpJournal *
np_leases_open_pf(const char *run_dir, const NpBdf *pf, bool create, GError **error)
{
    char bdf[NP_BDF_TEXT_SIZE];
    g_autoptr(GError) problem = NULL;
    g_autofree char *name = g_strconcat(np_bdf_format(pf, bdf), SUFFIX, NULL);
    g_autofree char *path = g_build_filename(run_dir, "pf", name, NULL);
    NpJournal *journal = np_journal_open(path, &problem);
    if (journal || !create || !g_error_matches(problem, NP_ERROR, NP_ERROR_NOT_FOUND)) {
        if (problem)
            g_propagate_error(error, g_steal_pointer(&problem));
        return journal;
    }
    g_autoptr(json_t) header = json_pack("{s:s}", "pf", bdf);
    return np_journal_create(path, header, error);
}
