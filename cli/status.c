/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * nicpass status: the leases.
 */
#include <stdio.h>

#include "cli/host.h"
#include "lib/bench/table.h"

static const char *const lives[] = {
    [NP_LIFE_UNKNOWN] = "unknown",
    [NP_LIFE_ALIVE] = "alive",
    [NP_LIFE_DEAD] = "dead",
};

/* In one word, for people. */
static const char *
state_of(const NpLease *lease)
{
    if (lease->life == NP_LIFE_DEAD)
        return "VM is gone: nicpass repair puts it back";
    if (!lease->ready)
        return "being prepared";
    return lease->qemu_pid ? "VM runs" : "ready for the VM";
}

/* "3 min" (transfer full). */
static char *
format_age(int64_t age_ms)
{
    int64_t minutes = MAX(age_ms, 0) / 60000;
    if (minutes < 120)
        return g_strdup_printf("%d min", (int) minutes);
    if (minutes < 48 * 60)
        return g_strdup_printf("%d h", (int) (minutes / 60));
    return g_strdup_printf("%d d", (int) (minutes / (24 * 60)));
}

static void
print_table(NpSys *sys, const GPtrArray *leases)
{
    static const char *const heads[] = {"VM", "NIC", "ADDRESS", "PORT", "VF", "AGE", "STATE"};
    g_autoptr(NpTable) table = np_table_new();
    for (unsigned i = 0; i < G_N_ELEMENTS(heads); i++)
        (void) np_table_column(table, heads[i], false, false);
    for (guint i = 0; i < leases->len; i++) {
        const NpLease *lease = g_ptr_array_index(leases, i);
        char bdf[NP_BDF_TEXT_SIZE], pf[NP_BDF_TEXT_SIZE];
        g_autofree char *vm = np_vm_describe(lease->vm);
        g_autofree char *nic = g_strdup_printf("%u", lease->nic);
        g_autofree char *vf =
            lease->whole_port ? g_strdup("all") : g_strdup_printf("%u", lease->vf_index);
        g_autofree char *age = format_age(sys->now_ms(sys) - lease->claimed_ms);
        const char *cells[] = {vm,
                               nic,
                               np_bdf_format(&lease->bdf, bdf),
                               np_bdf_format(&lease->pf, pf),
                               vf,
                               age,
                               state_of(lease)};
        np_table_row(table);
        for (unsigned column = 0; column < G_N_ELEMENTS(cells); column++)
            np_table_cell(table, column, cells[column], NP_STYLE_PLAIN);
    }
    g_autofree char *text = np_table_text(table, false);
    fputs(leases->len ? text : "no VM has a NIC of ours\n", stdout);
}

static void
print_json(const GPtrArray *leases)
{
    json_t *list = json_array();
    for (guint i = 0; i < leases->len; i++) {
        const NpLease *lease = g_ptr_array_index(leases, i);
        json_t *object = np_lease_to_json(lease);
        json_object_set_new(object, "ready", json_boolean(lease->ready));
        json_object_set_new(object, "life", json_string(lives[lease->life]));
        if (lease->qemu_pid)
            json_object_set_new(object, "qemu-pid", json_integer(lease->qemu_pid));
        json_array_append_new(list, object);
    }
    np_cli_print_json(json_pack("{s:o}", "leases", list));
}

NpExit
np_cmd_status(int argc, char **argv, GError **error)
{
    g_auto(NpHostOptions) options = {NULL};
    g_auto(NpCliHost) host = {NULL};
    const GOptionEntry entries[] = {NP_HOST_JSON(options), NP_HOST_ENTRIES(options), {NULL}};
    bool help;
    if (!np_verb_options("status", entries, &argc, &argv, 0, &help, error))
        return NP_EXIT_USAGE;
    if (help)
        return NP_EXIT_OK;
    if (!np_cli_host_open(&host, &options, false, error))
        return NP_EXIT_FAILED;
    g_autoptr(GPtrArray) leases = np_leases_list(host.sys, host.apply.run_dir, error);
    if (!leases)
        return NP_EXIT_FAILED;
    if (options.json)
        print_json(leases);
    else
        print_table(host.sys, leases);
    return NP_EXIT_OK;
}
