/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Host: see host.h.
 */
#include "cli/host.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/apply/peers.h"
#include "lib/apply/tree.h"
#include "lib/apply/vm-life.h"
#include "lib/base/error.h"
#include "lib/base/log.h"

#define DOMAIN_FILE_MAX (4u << 20)

void
np_host_options_clear(NpHostOptions *options)
{
    g_free(options->root);
    g_free(options->run_dir);
    g_free(options->config);
}

/* A configuration named on the command line may belong to its user: it gives him nothing that he
 * could not do himself. */
static bool
trust_own(const char *path, const struct stat *status, GError **error)
{
    if ((status->st_uid != 0 && status->st_uid != geteuid()) || status->st_mode & 022)
        return np_throw(error, NP_ERROR_DENIED,
                        "%s: others than its owner and root could write it: chmod go-w", path);
    return true;
}

static NpConfig *
load_config(const NpHostOptions *options, GError **error)
{
    const char *places[] = {options->config, NULL};
    return options->config ? np_config_load(places, trust_own, error)
                           : np_config_load(np_config_places, np_config_trusted, error);
}

bool
np_cli_host_open(NpCliHost *host, const NpHostOptions *options, bool with_config, GError **error)
{
    host->warnings = g_ptr_array_new_with_free_func(g_free);
    host->sys = np_sys_linux(options->root ? options->root : "/", error);
    if (!host->sys)
        return false;
    if (with_config && !(host->config = load_config(options, error)))
        return false;
    host->apply = (NpApply){.sys = host->sys,
                            .config = host->config,
                            .run_dir = options->run_dir ? options->run_dir : NP_RUN_DIR,
                            .lock_timeout_ms = NP_LOCK_TIMEOUT_MS,
                            .warnings = host->warnings};
    return true;
}

NpInventory *
np_cli_host_look(const char *verb, NpHostOptions *options, int argc, char **argv, NpCliHost *host,
                 NpExit *ret_exit, GError **error)
{
    const GOptionEntry entries[] = {NP_HOST_JSON(*options), NP_HOST_ENTRIES(*options), {NULL}};
    NpInventory *inventory = NULL;
    bool help = false;
    *ret_exit = NP_EXIT_USAGE;
    if (!np_verb_options(verb, entries, &argc, &argv, 0, &help, error))
        return NULL;
    *ret_exit = help ? NP_EXIT_OK : NP_EXIT_FAILED;
    if (help || !np_cli_host_open(host, options, false, error) ||
        !host->sys->scan(host->sys, &inventory, error))
        return NULL;
    return inventory;
}

void
np_cli_host_close(NpCliHost *host)
{
    for (guint i = 0; host->warnings && i < host->warnings->len; i++)
        np_log(G_LOG_LEVEL_WARNING, "%s", (const char *) g_ptr_array_index(host->warnings, i));
    g_clear_pointer(&host->warnings, g_ptr_array_unref);
    g_clear_pointer(&host->config, np_config_free);
    g_clear_pointer(&host->sys, np_sys_free);
}

/* The domain in one of libvirt's files if it is the one meant (transfer full), else NULL. */
static NpVm *
domain_in_file(int root, const char *path, const char *wanted)
{
    g_autofree char *text = NULL, *name = NULL, *uuid = NULL;
    size_t size;
    if (np_tree_read(root, path, DOMAIN_FILE_MAX, &text, &size) < 0 ||
        !np_domain_identity(text, size, &name, &uuid))
        return NULL;
    g_autoptr(NpVm) vm = np_vm_new_libvirt(name, uuid);
    return np_vm_matches(vm, wanted) ? g_steal_pointer(&vm) : NULL;
}

static NpVm *
find_domain(int root, const char *wanted)
{
    static const char folder[] = "libvirt/qemu";
    g_autoptr(GPtrArray) names = NULL;
    NpVm *vm = NULL;
    if (root < 0 || np_tree_list(root, folder, &names) < 0)
        return NULL;
    for (guint i = 0; i < names->len && !vm; i++) {
        const char *name = g_ptr_array_index(names, i);
        g_autofree char *path = g_strdup_printf("%s/%s", folder, name);
        if (g_str_has_suffix(name, ".xml"))
            vm = domain_in_file(root, path, wanted);
    }
    return vm;
}

static NpVm *
find_lease(const NpCliHost *host, const char *wanted)
{
    g_autoptr(GPtrArray) leases = np_leases_list(host->sys, host->apply.run_dir, NULL);
    for (guint i = 0; leases && i < leases->len; i++) {
        const NpLease *lease = g_ptr_array_index(leases, i);
        if (np_vm_matches(lease->vm, wanted))
            return np_vm_copy(lease->vm);
    }
    return NULL;
}

NpVm *
np_cli_host_vm(const NpCliHost *host, const char *text, GError **error)
{
    const NpScanRoots *roots = np_sys_linux_roots(host->sys);
    uint32_t vmid;
    NpVm *vm = np_parse_vmid(text, &vmid, NULL) ? np_vm_new_proxmox(vmid) : NULL;
    if (!vm)
        vm = find_domain(roots->etc, text);
    if (!vm)
        vm = find_domain(roots->run, text);
    if (!vm)
        vm = find_lease(host, text);
    if (vm) {
        if (vm->kind == NP_VM_PROXMOX && !vm->realm)
            vm->realm = np_peers_cluster_name(roots->etc);
        return vm;
    }
    g_autofree char *quoted = np_quote(text);
    np_throw(error, NP_ERROR_NOT_FOUND,
             "%s is neither a VMID (100 to 999999999) nor a libvirt domain of this host%s", quoted,
             np_cli_is_root() ? "" : " that this user may see");
    return NULL;
}

GPtrArray *
np_cli_read_leases(const NpCliHost *host)
{
    g_autoptr(GError) problem = NULL;
    GPtrArray *leases = np_leases_list(host->sys, host->apply.run_dir, &problem);
    if (leases)
        return leases;
    np_log(G_LOG_LEVEL_WARNING, "leases are not shown: %s", problem->message);
    return g_ptr_array_new();
}

bool
np_cli_parse_pf(const char *text, NpPfRef *ret_pf, GError **error)
{
    *ret_pf = (NpPfRef){0};
    if (np_parse_bdf(text, &ret_pf->bdf, NULL)) {
        ret_pf->has_bdf = true;
    } else if (np_parse_mac(text, &ret_pf->mac, NULL)) {
        ret_pf->has_mac = true;
    } else if (np_parse_ifname(text, NULL)) {
        ret_pf->name = g_strdup(text);
    } else {
        g_autofree char *quoted = np_quote(text);
        return np_throw(error, NP_ERROR_CONFIG,
                        "%s is neither a PCI address, a MAC nor an interface's name", quoted);
    }
    return true;
}

bool
np_cli_is_root(void)
{
    return geteuid() == 0;
}

void
np_cli_print_json(json_t *object)
{
    g_autoptr(json_t) owned = object;
    json_dumpf(owned, stdout, JSON_INDENT(2));
    putchar('\n');
}
