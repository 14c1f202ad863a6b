/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test double of agent/child.h: see child-double.h.
 */
#include "tests/agent/child-double.h"

#include <string.h>
#include <sys/wait.h>

#include "lib/base/error.h"

struct NpChild {
    NpChildDone done;
    gpointer data;
    const NpTestHelper *helper;
};

static const NpTestHelper *helpers;
static GHashTable *turns; /* word to how many helpers it has ended */
static GString *lines;

void
np_test_helpers(const NpTestHelper *table)
{
    helpers = table;
    if (!lines) {
        lines = g_string_new(NULL);
        turns = g_hash_table_new(g_str_hash, g_str_equal);
    }
    g_string_truncate(lines, 0);
    g_hash_table_remove_all(turns);
}

const char *
np_test_helper_lines(void)
{
    return lines->str;
}

static gboolean
child_ends(gpointer data)
{
    NpChild *child = data;
    const NpTestHelper *helper = child->helper;
    NpChildResult result = {
        .wait_status = helper->status == -2 ? SIGKILL : W_EXITCODE(helper->status, 0),
        .timed_out = helper->status == -2,
        .out = helper->out ? helper->out : "",
        .err = helper->err ? helper->err : "",
    };
    result.out_size = strlen(result.out);
    result.err_size = strlen(result.err);
    child->done(child, &result, child->data);
    g_free(child);
    return G_SOURCE_REMOVE;
}

/* The row whose turn it is, or the table's last. */
static const NpTestHelper *
find_helper(const char *words)
{
    const NpTestHelper *first = helpers;
    while (first->word && !strstr(words, first->word))
        first++;
    if (!first->word)
        return first;
    unsigned rows = 0, turn = GPOINTER_TO_UINT(g_hash_table_lookup(turns, first->word));
    g_hash_table_insert(turns, (gpointer) (uintptr_t) first->word, GUINT_TO_POINTER(turn + 1));
    for (const NpTestHelper *row = first; row->word; row++)
        rows += strcmp(row->word, first->word) == 0;
    turn %= rows;
    for (const NpTestHelper *row = first;; row++)
        if (strcmp(row->word, first->word) == 0 && turn-- == 0)
            return row;
}

NpChild *
np_child_spawn(const char *const *argv, int cpu, int64_t watchdog_ms, size_t out_max,
               NpChildLine line, NpChildDone done, gpointer data, GError **error)
{
    g_autofree char *words = g_strjoinv(" ", (char **) (uintptr_t) argv);
    g_string_append_printf(lines, "%s\n", words);
    g_assert_true(g_path_is_absolute(argv[0]));
    g_assert_cmpint(watchdog_ms, >, 0);
    const NpTestHelper *helper = find_helper(words);
    if (helper->status == -1) {
        np_throw(error, NP_ERROR_IO, "%s: exec failed", argv[0]);
        return NULL;
    }
    NpChild *child = g_new0(NpChild, 1);
    *child = (NpChild){done, data, helper};
    g_idle_add(child_ends, child);
    return child;
}
