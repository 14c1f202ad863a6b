/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * nicpass repair: puts back what dead VMs and crashed runs left.
 */
#include <stdio.h>

#include "cli/host.h"

NpExit
np_cmd_repair(int argc, char **argv, GError **error)
{
    g_auto(NpHostOptions) options = {NULL};
    g_auto(NpCliHost) host = {NULL};
    g_autoptr(GPtrArray) done = NULL;
    const GOptionEntry entries[] = {NP_HOST_DRY_RUN(options), NP_HOST_ENTRIES(options), {NULL}};
    bool help;
    if (!np_verb_options("repair", entries, &argc, &argv, -1, &help, error))
        return NP_EXIT_USAGE;
    if (help)
        return NP_EXIT_OK;
    if (!np_cli_host_open(&host, &options, false, error))
        return NP_EXIT_FAILED;
    g_autoptr(NpVm) vm = argc > 1 ? np_cli_host_vm(&host, argv[1], error) : NULL;
    if (argc > 1 && !vm)
        return NP_EXIT_FAILED;
    if (options.dry_run)
        return np_cli_print_undo(&host, vm, true, error) ? NP_EXIT_OK : NP_EXIT_FAILED;
    bool fine = np_repair(&host.apply, vm, &done, error);
    for (guint i = 0; done && i < done->len; i++)
        puts(g_ptr_array_index(done, i));
    if (fine && done->len == 0)
        puts("nothing to do");
    return fine ? NP_EXIT_OK : NP_EXIT_FAILED;
}
