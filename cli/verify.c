/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * nicpass verify: compares a VM's leases with what is.
 */
#include <stdio.h>

#include "cli/host.h"

NpExit
np_cmd_verify(int argc, char **argv, GError **error)
{
    g_auto(NpHostOptions) options = {NULL};
    g_auto(NpCliHost) host = {NULL};
    g_autoptr(GPtrArray) problems = NULL;
    const GOptionEntry entries[] = {NP_HOST_JSON(options), NP_HOST_ENTRIES(options), {NULL}};
    NpExit status;
    if (!np_cli_vm_options("verify", entries, &argc, &argv, &status, error))
        return status;
    if (!np_cli_host_open(&host, &options, true, error))
        return NP_EXIT_FAILED;
    g_autoptr(NpVm) vm = np_cli_host_vm(&host, argv[1], error);
    if (!vm || !np_verify(&host.apply, vm, &problems, error))
        return NP_EXIT_FAILED;
    json_t *list = json_array();
    for (guint i = 0; i < problems->len; i++) {
        const char *problem = g_ptr_array_index(problems, i);
        json_array_append_new(list, json_string(problem));
        if (!options.json)
            puts(problem);
    }
    if (options.json)
        np_cli_print_json(json_pack("{s:o}", "problems", list));
    else
        json_decref(list);
    if (problems->len == 0 && !options.json)
        puts("all is as it should be");
    return problems->len ? NP_EXIT_FAILED : NP_EXIT_OK;
}
