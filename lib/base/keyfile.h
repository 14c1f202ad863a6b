/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Key files with positions: the syntax of GKeyFile, which does not say where it stopped.
 */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* A key file in memory. Values come from the file, or from np_keyfile_override (the command line).
 */
typedef struct NpKeyfile NpKeyfile;

/* Reads a file of at most 1 MiB, or parses text that errors call by the given name. Throws CONFIG
 * with "name:line: what is wrong" for bad syntax, a group or key given twice, or a line outside a
 * group. */
NpKeyfile *np_keyfile_load(const char *path, GError **error);
NpKeyfile *np_keyfile_parse(const char *name, const char *text, GError **error);
void np_keyfile_free(NpKeyfile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpKeyfile, np_keyfile_free)

/* Sets or replaces a value; errors about it then say "origin" (such as "--set window=x") instead of
 * a line. The group is created when it does not exist. */
void np_keyfile_override(NpKeyfile *file, const char *group, const char *key, const char *value,
                         const char *origin);

/* The groups in file order (owned by file, NULL-terminated). */
const char *const *np_keyfile_groups(const NpKeyfile *file);

bool np_keyfile_has_group(const NpKeyfile *file, const char *group);

/* The value with surrounding blanks removed (owned by file), or NULL when the key is absent. */
const char *np_keyfile_get(const NpKeyfile *file, const char *group, const char *key);

/* "name:line" of a key, or of the group for key NULL (owned by file); NULL when it is absent. */
const char *np_keyfile_origin(const NpKeyfile *file, const char *group, const char *key);

/* Refuses any key of the group that is not in the NULL-terminated list; the message names the line
 * and the nearest allowed key, or else all of them. */
bool np_keyfile_check_keys(const NpKeyfile *file, const char *group, const char *const *allowed,
                           GError **error);

/* Puts "name:line: key 'key': " (or the origin of an override; for key NULL the group's own line)
 * before *error, which must be set or NULL, and returns false. */
bool np_keyfile_prefix(const NpKeyfile *file, const char *group, const char *key, GError **error);

/* Throws CONFIG with the same position and a message. Returns false. */
bool np_keyfile_throw(const NpKeyfile *file, const char *group, const char *key, GError **error,
                      const char *format, ...) G_GNUC_PRINTF(5, 6);
