/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Guards: see guard.h.
 */
#include "lib/plan/guard.h"

#include "lib/base/error.h"
#include "lib/model/caps.h"

static bool
contains(const GArray *ours, const NpBdf *bdf)
{
    for (guint i = 0; i < ours->len; i++)
        if (np_bdf_equal(&g_array_index(ours, NpBdf, i), bdf))
            return true;
    return false;
}

/* The port nearest above the function that does not isolate what is below it, or NULL. */
static const NpFunction *
port_without_acs(const NpInventory *inventory, const NpFunction *function)
{
    /* Bounded: what a scan reported must not be able to make a loop. */
    for (unsigned depth = 0; depth < 32 && function && function->has_upstream; depth++) {
        function = np_inventory_find(inventory, &function->upstream);
        if (function && function->acs == NP_ACS_ABSENT)
            return function;
    }
    return NULL;
}

/* Why two functions are in one group, to follow "because" (transfer full). */
static char *
why_together(const NpInventory *inventory, const NpFunction *a, const NpFunction *b)
{
    const NpFunction *port = port_without_acs(inventory, a);
    if (!port)
        port = port_without_acs(inventory, b);
    char bdf[NP_BDF_TEXT_SIZE];
    if (port)
        return g_strdup_printf("port %s above has no ACS", np_bdf_format(&port->bdf, bdf));
    if (a->bdf.domain == b->bdf.domain && a->bdf.bus == b->bdf.bus &&
        a->bdf.device == b->bdf.device)
        return g_strdup("the functions of this device are not isolated from each other");
    return g_strdup("the platform does not isolate them from each other");
}

static bool
check_iommu(const NpInventory *inventory, const NpFunction *function, GError **error)
{
    g_autofree char *what = np_function_describe(function);
    if (!inventory->iommu)
        return np_throw(error, NP_ERROR_DENIED,
                        "%s: the host's IOMMU is off; switch VT-d or AMD-Vi on in the firmware "
                        "(and intel_iommu=on on the kernel's command line)",
                        what);
    if (function->group < 0)
        return np_throw(error, NP_ERROR_DENIED, "%s is in no IOMMU group", what);
    return true;
}

bool
np_guard_group(const NpInventory *inventory, const NpFunction *function, const GArray *ours,
               GError **error)
{
    if (!check_iommu(inventory, function, error))
        return false;
    g_autoptr(GString) others = g_string_new(NULL);
    g_autofree char *why = NULL;
    for (guint i = 0; i < inventory->functions->len; i++) {
        const NpFunction *other = g_ptr_array_index(inventory->functions, i);
        if (other->group != function->group || other->kind == NP_FUNCTION_PORT ||
            contains(ours, &other->bdf) || other == function)
            continue;
        g_autofree char *text = np_function_describe(other);
        g_string_append_printf(others, "%s%s", others->len ? ", " : "", text);
        if (!why)
            why = why_together(inventory, function, other);
    }
    if (!why)
        return true;
    g_autofree char *what = np_function_describe(function);
    return np_throw(error, NP_ERROR_DENIED,
                    "%s shares IOMMU group %d with %s, because %s; give the VM all of them, or put "
                    "the card into another slot",
                    what, function->group, others->str, why);
}

bool
np_guard_future_group(const NpInventory *inventory, const NpFunction *pf, GError **error)
{
    if (!check_iommu(inventory, pf, error))
        return false;
    const NpFunction *port = port_without_acs(inventory, pf);
    if (!port)
        return true;
    char bdf[NP_BDF_TEXT_SIZE];
    g_autofree char *what = np_function_describe(pf);
    return np_throw(error, NP_ERROR_DENIED,
                    "the VFs of %s would share its IOMMU group, because port %s above has no ACS; "
                    "give the VM the whole port, or put the card into another slot",
                    what, np_bdf_format(&port->bdf, bdf));
}

static bool
is_for(const NpUse *use, const NpVm *vm)
{
    if (!vm)
        return false;
    if (use->kind == NP_USE_RESERVED)
        return vm->kind == NP_VM_PROXMOX && use->vmid == vm->vmid;
    return use->kind == NP_USE_DOMAIN && vm->uuid && g_strcmp0(use->uuid, vm->uuid) == 0;
}

static bool
check_use(const NpFunction *function, const NpUse *use, bool even_if_used, GPtrArray *warnings,
          GError **error)
{
    g_autofree char *what = np_function_describe(function);
    switch (use->kind) {
    case NP_USE_VFIO:
    case NP_USE_RESERVED:
    case NP_USE_DOMAIN:
        return np_throw(error, NP_ERROR_BUSY, "%s is taken: %s", what, use->text);
    case NP_USE_ADDRESS:
    case NP_USE_MEMBER:
        if (!even_if_used)
            break;
        if (warnings)
            g_ptr_array_add(warnings,
                            g_strdup_printf("%s leaves the host although %s", what, use->text));
        return true;
    case NP_USE_ROUTE:
    case NP_USE_DEFAULT_ROUTE:
    case NP_USE_SSH:
    case NP_USE_COROSYNC:
    case NP_USE_STORAGE:
    case NP_USE_TRAFFIC_RULE:
        break;
    }
    return np_throw(error, NP_ERROR_DENIED, "%s is in use by the host: %s", what, use->text);
}

bool
np_guard_uses(const NpInventory *inventory, const NpFunction *function, const NpVm *vm,
              bool even_if_used, GPtrArray *warnings, GError **error)
{
    g_autofree char *what = np_function_describe(function);
    if (function->kind == NP_FUNCTION_PORT)
        return np_throw(error, NP_ERROR_DENIED, "%s is a bridge or port, not a NIC", what);
    if (function->sriov && function->sriov->count > 0)
        return np_throw(error, NP_ERROR_BUSY,
                        "%s has %u VFs, which would vanish with it; remove them first", what,
                        function->sriov->count);
    for (guint i = 0; i < function->uses->len; i++) {
        const NpUse *use = g_ptr_array_index(function->uses, i);
        if (!is_for(use, vm) && !check_use(function, use, even_if_used, warnings, error))
            return false;
    }
    if (function->vfio == NP_VFIO_BUSY)
        return np_throw(error, NP_ERROR_BUSY, "%s is taken: a process has it open", what);
    return true;
}

/* What one field of a NIC asks for, as wants. */
static unsigned
wants_of(const NpNic *nic, NpVfFields field, NpWant wants[static 3])
{
    unsigned count = 0;
    switch (field) {
    case NP_VF_MAC:
        wants[count++] = NP_WANT_MAC;
        break;
    case NP_VF_VLAN:
        if (nic->attrs.vlan)
            wants[count++] = NP_WANT_VLAN;
        if (nic->attrs.qos)
            wants[count++] = NP_WANT_QOS;
        if (nic->attrs.proto == NP_PROTO_8021AD)
            wants[count++] = NP_WANT_8021AD;
        break;
    case NP_VF_RATE:
        if (nic->attrs.max_mbps)
            wants[count++] = NP_WANT_RATE_MAX;
        if (nic->attrs.min_mbps)
            wants[count++] = NP_WANT_RATE_MIN;
        break;
    case NP_VF_SPOOFCHK:
        wants[count++] = NP_WANT_SPOOFCHK;
        break;
    case NP_VF_LINK:
        wants[count++] = NP_WANT_LINK;
        break;
    case NP_VF_RSS_QUERY:
        wants[count++] = NP_WANT_RSS_QUERY;
        break;
    case NP_VF_TRUST:
        wants[count++] = NP_WANT_TRUST;
        break;
    }
    return count;
}

/* Why the PF cannot do a field, to follow "because", or NULL (static). */
static const char *
why_not(const NpFunction *pf, const NpCaps *caps, const NpNic *nic, NpVfFields field,
        const char **ret_key)
{
    NpWant wants[3];
    unsigned count = wants_of(nic, field, wants);
    const NpSriov *sriov = pf->sriov;
    for (unsigned i = 0; i < count; i++) {
        *ret_key = np_want_name(wants[i]);
        if (caps->cap[wants[i]] == NP_CAP_NO)
            return "its driver cannot do that";
        if (sriov->switchdev && field == NP_VF_TRUST && caps->quirks & NP_QUIRK_TRUST_NOT_SWITCHDEV)
            return "it has no effect in switchdev mode";
        if (sriov->switchdev && field == NP_VF_VLAN && caps->quirks & NP_QUIRK_VLAN_NOT_SWITCHDEV)
            return "in switchdev mode the VLAN belongs to the representor's bridge port";
        if (field == NP_VF_RATE && caps->quirks & NP_QUIRK_RATE_NEEDS_LINK && pf->net &&
            !pf->net->carrier)
            return "its driver takes rates only while the port has a link, and it has none";
        /* All VFs of a PF report the same attributes: the first stands for those to come. */
        if (sriov->attrs->len && !(g_array_index(sriov->attrs, NpVfAttrs, 0).has & field))
            return "its driver does not report it, and so cannot do it";
    }
    return NULL;
}

bool
np_guard_caps(const NpFunction *pf, const NpNic *nic, NpVfFields *fields, GPtrArray *warnings,
              GError **error)
{
    const NpCaps *caps = np_caps_find(pf->driver);
    g_autofree char *what = np_function_describe(pf);
    if (nic->trunk && !nic->attrs.trust && caps->quirks & NP_QUIRK_TRUNK_NEEDS_TRUST)
        return np_throw(error, NP_ERROR_UNSUPPORTED,
                        "nic %u: 'vlan = trunk' needs 'trust = on' on %s: its driver gives an "
                        "untrusted VF few VLANs or none",
                        nic->nic, what);
    for (unsigned i = 0; i < NP_VF_FIELD_COUNT; i++) {
        NpVfFields field = (NpVfFields) (1 << i);
        const char *key = NULL;
        const char *why = *fields & field ? why_not(pf, caps, nic, field, &key) : NULL;
        if (!why)
            continue;
        if (nic->required & field)
            return np_throw(error, NP_ERROR_UNSUPPORTED,
                            "nic %u: '%s' cannot be set through %s, because %s", nic->nic, key,
                            what, why);
        *fields &= ~(unsigned) field;
        if (field == NP_VF_TRUST && !nic->attrs.trust)
            continue; /* what cannot trust does not */
        g_ptr_array_add(warnings, g_strdup_printf("nic %u: going without '%s' on %s: %s", nic->nic,
                                                  key, what, why));
    }
    return true;
}

static void
take_reason(GString *text, GError **problem)
{
    g_string_append_printf(text, "%s%s", text->len ? "; " : "", (*problem)->message);
    g_clear_error(problem);
}

char *
np_guard_verdict(const NpInventory *inventory, const NpFunction *function, const GPtrArray *leases)
{
    GString *text = g_string_new(NULL);
    g_autoptr(GError) problem = NULL;
    g_autoptr(GArray) ours = g_array_new(FALSE, FALSE, sizeof(NpBdf));
    if (!np_guard_uses(inventory, function, NULL, false, NULL, &problem))
        take_reason(text, &problem);
    if (!np_guard_group(inventory, function, ours, &problem))
        take_reason(text, &problem);
    for (guint i = 0; i < leases->len; i++) {
        const NpLease *lease = g_ptr_array_index(leases, i);
        if (!np_bdf_equal(&lease->bdf, &function->bdf))
            continue;
        g_autofree char *holder = np_lease_describe(lease);
        g_string_append_printf(text, "%sleased to %s", text->len ? "; " : "", holder);
    }
    return g_string_free(text, text->len == 0);
}
