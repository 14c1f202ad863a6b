/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Journal: see journal.h.
 */
#include "lib/apply/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "lib/base/fd.h"

#define FILE_MAX   (4 * 1024 * 1024)
#define NUMBER_MAX 1000000
#define VALUE_MAX  4096

typedef struct {
    unsigned number;
    bool undone;
    NpChange change;
} Entry;

struct NpJournal {
    char *path;
    int fd;      /* -1 when it takes no appends */
    size_t size; /* of the complete lines */
    json_t *header;
    json_t *marks;
    GPtrArray *entries; /* of Entry */
};

static void
entry_free(gpointer data)
{
    Entry *entry = data;
    np_change_clear(&entry->change);
    g_free(entry);
}

static NpJournal *
journal_new(const char *path)
{
    NpJournal *journal = g_new0(NpJournal, 1);
    journal->path = g_strdup(path);
    journal->fd = -1;
    journal->marks = json_array();
    journal->entries = g_ptr_array_new_with_free_func(entry_free);
    return journal;
}

void
np_journal_free(NpJournal *journal)
{
    if (!journal)
        return;
    np_fd_clear(&journal->fd);
    g_free(journal->path);
    json_decref(journal->header);
    json_decref(journal->marks);
    g_ptr_array_unref(journal->entries);
    g_free(journal);
}

static Entry *
find(const NpJournal *journal, int64_t number)
{
    for (guint i = 0; i < journal->entries->len; i++) {
        Entry *entry = g_ptr_array_index(journal->entries, i);
        if (entry->number == number)
            return entry;
    }
    return NULL;
}

static bool
take_change(NpJournal *journal, const json_t *object, GError **error)
{
    static const NpJsonField fields[] = {
        {"change", NP_JSON_INT, true, 1, NUMBER_MAX},
        {"op", NP_JSON_STRING, true, 1, 32},
        {"role", NP_JSON_STRING, true, 1, 8},
        {"object", NP_JSON_STRING, true, 7, NP_BDF_TEXT_SIZE},
        {"pf", NP_JSON_STRING, false, 7, NP_BDF_TEXT_SIZE},
        {"vf", NP_JSON_INT, false, 0, UINT16_MAX},
        {"attribute", NP_JSON_STRING, true, 1, 32},
        {"old", NP_JSON_STRING, true, 0, VALUE_MAX},
        {"new", NP_JSON_STRING, false, 0, VALUE_MAX},
        {NULL},
    };
    NpChange change;
    if (!np_json_check(object, fields, error))
        return false;
    int64_t number = np_json_int(object, "change", 0);
    if (number != (int64_t) journal->entries->len + 1)
        return np_throw(error, NP_ERROR_PROTOCOL, "change %d follows change %u", (int) number,
                        journal->entries->len);
    if (!np_change_from_json(object, &change, error))
        return false;
    Entry *entry = g_new0(Entry, 1);
    entry->number = (unsigned) number;
    entry->change = change;
    g_ptr_array_add(journal->entries, entry);
    return true;
}

static bool
take_undone(NpJournal *journal, const json_t *object, GError **error)
{
    static const NpJsonField fields[] = {{"undone", NP_JSON_INT, true, 1, NUMBER_MAX}, {NULL}};
    if (!np_json_check(object, fields, error))
        return false;
    Entry *entry = find(journal, np_json_int(object, "undone", 0));
    if (!entry || entry->undone)
        return np_throw(error, NP_ERROR_PROTOCOL, "undone, but no such change is open");
    entry->undone = true;
    return true;
}

static bool
take_line(NpJournal *journal, const char *line, size_t length, GError **error)
{
    g_autoptr(json_t) object = np_json_parse_object(line, length, error);
    if (!object)
        return false;
    if (!journal->header)
        journal->header = json_incref(object);
    else if (json_object_get(object, "change"))
        return take_change(journal, object, error);
    else if (json_object_get(object, "undone"))
        return take_undone(journal, object, error);
    else if (json_is_string(json_object_get(object, "mark")))
        json_array_append(journal->marks, object);
    else
        return np_throw(error, NP_ERROR_PROTOCOL, "neither change, undone nor mark");
    return true;
}

NpJournal *
np_journal_parse(const char *name, const char *text, size_t size, GError **error)
{
    g_autoptr(NpJournal) journal = journal_new(name);
    unsigned number = 1;
    for (const char *end; (end = memchr(text + journal->size, '\n', size - journal->size));
         number++) {
        const char *line = text + journal->size;
        if (!take_line(journal, line, (size_t) (end - line), error)) {
            g_prefix_error(error, "%s:%u: ", name, number);
            if (error)
                (*error)->code = NP_ERROR_PROTOCOL; /* whatever a value's parser called it */
            return NULL;
        }
        journal->size = (size_t) (end + 1 - text);
    }
    if (!journal->header) {
        np_throw(error, NP_ERROR_NOT_FOUND, "%s: not begun", name);
        return NULL;
    }
    return g_steal_pointer(&journal);
}

NpJournal *
np_journal_open(const char *path, GError **error)
{
    np_autofd int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        np_throw_errno(error, errno, "%s", path);
        return NULL;
    }
    g_autofree char *text = NULL;
    size_t size;
    if (!np_fd_read_all(fd, FILE_MAX, &text, &size, error)) {
        g_prefix_error(error, "%s: ", path);
        return NULL;
    }
    NpJournal *journal = np_journal_parse(path, text, size, error);
    if (journal)
        journal->fd = np_fd_steal(&fd);
    return journal;
}

static bool
sync_folder(const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    np_autofd int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
        return np_throw_errno(error, errno, "%s", folder);
    return true;
}

/* Writes complete lines at the end of what is complete, and waits until they are on disk. */
static bool
append(NpJournal *journal, const char *lines, GError **error)
{
    size_t size = strlen(lines);
    g_return_val_if_fail(journal->fd >= 0, false);
    if (ftruncate(journal->fd, (off_t) journal->size) < 0 ||
        lseek(journal->fd, (off_t) journal->size, SEEK_SET) < 0)
        return np_throw_errno(error, errno, "%s", journal->path);
    if (!np_fd_write_all(journal->fd, lines, size, error)) {
        g_prefix_error(error, "%s: ", journal->path);
        return false;
    }
    if (fdatasync(journal->fd) < 0)
        return np_throw_errno(error, errno, "%s", journal->path);
    journal->size += size;
    return true;
}

static bool
append_object(NpJournal *journal, const json_t *object, GError **error)
{
    g_autofree char *line = np_json_line(object);
    g_autofree char *text = g_strconcat(line, "\n", NULL);
    return append(journal, text, error);
}

/* The file gets its name once its header is on disk, so that no other process ever meets it without
 * one; what a crash leaves is a name with a pid behind, which nobody reads. */
NpJournal *
np_journal_create(const char *path, const json_t *header, GError **error)
{
    g_autoptr(NpJournal) journal = journal_new(path);
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *draft = g_strdup_printf("%s.%d", path, (int) getpid());
    if (g_mkdir_with_parents(folder, 0700) < 0) {
        np_throw_errno(error, errno, "%s", folder);
        return NULL;
    }
    journal->fd = open(draft, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (journal->fd < 0) {
        np_throw_errno(error, errno, "%s", draft);
        return NULL;
    }
    journal->header = json_deep_copy(header);
    bool done = append_object(journal, header, error);
    if (done && link(draft, path) < 0)
        done = np_throw_errno(error, errno == EEXIST ? EBUSY : errno, "%s", path);
    if (unlink(draft) < 0 && done)
        done = np_throw_errno(error, errno, "%s", draft);
    return done && sync_folder(path, error) ? g_steal_pointer(&journal) : NULL;
}

const json_t *
np_journal_header(const NpJournal *journal)
{
    return journal->header;
}

const json_t *
np_journal_marks(const NpJournal *journal)
{
    return journal->marks;
}

GPtrArray *
np_journal_open_changes(const NpJournal *journal, GArray **ret_numbers)
{
    GPtrArray *changes = g_ptr_array_new();
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(unsigned));
    for (guint i = 0; i < journal->entries->len; i++) {
        Entry *entry = g_ptr_array_index(journal->entries, i);
        if (entry->undone)
            continue;
        g_ptr_array_add(changes, &entry->change);
        g_array_append_val(numbers, entry->number);
    }
    if (ret_numbers)
        *ret_numbers = g_steal_pointer(&numbers);
    g_clear_pointer(&numbers, g_array_unref);
    return changes;
}

GPtrArray *
np_journal_all_changes(const NpJournal *journal)
{
    GPtrArray *changes = g_ptr_array_new();
    for (guint i = 0; i < journal->entries->len; i++)
        g_ptr_array_add(changes, &((Entry *) g_ptr_array_index(journal->entries, i))->change);
    return changes;
}

bool
np_journal_append(NpJournal *journal, const NpChange *const *changes, GError **error)
{
    g_autoptr(GString) lines = g_string_new(NULL);
    g_autoptr(GPtrArray) added = g_ptr_array_new_with_free_func(entry_free);
    for (; *changes; changes++) {
        g_return_val_if_fail((*changes)->old_value, false);
        Entry *entry = g_new0(Entry, 1);
        entry->number = journal->entries->len + added->len + 1;
        np_change_copy(&entry->change, *changes);
        g_ptr_array_add(added, entry);
        g_autoptr(json_t) object = json_pack("{s:i}", "change", (int) entry->number);
        g_autoptr(json_t) rest = np_change_to_json(*changes);
        json_object_update(object, rest);
        g_autofree char *line = np_json_line(object);
        g_string_append_printf(lines, "%s\n", line);
    }
    if (!append(journal, lines->str, error))
        return false;
    g_ptr_array_extend_and_steal(journal->entries, g_steal_pointer(&added));
    return true;
}

bool
np_journal_undone(NpJournal *journal, unsigned number, GError **error)
{
    Entry *entry = find(journal, number);
    g_return_val_if_fail(entry && !entry->undone, false);
    g_autoptr(json_t) object = json_pack("{s:i}", "undone", (int) number);
    if (!append_object(journal, object, error))
        return false;
    entry->undone = true;
    return true;
}

bool
np_journal_mark(NpJournal *journal, const json_t *mark, GError **error)
{
    if (!append_object(journal, mark, error))
        return false;
    g_autoptr(json_t) copy = json_deep_copy(mark);
    json_array_append(journal->marks, copy);
    return true;
}

bool
np_journal_remove(NpJournal *journal, GError **error)
{
    if (unlink(journal->path) < 0)
        return np_throw_errno(error, errno, "%s", journal->path);
    return sync_folder(journal->path, error);
}
