/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * The report verb: see report.h.
 */
#include "cli/report.h"

#include <string.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/base/parse.h"
#include "lib/bench/record.h"
#include "lib/bench/report.h"

static const char *const format_words[] = {"table", "tsv", "json", NULL};

static bool
parse_format(const char *text, NpReportFormat *ret_format, GError **error)
{
    static const NpReportFormat formats[] = {NP_REPORT_TABLE, NP_REPORT_TSV, NP_REPORT_JSON};
    for (size_t i = 0; text && i < G_N_ELEMENTS(formats); i++) {
        if (strcmp(text, format_words[i]) == 0) {
            *ret_format = formats[i];
            return true;
        }
    }
    if (!text)
        return true;
    const char *near = np_nearest(text, format_words);
    g_autofree char *quoted = np_quote(text);
    if (near)
        return np_throw(error, NP_ERROR_CONFIG, "unknown format %s; did you mean '%s'?", quoted,
                        near);
    return np_throw(error, NP_ERROR_CONFIG, "unknown format %s; there are table, tsv and json",
                    quoted);
}

/* no-color.org: a NO_COLOR that is set and not empty means none. */
static bool
wants_colour(void)
{
    const char *none = g_getenv("NO_COLOR");
    return (!none || !*none) && isatty(STDOUT_FILENO);
}

static bool
parse_options(int *argc, char ***argv, NpReportFormat *ret_format, GError **error)
{
    g_autofree char *arg_format = NULL;
    const GOptionEntry entries[] = {
        {"format", 'f', 0, G_OPTION_ARG_STRING, &arg_format,
         "table, tsv (a line a run) or json (a row a topology)", "FORMAT"},
        {NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("DIR");
    g_autoptr(GError) problem = NULL;
    g_set_prgname("nicpass report"); /* what --help shows as the command */
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_set_summary(
        context, "Reports on the records of a measurement: bandwidth, CPU cost and how every\n"
                 "topology compares with the first. DIR is the folder the measurement wrote;\n"
                 "no VM and no privilege is needed.");
    g_option_context_set_description(
        context, "Example: nicpass report results --format tsv > results.tsv\n"
                 "The records themselves are described in nicpass-record(5).\n");
    if (!g_option_context_parse(context, argc, argv, &problem))
        return np_throw(error, NP_ERROR_CONFIG, "report: %s; see 'nicpass report --help'",
                        problem->message);
    return parse_format(arg_format, ret_format, error);
}

bool
np_cmd_report(int argc, char **argv, GError **error)
{
    NpReportFormat format = NP_REPORT_TABLE;
    if (!parse_options(&argc, &argv, &format, error))
        return false;
    /* GOptionContext leaves the "--" that ends the options in place. */
    int first = argc > 1 && strcmp(argv[1], "--") == 0 ? 2 : 1;
    if (argc - first != 1)
        return np_throw(error, NP_ERROR_CONFIG,
                        "report takes one folder, got %d; see 'nicpass report --help'",
                        argc - first);
    g_autoptr(json_t) records = np_records_read(argv[first], error);
    if (!records)
        return false;
    g_autofree char *text = np_report(records, format, wants_colour());
    if (!np_fd_write_all(STDOUT_FILENO, text, strlen(text), error)) {
        g_prefix_error(error, "stdout: ");
        return false;
    }
    return true;
}
