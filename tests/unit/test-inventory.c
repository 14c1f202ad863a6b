/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: the inventory, its look-ups and its JSON.
 */
#include <string.h>

#include "lib/base/error.h"
#include "lib/model/inventory.h"

static NpInventory *
load(const char *name)
{
    g_autofree char *path = g_strconcat("tests/data/plan/", name, NULL);
    g_autoptr(json_t) object = json_load_file(path, 0, NULL);
    g_autoptr(GError) error = NULL;
    NpInventory *inventory = np_inventory_from_json(object, &error);
    g_assert_no_error(error);
    return inventory;
}

static void
test_inventory_survives_its_json(void)
{
    g_autoptr(json_t) object = json_load_file("tests/data/plan/igb-3-vfs.json", 0, NULL);
    g_autoptr(NpInventory) inventory = np_inventory_from_json(object, NULL);
    g_autoptr(json_t) again = np_inventory_to_json(inventory);
    g_assert_true(json_equal(object, again));
}

static void
test_functions_are_kept_in_order_of_address(void)
{
    static const NpBdf bdfs[] = {{1, 0, 0, 0}, {0, 2, 0, 0}, {0, 1, 3, 0}, {0, 1, 2, 7}};
    g_autoptr(NpInventory) inventory = np_inventory_new();
    for (size_t i = 0; i < G_N_ELEMENTS(bdfs); i++)
        np_inventory_add(inventory, np_function_new(&bdfs[i], NP_FUNCTION_PLAIN));
    for (guint i = 1; i < inventory->functions->len; i++) {
        const NpFunction *a = g_ptr_array_index(inventory->functions, i - 1);
        const NpFunction *b = g_ptr_array_index(inventory->functions, i);
        g_assert_cmpint(np_bdf_compare(&a->bdf, &b->bdf), <, 0);
    }
    g_assert_nonnull(np_inventory_find(inventory, &bdfs[2]));
}

typedef struct {
    NpBdf pf;
    unsigned offset, stride, total, index;
    bool known;
    const char *bdf;
} Place;

static void
test_vfs_to_come_are_placed_by_offset_and_stride(void)
{
    static const Place rows[] = {
        {{0, 0x01, 0, 0}, 0x80, 2, 7, 0, true, "0000:01:10.0"},
        {{0, 0x01, 0, 1}, 0x80, 2, 7, 6, true, "0000:01:11.5"},
        {{0, 0x3b, 0, 0}, 2, 1, 127, 126, true, "0000:3b:10.0"},
        {{2, 0x3b, 0, 0}, 0x1fe, 1, 64, 5, true, "0002:3d:00.3"}, /* on a bus of their own */
        {{0, 0x01, 0, 0}, 0, 0, 7, 0, false, NULL},               /* not known */
        {{0, 0x01, 0, 0}, 0x80, 2, 7, 7, false, NULL},            /* beyond the total */
        {{0, 0xff, 0, 0}, 0x80, 2, 256, 200, false, NULL},        /* beyond the last bus */
        {{0, 0x01, 0, 0}, 0x80, 0, 7, 1, false, NULL},            /* no stride: one VF only */
    };
    g_autoptr(NpInventory) inventory = np_inventory_new();
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(NpFunction) pf = np_function_new(&rows[i].pf, NP_FUNCTION_PF);
        NpBdf bdf;
        char text[NP_BDF_TEXT_SIZE];
        pf->sriov->offset = rows[i].offset;
        pf->sriov->stride = rows[i].stride;
        pf->sriov->total = rows[i].total;
        bool known = np_inventory_vf_bdf(inventory, pf, rows[i].index, &bdf);
        g_assert_cmpint(known, ==, rows[i].known);
        if (known)
            g_assert_cmpstr(np_bdf_format(&bdf, text), ==, rows[i].bdf);
    }
}

static void
test_vfs_there_are_found_by_their_links(void)
{
    g_autoptr(NpInventory) inventory = load("igb-3-vfs.json");
    NpBdf pf_bdf = {0, 1, 0, 0}, bdf;
    const NpFunction *pf = np_inventory_find(inventory, &pf_bdf);
    NpFunction *vf = np_inventory_find_vf(inventory, &pf_bdf, 2);
    g_assert_nonnull(vf);
    vf->bdf.device = 0x1f; /* another place than offset and stride say */
    g_assert_true(np_inventory_vf_bdf(inventory, pf, 2, &bdf));
    g_assert_cmpuint(bdf.device, ==, 0x1f);
    g_assert_nonnull(np_inventory_vf_attrs(inventory, vf));
    vf->vf_index = 9;
    g_assert_null(np_inventory_vf_attrs(inventory, vf));
}

typedef struct {
    const char *name, *json, *message;
} Bad;

static const Bad bad[] = {
    {"missing", "{}", "'iommu' is missing"},
    {"kind", "{\"iommu\":true,\"functions\":[{\"bdf\":\"01:00.0\",\"kind\":\"nic\"}]}",
     "function 0: field 'kind': 'nic' is not known"},
    {"address", "{\"iommu\":true,\"functions\":[{\"bdf\":\"1:00.00\",\"kind\":\"vf\"}]}",
     "1:00.00"},
    {"orphan", "{\"iommu\":true,\"functions\":[{\"bdf\":\"01:00.0\",\"kind\":\"vf\"}]}", "physfn"},
    {"sriov-of-plain",
     "{\"iommu\":true,\"functions\":[{\"bdf\":\"01:00.0\",\"kind\":\"plain\","
     "\"sriov\":{\"total\":1,\"count\":0}}]}",
     "'sriov'"},
    {"attrs",
     "{\"iommu\":true,\"functions\":[{\"bdf\":\"01:00.0\",\"kind\":\"pf\","
     "\"sriov\":{\"total\":1,\"count\":1,\"attrs\":[{\"vlan\":\"5000\"}]}}]}",
     "5000"},
    {"hex",
     "{\"iommu\":true,\"functions\":[{\"bdf\":\"01:00.0\",\"kind\":\"plain\",\"vendor\":"
     "\"80g6\"}]}",
     "field 'vendor'"},
};

static void
test_bad_json_is_refused(gconstpointer data)
{
    const Bad *row = data;
    g_autoptr(json_t) object = json_loads(row->json, 0, NULL);
    g_autoptr(GError) error = NULL;
    g_assert_null(np_inventory_from_json(object, &error));
    if (!strstr(error->message, row->message))
        g_error("'%s' is not in: %s", row->message, error->message);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/inventory/survives-its-json", test_inventory_survives_its_json);
    g_test_add_func("/inventory/functions-are-kept-in-order-of-address",
                    test_functions_are_kept_in_order_of_address);
    g_test_add_func("/inventory/vfs-to-come-are-placed-by-offset-and-stride",
                    test_vfs_to_come_are_placed_by_offset_and_stride);
    g_test_add_func("/inventory/vfs-there-are-found-by-their-links",
                    test_vfs_there_are_found_by_their_links);
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *path = g_strdup_printf("/inventory/refuses/%s", bad[i].name);
        g_test_add_data_func(path, &bad[i], test_bad_json_is_refused);
    }
    return g_test_run();
}
