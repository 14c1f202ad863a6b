/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Host: what the attaching verbs share: options, the system, the configuration, the VM named.
 */
#pragma once

#include "cli/verb.h"
#include "lib/apply/apply.h"
#include "lib/apply/linux.h"

/* Options; the hidden ones let a verb look at a copy of another machine. */
typedef struct {
    char *root;    /* --root: "/" unless given */
    char *run_dir; /* --run-dir: NP_RUN_DIR unless given */
    char *config;  /* --config: a file or folder in place of np_config_places */
    gboolean json, dry_run;
} NpHostOptions;

/* Entries for a verb's table of options. */
#define NP_HOST_ENTRIES(options)                                                                    \
    {"root", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &(options).root, "", "DIR"},           \
        {"run-dir", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &(options).run_dir, "", "DIR"}, \
    {                                                                                               \
        "config", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &(options).config, "", "PATH"     \
    }
#define NP_HOST_JSON(options)                                                                      \
    {                                                                                              \
        "json", 0, 0, G_OPTION_ARG_NONE, &(options).json, "print JSON for programs", NULL          \
    }
#define NP_HOST_DRY_RUN(options)                                                                   \
    {                                                                                              \
        "dry-run", 'n', 0, G_OPTION_ARG_NONE, &(options).dry_run,                                  \
            "only say what would be done; change nothing", NULL                                    \
    }

void np_host_options_clear(NpHostOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NpHostOptions, np_host_options_clear)

/* One verb's run. */
typedef struct {
    NpSys *sys;
    NpConfig *config; /* NULL unless asked for */
    GPtrArray *warnings;
    NpApply apply;
} NpCliHost;

/* Opens the system and, if wanted, reads the configuration. Throws what these throw. */
bool
np_cli_host_open(NpCliHost *host, const NpHostOptions *options, bool with_config, GError **error);

/* What a verb that takes no arguments and looks at the whole host begins with: its options, the
 * system, the inventory (transfer full). NULL when there is nothing more to do: help was shown, or
 * something was thrown; *ret_exit says which. */
NpInventory *np_cli_host_look(const char *verb, NpHostOptions *options, int argc, char **argv,
                              NpCliHost *host, NpExit *ret_exit, GError **error);

/* Warnings go to standard error. */
void np_cli_host_close(NpCliHost *host);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NpCliHost, np_cli_host_close)

/* The VM a person means: a VMID is Proxmox'; else a libvirt domain by name or UUID, from libvirt's
 * own files or, when it is defined no more, from the leases (transfer full). Throws NOT_FOUND. */
NpVm *np_cli_host_vm(const NpCliHost *host, const char *text, GError **error);

/* The leases, judged, or none (with a warning) when they are not this user's to read: a look at the
 * host goes on without them (of NpLease, transfer full). */
GPtrArray *np_cli_read_leases(const NpCliHost *host);

/* A port by PCI address, permanent MAC or name. Throws CONFIG. ref->name is to be freed. */
bool np_cli_parse_pf(const char *text, NpPfRef *ret_pf, GError **error);

/* Whether this user may see everything. */
bool np_cli_is_root(void);

/* Prints JSON with indentation, for people's eyes as well. object is taken. */
void np_cli_print_json(json_t *object);

void np_cli_print_plan(const NpPlan *plan, const NpVm *vm, bool json);

/* The options of a verb that takes one VM. False when there is nothing more to do: help was shown,
 * or something was thrown; *ret_exit says which. */
bool np_cli_vm_options(const char *verb, const GOptionEntry *entries, int *argc, char ***argv,
                       NpExit *ret_exit, GError **error);

/* Prints what np_claim would do for the VM. */
NpExit np_cli_preview(const NpHostOptions *options, const char *vm, GError **error);

/* Prints what ending the VM's leases (NULL: everybody's), or of these the dead ones only, would put
 * back: newest change first. */
bool np_cli_print_undo(const NpCliHost *host, const NpVm *vm, bool dead_only, GError **error);
