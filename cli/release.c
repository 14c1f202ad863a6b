/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * nicpass release: puts back what was prepared for a VM.
 */
#include "cli/host.h"

NpExit
np_cmd_release(int argc, char **argv, GError **error)
{
    g_auto(NpHostOptions) options = {NULL};
    g_auto(NpCliHost) host = {NULL};
    const GOptionEntry entries[] = {NP_HOST_DRY_RUN(options), NP_HOST_ENTRIES(options), {NULL}};
    NpExit status;
    if (!np_cli_vm_options("release", entries, &argc, &argv, &status, error))
        return status;
    if (!np_cli_host_open(&host, &options, false, error))
        return NP_EXIT_FAILED;
    g_autoptr(NpVm) vm = np_cli_host_vm(&host, argv[1], error);
    if (!vm)
        return NP_EXIT_FAILED;
    bool done = options.dry_run ? np_cli_print_undo(&host, vm, false, error)
                                : np_release(&host.apply, vm, error);
    return done ? NP_EXIT_OK : NP_EXIT_FAILED;
}
