/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Undo: a journal, backwards. There is no undo code for any one operation. See run.h.
 */
#include "lib/apply/attr.h"
#include "lib/apply/run.h"
#include "lib/base/error.h"

#define NETDEV_MS 10000 /* a netdev comes a moment after its driver was bound */
#define POLL_MS   100

/* What one pass over a journal carries along. */
typedef struct {
    NpSys *sys;
    NpJournal *journal;
    GPtrArray *warnings;
    GPtrArray *changes; /* newest first */
    GArray *numbers;    /* parallel */
    char **failures;    /* parallel: why it could not be put back, or NULL */
} Undo;

static const NpChange *
change_at(const Undo *undo, guint i)
{
    return g_ptr_array_index(undo->changes, i);
}

static void
fail(Undo *undo, guint i, GError **problem)
{
    const NpChange *change = change_at(undo, i);
    char bdf[NP_BDF_TEXT_SIZE];
    g_free(undo->failures[i]);
    undo->failures[i] = g_strdup_printf("%s of %s to '%s': %s", np_attr_name(change->attr),
                                        np_bdf_format(&change->object, bdf), change->old_value,
                                        (*problem)->message);
    g_clear_error(problem);
}

static void
close_change(Undo *undo, guint i)
{
    g_autoptr(GError) problem = NULL;
    g_clear_pointer(&undo->failures[i], g_free);
    if (!np_journal_undone(undo->journal, g_array_index(undo->numbers, unsigned, i), &problem))
        fail(undo, i, &problem);
}

/* The value before change i is back. What could not be put back of later changes to the same
 * attribute is of no interest any more; done now, it would be wrong. */
static void
mark_undone(Undo *undo, guint i)
{
    const NpChange *change = change_at(undo, i);
    for (guint newer = 0; newer < i; newer++) {
        const NpChange *other = change_at(undo, newer);
        if (undo->failures[newer] && other->attr == change->attr &&
            np_bdf_equal(&other->object, &change->object))
            close_change(undo, newer);
    }
    close_change(undo, i);
}

static bool
has_driver(NpSys *sys, const NpChange *change)
{
    NpChange driver = {.object = change->object, .attr = NP_ATTR_DRIVER};
    g_autofree char *name = np_attr_read(sys, &driver, NULL);
    return name && *name;
}

/* The present value; waits for a netdev that is about to come. */
static char *
read_now(NpSys *sys, const NpChange *change, GError **error)
{
    int64_t deadline_ms = sys->now_ms(sys) + NETDEV_MS;
    for (;;) {
        g_autoptr(GError) problem = NULL;
        char *now = np_attr_read(sys, change, &problem);
        bool wait = g_error_matches(problem, NP_ERROR, NP_ERROR_NOT_FOUND) &&
                    change->attr >= NP_ATTR_NET_UP && has_driver(sys, change) &&
                    sys->now_ms(sys) < deadline_ms;
        if (!wait) {
            if (problem)
                g_propagate_error(error, g_steal_pointer(&problem));
            return now;
        }
        sys->sleep_ms(sys, POLL_MS);
    }
}

/* Whether the function itself is gone: then its settings went with it. */
static bool
is_gone(NpSys *sys, const NpChange *change)
{
    NpChange driver = {.object = change->object, .attr = NP_ATTR_DRIVER};
    g_autoptr(GError) problem = NULL;
    g_free(np_attr_read(sys, &driver, &problem));
    return g_error_matches(problem, NP_ERROR, NP_ERROR_NOT_FOUND);
}

/* Settles a change that needs no write: already as it was, sticky, or its object is gone. */
static bool
settle(Undo *undo, guint i, bool *ret_failed)
{
    const NpChange *change = change_at(undo, i);
    g_autoptr(GError) problem = NULL;
    *ret_failed = false;
    if (np_op_info(change->kind)->sticky) {
        mark_undone(undo, i);
        return true;
    }
    g_autofree char *now = read_now(undo->sys, change, &problem);
    if (now && g_strcmp0(now, change->old_value) != 0)
        return false;
    if (now || is_gone(undo->sys, change)) {
        char bdf[NP_BDF_TEXT_SIZE];
        if (!now)
            g_ptr_array_add(undo->warnings, g_strdup_printf("%s is gone, and its %s with it",
                                                            np_bdf_format(&change->object, bdf),
                                                            np_attr_name(change->attr)));
        mark_undone(undo, i);
        return true;
    }
    *ret_failed = true;
    fail(undo, i, &problem);
    return true;
}

/* A second try costs little, and what stays undone may spoil what comes after it. */
static void
put_back(Undo *undo, guint i)
{
    const NpChange *change = change_at(undo, i);
    g_autoptr(GError) problem = NULL;
    bool failed;
    if (settle(undo, i, &failed))
        return;
    bool done = np_attr_write(undo->sys, change, change->old_value, NULL);
    if (!done) {
        undo->sys->sleep_ms(undo->sys, POLL_MS);
        done = np_attr_write(undo->sys, change, change->old_value, &problem);
    }
    if (done)
        mark_undone(undo, i);
    else
        fail(undo, i, &problem);
}

/* How many changes from i on are attributes of one VF, each once: they go out together. */
static guint
run_length(const Undo *undo, guint i)
{
    unsigned seen = 0;
    guint count = 0;
    for (; i + count < undo->changes->len; count++) {
        const NpChange *change = change_at(undo, i + count);
        unsigned field = np_attr_vf_field(change->attr);
        if (!field || seen & field || !np_bdf_equal(&change->object, &change_at(undo, i)->object))
            break;
        seen |= field;
    }
    return MAX(count, 1);
}

/* Tries one request for all that differ; those that are left after a failure are tried alone. */
static void
put_back_vf(Undo *undo, guint from, guint count)
{
    g_autoptr(GPtrArray) changes = g_ptr_array_new();
    g_autoptr(GPtrArray) values = g_ptr_array_new();
    g_autoptr(GArray) indices = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = from; i < from + count; i++) {
        bool failed;
        if (settle(undo, i, &failed))
            continue;
        g_ptr_array_add(changes, g_ptr_array_index(undo->changes, i));
        g_ptr_array_add(values, change_at(undo, i)->old_value);
        g_array_append_val(indices, i);
    }
    if (indices->len == 0)
        return;
    g_ptr_array_add(changes, NULL);
    bool done = np_attr_write_vf(undo->sys, (const NpChange *const *) changes->pdata,
                                 (const char *const *) values->pdata, NULL);
    for (guint i = 0; i < indices->len; i++) {
        if (done)
            mark_undone(undo, g_array_index(indices, guint, i));
        else
            put_back(undo, g_array_index(indices, guint, i));
    }
}

static void
reverse(GPtrArray *changes, GArray *numbers)
{
    for (guint i = 0, j = changes->len; i + 1 < j; i++) {
        j--;
        gpointer change = changes->pdata[i];
        unsigned number = g_array_index(numbers, unsigned, i);
        changes->pdata[i] = changes->pdata[j];
        changes->pdata[j] = change;
        g_array_index(numbers, unsigned, i) = g_array_index(numbers, unsigned, j);
        g_array_index(numbers, unsigned, j) = number;
    }
}

bool
np_run_undo(NpSys *sys, NpJournal *journal, GPtrArray *warnings, GError **error)
{
    g_autoptr(GArray) numbers = NULL;
    g_autoptr(GPtrArray) changes = np_journal_open_changes(journal, &numbers);
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree char **failures = g_new0(char *, changes->len + 1);
    reverse(changes, numbers);
    Undo undo = {sys, journal, warnings, changes, numbers, failures};
    for (guint i = 0; i < changes->len;) {
        guint count = run_length(&undo, i);
        if (count > 1)
            put_back_vf(&undo, i, count);
        else
            put_back(&undo, i);
        /* What is older was set, or saved, for the sake of the driver that could not be put back:
         * the MAC held for it would be lost on it now. */
        if (failures[i] && change_at(&undo, i)->attr == NP_ATTR_DRIVER)
            break;
        i += count;
    }
    for (guint i = 0; i < changes->len; i++) {
        if (failures[i])
            g_string_append_printf(text, "%s%s", text->len ? "; " : "", failures[i]);
        g_free(failures[i]);
    }
    if (text->len == 0)
        return true;
    return np_throw(error, NP_ERROR_ROLLBACK_FAILED, "could not put back %s", text->str);
}
