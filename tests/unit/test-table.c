/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of tables and strips of text.
 */
#include "lib/bench/table.h"

#include "lib/bench/strip.h"

static void
test_layout(void)
{
    g_autoptr(NpTable) table = np_table_new();
    unsigned number = np_table_column(table, "n", true, false);
    unsigned empty = np_table_column(table, "never shown", true, false);
    unsigned word = np_table_column(table, "word", false, false);
    unsigned tight = np_table_column(table, "±", false, true);
    np_table_row(table);
    np_table_cell(table, number, "100", NP_STYLE_PLAIN);
    np_table_cell(table, tight, "±1", NP_STYLE_GOOD);
    np_table_row(table);
    np_table_row(table);
    np_table_cell(table, word, "日本", NP_STYLE_PLAIN);
    np_table_cell(table, tight, "±2", NP_STYLE_PLAIN);
    np_table_cell(table, number, "7", NP_STYLE_PLAIN);
    np_table_cell(table, number, "8", NP_STYLE_PLAIN);
    g_autofree char *text = np_table_text(table, false);
    g_assert_cmpstr(text, ==,
                    "  n  word ±\n"
                    "100       ±1\n"
                    "\n"
                    "  8  日本 ±2\n");
    g_assert_cmpuint(empty, ==, 1);
    g_autofree char *coloured = np_table_text(table, true);
    g_assert_nonnull(g_strstr_len(coloured, -1, "\033[32m±1\033[0m"));
}

static void
test_width(void)
{
    g_assert_cmpuint(np_text_width(""), ==, 0);
    g_assert_cmpuint(np_text_width("±1.5"), ==, 4);
    g_assert_cmpuint(np_text_width("日本"), ==, 4);
    g_assert_cmpuint(np_text_width("e\u0301"), ==, 1); /* an accent of its own takes no column */
}

static void
test_clean(void)
{
    const struct {
        const char *text, *clean;
    } rows[] = {
        {"plain ü", "plain ü"},
        {"a\tb\nc\033[31m", "a?b?c?[31m"},
        {"\xff", "\xef\xbf\xbd"},
        {"x\u202ey\u200bz", "x?y?z"}, /* turns the direction of text; hides */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *clean = np_text_clean(rows[i].text);
        g_assert_cmpstr(clean, ==, rows[i].clean);
    }
}

static void
test_wrap(void)
{
    g_autoptr(GString) out = g_string_new(NULL);
    np_text_wrap(out, "one two three averyverylongword x", 10, "- ", "  ");
    g_assert_cmpstr(out->str, ==, "- one two\n  three\n  averyverylongword\n  x\n");
}

static void
test_strip(void)
{
    const double values[] = {1, 2, 2, 3};
    g_autoptr(GArray) dots = g_array_new(FALSE, FALSE, sizeof(double));
    g_array_append_vals(dots, values, 4);
    NpEstimate none = {.n = 1, .mean = 2}, some = {.n = 4, .mean = 2, .lo = 1.5, .hi = 2.5};
    const struct {
        const NpEstimate *estimate;
        double min, max;
        const char *strip;
    } rows[] = {
        {&none, 1, 3, "•   2   •"},
        {&some, 1, 3, "• --2-- •"},
        {&none, 1, 5, "• 2 •    "},
        {&none, 2, 2, "    4    "},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *strip = np_strip(dots, rows[i].estimate, rows[i].min, rows[i].max, 9);
        g_assert_cmpstr(strip, ==, rows[i].strip);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/table/layout", test_layout);
    g_test_add_func("/table/width", test_width);
    g_test_add_func("/table/clean", test_clean);
    g_test_add_func("/table/wrap", test_wrap);
    g_test_add_func("/table/strip", test_strip);
    return g_test_run();
}
