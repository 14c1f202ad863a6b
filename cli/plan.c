/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * nicpass plan: what would be done for a VM.
 */
#include "cli/host.h"

NpExit
np_cmd_plan(int argc, char **argv, GError **error)
{
    g_auto(NpHostOptions) options = {NULL};
    const GOptionEntry entries[] = {NP_HOST_JSON(options), NP_HOST_ENTRIES(options), {NULL}};
    NpExit status;
    if (!np_cli_vm_options("plan", entries, &argc, &argv, &status, error))
        return status;
    return np_cli_preview(&options, argv[1], error);
}
