/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Key files: positions, repetitions, overrides, unknown keys.
 */
#include "lib/base/keyfile.h"

#include <string.h>

#include <glib/gstdio.h>

#include "lib/base/error.h"

static const char good[] = "# comment\n"
                           "\n"
                           "[scenario]\r\n"
                           "name = two words  \n"
                           "  window=30\n"
                           "empty =\n"
                           "[nic a]\n"
                           "kind = virtio = really\n";

static NpKeyfile *
parse(const char *text)
{
    g_autoptr(GError) error = NULL;
    NpKeyfile *file = np_keyfile_parse("x.ini", text, &error);
    g_assert_no_error(error);
    return file;
}

static void
groups_and_values_are_found(void)
{
    g_autoptr(NpKeyfile) file = parse(good);
    const char *const *groups = np_keyfile_groups(file);
    g_assert_cmpstr(groups[0], ==, "scenario");
    g_assert_cmpstr(groups[1], ==, "nic a");
    g_assert_null(groups[2]);
    g_assert_cmpstr(np_keyfile_get(file, "scenario", "name"), ==, "two words");
    g_assert_cmpstr(np_keyfile_get(file, "scenario", "window"), ==, "30");
    g_assert_cmpstr(np_keyfile_get(file, "scenario", "empty"), ==, "");
    g_assert_cmpstr(np_keyfile_get(file, "nic a", "kind"), ==, "virtio = really");
    g_assert_null(np_keyfile_get(file, "scenario", "kind"));
    g_assert_null(np_keyfile_get(file, "none", "kind"));
    g_assert_true(np_keyfile_has_group(file, "nic a"));
    g_assert_false(np_keyfile_has_group(file, "nic"));
    g_autoptr(NpKeyfile) nothing = parse("");
    g_assert_null(np_keyfile_groups(nothing)[0]);
}

static void
what_is_wrong_is_told_with_its_line(void)
{
    static const struct {
        const char *text, *prefix, *part;
    } rows[] = {
        {"[a]\nx = 1\nnonsense\n", "x.ini:3: ", "nonsense"},
        {"x = 1\n[a]\n", "x.ini:1: ", ""},
        {"[a]\n[b\n", "x.ini:2: ", ""},
        {"[a]\n[]\n", "x.ini:2: ", ""},
        {"[a]\n= 1\n", "x.ini:2: ", ""},
        {"[a]\nx = 1\ny = 2\nx = 3\n", "x.ini:4: ", "key 'x' is given twice"},
        {"[a]\n[b]\n[a]\n", "x.ini:3: ", "group [a] is given twice"},
        {"[a]\n[b]c]\n[d]\n", "x.ini:2: ", ""},
        {"[a]\nx]y = 1\nz = 2\n", "x.ini:2: ", ""},
        {"[a]\nx[de] = 1\nz = 2\n", "x.ini:2: ", ""},
        {"[a]\nx[xx_YY] = 1\n", "x.ini:2: ", ""},
        {"\xef\xbb\xbf[a]\n", "x.ini:1: ", ""},
        {"[a]\n[b] c\nx=1\n", "x.ini:2: ", "'[b] c'"},
        {"[\nx=1\n", "x.ini:1: ", "'['"},
        {"[a]\nx\001=1\ny=1\n", "x.ini:2: ", "'x\\x01=1'"},
        {"[a\001]\ny=1\n", "x.ini:1: ", "\\x01"},
        {"[a]\r\nx=1\r\nx=2\r\n", "x.ini:3: ", "key 'x' is given twice"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(np_keyfile_parse("x.ini", rows[i].text, &error));
        g_test_message("%s", error->message);
        g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
        g_assert_true(g_str_has_prefix(error->message, rows[i].prefix));
        g_assert_nonnull(strstr(error->message, rows[i].part));
    }
}

static void
overrides_replace_values_and_name_their_origin(void)
{
    g_autoptr(NpKeyfile) file = parse(good);
    g_autoptr(GError) error = NULL;
    np_keyfile_override(file, "scenario", "window", " 5 ", "--set window=5");
    np_keyfile_override(file, "new", "key", "value", "--set new.key=value");
    g_assert_cmpstr(np_keyfile_get(file, "scenario", "window"), ==, "5");
    g_assert_cmpstr(np_keyfile_get(file, "new", "key"), ==, "value");
    g_assert_cmpstr(np_keyfile_groups(file)[2], ==, "new");
    g_assert_false(np_keyfile_throw(file, "scenario", "window", &error, "%s", "too short"));
    g_assert_cmpstr(error->message, ==, "--set window=5: key 'window': too short");
}

static void
errors_about_a_value_name_its_line(void)
{
    g_autoptr(NpKeyfile) file = parse(good);
    g_autoptr(GError) error = NULL, group = NULL, absent = NULL, other = NULL;
    g_assert_false(np_keyfile_throw(file, "scenario", "window", &error, "bad"));
    g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
    g_assert_cmpstr(error->message, ==, "x.ini:5: key 'window': bad");
    g_assert_false(np_keyfile_throw(file, "nic a", NULL, &group, "bad"));
    g_assert_cmpstr(group->message, ==, "x.ini:7: bad");
    g_assert_false(np_keyfile_throw(file, "scenario", "tail", &absent, "missing"));
    g_assert_true(g_str_has_prefix(absent->message, "x.ini"));
    np_throw(&other, NP_ERROR_BUSY, "taken");
    g_assert_false(np_keyfile_prefix(file, "scenario", "name", &other));
    g_assert_error(other, NP_ERROR, NP_ERROR_BUSY);
    g_assert_cmpstr(other->message, ==, "x.ini:4: key 'name': taken");
}

static void
unknown_keys_are_told_with_the_nearest(void)
{
    static const char *const allowed[] = {"window", "name", "empty", NULL};
    static const char *const near[] = {"windows", "name", "empty", NULL};
    static const char *const far[] = {"colour", "name", "empty", NULL};
    g_autoptr(NpKeyfile) file = parse(good);
    g_autoptr(GError) misspelt = NULL, unlike = NULL;
    g_assert_true(np_keyfile_check_keys(file, "scenario", allowed, NULL));
    g_assert_true(np_keyfile_check_keys(file, "none", allowed, NULL));
    g_assert_false(np_keyfile_check_keys(file, "scenario", near, &misspelt));
    g_assert_nonnull(strstr(misspelt->message, "x.ini:5: "));
    g_assert_nonnull(strstr(misspelt->message, "did you mean 'windows'"));
    g_assert_false(np_keyfile_check_keys(file, "scenario", far, &unlike));
    g_assert_nonnull(strstr(unlike->message, "colour, name, empty"));
}

/* A group's keys are its own also when another group's name begins with its. */
static void
groups_with_a_common_beginning_are_told_apart(void)
{
    static const char *const allowed[] = {"x", NULL};
    g_autoptr(NpKeyfile) file = parse("[nic]\nx=1\n[nic 2]\ny=1\n");
    g_assert_true(np_keyfile_check_keys(file, "nic", allowed, NULL));
    g_assert_false(np_keyfile_check_keys(file, "nic 2", allowed, NULL));
}

static void
only_text_files_of_some_size_are_loaded(void)
{
    g_autoptr(GError) error = NULL, missing = NULL;
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("nicpass-test-XXXXXX", &path, NULL);
    close(fd);
    static const struct {
        const char *text;
        size_t size;
    } rows[] = {{"[a]\nx=\0\n", 8}, {"[a]\nx=\xff\n", 8}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_assert_true(g_file_set_contents(path, rows[i].text, (gssize) rows[i].size, NULL));
        g_assert_null(np_keyfile_load(path, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
        g_assert_true(g_str_has_prefix(error->message, path));
        g_clear_error(&error);
    }
    g_autofree char *huge = g_strnfill(1024 * 1024 + 1, '#');
    g_assert_true(g_file_set_contents(path, huge, -1, NULL));
    g_assert_null(np_keyfile_load(path, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
    g_assert_true(g_file_set_contents(path, good, -1, NULL));
    g_autoptr(NpKeyfile) file = np_keyfile_load(path, NULL);
    g_assert_cmpstr(np_keyfile_get(file, "scenario", "window"), ==, "30");
    g_unlink(path);
    g_assert_null(np_keyfile_load(path, &missing));
    g_assert_error(missing, NP_ERROR, NP_ERROR_NOT_FOUND);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/keyfile/groups-and-values-are-found", groups_and_values_are_found);
    g_test_add_func("/keyfile/what-is-wrong-is-told-with-its-line",
                    what_is_wrong_is_told_with_its_line);
    g_test_add_func("/keyfile/overrides-replace-values-and-name-their-origin",
                    overrides_replace_values_and_name_their_origin);
    g_test_add_func("/keyfile/errors-about-a-value-name-its-line",
                    errors_about_a_value_name_its_line);
    g_test_add_func("/keyfile/unknown-keys-are-told-with-the-nearest",
                    unknown_keys_are_told_with_the_nearest);
    g_test_add_func("/keyfile/groups-with-a-common-beginning-are-told-apart",
                    groups_with_a_common_beginning_are_told_apart);
    g_test_add_func("/keyfile/only-text-files-of-some-size-are-loaded",
                    only_text_files_of_some_size_are_loaded);
    return g_test_run();
}
