/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Key files: values, positions in every error, overrides.
 */
#include <string.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "lib/base/keyfile.h"

static const char *const allowed[] = {"window", "warmup", "streams", NULL};

static NpKeyfile *
parse(const char *text)
{
    g_autoptr(GError) error = NULL;
    NpKeyfile *file = np_keyfile_parse("f", text, &error);
    g_assert_no_error(error);
    return file;
}

static void
test_values_are_found_by_group_and_key(void)
{
    g_autoptr(NpKeyfile) file = parse("# comment\n\n [ b c ] \n  window =  5 s  \nempty=\r\n"
                                      "eq = a=b # no comment\nkey[de] = x\n[a]\nwindow=2");
    g_assert_cmpstr(np_keyfile_get(file, " b c ", "window"), ==, "5 s");
    g_assert_cmpstr(np_keyfile_get(file, " b c ", "empty"), ==, "");
    g_assert_cmpstr(np_keyfile_get(file, " b c ", "eq"), ==, "a=b # no comment");
    g_assert_cmpstr(np_keyfile_get(file, " b c ", "key[de]"), ==, "x");
    g_assert_cmpstr(np_keyfile_get(file, "a", "window"), ==, "2");
    g_assert_null(np_keyfile_get(file, "a", "eq"));
    g_assert_null(np_keyfile_get(file, "nowhere", "window"));
    g_assert_true(np_keyfile_has_group(file, "a"));
    g_assert_false(np_keyfile_has_group(file, "c"));
    const char *const *groups = np_keyfile_groups(file);
    g_assert_cmpstr(groups[0], ==, " b c "); /* in the file's order */
    g_assert_cmpstr(groups[1], ==, "a");
    g_assert_null(groups[2]);
}

static void
test_an_empty_text_has_no_groups(void)
{
    static const char *const texts[] = {"", "\n\n", "# only this", "   \t\r\n"};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(NpKeyfile) file = parse(texts[i]);
        g_assert_null(np_keyfile_groups(file)[0]);
    }
}

static void
test_every_error_names_its_line(void)
{
    static const struct {
        const char *text, *start, *part;
    } rows[] = {
        {"[a]\nx=1\nnonsense\ny=2\n", "f:3: ", "expected"},
        {"x=1\n[a]\n", "f:1: ", "expected"},
        {"# c\n\n[a]\n= 1\n[b]\n", "f:4: ", "expected"},
        {"[a]\n[b\nx=1\n", "f:2: ", "expected"},
        {"[a]\n[]\nx=1\n", "f:2: ", "expected"},
        {"[a]\n[b]c]\nx=1\n", "f:2: ", "expected"},
        {"[a]\n[b] c\nx=1\n", "f:2: ", "expected"},
        {"[\nx=1\n", "f:1: ", "expected"},
        {"[a]\nx\001=1\ny=1\n", "f:2: ", "expected"},
        {"[a\001]\ny=1\n", "f:1: ", "expected"},
        {"[a]\nx=1\n\nx=2\ny=1\n", "f:4: ", "key 'x' is given twice"},
        {"[a]\nx=1\n[b]\n\n[a]\ny=1\n", "f:5: ", "group [a] is given twice"},
        {"[a]\r\nx=1\r\nx=2\r\n", "f:3: ", "key 'x' is given twice"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(np_keyfile_parse("f", rows[i].text, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
        g_test_message("%s", error->message);
        g_assert_true(g_str_has_prefix(error->message, rows[i].start));
        g_assert_nonnull(strstr(error->message, rows[i].part));
        for (const char *byte = error->message; *byte; byte++)
            g_assert_false(g_ascii_iscntrl(*byte));
    }
}

static void
test_the_same_key_in_two_groups_is_fine(void)
{
    g_autoptr(NpKeyfile) file = parse("[a]\nx=1\n[ab]\nx=2\n");
    g_assert_cmpstr(np_keyfile_get(file, "a", "x"), ==, "1");
    g_assert_cmpstr(np_keyfile_get(file, "ab", "x"), ==, "2");
}

static void
test_unknown_keys_are_refused_with_the_nearest(void)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"[a]\nwindow=1\nwindw=2\n", "f:3: key 'windw': unknown key; did you mean 'window'?"},
        {"[a]\n\ncolour=2\n", "f:3: key 'colour': unknown key; [a] takes window, warmup, streams"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(NpKeyfile) file = parse(rows[i].text);
        g_autoptr(GError) error = NULL;
        g_assert_false(np_keyfile_check_keys(file, "a", allowed, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
        g_assert_cmpstr(error->message, ==, rows[i].message);
    }
    g_autoptr(NpKeyfile) file = parse("[a]\nwindow=1\n[b]\ncolour=2\n");
    g_assert_true(np_keyfile_check_keys(file, "a", allowed, NULL)); /* another group's */
    g_assert_true(np_keyfile_check_keys(file, "missing", allowed, NULL));
}

static void
test_an_override_replaces_and_is_blamed(void)
{
    g_autoptr(NpKeyfile) file = parse("[a]\nwindow=1\n");
    np_keyfile_override(file, "a", "window", " 7 ", "--set a.window=7");
    np_keyfile_override(file, "new", "x", "1", "--set new.x=1");
    g_assert_cmpstr(np_keyfile_get(file, "a", "window"), ==, "7");
    g_assert_cmpstr(np_keyfile_get(file, "new", "x"), ==, "1");
    g_assert_cmpstr(np_keyfile_groups(file)[1], ==, "new");
    g_autoptr(GError) first = NULL, second = NULL, third = NULL;
    g_assert_false(np_keyfile_throw(file, "a", "window", &first, "%d is too much", 7));
    g_assert_error(first, NP_ERROR, NP_ERROR_CONFIG);
    g_assert_cmpstr(first->message, ==, "--set a.window=7: key 'window': 7 is too much");
    g_assert_false(np_keyfile_check_keys(file, "new", allowed, &second));
    g_assert_true(g_str_has_prefix(second->message, "--set new.x=1: key 'x': unknown key"));
    g_assert_false(np_keyfile_throw(file, "new", NULL, &third, "no such group"));
    g_assert_cmpstr(third->message, ==, "--set new.x=1: no such group");
}

static void
test_a_prefix_names_key_group_or_file(void)
{
    g_autoptr(NpKeyfile) file = parse("\n[a]\nwindow=1\n");
    static const struct {
        const char *group, *key, *message;
    } rows[] = {
        {"a", "window", "f:3: key 'window': bad"},
        {"a", NULL, "f:2: bad"},
        {"a", "missing", "f: key 'missing': bad"},
        {"missing", NULL, "f: bad"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = g_error_new(NP_ERROR, NP_ERROR_BUSY, "bad");
        g_assert_false(np_keyfile_prefix(file, rows[i].group, rows[i].key, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_BUSY); /* the code stays */
        g_assert_cmpstr(error->message, ==, rows[i].message);
    }
    g_assert_false(np_keyfile_prefix(file, "a", "window", NULL));
}

static void
test_files_are_text_of_bounded_size(void)
{
    g_autofree char *dir = g_dir_make_tmp("nicpass-test-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "file", NULL);
    g_autofree char *large = g_strnfill(1024 * 1024 + 1, '#');
    const struct {
        const char *text;
        size_t size;
        NpError code;
        const char *part;
    } rows[] = {
        {"[a]\nx=\xff\n", 8, NP_ERROR_CONFIG, "UTF-8"},
        {"[a]\nx=\0y\n", 9, NP_ERROR_CONFIG, "not a text file"},
        {large, 1024 * 1024 + 1, NP_ERROR_CONFIG, "1048576"},
    };
    g_autoptr(GError) missing = NULL;
    g_assert_null(np_keyfile_load(path, &missing));
    g_assert_error(missing, NP_ERROR, NP_ERROR_NOT_FOUND);
    g_assert_nonnull(strstr(missing->message, path));
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_true(g_file_set_contents(path, rows[i].text, (gssize) rows[i].size, NULL));
        g_assert_null(np_keyfile_load(path, &error));
        g_assert_error(error, NP_ERROR, (int) rows[i].code);
        g_assert_true(g_str_has_prefix(error->message, path));
        g_assert_nonnull(strstr(error->message, rows[i].part));
    }
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_set_contents(path, "[a]\nx=\xc3\xa4\n", -1, NULL));
    g_autoptr(NpKeyfile) file = np_keyfile_load(path, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(np_keyfile_get(file, "a", "x"), ==, "\xc3\xa4");
    g_assert_cmpint(unlink(path) | rmdir(dir), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/keyfile/values-are-found-by-group-and-key",
                    test_values_are_found_by_group_and_key);
    g_test_add_func("/keyfile/an-empty-text-has-no-groups", test_an_empty_text_has_no_groups);
    g_test_add_func("/keyfile/every-error-names-its-line", test_every_error_names_its_line);
    g_test_add_func("/keyfile/the-same-key-in-two-groups-is-fine",
                    test_the_same_key_in_two_groups_is_fine);
    g_test_add_func("/keyfile/unknown-keys-are-refused-with-the-nearest",
                    test_unknown_keys_are_refused_with_the_nearest);
    g_test_add_func("/keyfile/an-override-replaces-and-is-blamed",
                    test_an_override_replaces_and_is_blamed);
    g_test_add_func("/keyfile/a-prefix-names-key-group-or-file",
                    test_a_prefix_names_key_group_or_file);
    g_test_add_func("/keyfile/files-are-text-of-bounded-size", test_files_are_text_of_bounded_size);
    return g_test_run();
}
