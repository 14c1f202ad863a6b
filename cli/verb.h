/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Verbs of the command line: one file each, listed in one table.
 */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* Exit statuses: the whole list, also in nicpass(8). */
typedef enum {
    NP_EXIT_OK = 0,
    NP_EXIT_FAILED = 1,       /* it could not be done; the message says why */
    NP_EXIT_USAGE = 2,        /* wrong arguments or a wrong value in a file */
    NP_EXIT_INVALID = 3,      /* measured, but some runs are invalid */
    NP_EXIT_INTERRUPTED = 130 /* stopped by a signal; everything was put back */
} NpExit;

/* A verb takes its own argv (argv[0] is the verb) and returns an exit status, or throws: then the
 * status follows from the error's code. Results go to stdout, everything else to stderr. */
typedef struct {
    const char *name;
    const char *arguments; /* as in --help: "SCENARIO" */
    const char *help;      /* one line */
    NpExit (*run)(int argc, char **argv, GError **error);
} NpVerbEntry;

NpExit np_cmd_bench(int argc, char **argv, GError **error);
NpExit np_cmd_report(int argc, char **argv, GError **error);
NpExit np_cmd_scan(int argc, char **argv, GError **error);
NpExit np_cmd_check(int argc, char **argv, GError **error);
NpExit np_cmd_plan(int argc, char **argv, GError **error);
NpExit np_cmd_apply(int argc, char **argv, GError **error);
NpExit np_cmd_verify(int argc, char **argv, GError **error);
NpExit np_cmd_release(int argc, char **argv, GError **error);
NpExit np_cmd_status(int argc, char **argv, GError **error);
NpExit np_cmd_repair(int argc, char **argv, GError **error);
NpExit np_cmd_vfs(int argc, char **argv, GError **error);
NpExit np_cmd_lab(int argc, char **argv, GError **error);

/* Parses the options of the verb of that name. On --help prints them to stdout and sets *ret_help:
 * then there is nothing more to do. Otherwise exactly `positional` other arguments (when negative:
 * at most so many) are left in argv[1] on. Throws CONFIG. */
bool np_verb_options(const char *verb, const GOptionEntry *entries, int *argc, char ***argv,
                     int positional, bool *ret_help, GError **error);

/* Whether standard output wants colours: a terminal, and no NO_COLOR that is not empty
 * (no-color.org). */
bool np_verb_colour(void);
