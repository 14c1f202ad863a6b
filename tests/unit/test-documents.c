/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests that the man pages of scenarios and records name what the code takes and makes, no less and
 * no more.
 */
#include <string.h>

#include "lib/base/fd.h"
#include "lib/bench/rules.h"
#include "lib/bench/scenario.h"
#include "tests/unit/run-data.h"

/* The entries of a page: lines that are one bold word, which is what its lists are made of. */
static GHashTable *
documented(const char *path)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    np_file_read(path, 1024 * 1024, &text, NULL, &error);
    g_assert_no_error(error);
    GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (unsigned i = 0; lines[i]; i++) {
        size_t length = strlen(lines[i]);
        if (length > 2 && lines[i][0] == '*' &&
            strchr(lines[i] + 1, '*') == lines[i] + length - 1) {
            g_test_message("documented: %s", lines[i]);
            g_assert_true(g_hash_table_add(names, g_strndup(lines[i] + 1, length - 2)));
        }
    }
    return names;
}

/* Takes every made name from the page's; those left on either side are printed and fail. */
static void
compare(GHashTable *page, GHashTable *made)
{
    GHashTableIter iter;
    gpointer name;
    unsigned wrong = 0;
    g_hash_table_iter_init(&iter, made);
    while (g_hash_table_iter_next(&iter, &name, NULL)) {
        if (!g_hash_table_contains(page, name)) {
            g_test_message("not in the page: %s", (const char *) name);
            wrong++;
        }
    }
    g_hash_table_iter_init(&iter, page);
    while (g_hash_table_iter_next(&iter, &name, NULL)) {
        if (!g_hash_table_contains(made, name)) {
            g_test_message("only in the page: %s", (const char *) name);
            wrong++;
        }
    }
    g_assert_cmpuint(wrong, ==, 0);
}

static void
test_scenario_keys(void)
{
    g_autoptr(GHashTable) page = documented("templates/nicpass-scenario.5.scd");
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (const char *const *key = np_scenario_keys; *key; key++)
        g_hash_table_add(taken, g_strdup(*key));
    for (const char *const *key = np_topology_keys; *key; key++)
        g_hash_table_add(taken, g_strdup(*key));
    compare(page, taken);
}

/* Adds the path of every value below value, as the page writes them. */
static void
add_paths(GHashTable *paths, const char *path, json_t *value)
{
    const char *key;
    json_t *member;
    size_t index;
    if (json_is_object(value) && strcmp(path, "END.sysctls") != 0) {
        json_object_foreach(value, key, member)
        {
            bool is_end =
                *path == '\0' && (strcmp(key, "sender") == 0 || strcmp(key, "receiver") == 0);
            g_autofree char *below =
                g_strdup_printf("%s%s%s", path, *path ? "." : "", is_end ? "END" : key);
            add_paths(paths, below, member);
        }
    } else if (json_is_array(value)) {
        json_array_foreach(value, index, member)
        {
            g_autofree char *below = g_strconcat(path, "[]", NULL);
            add_paths(paths, below, member);
        }
    } else {
        g_hash_table_add(paths, g_strdup(path));
    }
}

static void
add_record(GHashTable *paths, json_t *data, const char *protocol, bool shared_kernel)
{
    g_autoptr(json_t) record = run_data_record(data, "forward", protocol, shared_kernel, NULL);
    add_paths(paths, "", record);
}

static void
test_record_fields(void)
{
    g_autoptr(GHashTable) page = documented("templates/nicpass-record.5.scd");
    g_autoptr(GHashTable) made = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(json_t) data = run_data();
    size_t count;
    const NpRule *rules = np_rules(&count);
    add_record(made, data, "tcp", true);
    add_record(made, data, "tcp", false);
    run_data_set(data, "sender/info/nics/0/firmware", "\"1.2\"");
    run_data_set(data, "sender/info/nics/0/pci", "\"0000:01:00.0\"");
    run_data_set(data, "sender/processes/0/ok", "false");
    run_data_set(data, "sender/processes/0/error", "{\"code\":\"io\",\"text\":\"broken\"}");
    run_data_set(data, "sender/processes/0/stderr", "\"oh\"");
    run_data_set(data, "receiver/processes/0/intervals/lost", "[0,0,0,0,0,0,0]");
    run_data_set(data, "receiver/processes/0/intervals/packets", "[9,9,9,9,9,9,9]");
    add_record(made, data, "udp", true);
    for (size_t i = 0; i < count; i++)
        g_hash_table_add(made, g_strdup(rules[i].name));
    compare(page, made);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/documents/scenario-keys", test_scenario_keys);
    g_test_add_func("/documents/record-fields", test_record_fields);
    return g_test_run();
}
