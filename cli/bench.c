/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * nicpass bench: carries out a scenario and prints its table.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/local.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "lib/base/error.h"
#include "lib/base/loop.h"
#include "lib/bench/report.h"

typedef struct {
    char *out;
    char **set;
} Arguments;

static void
arguments_clear(Arguments *arguments)
{
    g_free(arguments->out);
    g_strfreev(arguments->set);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

/* Where results go when nobody says: NAME-DATE below the current folder. */
static char *
default_folder(const NpScenario *scenario)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *stamp = g_date_time_format(now, "%Y%m%d-%H%M%S");
    return g_strdup_printf("%s-%s", scenario->name, stamp);
}

/* The seed of the records if there are some, of the scenario, or a new one, within what every JSON
 * reader keeps exactly. */
static uint64_t
choose_seed(const NpScenario *scenario, const NpRecords *records)
{
    if (np_records_seed(records))
        return np_records_seed(records);
    if (scenario->seed)
        return scenario->seed;
    return ((uint64_t) g_random_int() << 32 | g_random_int()) % NP_SEED_MAX + 1;
}

static bool
print_table(const char *folder, GError **error)
{
    g_autoptr(json_t) records = np_records_read(folder, error);
    if (!records)
        return false;
    g_autofree char *table = np_report(records, NP_REPORT_TABLE, np_verb_colour());
    fputs(table, stdout);
    return true;
}

static NpExit
conclude(const NpBenchResult *result, const char *folder, GError **error)
{
    if (result->skipped)
        fprintf(stderr, "%u runs were there already and were not repeated\n", result->skipped);
    if (!print_table(folder, error))
        return NP_EXIT_FAILED;
    fprintf(stderr, "records: %s/" NP_RECORDS_FILE "\n", folder);
    return result->invalid ? NP_EXIT_INVALID : NP_EXIT_OK;
}

static NpExit
carry_out(const NpScenario *scenario, const char *folder, GError **error)
{
    g_autoptr(NpRecords) records = np_records_open(folder, scenario->digest, error);
    if (!records)
        return NP_EXIT_FAILED;
    NpProgressView view = {.terminal = isatty(STDERR_FILENO)};
    NpBenchResult result;
    np_loop_catch_signals();
    bool done = np_bench(scenario, choose_seed(scenario, records), &np_local_stage, records,
                         np_progress_show, &view, &result, error);
    np_progress_clear(&view);
    if (!done) {
        if (result.done)
            fprintf(stderr,
                    "%u runs are in %s; the same command with --out %s goes on from there\n",
                    result.done, folder, folder);
        return NP_EXIT_FAILED;
    }
    return conclude(&result, folder, error);
}

NpExit
np_cmd_bench(int argc, char **argv, GError **error)
{
    g_auto(Arguments) arguments = {NULL};
    const GOptionEntry entries[] = {
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &arguments.out,
         "folder for the records (default NAME-DATE here)", "DIR"},
        {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &arguments.set,
         "change a value of the scenario; may be repeated", "KEY=VALUE"},
        {NULL},
    };
    bool help;
    if (!np_verb_options("bench", entries, &argc, &argv, 1, &help, error))
        return NP_EXIT_USAGE;
    if (help)
        return NP_EXIT_OK;
    g_autoptr(NpScenario) scenario =
        np_scenario_load(argv[1], (const char *const *) arguments.set, error);
    if (!scenario)
        return NP_EXIT_USAGE;
    g_autofree char *folder = arguments.out ? g_strdup(arguments.out) : default_folder(scenario);
    return carry_out(scenario, folder, error);
}
