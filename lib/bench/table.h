/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Table: text in columns, with widths counted as a terminal shows them.
 */
#pragma once

#include <stdbool.h>

#include <glib.h>

typedef enum {
    NP_STYLE_PLAIN,
    NP_STYLE_STRONG,
    NP_STYLE_GOOD,
    NP_STYLE_BAD,
    NP_STYLE_FAINT,
} NpStyle;

typedef struct NpTable NpTable;

NpTable *np_table_new(void);
void np_table_free(NpTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpTable, np_table_free)

/* Adds a column and returns its number. tight: one blank before it instead of two. A column that
 * stays empty is not shown. */
unsigned np_table_column(NpTable *table, const char *head, bool right, bool tight);

/* Begins a row; an empty one is shown as a blank line. */
void np_table_row(NpTable *table);

/* Sets a cell of the last row; text is cleaned (np_text_clean). */
void np_table_cell(NpTable *table, unsigned column, const char *text, NpStyle style);

/* Heads and rows, each line without trailing blanks (transfer full). */
char *np_table_text(const NpTable *table, bool colour);

/* Columns that valid UTF-8 takes on a terminal. Pure. */
unsigned np_text_width(const char *text);

/* The text as valid UTF-8 without control characters, each of which becomes a '?' (transfer full):
 * records hold words from guests. Pure. */
char *np_text_clean(const char *text);

/* Adds the text, cleaned, in lines of at most width columns broken at blanks; the first line begins
 * with first, the others with rest. A longer word stands alone. */
void
np_text_wrap(GString *out, const char *text, unsigned width, const char *first, const char *rest);

/* Adds the text in a style, or plain without colour. */
void np_text_style(GString *out, const char *text, NpStyle style, bool colour);
