/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: plans against golden files; the pure function from what is and should be to operations.
 */
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/plan/plan.h"

/* A case is NAME.in.json: "inventory" (a file beside it), "set" (what differs from it, by address),
 * "vm" (VMID, or name and uuid), "pins" (the VM's functions by NIC), "leases", "config" (lines).
 * What comes of it is NAME.out.json. NP_UPDATE_GOLDEN=1 writes that anew: read the difference
 * before it is committed. */
#define DATA "tests/data/plan/"

static json_t *
load(const char *name)
{
    json_error_t problem;
    g_autofree char *path = g_strconcat(DATA, name, NULL);
    json_t *object = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
    if (!object)
        g_error("%s:%d: %s", path, problem.line, problem.text);
    return object;
}

static json_t *
function_at(json_t *inventory, const char *bdf)
{
    size_t i;
    json_t *function;
    json_array_foreach(json_object_get(inventory, "functions"), i, function)
    {
        if (strcmp(np_json_string(function, "bdf", ""), bdf) == 0)
            return function;
    }
    g_error("no function %s", bdf);
}

static NpInventory *
inventory_of(const json_t *in)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) object = load(np_json_string(in, "inventory", ""));
    const char *bdf, *key;
    json_t *patch, *value;
    void *next;
    json_object_foreach(json_object_get(in, "set"), bdf, patch)
    {
        json_t *function = function_at(object, bdf);
        json_object_update_recursive(function, patch);
        json_object_foreach_safe(function, next, key, value) /* null: is not there */
        {
            if (json_is_null(value))
                json_object_del(function, key);
        }
    }
    NpInventory *inventory = np_inventory_from_json(object, &error);
    g_assert_no_error(error);
    return inventory;
}

static NpVm *
vm_of(const json_t *in)
{
    const json_t *vm = json_object_get(in, "vm"), *pin;
    NpVm *made = json_is_integer(vm) ? np_vm_new_proxmox((uint32_t) json_integer_value(vm))
                                     : np_vm_new_libvirt(np_json_string(vm, "name", ""),
                                                         np_json_string(vm, "uuid", ""));
    size_t i;
    json_array_foreach(json_object_get(in, "pins"), i, pin)
    {
        NpPin value = {.nic = (unsigned) i};
        g_assert_true(np_parse_bdf(json_string_value(pin), &value.bdf, NULL));
        g_array_append_val(made->pins, value);
    }
    return made;
}

static NpConfig *
config_of(const json_t *in)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    const json_t *line;
    size_t i;
    json_array_foreach(json_object_get(in, "config"), i, line)
    {
        g_string_append_printf(text, "%s\n", json_string_value(line));
    }
    NpConfig *config = np_config_parse("nicpass.conf", text->str, &error);
    g_assert_no_error(error);
    return config;
}

static void
lease_free(gpointer data)
{
    np_lease_free(data);
}

static GPtrArray *
leases_of(const json_t *in)
{
    static const char *const lives[] = {"unknown", "alive", "dead"};
    g_autoptr(GError) error = NULL;
    GPtrArray *leases = g_ptr_array_new_with_free_func(lease_free);
    json_t *object;
    size_t i;
    json_array_foreach(json_object_get(in, "leases"), i, object)
    {
        bool ready = np_json_bool(object, "ready", false);
        g_autofree char *life = g_strdup(np_json_string(object, "life", ""));
        json_object_del(object, "ready");
        json_object_del(object, "life");
        NpLease *lease = np_lease_from_json(object, &error);
        g_assert_no_error(error);
        lease->ready = ready;
        for (size_t l = 0; l < G_N_ELEMENTS(lives); l++)
            if (strcmp(lives[l], life) == 0)
                lease->life = (NpLife) l;
        g_ptr_array_add(leases, lease);
    }
    return leases;
}

/* The plan as JSON and in words, or the error. */
static json_t *
outcome_of(const json_t *in)
{
    g_autoptr(NpInventory) inventory = inventory_of(in);
    g_autoptr(NpConfig) config = config_of(in);
    g_autoptr(GPtrArray) leases = leases_of(in);
    g_autoptr(NpVm) vm = vm_of(in);
    g_autoptr(GError) error = NULL;
    NpWorld world = {inventory, config, leases};
    g_autoptr(NpPlan) plan = np_plan_claim(&world, vm, &error);
    if (!plan)
        return json_pack("{s:s, s:s}", "error", np_error_name((NpError) error->code), "message",
                         error->message);
    g_autofree char *text = np_plan_to_text(plan, vm);
    g_auto(GStrv) lines = g_strsplit(g_strchomp(text), "\n", -1);
    json_t *words = json_array();
    for (char **line = lines; *line; line++)
        json_array_append_new(words, json_string(*line));
    return json_pack("{s:o, s:o}", "text", words, "plan", np_plan_to_json(plan, vm));
}

static void
test_golden(gconstpointer data)
{
    const char *name = data;
    g_autofree char *in_name = g_strconcat(name, ".in.json", NULL);
    g_autofree char *out_name = g_strconcat(name, ".out.json", NULL);
    g_autoptr(json_t) in = load(in_name);
    g_autoptr(json_t) out = outcome_of(in);
    char *dumped = json_dumps(out, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    g_autofree char *text = g_strconcat(dumped, "\n", NULL);
    g_autofree char *path = g_strconcat(DATA, out_name, NULL);
    free(dumped);
    if (g_getenv("NP_UPDATE_GOLDEN"))
        g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_autofree char *golden = NULL;
    g_assert_true(g_file_get_contents(path, &golden, NULL, NULL));
    g_assert_cmpstr(text, ==, golden);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_autoptr(GDir) dir = g_dir_open(DATA, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *file; dir && (file = g_dir_read_name(dir));) {
        if (!g_str_has_suffix(file, ".in.json"))
            continue;
        char *name = g_strndup(file, strlen(file) - strlen(".in.json"));
        g_autofree char *path = g_strconcat("/plan/", name, NULL);
        g_ptr_array_add(names, name);
        g_test_add_data_func(path, name, test_golden);
    }
    g_assert_cmpuint(names->len, >, 0); /* run it in the source folder */
    return g_test_run();
}
