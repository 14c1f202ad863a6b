/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Operations: see op.h.
 */
#include "lib/plan/op.h"

#include <string.h>

#include "lib/base/error.h"

/* Time limits: a PF's rtnl lock may be held for 2 s by others, and some drivers ask their firmware
 * for each attribute; 7 VFs took igb 0.6 s to make, 128 take some cards most of a minute. */
#define SHORT_MS  10000
#define DRIVER_MS 30000
#define VFS_MS    120000
#define PATH_MS   5000

/* clang-format off */
static const NpOpInfo table[NP_OP_COUNT] = {
    /*                       name           attribute               writes sticky of_pf  time */
    [NP_OP_LOCK] =         {"lock",         NP_ATTR_NONE,           false, false, true,  SHORT_MS,
        "waits for the lock of the PF, so that no other start changes it meanwhile"},
    [NP_OP_RECLAIM] =      {"reclaim",      NP_ATTR_NONE,           false, false, true,  DRIVER_MS,
        "puts back what a VM that is gone has left"},
    [NP_OP_PF_UP] =        {"pf-up",        NP_ATTR_NET_UP,         true,  false, true,  SHORT_MS,
        "sets the PF up: VFs come to nothing below a PF that is down"},
    [NP_OP_PF_MTU] =       {"pf-mtu",       NP_ATTR_NET_MTU,        true,  false, true,  SHORT_MS,
        "raises the PF's MTU: a VF cannot send more than its PF"},
    [NP_OP_MAKE_VFS] =     {"make-vfs",     NP_ATTR_NUMVFS,         true,  true,  true,  VFS_MS,
        "makes VFs; only where there are none, because changing the number destroys all"},
    [NP_OP_WAIT_VFS] =     {"wait-vfs",     NP_ATTR_NONE,           false, false, true,  VFS_MS,
        "waits until the kernel shows all of them"},
    [NP_OP_CHOOSE] =       {"choose",       NP_ATTR_NONE,           false, false, false, SHORT_MS,
        "names the function for the NIC"},
    [NP_OP_GUARD] =        {"guard",        NP_ATTR_NONE,           false, false, false, SHORT_MS,
        "has made sure that neither the host nor another VM needs it"},
    [NP_OP_LEASE] =        {"lease",        NP_ATTR_NONE,           false, false, false, SHORT_MS,
        "records on disk who has the function, before anything is changed"},
    [NP_OP_SAVE] =         {"save",         NP_ATTR_NONE,           true,  false, false, DRIVER_MS,
        "notes what unbinding destroys, to be put back on release"},
    [NP_OP_HOLD_MAC] =     {"hold-mac",     NP_ATTR_VF_MAC,         true,  false, false, SHORT_MS,
        "makes the MAC in effect the admin MAC, so that the host gets the same one back"},
    [NP_OP_UNBIND] =       {"unbind",       NP_ATTR_DRIVER,         true,  false, false, DRIVER_MS,
        "takes the function from its driver"},
    [NP_OP_OVERRIDE] =     {"override",     NP_ATTR_OVERRIDE,       true,  false, false, SHORT_MS,
        "reserves this one function, and no other of its kind, for the driver to come"},
    [NP_OP_RESET] =        {"reset",        NP_ATTR_RESET,          true,  false, false, DRIVER_MS,
        "resets the function, so that the VM gets nothing of its last user"},
    [NP_OP_VF_MAC] =       {"vf-mac",       NP_ATTR_VF_MAC,         true,  false, false, SHORT_MS,
        "sets the VF's MAC through the PF"},
    [NP_OP_VF_VLAN] =      {"vf-vlan",      NP_ATTR_VF_VLAN,        true,  false, false, SHORT_MS,
        "sets the VF's VLAN, priority and protocol"},
    [NP_OP_VF_RATE] =      {"vf-rate",      NP_ATTR_VF_RATE,        true,  false, false, SHORT_MS,
        "sets both rates of the VF"},
    [NP_OP_VF_SPOOFCHK] =  {"vf-spoofchk",  NP_ATTR_VF_SPOOFCHK,    true,  false, false, SHORT_MS,
        "switches the check of source MACs"},
    [NP_OP_VF_LINK] =      {"vf-link",      NP_ATTR_VF_LINK,        true,  false, false, SHORT_MS,
        "sets whether the VF's link follows the port's"},
    [NP_OP_VF_RSS_QUERY] = {"vf-rss-query", NP_ATTR_VF_RSS_QUERY,   true,  false, false, SHORT_MS,
        "sets whether the VF may read the RSS key"},
    [NP_OP_VF_TRUST] =     {"vf-trust",     NP_ATTR_VF_TRUST,       true,  false, false, SHORT_MS,
        "sets whether the VF may change its own MAC and go promiscuous"},
    [NP_OP_PROBE] =        {"probe",        NP_ATTR_DRIVER,         true,  false, false, DRIVER_MS,
        "binds the function to the driver through which the VM gets it"},
    [NP_OP_CHECK_PATH] =   {"check-path",   NP_ATTR_NONE,           false, false, false, PATH_MS,
        "makes sure that the host is still reachable; if not, all is put back"},
    [NP_OP_VERIFY] =       {"verify",       NP_ATTR_NONE,           false, false, false, SHORT_MS,
        "reads everything back once more"},
    [NP_OP_UNLOCK] =       {"unlock",       NP_ATTR_NONE,           false, false, true,  SHORT_MS,
        "lets other starts go on"},
    [NP_OP_REMOVE_VFS] =   {"remove-vfs",   NP_ATTR_NUMVFS,         true,  true,  true,  VFS_MS,
        "removes all VFs of the PF; only when asked for by name, and none is in use"},
};
/* clang-format on */

static const char *const attr_names[NP_ATTR_COUNT] = {
    [NP_ATTR_NONE] = "",
    [NP_ATTR_NUMVFS] = "sriov_numvfs",
    [NP_ATTR_DRIVER] = "driver",
    [NP_ATTR_OVERRIDE] = "driver_override",
    [NP_ATTR_RESET] = "reset",
    [NP_ATTR_VF_MAC] = "mac",
    [NP_ATTR_VF_VLAN] = "vlan",
    [NP_ATTR_VF_RATE] = "rate",
    [NP_ATTR_VF_SPOOFCHK] = "spoofchk",
    [NP_ATTR_VF_LINK] = "link",
    [NP_ATTR_VF_RSS_QUERY] = "rss-query",
    [NP_ATTR_VF_TRUST] = "trust",
    [NP_ATTR_NET_UP] = "net-up",
    [NP_ATTR_NET_MTU] = "net-mtu",
    [NP_ATTR_NET_MASTER] = "net-master",
    [NP_ATTR_NET_ADDRESSES] = "net-addresses",
};

static const char *const role_names[] = {"pf", "vf", "port"};

const NpOpInfo *
np_op_info(NpOpKind kind)
{
    g_return_val_if_fail((size_t) kind < NP_OP_COUNT, &table[0]);
    return &table[kind];
}

bool
np_op_find(const char *name, NpOpKind *ret_kind)
{
    for (size_t i = 0; i < NP_OP_COUNT; i++) {
        if (strcmp(table[i].name, name) == 0) {
            *ret_kind = (NpOpKind) i;
            return true;
        }
    }
    return false;
}

const char *
np_attr_name(NpAttr attr)
{
    g_return_val_if_fail((size_t) attr < NP_ATTR_COUNT, "");
    return attr_names[attr];
}

bool
np_attr_find(const char *name, NpAttr *ret_attr)
{
    for (size_t i = 0; i < NP_ATTR_COUNT; i++) {
        if (strcmp(attr_names[i], name) == 0) {
            *ret_attr = (NpAttr) i;
            return true;
        }
    }
    return false;
}

NpVfFields
np_attr_vf_field(NpAttr attr)
{
    if (attr < NP_ATTR_VF_MAC || attr > NP_ATTR_VF_TRUST)
        return (NpVfFields) 0;
    return (NpVfFields) (1 << (attr - NP_ATTR_VF_MAC));
}

void
np_change_clear(NpChange *change)
{
    g_clear_pointer(&change->old_value, g_free);
    g_clear_pointer(&change->new_value, g_free);
}

void
np_change_copy(NpChange *to, const NpChange *from)
{
    *to = *from;
    to->old_value = g_strdup(from->old_value);
    to->new_value = g_strdup(from->new_value);
}

json_t *
np_change_to_json(const NpChange *change)
{
    char bdf[NP_BDF_TEXT_SIZE];
    json_t *object = json_object();
    json_object_set_new(object, "op", json_string(table[change->kind].name));
    json_object_set_new(object, "role", json_string(role_names[change->role]));
    json_object_set_new(object, "object", json_string(np_bdf_format(&change->object, bdf)));
    if (change->role == NP_ROLE_VF) {
        json_object_set_new(object, "pf", json_string(np_bdf_format(&change->pf, bdf)));
        json_object_set_new(object, "vf", json_integer(change->vf_index));
    }
    if (change->attr != NP_ATTR_NONE)
        json_object_set_new(object, "attribute", json_string(attr_names[change->attr]));
    if (change->old_value)
        json_object_set_new(object, "old", json_string(change->old_value));
    if (change->new_value)
        json_object_set_new(object, "new", json_string(change->new_value));
    return object;
}

static bool
throw_unknown(const char *field, const char *value, GError **error)
{
    g_autofree char *quoted = np_quote(value);
    return np_throw(error, NP_ERROR_PROTOCOL, "field '%s': %s is not known", field, quoted);
}

static bool
take_role(const json_t *object, NpRole *ret_role, GError **error)
{
    const char *role = np_json_string(object, "role", "");
    for (size_t i = 0; i < G_N_ELEMENTS(role_names); i++) {
        if (strcmp(role_names[i], role) == 0) {
            *ret_role = (NpRole) i;
            return true;
        }
    }
    return throw_unknown("role", role, error);
}

bool
np_change_from_json(const json_t *object, NpChange *ret_change, GError **error)
{
    NpChange change = {.kind = NP_OP_COUNT};
    const char *op = np_json_string(object, "op", "");
    const char *attr = np_json_string(object, "attribute", "");
    if (!np_op_find(op, &change.kind))
        return throw_unknown("op", op, error);
    if (!np_attr_find(attr, &change.attr))
        return throw_unknown("attribute", attr, error);
    if (!take_role(object, &change.role, error) ||
        !np_parse_bdf(np_json_string(object, "object", ""), &change.object, error))
        return false;
    change.pf = change.object;
    if (change.role == NP_ROLE_VF &&
        !np_parse_bdf(np_json_string(object, "pf", ""), &change.pf, error))
        return false;
    change.vf_index = (unsigned) CLAMP(np_json_int(object, "vf", 0), 0, UINT16_MAX);
    change.old_value = g_strdup(np_json_string(object, "old", NULL));
    change.new_value = g_strdup(np_json_string(object, "new", NULL));
    *ret_change = change;
    return true;
}

void
np_op_free(NpOp *op)
{
    if (!op)
        return;
    np_change_clear(&op->change);
    g_free(op->reason);
    g_free(op);
}
