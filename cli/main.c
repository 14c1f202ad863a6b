/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * nicpass: the command line. Finds the verb, and is the one place that prints an error.
 */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/verb.h"
#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/parse.h"

static const NpVerbEntry verbs[] = {
    {"scan", "", "show this host's network cards and who uses them", np_cmd_scan},
    {"check", "", "look for what stands in the way of passthrough", np_cmd_check},
    {"plan", "VM", "say what apply would do for a VM", np_cmd_plan},
    {"apply", "VM", "prepare the NICs configured for a VM, as its start does", np_cmd_apply},
    {"verify", "VM", "compare a VM's NICs with what was prepared", np_cmd_verify},
    {"release", "VM", "put back what was prepared for a VM", np_cmd_release},
    {"status", "", "show which VM has which NIC", np_cmd_status},
    {"repair", "[VM]", "put back what VMs that are gone have left", np_cmd_repair},
    {"vfs", "PF NUMBER", "set the number of virtual functions of a port", np_cmd_vfs},
    {"bench", "SCENARIO", "measure what a scenario file says and print the table", np_cmd_bench},
    {"report", "DIR", "print the table again from the records of an earlier bench", np_cmd_report},
    {"lab", "COMMAND", "run an emulated host with SR-IOV cards, for trials and tests", np_cmd_lab},
};

static const NpVerbEntry *
verb_find(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
        if (g_strcmp0(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

static void
print_help(FILE *stream)
{
    fputs("usage: nicpass VERB [OPTION...] ARGUMENT...\n\n"
          "Gives virtual machines network cards by PCI passthrough, and measures what\n"
          "that buys in bandwidth and CPU.\n\n",
          stream);
    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++) {
        g_autofree char *call = g_strdup_printf("%s %s", verbs[i].name, verbs[i].arguments);
        fprintf(stream, "  %-16s %s\n", call, verbs[i].help);
    }
    fputs("\n`nicpass VERB --help` explains a verb; nicpass(8) explains all.\n", stream);
}

bool
np_verb_options(const char *verb, const GOptionEntry *entries, int *argc, char ***argv,
                int positional, bool *ret_help, GError **error)
{
    const NpVerbEntry *entry = verb_find(verb);
    g_autoptr(GOptionContext) context = g_option_context_new(entry->arguments);
    g_autofree char *summary = g_strdup_printf("%s.", entry->help);
    summary[0] = g_ascii_toupper(summary[0]);
    gboolean help = FALSE;
    const GOptionEntry common[] = {
        {"help", 'h', 0, G_OPTION_ARG_NONE, &help, "show this help", NULL},
        {NULL},
    };
    g_autofree char *name = g_strdup_printf("nicpass %s", verb);
    g_set_prgname(name); /* for the usage line */
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_summary(context, summary);
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_add_main_entries(context, common, NULL);
    g_autoptr(GError) problem = NULL;
    if (!g_option_context_parse(context, argc, argv, &problem))
        return np_throw(error, NP_ERROR_CONFIG, "%s; see nicpass %s --help", problem->message,
                        verb);
    *ret_help = help;
    if (help) {
        g_autofree char *text = g_option_context_get_help(context, TRUE, NULL);
        fputs(text, stdout);
        return true;
    }
    if (*argc > 1 && strcmp((*argv)[1], "--") == 0) { /* GOptionContext leaves it there */
        (*argv)++;
        (*argc)--;
    }
    if (positional < 0 ? *argc - 1 > -positional : *argc - 1 != positional)
        return np_throw(error, NP_ERROR_CONFIG, "%s takes %s; see nicpass %s --help", verb,
                        *entry->arguments ? entry->arguments : "no arguments", verb);
    return true;
}

bool
np_verb_colour(void)
{
    const char *none = g_getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(none && *none);
}

static NpExit
status_of(const GError *error)
{
    if (g_error_matches(error, NP_ERROR, NP_ERROR_INTERRUPTED))
        return NP_EXIT_INTERRUPTED;
    if (g_error_matches(error, NP_ERROR, NP_ERROR_CONFIG))
        return NP_EXIT_USAGE;
    return NP_EXIT_FAILED;
}

static NpExit
run_verb(int argc, char **argv, GError **error)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    const NpVerbEntry *verb = verb_find(name);
    if (verb)
        return verb->run(argc - 1, argv + 1, error);
    if (g_strcmp0(name, "--help") == 0 || g_strcmp0(name, "-h") == 0) {
        print_help(stdout);
        return NP_EXIT_OK;
    }
    if (g_strcmp0(name, "--version") == 0) {
        puts("nicpass " NP_VERSION);
        return NP_EXIT_OK;
    }
    if (!name) {
        print_help(stderr);
        return NP_EXIT_USAGE;
    }
    const char *candidates[G_N_ELEMENTS(verbs) + 1] = {NULL};
    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
        candidates[i] = verbs[i].name;
    const char *near = np_nearest(name, candidates);
    g_autofree char *quoted = np_quote(name);
    np_throw(error, NP_ERROR_CONFIG, "unknown verb %s%s%s; see nicpass --help", quoted,
             near ? ", did you mean " : "", near ? near : "");
    return NP_EXIT_USAGE;
}

int
main(int argc, char **argv)
{
    setlocale(LC_ALL, "");
    signal(SIGPIPE, SIG_IGN);
    np_log_start("nicpass", false);
    g_autoptr(GError) error = NULL;
    NpExit status = run_verb(argc, argv, &error);
    if (error) {
        np_log(G_LOG_LEVEL_CRITICAL, "%s", error->message);
        status = status_of(error);
    }
    if (fflush(stdout) != 0 && status == NP_EXIT_OK)
        status = NP_EXIT_FAILED;
    return status;
}
