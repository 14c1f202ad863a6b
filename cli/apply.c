/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * nicpass apply: prepares a VM's NICs.
 */
#include "cli/host.h"

NpExit
np_cmd_apply(int argc, char **argv, GError **error)
{
    g_auto(NpHostOptions) options = {NULL};
    g_auto(NpCliHost) host = {NULL};
    const GOptionEntry entries[] = {
        NP_HOST_DRY_RUN(options), NP_HOST_JSON(options), NP_HOST_ENTRIES(options), {NULL}};
    NpExit status;
    if (!np_cli_vm_options("apply", entries, &argc, &argv, &status, error))
        return status;
    if (options.dry_run)
        return np_cli_preview(&options, argv[1], error);
    if (!np_cli_host_open(&host, &options, true, error))
        return NP_EXIT_FAILED;
    g_autoptr(NpVm) vm = np_cli_host_vm(&host, argv[1], error);
    g_autoptr(NpPlan) plan = NULL;
    if (!vm || !np_claim(&host.apply, vm, &plan, error))
        return NP_EXIT_FAILED;
    np_cli_print_plan(plan, vm, options.json);
    return NP_EXIT_OK;
}
