/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * nicpass vfs: sets the number of VFs of a port.
 */
#include <stdio.h>

#include "cli/host.h"
#include "lib/apply/run.h"
#include "lib/base/error.h"

#define VFS_MAX 65535

static void
pf_clear(NpPfRef *pf)
{
    g_free(pf->name);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NpPfRef, pf_clear)

/* The plan without carrying it out, from a look without the lock. */
static NpPlan *
look(const NpCliHost *host, const NpPfRef *pf, unsigned count, GError **error)
{
    g_auto(NpLook) now = {0};
    return np_look_take(&now, &host->apply, error) ? np_plan_vfs(&now.world, pf, count, error)
                                                   : NULL;
}

NpExit
np_cmd_vfs(int argc, char **argv, GError **error)
{
    g_auto(NpHostOptions) options = {NULL};
    g_auto(NpCliHost) host = {NULL};
    const GOptionEntry entries[] = {
        NP_HOST_DRY_RUN(options), NP_HOST_JSON(options), NP_HOST_ENTRIES(options), {NULL}};
    bool help;
    if (!np_verb_options("vfs", entries, &argc, &argv, 2, &help, error))
        return NP_EXIT_USAGE;
    if (help)
        return NP_EXIT_OK;
    g_auto(NpPfRef) pf = {0};
    uint64_t count;
    if (!np_cli_parse_pf(argv[1], &pf, error))
        return NP_EXIT_USAGE;
    if (!np_parse_uint(argv[2], 0, VFS_MAX, &count, error))
        return NP_EXIT_USAGE;
    if (!np_cli_host_open(&host, &options, false, error))
        return NP_EXIT_FAILED;
    g_autoptr(NpPlan) plan = NULL;
    if (options.dry_run)
        plan = look(&host, &pf, (unsigned) count, error);
    else if (!np_set_vfs(&host.apply, &pf, (unsigned) count, &plan, error))
        return NP_EXIT_FAILED;
    if (!plan)
        return NP_EXIT_FAILED;
    g_autofree char *text = np_plan_to_text(plan, NULL);
    if (options.json)
        np_cli_print_json(np_plan_to_json(plan, NULL));
    else
        fputs(text, stdout);
    return NP_EXIT_OK;
}
