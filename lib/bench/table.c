/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Table: see table.h.
 */
#include "lib/bench/table.h"

#include <string.h>

typedef struct {
    char *head;
    bool right, tight;
} Column;

typedef struct {
    char *text;
    NpStyle style;
} Cell;

struct NpTable {
    GPtrArray *columns; /* Column * */
    GPtrArray *rows;    /* GPtrArray * of Cell *, NULL where nothing was set */
};

static void
column_free(gpointer data)
{
    Column *column = data;
    g_free(column->head);
    g_free(column);
}

static void
cell_free(gpointer data)
{
    Cell *cell = data;
    if (cell)
        g_free(cell->text);
    g_free(cell);
}

NpTable *
np_table_new(void)
{
    NpTable *table = g_new0(NpTable, 1);
    table->columns = g_ptr_array_new_with_free_func(column_free);
    table->rows = g_ptr_array_new_with_free_func((GDestroyNotify) g_ptr_array_unref);
    return table;
}

void
np_table_free(NpTable *table)
{
    if (!table)
        return;
    g_ptr_array_unref(table->columns);
    g_ptr_array_unref(table->rows);
    g_free(table);
}

unsigned
np_table_column(NpTable *table, const char *head, bool right, bool tight)
{
    Column *column = g_new0(Column, 1);
    *column = (Column){np_text_clean(head), right, tight};
    g_ptr_array_add(table->columns, column);
    return table->columns->len - 1;
}

void
np_table_row(NpTable *table)
{
    g_ptr_array_add(table->rows, g_ptr_array_new_with_free_func(cell_free));
}

void
np_table_cell(NpTable *table, unsigned column, const char *text, NpStyle style)
{
    GPtrArray *row = table->rows->pdata[table->rows->len - 1];
    if (row->len <= column)
        g_ptr_array_set_size(row, (int) column + 1);
    cell_free(row->pdata[column]);
    Cell *cell = g_new0(Cell, 1);
    *cell = (Cell){np_text_clean(text), style};
    row->pdata[column] = cell;
}

static const Cell *
find_cell(const GPtrArray *row, unsigned column)
{
    return column < row->len ? row->pdata[column] : NULL;
}

/* The width of a column; 0 when no row has anything in it. */
static unsigned
column_width(const NpTable *table, unsigned column)
{
    unsigned width = 0;
    for (unsigned i = 0; i < table->rows->len; i++) {
        const Cell *cell = find_cell(table->rows->pdata[i], column);
        width = cell ? MAX(width, np_text_width(cell->text)) : width;
    }
    const Column *its = table->columns->pdata[column];
    return width > 0 ? MAX(width, np_text_width(its->head)) : 0;
}

/* Adds one cell behind what the line has; *owed collects blanks until something follows them. */
static void
add_cell(GString *out, const Column *column, unsigned width, const char *text, NpStyle style,
         bool colour, unsigned *owed)
{
    unsigned fill = width - np_text_width(text);
    if (column->right)
        *owed += fill;
    if (*text) {
        g_string_append_printf(out, "%*s", (int) *owed, "");
        *owed = 0;
        np_text_style(out, text, style, colour);
    }
    if (!column->right)
        *owed += fill;
}

/* One line; row NULL for the heads. */
static void
add_line(const NpTable *table, const unsigned *widths, const GPtrArray *row, bool colour,
         GString *out)
{
    unsigned owed = 0;
    bool first = true;
    for (unsigned i = 0; i < table->columns->len; i++) {
        const Column *column = table->columns->pdata[i];
        const Cell *cell = row ? find_cell(row, i) : NULL;
        if (widths[i] == 0)
            continue;
        owed += first ? 0 : column->tight ? 1 : 2;
        first = false;
        add_cell(out, column, widths[i], row ? (cell ? cell->text : "") : column->head,
                 cell ? cell->style : NP_STYLE_STRONG, colour, &owed);
    }
    g_string_append_c(out, '\n');
}

char *
np_table_text(const NpTable *table, bool colour)
{
    GString *out = g_string_new(NULL);
    g_autofree unsigned *widths = g_new0(unsigned, table->columns->len);
    for (unsigned i = 0; i < table->columns->len; i++)
        widths[i] = column_width(table, i);
    add_line(table, widths, NULL, colour, out);
    for (unsigned i = 0; i < table->rows->len; i++)
        add_line(table, widths, table->rows->pdata[i], colour, out);
    return g_string_free(out, FALSE);
}

unsigned
np_text_width(const char *text)
{
    unsigned width = 0;
    g_autofree gunichar *chars = g_utf8_to_ucs4_fast(text, -1, NULL);
    for (const gunichar *c = chars; *c; c++)
        width += g_unichar_iszerowidth(*c) ? 0 : g_unichar_iswide(*c) ? 2 : 1;
    return width;
}

char *
np_text_clean(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_autofree gunichar *chars = g_utf8_to_ucs4_fast(valid, -1, NULL);
    GString *out = g_string_new(NULL);
    for (const gunichar *c = chars; *c; c++) {
        GUnicodeType type = g_unichar_type(*c);
        /* Format characters turn the direction of text and hide what follows. */
        bool bad = type == G_UNICODE_CONTROL || type == G_UNICODE_FORMAT ||
                   type == G_UNICODE_LINE_SEPARATOR || type == G_UNICODE_PARAGRAPH_SEPARATOR;
        g_string_append_unichar(out, bad ? '?' : *c);
    }
    return g_string_free(out, FALSE);
}

void
np_text_wrap(GString *out, const char *text, unsigned width, const char *first, const char *rest)
{
    g_autofree char *clean = np_text_clean(text);
    g_auto(GStrv) words = g_strsplit(clean, " ", -1);
    g_string_append(out, first);
    unsigned column = np_text_width(first);
    bool fresh = true;
    for (unsigned i = 0; words[i]; i++) {
        unsigned length = np_text_width(words[i]);
        if (!fresh && column + 1 + length > width) {
            g_string_append_printf(out, "\n%s", rest);
            column = np_text_width(rest);
            fresh = true;
        }
        g_string_append_printf(out, "%s%s", fresh ? "" : " ", words[i]);
        column += length + !fresh;
        fresh = false;
    }
    g_string_append_c(out, '\n');
}

void
np_text_style(GString *out, const char *text, NpStyle style, bool colour)
{
    static const char *const codes[] = {
        [NP_STYLE_STRONG] = "1",
        [NP_STYLE_GOOD] = "32",
        [NP_STYLE_BAD] = "31",
        [NP_STYLE_FAINT] = "2",
    };
    if (!colour || style == NP_STYLE_PLAIN || *text == '\0')
        g_string_append(out, text);
    else
        g_string_append_printf(out, "\033[%sm%s\033[0m", codes[style], text);
}
