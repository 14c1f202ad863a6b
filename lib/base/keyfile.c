/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Key files with positions: see keyfile.h.
 */
#include "lib/base/keyfile.h"

#include <string.h>

#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/base/parse.h"

#define FILE_MAX (1024 * 1024)

typedef struct {
    char *value;  /* NULL for a group itself */
    char *origin; /* "name:line" or what np_keyfile_override was told */
} Entry;

struct NpKeyfile {
    char *name;
    GPtrArray *groups;   /* char *, NULL-terminated */
    GHashTable *entries; /* "group\nkey" ("group\n" for the group) -> Entry */
};

static void
entry_free(gpointer data)
{
    Entry *entry = data;
    g_free(entry->value);
    g_free(entry->origin);
    g_free(entry);
}

void
np_keyfile_free(NpKeyfile *file)
{
    if (!file)
        return;
    g_free(file->name);
    g_ptr_array_unref(file->groups);
    g_hash_table_unref(file->entries);
    g_free(file);
}

static char *
entry_id(const char *group, const char *key)
{
    return g_strdup_printf("%s\n%s", group, key ? key : "");
}

static Entry *
entry_find(const NpKeyfile *file, const char *group, const char *key)
{
    g_autofree char *id = entry_id(group, key);
    return g_hash_table_lookup(file->entries, id);
}

static void
entry_put(NpKeyfile *file, const char *group, const char *key, const char *value, char *origin)
{
    Entry *entry = g_new0(Entry, 1);
    entry->value = g_strdup(value);
    entry->origin = origin;
    g_hash_table_replace(file->entries, entry_id(group, key), entry);
}

static void
group_add(NpKeyfile *file, const char *group, char *origin)
{
    g_ptr_array_insert(file->groups, (int) file->groups->len - 1, g_strdup(group));
    entry_put(file, group, NULL, NULL, origin);
}

/* What a line is called in errors, and what it says. */
typedef struct {
    const char *origin, *text; /* text without surrounding blanks */
} Line;

static bool
throw_syntax(const Line *line, GError **error)
{
    g_autofree char *quoted = np_quote(line->text);
    return np_throw(error, NP_ERROR_CONFIG, "%s: expected '[group]' or 'key = value', not %s",
                    line->origin, quoted);
}

/* Brackets would be taken for a group's or, as in GKeyFile, for a language's. */
static bool
is_name(const char *name)
{
    for (const char *byte = name; *byte; byte++)
        if (g_ascii_iscntrl(*byte) || strchr("[]", *byte))
            return false;
    return *name != '\0';
}

static bool
take_group(NpKeyfile *file, const Line *line, char **group, GError **error)
{
    size_t length = strlen(line->text);
    g_autofree char *name = g_strndup(line->text + 1, MAX(length, 2) - 2);
    if (line->text[length - 1] != ']' || !is_name(name))
        return throw_syntax(line, error);
    if (entry_find(file, name, NULL))
        return np_throw(error, NP_ERROR_CONFIG, "%s: group [%s] is given twice", line->origin,
                        name);
    group_add(file, name, g_strdup(line->origin));
    g_free(*group);
    *group = g_steal_pointer(&name);
    return true;
}

static bool
take_pair(NpKeyfile *file, const Line *line, const char *group, GError **error)
{
    const char *equals = strchr(line->text, '=');
    if (!equals || !group)
        return throw_syntax(line, error);
    g_autofree char *key = g_strchomp(g_strndup(line->text, (size_t) (equals - line->text)));
    g_autofree char *value = g_strchug(g_strdup(equals + 1));
    if (!is_name(key))
        return throw_syntax(line, error);
    if (entry_find(file, group, key))
        return np_throw(error, NP_ERROR_CONFIG, "%s: key '%s' is given twice", line->origin, key);
    entry_put(file, group, key, value, g_strdup(line->origin));
    return true;
}

/* Takes one line of the file; *group is the group it stands in, replaced by a group line. */
static bool
take_line(NpKeyfile *file, const char *bytes, unsigned number, char **group, GError **error)
{
    g_autofree char *text = g_strstrip(g_strdup(bytes));
    g_autofree char *origin = g_strdup_printf("%s:%u", file->name, number);
    const Line line = {origin, text};
    if (text[0] == '\0' || text[0] == '#')
        return true;
    return text[0] == '[' ? take_group(file, &line, group, error)
                          : take_pair(file, &line, *group, error);
}

NpKeyfile *
np_keyfile_parse(const char *name, const char *text, GError **error)
{
    g_autoptr(NpKeyfile) file = g_new0(NpKeyfile, 1);
    file->name = g_strdup(name);
    file->groups = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(file->groups, NULL);
    file->entries = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, entry_free);

    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autofree char *group = NULL;
    for (unsigned i = 0; lines[i]; i++)
        if (!take_line(file, lines[i], i + 1, &group, error))
            return NULL;
    return g_steal_pointer(&file);
}

NpKeyfile *
np_keyfile_load(const char *path, GError **error)
{
    g_autofree char *text = NULL;
    size_t size;
    if (!np_file_read(path, FILE_MAX, &text, &size, error))
        return NULL;
    if (strlen(text) != size || !g_utf8_validate(text, (gssize) size, NULL)) {
        np_throw(error, NP_ERROR_CONFIG, "%s: not a text file in UTF-8", path);
        return NULL;
    }
    return np_keyfile_parse(path, text, error);
}

void
np_keyfile_override(NpKeyfile *file, const char *group, const char *key, const char *value,
                    const char *origin)
{
    if (!np_keyfile_has_group(file, group))
        group_add(file, group, g_strdup(origin));
    g_autofree char *stripped = g_strstrip(g_strdup(value));
    entry_put(file, group, key, stripped, g_strdup(origin));
}

const char *const *
np_keyfile_groups(const NpKeyfile *file)
{
    return (const char *const *) file->groups->pdata;
}

bool
np_keyfile_has_group(const NpKeyfile *file, const char *group)
{
    return entry_find(file, group, NULL) != NULL;
}

const char *
np_keyfile_get(const NpKeyfile *file, const char *group, const char *key)
{
    const Entry *entry = entry_find(file, group, key);
    return entry ? entry->value : NULL;
}

const char *
np_keyfile_origin(const NpKeyfile *file, const char *group, const char *key)
{
    const Entry *entry = entry_find(file, group, key);
    return entry ? entry->origin : NULL;
}

/* The first key of the group in name order that is not allowed (owned by file), or NULL. */
static const char *
unknown_key(const NpKeyfile *file, const char *group, const char *const *allowed)
{
    const char *first = NULL;
    g_autofree char *prefix = entry_id(group, NULL);
    size_t skip = strlen(prefix);
    GHashTableIter iter;
    gpointer id;
    g_hash_table_iter_init(&iter, file->entries);
    while (g_hash_table_iter_next(&iter, &id, NULL)) {
        const char *key = (const char *) id + skip;
        if (!g_str_has_prefix(id, prefix) || *key == '\0' || g_strv_contains(allowed, key))
            continue;
        if (!first || strcmp(key, first) < 0)
            first = key;
    }
    return first;
}

bool
np_keyfile_check_keys(const NpKeyfile *file, const char *group, const char *const *allowed,
                      GError **error)
{
    const char *key = unknown_key(file, group, allowed);
    if (!key)
        return true;
    const char *near = np_nearest(key, allowed);
    if (near)
        return np_keyfile_throw(file, group, key, error, "unknown key; did you mean '%s'?", near);
    g_autofree char *all = g_strjoinv(", ", (char **) (uintptr_t) allowed);
    return np_keyfile_throw(file, group, key, error, "unknown key; [%s] takes %s", group, all);
}

bool
np_keyfile_prefix(const NpKeyfile *file, const char *group, const char *key, GError **error)
{
    const Entry *entry = entry_find(file, group, key);
    const char *origin = entry ? entry->origin : file->name;
    if (key)
        g_prefix_error(error, "%s: key '%s': ", origin, key);
    else
        g_prefix_error(error, "%s: ", origin);
    return false;
}

bool
np_keyfile_throw(const NpKeyfile *file, const char *group, const char *key, GError **error,
                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    np_throw(error, NP_ERROR_CONFIG, "%s", message);
    return np_keyfile_prefix(file, group, key, error);
}
