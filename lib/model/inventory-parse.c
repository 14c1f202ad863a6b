/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Inventory from JSON: see inventory.h.
 */
#include <string.h>

#include "lib/base/error.h"
#include "lib/model/inventory-names.h"
#include "lib/model/inventory.h"

#define FUNCTIONS_MAX 65536

/* The index of the key's text in names; the fallback when the key is absent. */
static bool
take_word(const json_t *object, const char *key, const char *const *names, int fallback,
          int *ret_index, GError **error)
{
    const char *text = np_json_string(object, key, NULL);
    int index = text ? 0 : fallback;
    while (text && names[index] && strcmp(names[index], text) != 0)
        index++;
    if (!names[index]) {
        g_autofree char *quoted = np_quote(text);
        return np_throw(error, NP_ERROR_PROTOCOL, "field '%s': %s is not known", key, quoted);
    }
    *ret_index = index;
    return true;
}

static bool
take_bdf(const json_t *object, const char *key, NpBdf *bdf, GError **error)
{
    const char *text = np_json_string(object, key, NULL);
    return !text || np_parse_bdf(text, bdf, error);
}

static bool
take_mac(const json_t *object, const char *key, NpMac *mac, GError **error)
{
    const char *text = np_json_string(object, key, NULL);
    return !text || np_parse_mac(text, mac, error);
}

static bool
take_hex(const json_t *object, const char *key, uint32_t max, uint32_t *ret_value, GError **error)
{
    const char *text = np_json_string(object, key, "0");
    guint64 value;
    if (!g_ascii_string_to_unsigned(text, 16, 0, max, &value, error)) {
        g_prefix_error(error, "field '%s': ", key);
        return false;
    }
    *ret_value = (uint32_t) value;
    return true;
}

static NpNetdev *
net_from_json(const json_t *object, GError **error)
{
    static const NpJsonField fields[] = {
        {"name", NP_JSON_STRING, true, 1, 15},
        {"ifindex", NP_JSON_INT, false, 0, INT32_MAX},
        {"up", NP_JSON_BOOL, true},
        {"carrier", NP_JSON_BOOL, false},
        {"mtu", NP_JSON_INT, false, 0, 1 << 24},
        {"mac", NP_JSON_STRING, false, 17, 17},
        {"permanent-mac", NP_JSON_STRING, false, 17, 17},
        {"master", NP_JSON_STRING, false, 1, 15},
        {"addresses", NP_JSON_ARRAY, false, 0, 4096},
        {NULL},
    };
    static const NpJsonField address = {"addresses", NP_JSON_STRING, true, 1, 64};
    if (!np_json_check(object, fields, error))
        return NULL;
    const json_t *addresses = json_object_get(object, "addresses");
    if (!np_json_check_elements(addresses, &address, error))
        return NULL;
    NpNetdev *net = np_netdev_new(np_json_string(object, "name", ""));
    net->ifindex = (int) np_json_int(object, "ifindex", 0);
    net->up = np_json_bool(object, "up", false);
    net->carrier = np_json_bool(object, "carrier", net->up);
    net->mtu = (unsigned) np_json_int(object, "mtu", 1500);
    net->master = g_strdup(np_json_string(object, "master", NULL));
    g_strfreev(net->addresses);
    net->addresses = g_new0(char *, json_array_size(addresses) + 1);
    for (size_t i = 0; i < json_array_size(addresses); i++)
        net->addresses[i] = g_strdup(json_string_value(json_array_get(addresses, i)));
    if (!take_mac(object, "mac", &net->mac, error) ||
        !take_mac(object, "permanent-mac", &net->perm_mac, error)) {
        np_netdev_free(net);
        return NULL;
    }
    return net;
}

static bool
attrs_from_json(const json_t *object, NpVfAttrs *ret_attrs, GError **error)
{
    static const NpJsonField fields[] = {
        {"mac", NP_JSON_STRING, false, 1, 64},   {"vlan", NP_JSON_STRING, false, 1, 64},
        {"rate", NP_JSON_STRING, false, 1, 64},  {"spoofchk", NP_JSON_STRING, false, 1, 64},
        {"link", NP_JSON_STRING, false, 1, 64},  {"rss-query", NP_JSON_STRING, false, 1, 64},
        {"trust", NP_JSON_STRING, false, 1, 64}, {NULL},
    };
    NpVfAttrs attrs = {.proto = NP_PROTO_8021Q};
    if (!np_json_check(object, fields, error))
        return false;
    for (size_t i = 0; i < NP_VF_FIELD_COUNT; i++) {
        const char *text = np_json_string(object, np_vf_name((NpVfFields) (1 << i)), NULL);
        if (text && !np_vf_parse((NpVfFields) (1 << i), text, &attrs, error))
            return false;
    }
    np_vf_clean(&attrs);
    *ret_attrs = attrs;
    return true;
}

static bool
sriov_from_json(const json_t *object, NpSriov *sriov, GError **error)
{
    static const NpJsonField fields[] = {
        {"total", NP_JSON_INT, true, 0, 65535},    {"count", NP_JSON_INT, true, 0, 65535},
        {"offset", NP_JSON_INT, false, 0, 65535},  {"stride", NP_JSON_INT, false, 0, 65535},
        {"autoprobe", NP_JSON_BOOL, false},        {"switchdev", NP_JSON_BOOL, false},
        {"attrs", NP_JSON_ARRAY, false, 0, 65535}, {NULL},
    };
    static const NpJsonField element = {"attrs", NP_JSON_OBJECT, true, 0, NP_VF_FIELD_COUNT};
    if (!np_json_check(object, fields, error))
        return false;
    sriov->total = (unsigned) np_json_int(object, "total", 0);
    sriov->count = (unsigned) np_json_int(object, "count", 0);
    sriov->offset = (unsigned) np_json_int(object, "offset", 0);
    sriov->stride = (unsigned) np_json_int(object, "stride", 0);
    sriov->autoprobe = np_json_bool(object, "autoprobe", true);
    sriov->switchdev = np_json_bool(object, "switchdev", false);
    const json_t *list = json_object_get(object, "attrs");
    sriov->has_attrs = list != NULL;
    if (!np_json_check_elements(list, &element, error))
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        NpVfAttrs attrs;
        if (!attrs_from_json(json_array_get(list, i), &attrs, error))
            return false;
        g_array_append_val(sriov->attrs, attrs);
    }
    return true;
}

static bool
uses_from_json(const json_t *list, NpFunction *function, GError **error)
{
    static const NpJsonField fields[] = {
        {"kind", NP_JSON_STRING, true, 1, 32},
        {"text", NP_JSON_STRING, true, 1, 4096},
        {"vmid", NP_JSON_INT, false, 1, 999999999},
        {"uuid", NP_JSON_STRING, false, 36, 36},
        {NULL},
    };
    static const NpJsonField element = {"uses", NP_JSON_OBJECT, true, 1, 4};
    if (!np_json_check_elements(list, &element, error))
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *object = json_array_get(list, i);
        int kind;
        if (!np_json_check(object, fields, error) ||
            !take_word(object, "kind", np_use_names, 0, &kind, error))
            return false;
        np_function_add_use(function, (NpUseKind) kind, np_json_string(object, "text", ""),
                            (uint32_t) np_json_int(object, "vmid", 0),
                            np_json_string(object, "uuid", NULL));
    }
    return true;
}

static const NpJsonField function_fields[] = {
    {"bdf", NP_JSON_STRING, true, 7, 16},
    {"kind", NP_JSON_STRING, true, 1, 8},
    {"vendor", NP_JSON_STRING, false, 1, 4},
    {"device", NP_JSON_STRING, false, 1, 4},
    {"class", NP_JSON_STRING, false, 1, 6},
    {"driver", NP_JSON_STRING, false, 1, 64},
    {"driver-override", NP_JSON_STRING, false, 1, 64},
    {"group", NP_JSON_INT, false, -1, INT32_MAX},
    {"numa-node", NP_JSON_INT, false, -1, 65535},
    {"can-reset", NP_JSON_BOOL, false},
    {"upstream", NP_JSON_STRING, false, 7, 16},
    {"acs", NP_JSON_STRING, false, 1, 8},
    {"physfn", NP_JSON_STRING, false, 7, 16},
    {"vf", NP_JSON_INT, false, 0, 65535},
    {"net", NP_JSON_OBJECT, false, 0, 16},
    {"sriov", NP_JSON_OBJECT, false, 0, 16},
    {"vfio", NP_JSON_STRING, false, 1, 8},
    {"uses", NP_JSON_ARRAY, false, 0, 1024},
    {NULL},
};

/* The parts that are objects of their own. */
static bool
fill_parts(NpFunction *function, const json_t *object, GError **error)
{
    const json_t *sriov = json_object_get(object, "sriov");
    const json_t *net = json_object_get(object, "net");
    if ((sriov != NULL) != (function->kind == NP_FUNCTION_PF))
        return np_throw(error, NP_ERROR_PROTOCOL, "a PF has 'sriov', and no other function has");
    if (function->kind == NP_FUNCTION_VF && !json_object_get(object, "physfn"))
        return np_throw(error, NP_ERROR_PROTOCOL, "a VF needs 'physfn'");
    if (sriov && !sriov_from_json(sriov, function->sriov, error))
        return false;
    if (net && !(function->net = net_from_json(net, error)))
        return false;
    return uses_from_json(json_object_get(object, "uses"), function, error);
}

static bool
fill_function(NpFunction *function, const json_t *object, GError **error)
{
    uint32_t vendor, device;
    int acs, vfio;
    if (!take_hex(object, "vendor", UINT16_MAX, &vendor, error) ||
        !take_hex(object, "device", UINT16_MAX, &device, error) ||
        !take_hex(object, "class", 0xffffff, &function->class_code, error) ||
        !take_word(object, "acs", np_acs_names, NP_ACS_UNKNOWN, &acs, error) ||
        !take_word(object, "vfio", np_vfio_names, NP_VFIO_NONE, &vfio, error) ||
        !take_bdf(object, "upstream", &function->upstream, error) ||
        !take_bdf(object, "physfn", &function->physfn, error))
        return false;
    function->vendor = (uint16_t) vendor;
    function->device = (uint16_t) device;
    function->acs = (NpAcs) acs;
    function->vfio = (NpVfioState) vfio;
    function->driver = g_strdup(np_json_string(object, "driver", NULL));
    function->driver_override = g_strdup(np_json_string(object, "driver-override", NULL));
    function->group = (int) np_json_int(object, "group", -1);
    function->numa_node = (int) np_json_int(object, "numa-node", -1);
    function->can_reset = np_json_bool(object, "can-reset", false);
    function->has_upstream = json_object_get(object, "upstream") != NULL;
    function->vf_index = (unsigned) np_json_int(object, "vf", 0);
    return fill_parts(function, object, error);
}

static NpFunction *
function_from_json(const json_t *object, GError **error)
{
    NpBdf bdf;
    int kind;
    if (!np_json_check(object, function_fields, error) ||
        !np_parse_bdf(np_json_string(object, "bdf", ""), &bdf, error) ||
        !take_word(object, "kind", np_function_kind_names, 0, &kind, error))
        return NULL;
    g_autoptr(NpFunction) function = np_function_new(&bdf, (NpFunctionKind) kind);
    if (!fill_function(function, object, error))
        return NULL;
    return g_steal_pointer(&function);
}

NpInventory *
np_inventory_from_json(const json_t *object, GError **error)
{
    static const NpJsonField fields[] = {
        {"iommu", NP_JSON_BOOL, true},
        {"path-problem", NP_JSON_STRING, false, 1, 4096},
        {"functions", NP_JSON_ARRAY, true, 0, FUNCTIONS_MAX},
        {NULL},
    };
    static const NpJsonField element = {"functions", NP_JSON_OBJECT, true, 1, 64};
    const json_t *list = json_object_get(object, "functions");
    if (!np_json_check(object, fields, error) || !np_json_check_elements(list, &element, error))
        return NULL;
    g_autoptr(NpInventory) inventory = np_inventory_new();
    inventory->iommu = np_json_bool(object, "iommu", false);
    inventory->path_problem = g_strdup(np_json_string(object, "path-problem", NULL));
    for (size_t i = 0; i < json_array_size(list); i++) {
        NpFunction *function = function_from_json(json_array_get(list, i), error);
        if (!function) {
            g_prefix_error(error, "function %zu: ", i);
            return NULL;
        }
        np_inventory_add(inventory, function);
    }
    return g_steal_pointer(&inventory);
}
