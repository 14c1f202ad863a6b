/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Inventory as JSON: see inventory.h.
 */
#include <string.h>

#include "lib/base/error.h"
#include "lib/model/inventory.h"

#define FUNCTIONS_MAX 65536

static const char *const kind_names[] = {"plain", "pf", "vf", "port", NULL};
static const char *const acs_names[] = {"unknown", "absent", "on", NULL};
static const char *const vfio_names[] = {"none", "free", "busy", NULL};
static const char *const use_names[] = {
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

static const NpVfFields vf_fields[NP_VF_FIELD_COUNT] = {
    NP_VF_MAC, NP_VF_VLAN, NP_VF_RATE, NP_VF_SPOOFCHK, NP_VF_LINK, NP_VF_RSS_QUERY, NP_VF_TRUST};

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
    for (size_t i = 0; i < G_N_ELEMENTS(vf_fields); i++) {
        g_autofree char *text = np_vf_format(attrs, vf_fields[i]);
        put_string(object, np_vf_name(vf_fields[i]), text);
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
        json_t *object = json_pack("{s:s, s:s}", "kind", use_names[use->kind], "text", use->text);
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
    put_string(object, "kind", kind_names[function->kind]);
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
        put_string(object, "acs", acs_names[function->acs]);
    if (function->kind == NP_FUNCTION_VF) {
        put_bdf(object, "physfn", &function->physfn);
        json_object_set_new(object, "vf", json_integer(function->vf_index));
    }
    if (function->net)
        json_object_set_new(object, "net", net_to_json(function->net));
    if (function->sriov)
        json_object_set_new(object, "sriov", sriov_to_json(function->sriov));
    put_string(object, "vfio", vfio_names[function->vfio]);
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
    for (size_t i = 0; i < G_N_ELEMENTS(vf_fields); i++) {
        const char *text = np_json_string(object, np_vf_name(vf_fields[i]), NULL);
        if (text && !np_vf_parse(vf_fields[i], text, &attrs, error))
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
            !take_word(object, "kind", use_names, 0, &kind, error))
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
        !take_word(object, "acs", acs_names, NP_ACS_UNKNOWN, &acs, error) ||
        !take_word(object, "vfio", vfio_names, NP_VFIO_NONE, &vfio, error) ||
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
        !take_word(object, "kind", kind_names, 0, &kind, error))
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
