/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * nicpass report: prints a benchmark's table again from its records alone.
 */
#include <stdio.h>
#include <string.h>

#include "cli/verb.h"
#include "lib/base/error.h"
#include "lib/base/parse.h"
#include "lib/bench/record.h"
#include "lib/bench/report.h"

static const char *const format_names[] = {
    [NP_REPORT_TABLE] = "table",
    [NP_REPORT_TSV] = "tsv",
    [NP_REPORT_JSON] = "json",
};

static bool
parse_format(const char *text, NpReportFormat *ret_format, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(format_names); i++) {
        if (strcmp(text, format_names[i]) == 0) {
            *ret_format = (NpReportFormat) i;
            return true;
        }
    }
    g_autofree char *quoted = np_quote(text);
    return np_throw(error, NP_ERROR_CONFIG, "--format %s is not table, tsv or json", quoted);
}

static NpExit
print_report(const char *folder, const char *format_text, GError **error)
{
    NpReportFormat format = NP_REPORT_TABLE;
    if (format_text && !parse_format(format_text, &format, error))
        return NP_EXIT_USAGE;
    g_autoptr(json_t) records = np_records_read(folder, error);
    if (!records)
        return NP_EXIT_FAILED;
    g_autofree char *text = np_report(records, format, np_verb_colour());
    fputs(text, stdout);
    return NP_EXIT_OK;
}

NpExit
np_cmd_report(int argc, char **argv, GError **error)
{
    g_autofree char *format = NULL;
    const GOptionEntry entries[] = {
        {"format", 'f', 0, G_OPTION_ARG_STRING, &format, "table (default), tsv or json", "FORMAT"},
        {NULL},
    };
    bool help;
    if (!np_verb_options("report", entries, &argc, &argv, 1, &help, error))
        return NP_EXIT_USAGE;
    return help ? NP_EXIT_OK : print_report(argv[1], format, error);
}
