/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Journal: an append-only file of changes, each on disk before it is made.
 */
#pragma once

#include "lib/base/json.h"
#include "lib/plan/op.h"

/* A file of JSON lines: first a header, then
 *   {"change": N, op, role, object, pf, vf, attribute, old, new}   about to be made
 *   {"undone": N}                                                   read back as it was before
 *   {"mark": "ready", ...}                                          anything the owner notes
 * Every append is fsynced. A last line without its newline, left by a crash, does not count and is
 * cut off at the next append. */
typedef struct NpJournal NpJournal;

/* Creates a file that must not exist; the folder is fsynced too. On return the header is on disk.
 * Throws IO, or BUSY when it exists. */
NpJournal *np_journal_create(const char *path, const json_t *header, GError **error);

/* Opens an existing file. NOT_FOUND when there is none, or when not even the header is complete:
 * then nothing was done yet either. PROTOCOL ("file:line: ...") when a line other than the last is
 * unreadable. */
NpJournal *np_journal_open(const char *path, GError **error);
void np_journal_free(NpJournal *journal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpJournal, np_journal_free)

/* Reads text as a journal's content, for tests and the fuzzer. Pure; such a journal takes no
 * appends. */
NpJournal *np_journal_parse(const char *name, const char *text, size_t size, GError **error);

const json_t *np_journal_header(const NpJournal *journal);

/* Marks in order (array of objects, owned by journal). */
const json_t *np_journal_marks(const NpJournal *journal);

/* The changes not yet undone, oldest first (of const NpChange *, owned by journal; transfer
 * container). ret_numbers (nullable): their numbers, of unsigned. */
GPtrArray *np_journal_open_changes(const NpJournal *journal, GArray **ret_numbers);

/* All changes ever made, oldest first, for tests and `status`. */
GPtrArray *np_journal_all_changes(const NpJournal *journal);

/* Appends changes with one fsync, before any of them is made. old_value must be set. */
bool np_journal_append(NpJournal *journal, const NpChange *const *changes, GError **error);
bool np_journal_undone(NpJournal *journal, unsigned number, GError **error);
bool np_journal_mark(NpJournal *journal, const json_t *mark, GError **error);

/* Removes the file and fsyncs the folder. */
bool np_journal_remove(NpJournal *journal, GError **error);
