/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * nicpass lab: finds the lab's script and becomes it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/verb.h"
#include "lib/base/error.h"

static const char commands_help[] =
    "\nCommands:\n"
    "  up               boot an emulated host with two SR-IOV cards\n"
    "  down             stop it\n"
    "  status           say what runs\n"
    "  ssh [CMD...]     a shell, or one command, on that host\n"
    "  console          its serial console\n"
    "  install          put the programs as they are now into it\n"
    "  run SCRIPT...    run tests on it, booting it if need be\n"
    "  build            only make the images\n"
    "\nThe first start builds the images (some minutes); later ones boot in half a\n"
    "minute. Needs root. tests/lab/README.md explains what it is made of.\n";

/* The lab of the source tree when this program lies in its build folder, else the installed one.
 * (transfer full) */
static char *
find_script(GError **error)
{
    g_autofree char *self = g_file_read_link("/proc/self/exe", error);
    if (!self) {
        g_prefix_error(error, "looking for the lab: ");
        return NULL;
    }
    g_autofree char *build = g_path_get_dirname(self);
    g_autofree char *source = g_path_get_dirname(build);
    g_autofree char *ours = g_build_filename(source, "tests", "lab", "lab", NULL);
    if (g_file_test(ours, G_FILE_TEST_IS_EXECUTABLE))
        return g_steal_pointer(&ours);
    const char *installed = NP_DATADIR "/nicpass/lab/lab";
    if (g_file_test(installed, G_FILE_TEST_IS_EXECUTABLE))
        return g_strdup(installed);
    np_throw(error, NP_ERROR_NOT_FOUND, "the lab's script is neither '%s' nor '%s'", ours,
             installed);
    return NULL;
}

/* Returns only when it fails. */
static bool
become(char *script, char **arguments, GError **error)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_ptr_array_add(argv, script);
    for (char **argument = arguments; *argument; argument++)
        g_ptr_array_add(argv, *argument);
    g_ptr_array_add(argv, NULL);
    fflush(NULL);
    /* Ignored signals stay ignored across exec, and a shell's pipelines end by SIGPIPE. */
    signal(SIGPIPE, SIG_DFL);
    execv(script, (char **) argv->pdata);
    return np_throw_errno(error, errno, "run '%s'", script);
}

NpExit
np_cmd_lab(int argc, char **argv, GError **error)
{
    /* What follows a command is the script's to parse: `ssh ls --all` has options of its own. */
    if (argc > 1 && argv[1][0] != '-') {
        g_autofree char *script = find_script(error);
        if (script)
            become(script, argv + 1, error);
        return NP_EXIT_FAILED;
    }
    g_autofree char *layout = NULL, *suite = NULL;
    const GOptionEntry entries[] = {
        {"layout", 0, 0, G_OPTION_ARG_STRING, &layout, "up, run: good (default) or bad-groups",
         "NAME"},
        {"suite", 0, 0, G_OPTION_ARG_STRING, &suite, "up, run, build: bookworm or trixie", "NAME"},
        {NULL},
    };
    bool help;
    if (!np_verb_options("lab", entries, &argc, &argv, 1, &help, error))
        return NP_EXIT_USAGE;
    if (help) {
        fputs(commands_help, stdout);
        return NP_EXIT_OK;
    }
    np_throw(error, NP_ERROR_CONFIG, "options follow the command: nicpass lab %s --layout NAME",
             argv[1]);
    return NP_EXIT_USAGE;
}
