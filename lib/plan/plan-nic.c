/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Plan, second part: what is done to the functions given away. See build.h.
 */
#include <string.h>

#include "lib/base/error.h"
#include "lib/plan/build.h"
#include "lib/plan/guard.h"

static const NpMac zero;

/* What a VF is like right after it was made, for as long as nobody can look. */
static const NpVfAttrs fresh = {.has = NP_VF_MAC | NP_VF_VLAN | NP_VF_RATE | NP_VF_SPOOFCHK |
                                       NP_VF_LINK | NP_VF_RSS_QUERY | NP_VF_TRUST,
                                .proto = NP_PROTO_8021Q,
                                .spoofchk = true};

/* A new operation on the function given away. */
static NpOp *
add_op(NpBuild *build, const NpTarget *target, NpOpKind kind, const char *old_value,
       const char *new_value, const char *reason)
{
    NpRole role = target->choice.whole_port ? NP_ROLE_PORT : NP_ROLE_VF;
    NpOp *op = np_build_op(build, kind, role, &target->choice.bdf, reason);
    op->change.pf = target->choice.pf;
    op->change.vf_index = target->choice.vf_index;
    op->change.old_value = g_strdup(old_value);
    op->change.new_value = g_strdup(new_value);
    op->nic = target->nic->nic;
    return op;
}

static bool
guard(NpBuild *build, const NpTarget *target, GError **error)
{
    const NpInventory *inventory = build->world->inventory;
    g_autoptr(GArray) ours = g_array_new(FALSE, FALSE, sizeof(NpBdf));
    for (guint i = 0; i < build->targets->len; i++)
        g_array_append_val(ours, np_build_target(build, i)->choice.bdf);
    if (!target->function) /* np_guard_future_group was asked with the PF */
        return true;
    if (!build->keep && !np_guard_uses(inventory, target->function, build->vm,
                                       target->nic->even_if_used, build->plan->warnings, error))
        return false;
    return np_guard_group(inventory, target->function, ours, error);
}

/* Whether a function's MACs may be passed over: it is the target's own, or its lease ends first. */
static bool
may_share(const NpBuild *build, const NpTarget *target, const NpFunction *function)
{
    if (np_bdf_equal(&function->bdf, &target->choice.bdf))
        return true;
    for (guint i = 0; i < build->world->leases->len; i++) {
        const NpLease *lease = g_ptr_array_index(build->world->leases, i);
        if (np_bdf_equal(&lease->bdf, &function->bdf))
            return !np_build_lease(build, &function->bdf, build->keep);
    }
    return false;
}

/* Two NICs with one MAC on one wire fail in ways that nobody traces back to here. */
static bool
check_unique(const NpBuild *build, const NpTarget *target, const NpMac *mac, GError **error)
{
    const NpInventory *inventory = build->world->inventory;
    char text[NP_MAC_TEXT_SIZE];
    for (guint i = 0; i < inventory->functions->len; i++) {
        const NpFunction *other = g_ptr_array_index(inventory->functions, i);
        if (may_share(build, target, other))
            continue;
        const NpVfAttrs *attrs =
            other->kind == NP_FUNCTION_VF ? np_inventory_vf_attrs(inventory, other) : NULL;
        bool same = other->net && np_mac_equal(&other->net->mac, mac);
        same |= attrs && attrs->has & NP_VF_MAC && np_mac_equal(&attrs->mac, mac);
        if (!same)
            continue;
        const NpLease *lease = np_build_lease(build, &other->bdf, true);
        g_autofree char *what = np_function_describe(other);
        g_autofree char *whose = lease ? np_lease_describe(lease) : g_strdup("no lease");
        return np_throw(error, NP_ERROR_BUSY, "nic %u: MAC %s is that of %s already (%s)",
                        target->nic->nic, np_mac_format(mac, text), what, whose);
    }
    return true;
}

/* The wanted admin MAC; false in *ret_wanted when it is to stay as it is. */
static bool
wanted_mac(NpBuild *build, const NpTarget *target, const NpVfAttrs *now, NpMac *ret_mac,
           bool *ret_wanted, GError **error)
{
    const NpNetdev *net = target->function ? target->function->net : NULL;
    *ret_wanted = true;
    switch (target->nic->mac_mode) {
    case NP_MAC_DERIVED:
        *ret_mac = np_vm_derived_mac(build->vm, target->nic->nic);
        break;
    case NP_MAC_FIXED:
        *ret_mac = target->nic->attrs.mac;
        break;
    case NP_MAC_GUEST:
        *ret_mac = zero;
        return true;
    case NP_MAC_KEEP:
        *ret_mac = net && np_mac_equal(&now->mac, &zero) ? net->mac : now->mac;
        *ret_wanted = !np_mac_equal(ret_mac, &zero);
        return true;
    }
    return check_unique(build, target, ret_mac, error);
}

static const char *
reason_of(const NpNic *nic, NpVfFields field)
{
    if (field == NP_VF_MAC) {
        static const char *const reasons[] = {
            [NP_MAC_DERIVED] = "derived from the VM, the same at each start",
            [NP_MAC_FIXED] = "as configured",
            [NP_MAC_KEEP] = "the VF's own, kept",
            [NP_MAC_GUEST] = "left to the guest",
        };
        return reasons[nic->mac_mode];
    }
    return nic->required & field ? "as configured" : "the default, or as best effort";
}

/* The VF's attributes: one operation for each that differs, in the kernel's order. */
static bool
plan_attrs(NpBuild *build, const NpTarget *target, const NpVfAttrs *now, GError **error)
{
    static const NpOpKind kinds[NP_VF_FIELD_COUNT] = {
        NP_OP_VF_MAC,  NP_OP_VF_VLAN,      NP_OP_VF_RATE, NP_OP_VF_SPOOFCHK,
        NP_OP_VF_LINK, NP_OP_VF_RSS_QUERY, NP_OP_VF_TRUST};
    NpVfAttrs wanted = target->nic->attrs;
    bool has_mac;
    if (!wanted_mac(build, target, now, &wanted.mac, &has_mac, error))
        return false;
    NpVfFields fields = wanted.has & ~(unsigned) NP_VF_MAC;
    wanted.has = fields = has_mac ? fields | NP_VF_MAC : fields;
    if (!np_guard_caps(target->pf, target->nic, &fields, build->plan->warnings, error))
        return false;
    for (unsigned i = 0; i < NP_VF_FIELD_COUNT; i++) {
        NpVfFields field = (NpVfFields) (1 << i);
        g_autofree char *from = np_vf_format(now, field);
        g_autofree char *to = np_vf_format(&wanted, field);
        if (!(fields & field) || g_strcmp0(from, to) == 0)
            continue;
        NpOp *op = add_op(build, target, kinds[i], from, to, reason_of(target->nic, field));
        op->required = target->nic->required & field;
    }
    return true;
}

/* The MAC that the host's driver has now is gone after the next bind unless it is the admin MAC;
 * undone in reverse, this gives the driver its MAC back and then the admin MAC its old value. */
static void
plan_hold_mac(NpBuild *build, const NpTarget *target, NpVfAttrs *now)
{
    const NpFunction *function = target->function;
    g_autofree char *from = np_vf_format(now, NP_VF_MAC);
    char mac[NP_MAC_TEXT_SIZE];
    if (function && (!function->net || !from || np_mac_equal(&now->mac, &function->net->mac)))
        return;
    NpOp *op = add_op(build, target, NP_OP_HOLD_MAC, from,
                      function ? np_mac_format(&function->net->mac, mac) : NULL,
                      "the host's driver is to find the same MAC again");
    op->required = target->nic->required & NP_VF_MAC;
    if (function)
        now->mac = function->net->mac;
    else
        now->has &= ~(unsigned) NP_VF_MAC; /* whatever the driver draws */
}

/* What unbinding a whole port destroys without a word. In reverse: MTU, master, up, addresses. */
static void
plan_save(NpBuild *build, const NpTarget *target)
{
    const NpNetdev *net = target->function->net;
    if (!net)
        return;
    g_autofree char *addresses = g_strjoinv(" ", net->addresses);
    g_autofree char *mtu = g_strdup_printf("%u", net->mtu);
    const struct {
        NpAttr attr;
        const char *value;
    } saved[] = {
        {NP_ATTR_NET_ADDRESSES, addresses},
        {NP_ATTR_NET_UP, net->up ? "1" : "0"},
        {NP_ATTR_NET_MASTER, net->master ? net->master : ""},
        {NP_ATTR_NET_MTU, mtu},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(saved); i++)
        add_op(build, target, NP_OP_SAVE, saved[i].value, NULL, "lost when the port is unbound")
            ->change.attr = saved[i].attr;
}

/* Unbind first and override then, so that backwards the override is gone before the host's driver
 * is bound again. */
static void
plan_unbind(NpBuild *build, const NpTarget *target)
{
    const NpFunction *function = target->function;
    const char *driver = function ? function->driver : NULL;
    const char *override = function ? function->driver_override : "";
    bool may_reset = !function || function->can_reset;
    if (!function || (driver && strcmp(driver, target->driver) != 0))
        add_op(build, target, NP_OP_UNBIND, driver, "", "its present driver must let go");
    if (g_strcmp0(driver, target->driver) != 0 && g_strcmp0(override, target->driver) != 0)
        add_op(build, target, NP_OP_OVERRIDE, override ? override : "", target->driver,
               "binds this function only, unlike new_id");
    if (may_reset && !build->keep)
        add_op(build, target, NP_OP_RESET, "", "1", "nothing of the last user may stay");
}

static void
plan_probe(NpBuild *build, const NpTarget *target)
{
    const char *driver = target->function ? target->function->driver : NULL;
    if (g_strcmp0(driver, target->driver) != 0)
        add_op(build, target, NP_OP_PROBE, "", target->driver, "the VM gets it through this");
}

static bool
plan_nic(NpBuild *build, const NpTarget *target, GError **error)
{
    const NpInventory *inventory = build->world->inventory;
    bool port = target->choice.whole_port;
    NpVfAttrs now = fresh;
    if (!guard(build, target, error))
        return false;
    if (target->function && !port) {
        const NpVfAttrs *attrs = np_inventory_vf_attrs(inventory, target->function);
        if (attrs)
            now = *attrs;
        else
            return np_throw(error, NP_ERROR_UNSUPPORTED,
                            "nic %u: the PF does not tell the attributes of VF %u",
                            target->nic->nic, target->choice.vf_index);
    }
    if (!build->keep) {
        add_op(build, target, NP_OP_CHOOSE, NULL, NULL, port ? "a whole port" : "a VF");
        add_op(build, target, NP_OP_GUARD, NULL, NULL,
               target->function ? "not used by the host or another VM, alone in its IOMMU group"
                                : "asked once it is there: use, IOMMU group");
        add_op(build, target, NP_OP_LEASE, NULL, NULL, "recorded before anything is changed");
    }
    bool moves = !target->function || g_strcmp0(target->function->driver, target->driver) != 0;
    if (port && moves)
        plan_save(build, target);
    if (!port && moves)
        plan_hold_mac(build, target, &now);
    plan_unbind(build, target);
    if (!port && !plan_attrs(build, target, &now, error))
        return false;
    plan_probe(build, target);
    if (port && moves && !inventory->path_problem)
        add_op(build, target, NP_OP_CHECK_PATH, NULL, NULL, "the host must stay reachable");
    return true;
}

bool
np_build_nics(NpBuild *build, GError **error)
{
    for (guint i = 0; i < build->targets->len; i++)
        if (!plan_nic(build, np_build_target(build, i), error))
            return false;
    /* Only now: a group is viable once all of it that is ours has left the host's drivers. */
    for (guint i = 0; !build->keep && i < build->targets->len; i++)
        add_op(build, np_build_target(build, i), NP_OP_VERIFY, NULL, NULL, "reads everything back");
    guint count = build->plan->ops->len;
    for (guint i = 0; i < count; i++) {
        const NpOp *lock = g_ptr_array_index(build->plan->ops, i);
        if (lock->change.kind == NP_OP_LOCK)
            np_build_op(build, NP_OP_UNLOCK, lock->change.role, &lock->change.object, "done");
    }
    return true;
}
