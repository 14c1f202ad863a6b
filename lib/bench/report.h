/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Reports: text from records alone.
 */
#pragma once

#include "lib/base/json.h"

typedef enum {
    NP_REPORT_TABLE, /* for people: at most 100 columns */
    NP_REPORT_TSV,   /* one line a run */
    NP_REPORT_JSON,  /* one object: the table's rows and every record's key and verdict */
} NpReportFormat;

#define NP_REPORT_SCHEMA 1

/* The report (transfer full) on an array of records (np_records_read). Pure: the same records give
 * the same text. colour: ANSI colours in the table. */
char *np_report(const json_t *records, NpReportFormat format, bool colour);
