/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Host: what the verbs print alike. See host.h.
 */
#include <stdio.h>

#include "cli/host.h"

bool
np_cli_vm_options(const char *verb, const GOptionEntry *entries, int *argc, char ***argv,
                  NpExit *ret_exit, GError **error)
{
    bool help;
    *ret_exit = NP_EXIT_USAGE;
    if (!np_verb_options(verb, entries, argc, argv, 1, &help, error))
        return false;
    *ret_exit = NP_EXIT_OK;
    return !help;
}

void
np_cli_print_plan(const NpPlan *plan, const NpVm *vm, bool json)
{
    if (json) {
        np_cli_print_json(np_plan_to_json(plan, vm));
        return;
    }
    g_autofree char *text = np_plan_to_text(plan, vm);
    fputs(text, stdout);
}

NpExit
np_cli_preview(const NpHostOptions *options, const char *text, GError **error)
{
    g_auto(NpCliHost) host = {NULL};
    if (!np_cli_host_open(&host, options, true, error))
        return NP_EXIT_FAILED;
    g_autoptr(NpVm) vm = np_cli_host_vm(&host, text, error);
    g_autoptr(NpPlan) plan = vm ? np_preview(&host.apply, vm, error) : NULL;
    if (!plan)
        return NP_EXIT_FAILED;
    np_cli_print_plan(plan, vm, options->json);
    return NP_EXIT_OK;
}

static void
print_changes(const NpJournal *journal)
{
    g_autoptr(GPtrArray) changes = np_journal_open_changes(journal, NULL);
    for (guint i = changes->len; i-- > 0;) {
        const NpChange *change = g_ptr_array_index(changes, i);
        char bdf[NP_BDF_TEXT_SIZE];
        if (change->kind == NP_OP_SAVE || change->attr == NP_ATTR_RESET)
            continue;
        const char *from = change->new_value && *change->new_value ? change->new_value : "none";
        const char *to = change->old_value && *change->old_value ? change->old_value : "none";
        printf("  %s %s: %s -> %s\n", np_bdf_format(&change->object, bdf),
               np_attr_name(change->attr), from, to);
    }
}

bool
np_cli_print_undo(const NpCliHost *host, const NpVm *vm, bool dead_only, GError **error)
{
    g_autoptr(GPtrArray) leases = np_leases_list(host->sys, host->apply.run_dir, error);
    bool any = false;
    for (guint i = 0; leases && i < leases->len; i++) {
        const NpLease *lease = g_ptr_array_index(leases, i);
        if ((vm && !np_vm_same(vm, lease->vm)) || (dead_only && lease->life != NP_LIFE_DEAD))
            continue;
        char bdf[NP_BDF_TEXT_SIZE];
        g_autoptr(NpJournal) journal = np_leases_open(host->apply.run_dir, lease->id, error);
        g_autofree char *text = np_lease_describe(lease);
        if (!journal)
            return false;
        printf("%s: %s goes back\n", text, np_bdf_format(&lease->bdf, bdf));
        print_changes(journal);
        any = true;
    }
    if (leases && !any)
        puts("nothing to do");
    return leases != NULL;
}
