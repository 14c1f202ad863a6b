/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Report table: the report for people, at most 100 columns wide.
 */
#pragma once

#include <stdbool.h>

#include "lib/base/json.h"
#include "lib/bench/rows.h"

#define NP_REPORT_TEXT_WIDTH 80 /* of sentences; the table itself may take 100 */

/* The whole report (transfer full). Pure. */
char *np_report_table(const json_t *records, bool colour);

/* Its parts, each added to out: what was measured where; the remarks below the table. */
void np_report_head(const json_t *records, bool colour, GString *out);
void np_report_remarks(const json_t *records, const GPtrArray *rows, bool colour, GString *out);

/* The flags that some but not all of the valid runs bear (const char *, borrowed from the rules),
 * in the rules' order: the nth has the letter 'a' + n in the table. (transfer full) */
GPtrArray *np_report_letters(const GPtrArray *rows);
