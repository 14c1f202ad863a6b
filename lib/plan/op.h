/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Operations: the one table of what nicpass can do to a host, and the plans made of it.
 */
#pragma once

#include <stdbool.h>

#include "lib/base/parse.h"
#include "lib/model/lease.h"
#include "lib/model/vf.h"

/* In the order of a plan. Those of the first part concern a PF and are shared by all leases of it;
 * those of the second concern one function and one lease. Releasing is not a list of its own: it
 * is the journal, backwards. */
typedef enum {
    NP_OP_LOCK,    /* one lock a PF, held to the end */
    NP_OP_RECLAIM, /* undo the lease of a VM that is gone */
    NP_OP_PF_UP,
    NP_OP_PF_MTU,
    NP_OP_MAKE_VFS, /* sriov_numvfs, only from 0; never undone */
    NP_OP_WAIT_VFS, /* until all virtfn and physfn links are there */

    NP_OP_CHOOSE, /* names the function; the choice was made in the plan */
    NP_OP_GUARD,  /* passed; reason says what was looked at */
    NP_OP_LEASE,
    NP_OP_SAVE,     /* note in the journal what a later operation destroys */
    NP_OP_HOLD_MAC, /* admin MAC := MAC in effect, so that the host driver gets it again on release
                     */
    NP_OP_UNBIND,
    NP_OP_OVERRIDE,
    NP_OP_RESET,
    NP_OP_VF_MAC, /* consecutive NP_OP_VF_* of one VF go out as one request */
    NP_OP_VF_VLAN,
    NP_OP_VF_RATE,
    NP_OP_VF_SPOOFCHK,
    NP_OP_VF_LINK,
    NP_OP_VF_RSS_QUERY,
    NP_OP_VF_TRUST,
    NP_OP_PROBE,
    NP_OP_CHECK_PATH, /* the host's management path still works, else all is put back */
    NP_OP_VERIFY,     /* read everything back */
    NP_OP_UNLOCK,

    NP_OP_REMOVE_VFS, /* sriov_numvfs to 0; only in np_plan_vfs */
    NP_OP_COUNT,
} NpOpKind;

/* What operations set, as (PCI function, attribute) with a text value. How each is read and
 * written is in lib/apply/attr.c and nowhere else. */
typedef enum {
    NP_ATTR_NONE,
    NP_ATTR_NUMVFS,   /* decimal */
    NP_ATTR_DRIVER,   /* the driver bound, "" for none; written by unbind and bind */
    NP_ATTR_OVERRIDE, /* "" for none */
    NP_ATTR_RESET,    /* write-only: "1" */
    NP_ATTR_VF_MAC,   /* of a VF, through its PF: texts of np_vf_format; in NpVfFields' order */
    NP_ATTR_VF_VLAN,
    NP_ATTR_VF_RATE,
    NP_ATTR_VF_SPOOFCHK,
    NP_ATTR_VF_LINK,
    NP_ATTR_VF_RSS_QUERY,
    NP_ATTR_VF_TRUST,
    NP_ATTR_NET_UP,        /* of the function's netdev: "1" or "0" */
    NP_ATTR_NET_MTU,       /* decimal */
    NP_ATTR_NET_MASTER,    /* name, "" for none */
    NP_ATTR_NET_ADDRESSES, /* separated by one blank */
    NP_ATTR_COUNT,
} NpAttr;

/* What the operation's object is in its plan. Apply checks it before it unbinds anything. */
typedef enum {
    NP_ROLE_PF,   /* stays with the host */
    NP_ROLE_VF,   /* given away; physfn must be pf */
    NP_ROLE_PORT, /* a whole port that is given away */
} NpRole;

/* What is set, and on what: the part that a journal keeps. */
typedef struct {
    NpOpKind kind;
    NpRole role;
    NpBdf object;
    NpBdf pf;          /* equal to object unless role is VF */
    unsigned vf_index; /* of role VF */
    NpAttr attr;
    char *old_value; /* nullable: not known before it runs (a VF that does not exist yet) */
    char *new_value; /* nullable: nothing is written (LOCK, SAVE and the like) */
} NpChange;

typedef struct {
    NpChange change;
    unsigned nic;  /* NIC of the VM, in the second part */
    bool required; /* false: failing is a warning */
    char *reason;  /* one clause, never NULL */
} NpOp;

/* The table's columns. */
typedef struct {
    const char *name; /* "pf-up": in plans, journals and logs */
    NpAttr attr;
    bool writes;          /* changes the host, so that it is journalled (SAVE is, too) */
    bool sticky;          /* stays when the rest is undone */
    bool of_pf;           /* belongs to the PF's journal, not to the lease's */
    int64_t timeout_ms;   /* deadline of one such operation */
    const char *sentence; /* for the manual and `plan --explain` */
} NpOpInfo;

const NpOpInfo *np_op_info(NpOpKind kind);

/* By name; false when there is none such. */
bool np_op_find(const char *name, NpOpKind *ret_kind);

const char *np_attr_name(NpAttr attr);
bool np_attr_find(const char *name, NpAttr *ret_attr);

/* NP_VF_* of a VF attribute, 0 for the others. */
NpVfFields np_attr_vf_field(NpAttr attr);

void np_change_clear(NpChange *change);
void np_change_copy(NpChange *to, const NpChange *from);

/* JSON form, the same in plans and journals: op, role, object, pf, vf, attribute, old, new. */
json_t *np_change_to_json(const NpChange *change);
bool np_change_from_json(const json_t *object, NpChange *ret_change, GError **error);

void np_op_free(NpOp *op);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpOp, np_op_free)
