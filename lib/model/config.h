/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Configuration: what should be, from /etc/nicpass and, on a Proxmox cluster, /etc/pve/nicpass.
 */
#pragma once

#include <sys/stat.h>

#include "lib/model/vf.h"
#include "lib/model/vm.h"

/* How a configuration names a PF. The name of a netdev changes with cards and kernels, so a name
 * is only taken together with, or to be checked against, what the other two say. */
typedef struct {
    bool has_bdf, has_mac;
    NpBdf bdf;
    NpMac mac;  /* the permanent one */
    char *name; /* nullable */
} NpPfRef;

typedef enum {
    NP_PF_UP_REQUIRE, /* refuse when the PF is down */
    NP_PF_UP_SET,     /* set it up, put it back with the last lease */
} NpPfUp;

typedef struct {
    char *name;
    NpPfRef pf;
    /* How many VFs to make when there are none; 0: as many as all VMs configured need. */
    unsigned vfs;
    char *driver; /* to bind to, "vfio-pci" unless given */
    NpPfUp pf_up;
    unsigned mtu; /* of the PF, at least; 0: not touched */
    char *origin; /* "file:line" of the group */
} NpPool;

typedef enum {
    NP_MAC_DERIVED, /* np_vm_derived_mac */
    NP_MAC_FIXED,
    NP_MAC_KEEP,  /* the VF's own at the time */
    NP_MAC_GUEST, /* admin MAC zero: the guest chooses */
} NpMacMode;

/* Where a NIC comes from. */
typedef enum {
    NP_SOURCE_POOL,
    NP_SOURCE_VF, /* this VF: an implicit pool with its PF */
    NP_SOURCE_PF, /* a whole port, SR-IOV or not */
} NpSource;

typedef struct {
    char *vm_id; /* the ID of [vm ID nic N] */
    unsigned nic;
    NpSource source;
    char *pool; /* of POOL */
    NpBdf vf;   /* of VF */
    NpPfRef pf; /* of PF */
    NpMacMode mac_mode;
    NpVfAttrs attrs;     /* what is wanted: has = given, or a default that stands; mac if FIXED */
    bool trunk;          /* vlan = trunk: no VLAN set, the guest tags */
    NpVfFields required; /* subset of attrs.has: failing is an error; of the rest, a warning */
    char *driver;        /* for VF and PF; NULL: "vfio-pci" */
    bool even_if_used;   /* of PF: take it although it is in a bridge or has addresses */
    char *origin;
} NpNic;

typedef struct {
    GPtrArray *pools;   /* of NpPool */
    GPtrArray *nics;    /* of NpNic */
    GPtrArray *sources; /* of char *: files read, in order */
} NpConfig;

/* Refuses a file that others than root can write: uid 0, no write bit for group or others. */
bool np_config_trusted(const char *path, const struct stat *status, GError **error);

/* Judges an opened file; tests pass their own. */
typedef bool (*NpConfigTrust)(const char *path, const struct stat *status, GError **error);

/* /etc/nicpass/nicpass.conf, /etc/nicpass/conf.d, /etc/pve/nicpass; NULL-terminated. */
extern const char *const np_config_places[];

/* Reads the files of places (a folder means its *.conf in name order; what does not exist is
 * passed over). Nothing is merged: a pool or a VM's NIC given twice is an error that names both
 * places. Throws CONFIG ("file:line: ..."), DENIED when a file is not trusted, IO. */
NpConfig *np_config_load(const char *const *places, NpConfigTrust trust, GError **error);

/* One file's text; errors call it name. Pure. */
NpConfig *np_config_parse(const char *name, const char *text, GError **error);

void np_config_free(NpConfig *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpConfig, np_config_free)

/* NULL when absent (owned by config). */
const NpPool *np_config_pool(const NpConfig *config, const char *name);

/* The VM's NICs by number (of const NpNic *, borrowed; transfer container). Empty: the VM is none
 * of ours. */
GPtrArray *np_config_nics(const NpConfig *config, const NpVm *vm);
