/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Inventory: see inventory.h.
 */
#include "lib/model/inventory.h"

static void
use_free(gpointer data)
{
    NpUse *use = data;
    g_free(use->text);
    g_free(use->uuid);
    g_free(use);
}

NpFunction *
np_function_new(const NpBdf *bdf, NpFunctionKind kind)
{
    NpFunction *function = g_new0(NpFunction, 1);
    function->bdf = *bdf;
    function->kind = kind;
    function->group = function->numa_node = -1;
    function->uses = g_ptr_array_new_with_free_func(use_free);
    if (kind == NP_FUNCTION_PF) {
        function->sriov = g_new0(NpSriov, 1);
        function->sriov->attrs = g_array_new(FALSE, TRUE, sizeof(NpVfAttrs));
    }
    return function;
}

void
np_function_free(NpFunction *function)
{
    if (!function)
        return;
    g_free(function->driver);
    g_free(function->driver_override);
    np_netdev_free(function->net);
    if (function->sriov)
        g_array_unref(function->sriov->attrs);
    g_free(function->sriov);
    g_ptr_array_unref(function->uses);
    g_free(function);
}

NpNetdev *
np_netdev_new(const char *name)
{
    NpNetdev *net = g_new0(NpNetdev, 1);
    net->name = g_strdup(name);
    net->addresses = g_new0(char *, 1);
    net->mtu = 1500;
    return net;
}

void
np_netdev_free(NpNetdev *net)
{
    if (!net)
        return;
    g_free(net->name);
    g_free(net->master);
    g_strfreev(net->addresses);
    g_free(net);
}

void
np_function_add_use(NpFunction *function, NpUseKind kind, const char *text, uint32_t vmid,
                    const char *uuid)
{
    NpUse *use = g_new0(NpUse, 1);
    use->kind = kind;
    use->text = g_strdup(text);
    use->vmid = vmid;
    use->uuid = g_strdup(uuid);
    g_ptr_array_add(function->uses, use);
}

static void
function_free(gpointer data)
{
    np_function_free(data);
}

NpInventory *
np_inventory_new(void)
{
    NpInventory *inventory = g_new0(NpInventory, 1);
    inventory->functions = g_ptr_array_new_with_free_func(function_free);
    return inventory;
}

void
np_inventory_free(NpInventory *inventory)
{
    if (!inventory)
        return;
    g_ptr_array_unref(inventory->functions);
    g_free(inventory->path_problem);
    g_free(inventory);
}

void
np_inventory_add(NpInventory *inventory, NpFunction *function)
{
    guint at = 0;
    while (at < inventory->functions->len) {
        const NpFunction *other = g_ptr_array_index(inventory->functions, at);
        if (np_bdf_compare(&function->bdf, &other->bdf) < 0)
            break;
        at++;
    }
    g_ptr_array_insert(inventory->functions, (gint) at, function);
}

NpFunction *
np_inventory_find(const NpInventory *inventory, const NpBdf *bdf)
{
    for (guint i = 0; i < inventory->functions->len; i++) {
        NpFunction *function = g_ptr_array_index(inventory->functions, i);
        if (np_bdf_equal(&function->bdf, bdf))
            return function;
    }
    return NULL;
}

NpFunction *
np_inventory_find_vf(const NpInventory *inventory, const NpBdf *pf, unsigned vf_index)
{
    for (guint i = 0; i < inventory->functions->len; i++) {
        NpFunction *function = g_ptr_array_index(inventory->functions, i);
        if (function->kind == NP_FUNCTION_VF && function->vf_index == vf_index &&
            np_bdf_equal(&function->physfn, pf))
            return function;
    }
    return NULL;
}

bool
np_inventory_vf_bdf(const NpInventory *inventory, const NpFunction *pf, unsigned vf_index,
                    NpBdf *ret_bdf)
{
    const NpFunction *vf = np_inventory_find_vf(inventory, &pf->bdf, vf_index);
    if (vf) {
        *ret_bdf = vf->bdf;
        return true;
    }
    if (pf->sriov->offset == 0 || vf_index >= pf->sriov->total)
        return false;
    /* PCIe, "VF routing ID": a 16-bit sum over bus, device and function; with a stride of 0 there
     * is one VF only. */
    uint32_t id = (uint32_t) pf->bdf.bus << 8 | (uint32_t) pf->bdf.device << 3 | pf->bdf.function;
    id += pf->sriov->offset + vf_index * pf->sriov->stride;
    if (id > 0xffff || (vf_index > 0 && pf->sriov->stride == 0))
        return false;
    *ret_bdf = (NpBdf){.domain = pf->bdf.domain,
                       .bus = (uint8_t) (id >> 8),
                       .device = (uint8_t) (id >> 3 & 0x1f),
                       .function = (uint8_t) (id & 7)};
    return true;
}

const NpVfAttrs *
np_inventory_vf_attrs(const NpInventory *inventory, const NpFunction *vf)
{
    const NpFunction *pf = np_inventory_find(inventory, &vf->physfn);
    if (!pf || !pf->sriov || vf->vf_index >= pf->sriov->attrs->len)
        return NULL;
    return &g_array_index(pf->sriov->attrs, NpVfAttrs, vf->vf_index);
}

char *
np_function_describe(const NpFunction *function)
{
    char bdf[NP_BDF_TEXT_SIZE];
    GString *text = g_string_new(np_bdf_format(&function->bdf, bdf));
    g_string_append_printf(text, " (%s", function->driver ? function->driver : "no driver");
    if (function->net)
        g_string_append_printf(text, ", %s", function->net->name);
    if (function->net && function->net->master)
        g_string_append_printf(text, ", in %s", function->net->master);
    g_string_append_c(text, ')');
    return g_string_free(text, FALSE);
}
