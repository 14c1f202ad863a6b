/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Inventory as JSON: see inventory.h.
 */
#include "lib/model/inventory-names.h"
#include "lib/model/inventory.h"

const char *const np_function_kind_names[] = {"plain", "pf", "vf", "port", NULL};
const char *const np_acs_names[] = {"unknown", "absent", "on", NULL};
const char *const np_vfio_names[] = {"none", "free", "busy", NULL};
const char *const np_use_names[] = {
    [NP_USE_ADDRESS] = "address",
    [NP_USE_ROUTE] = "route",
    [NP_USE_DEFAULT_ROUTE] = "default-route",
    [NP_USE_MEMBER] = "member",
    [NP_USE_SSH] = "ssh",
    [NP_USE_COROSYNC] = "corosync",
    [NP_USE_STORAGE] = "storage",
    [NP_USE_TRAFFIC_RULE] = "traffic-rule",
    [NP_USE_VFIO] = "vfio",
    [NP_USE_RESERVED] = "reserved",
    [NP_USE_DOMAIN] = "domain",
    NULL,
};

static void
put_string(json_t *object, const char *key, const char *value)
{
    if (value)
        json_object_set_new(object, key, json_string(value));
}

static void
put_mac(json_t *object, const char *key, const NpMac *mac)
{
    char text[NP_MAC_TEXT_SIZE];
    put_string(object, key, np_mac_format(mac, text));
}

static void
put_bdf(json_t *object, const char *key, const NpBdf *bdf)
{
    char text[NP_BDF_TEXT_SIZE];
    put_string(object, key, np_bdf_format(bdf, text));
}

static void
put_hex(json_t *object, const char *key, unsigned digits, uint32_t value)
{
    g_autofree char *text = g_strdup_printf("%0*x", (int) digits, value);
    put_string(object, key, text);
}

static json_t *
net_to_json(const NpNetdev *net)
{
    json_t *object =
        json_pack("{s:s, s:i, s:b, s:b, s:i}", "name", net->name, "ifindex", net->ifindex, "up",
                  net->up, "carrier", net->carrier, "mtu", (int) net->mtu);
    put_mac(object, "mac", &net->mac);
    put_mac(object, "permanent-mac", &net->perm_mac);
    put_string(object, "master", net->master);
    json_t *addresses = json_array();
    for (char *const *address = net->addresses; *address; address++)
        json_array_append_new(addresses, json_string(*address));
    json_object_set_new(object, "addresses", addresses);
    return object;
}

static json_t *
attrs_to_json(const NpVfAttrs *attrs)
{
    json_t *object = json_object();
    for (size_t i = 0; i < NP_VF_FIELD_COUNT; i++) {
        g_autofree char *text = np_vf_format(attrs, (NpVfFields) (1 << i));
        put_string(object, np_vf_name((NpVfFields) (1 << i)), text);
    }
    return object;
}

static json_t *
sriov_to_json(const NpSriov *sriov)
{
    json_t *object =
        json_pack("{s:i, s:i, s:i, s:i, s:b, s:b}", "total", (int) sriov->total, "count",
                  (int) sriov->count, "offset", (int) sriov->offset, "stride", (int) sriov->stride,
                  "autoprobe", sriov->autoprobe, "switchdev", sriov->switchdev);
    if (!sriov->has_attrs)
        return object;
    json_t *list = json_array();
    for (guint i = 0; i < sriov->attrs->len; i++)
        json_array_append_new(list, attrs_to_json(&g_array_index(sriov->attrs, NpVfAttrs, i)));
    json_object_set_new(object, "attrs", list);
    return object;
}

static json_t *
uses_to_json(const GPtrArray *uses)
{
    json_t *list = json_array();
    for (guint i = 0; i < uses->len; i++) {
        const NpUse *use = g_ptr_array_index(uses, i);
        json_t *object =
            json_pack("{s:s, s:s}", "kind", np_use_names[use->kind], "text", use->text);
        if (use->vmid)
            json_object_set_new(object, "vmid", json_integer(use->vmid));
        put_string(object, "uuid", use->uuid);
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *
function_to_json(const NpFunction *function)
{
    json_t *object = json_object();
    put_bdf(object, "bdf", &function->bdf);
    put_string(object, "kind", np_function_kind_names[function->kind]);
    put_hex(object, "vendor", 4, function->vendor);
    put_hex(object, "device", 4, function->device);
    put_hex(object, "class", 6, function->class_code);
    put_string(object, "driver", function->driver);
    put_string(object, "driver-override", function->driver_override);
    json_object_set_new(object, "group", json_integer(function->group));
    json_object_set_new(object, "numa-node", json_integer(function->numa_node));
    json_object_set_new(object, "can-reset", json_boolean(function->can_reset));
    if (function->has_upstream)
        put_bdf(object, "upstream", &function->upstream);
    if (function->kind == NP_FUNCTION_PORT)
        put_string(object, "acs", np_acs_names[function->acs]);
    if (function->kind == NP_FUNCTION_VF) {
        put_bdf(object, "physfn", &function->physfn);
        json_object_set_new(object, "vf", json_integer(function->vf_index));
    }
    if (function->net)
        json_object_set_new(object, "net", net_to_json(function->net));
    if (function->sriov)
        json_object_set_new(object, "sriov", sriov_to_json(function->sriov));
    put_string(object, "vfio", np_vfio_names[function->vfio]);
    json_object_set_new(object, "uses", uses_to_json(function->uses));
    return object;
}

json_t *
np_inventory_to_json(const NpInventory *inventory)
{
    json_t *object = json_object();
    json_object_set_new(object, "iommu", json_boolean(inventory->iommu));
    put_string(object, "path-problem", inventory->path_problem);
    json_t *list = json_array();
    for (guint i = 0; i < inventory->functions->len; i++)
        json_array_append_new(list, function_to_json(g_ptr_array_index(inventory->functions, i)));
    json_object_set_new(object, "functions", list);
    return object;
}
