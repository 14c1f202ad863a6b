/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Leases: which VM has which function; the plain data (the store is lib/apply/leases.h).
 */
#pragma once

#include "lib/base/json.h"
#include "lib/base/parse.h"
#include "lib/model/vm.h"

#define NP_LEASE_ID_SIZE 17 /* 16 hex digits and NUL */

/* Life of the VM that holds a lease. */
typedef enum {
    NP_LIFE_UNKNOWN, /* cannot be told: treated as alive */
    NP_LIFE_ALIVE,
    NP_LIFE_DEAD,
} NpLife;

typedef struct {
    char id[NP_LEASE_ID_SIZE]; /* random: release acts only on the lease it means */
    NpVm *vm;                  /* pins are not kept */
    unsigned nic;
    NpBdf bdf;         /* the function given away */
    NpBdf pf;          /* its PF; bdf itself when a whole port is given away */
    unsigned vf_index; /* of a VF */
    bool whole_port;
    int64_t claimed_ms; /* CLOCK_BOOTTIME */
    bool ready;         /* preparing came to its end */
    int64_t qemu_pid;   /* 0 until the hypervisor said that the VM runs */
    NpLife life;        /* judged when listed (np_leases_list); not stored */
} NpLease;

NpLease *np_lease_new(const NpVm *vm, unsigned nic, const NpBdf *bdf);
void np_lease_free(NpLease *lease);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpLease, np_lease_free)

/* "VM 101 nic 0 (lease 0123456789abcdef)" (transfer full). */
char *np_lease_describe(const NpLease *lease);

/* JSON form, as kept in the lease's file (without ready and life) and shown by `status --json`. */
json_t *np_lease_to_json(const NpLease *lease);
NpLease *np_lease_from_json(const json_t *object, GError **error);
