/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of the file of records.
 */
#include <string.h>

#include <glib/gstdio.h>

#include "lib/base/error.h"
#include "lib/bench/record.h"

typedef struct {
    char *parent, *dir, *path;
} Folder;

static void
folder_set_up(Folder *folder, gconstpointer data)
{
    folder->parent = g_dir_make_tmp("nicpass-XXXXXX", NULL);
    g_assert_nonnull(folder->parent);
    folder->dir = g_build_filename(folder->parent, "a", "b", NULL);
    folder->path = g_build_filename(folder->dir, NP_RECORDS_FILE, NULL);
}

static void
folder_tear_down(Folder *folder, gconstpointer data)
{
    g_autofree char *middle = g_path_get_dirname(folder->dir);
    (void) g_unlink(folder->path); /* some tests do not make all of them */
    (void) g_rmdir(folder->dir);
    (void) g_rmdir(middle);
    g_assert_cmpint(g_rmdir(folder->parent), ==, 0);
    g_free(folder->parent);
    g_free(folder->dir);
    g_free(folder->path);
}

static void
append(NpRecords *records, const char *key, bool valid)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) record =
        json_pack("{s:i, s:s, s:i, s:b, s:{s:s, s:s}, s:f}", "schema", NP_RECORD_SCHEMA, "key", key,
                  "seed", 42, "valid", valid, "scenario", "name", "n", "digest", "d1", "x", 0.1);
    np_records_append(records, record, &error);
    g_assert_no_error(error);
}

static NpRecords *
open_records(const Folder *folder, const char *digest)
{
    g_autoptr(GError) error = NULL;
    NpRecords *records = np_records_open(folder->dir, digest, &error);
    g_assert_no_error(error);
    return records;
}

static void
put_text(const Folder *folder, const char *text)
{
    g_autofree char *old = NULL;
    g_assert_true(g_file_get_contents(folder->path, &old, NULL, NULL));
    g_autofree char *all = g_strconcat(old, text, NULL);
    g_assert_true(g_file_set_contents(folder->path, all, -1, NULL));
}

static void
test_append_and_resume(Folder *folder, gconstpointer data)
{
    g_autoptr(NpRecords) records = open_records(folder, "d1");
    g_assert_cmpuint(np_records_seed(records), ==, 0);
    append(records, "k1", true);
    append(records, "k2", false);
    g_assert_true(np_records_has_valid(records, "k1"));
    g_assert_false(np_records_has_valid(records, "k2"));
    g_clear_pointer(&records, np_records_free);

    records = open_records(folder, "d1");
    g_assert_cmpuint(np_records_seed(records), ==, 42);
    g_assert_true(np_records_has_valid(records, "k1"));
    g_assert_false(np_records_has_valid(records, "k2"));
    append(records, "k2", true);
    g_autoptr(json_t) all = np_records_read(folder->dir, NULL);
    g_assert_cmpuint(json_array_size(all), ==, 3);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(folder->path, &text, NULL, NULL));
    g_assert_nonnull(strstr(text, "\"x\":0.1}")); /* no 0.10000000000000001 */
}

static void
test_half_line_is_cut(Folder *folder, gconstpointer data)
{
    g_autoptr(NpRecords) records = open_records(folder, NULL);
    append(records, "k1", true);
    g_clear_pointer(&records, np_records_free);
    put_text(folder, "{\"schema\":1,\"key\":\"k2\",\"valid\":tr");
    g_autoptr(json_t) read = np_records_read(folder->dir, NULL);
    g_assert_cmpuint(json_array_size(read), ==, 1);
    records = open_records(folder, NULL);
    append(records, "k3", true);
    g_autoptr(json_t) after = np_records_read(folder->dir, NULL);
    g_assert_cmpuint(json_array_size(after), ==, 2);
    g_assert_cmpstr(np_json_string(json_array_get(after, 1), "key", NULL), ==, "k3");
}

static void
test_second_writer_is_refused(Folder *folder, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(NpRecords) records = open_records(folder, NULL);
    g_assert_null(np_records_open(folder->dir, NULL, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_BUSY);
    g_clear_pointer(&records, np_records_free);
    records = open_records(folder, NULL); /* free again */
}

static void
test_refused(Folder *folder, gconstpointer data)
{
    const struct {
        const char *text, *digest, *message;
    } rows[] = {
        {"", "d2", "records.jsonl:1: made by scenario 'n' with other settings"},
        {"rubbish\n", NULL, "records.jsonl:2: not a record"},
        {"\n", NULL, "records.jsonl:2: not a record"},
        {"{\"schema\":2,\"key\":\"k\"}\n", NULL, "records.jsonl:2: not a record of schema 1"},
        {"{\"schema\":1}\n", NULL, "records.jsonl:2: not a record of schema 1"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        (void) g_unlink(folder->path); /* not there the first time */
        g_autoptr(NpRecords) records = open_records(folder, NULL);
        append(records, "k1", true);
        g_clear_pointer(&records, np_records_free);
        put_text(folder, rows[i].text);
        g_assert_null(np_records_open(folder->dir, rows[i].digest, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, rows[i].message));
    }
}

static void
test_nothing_there(Folder *folder, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(np_records_read(folder->dir, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_NOT_FOUND);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*test)(Folder *folder, gconstpointer data);
    } tests[] = {
        {"/records/append-and-resume", test_append_and_resume},
        {"/records/half-line-is-cut", test_half_line_is_cut},
        {"/records/second-writer-is-refused", test_second_writer_is_refused},
        {"/records/refused", test_refused},
        {"/records/nothing-there", test_nothing_there},
    };
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add(tests[i].name, Folder, NULL, folder_set_up, tests[i].test, folder_tear_down);
    return g_test_run();
}
