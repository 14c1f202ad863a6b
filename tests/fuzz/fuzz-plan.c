/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Fuzzer: an inventory as JSON, and the plan that comes of it.
 */
#include <stddef.h>
#include <stdint.h>

#include "lib/plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever a scan may have found, planning ends: with a plan or with words. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const configs[] = {
        "[pool p]\npf = 0000:01:00.0\n[vm 101]\npool = p\nvlan = 5\n",
        ("[pool p]\npf = 0000:01:00.0\nvfs = 4\npf-up = set\nmtu = 9000\n[vm 101]\npool = p\n"
         "[vm 101 nic 1]\nvf = 0000:01:10.2\ntrust = on\n"),
        "[vm 101]\npf = 0000:01:00.1\neven-if-used = yes\n",
    };
    g_autoptr(json_t) object = np_json_parse_object((const char *) data, size, NULL);
    g_autoptr(NpInventory) inventory = object ? np_inventory_from_json(object, NULL) : NULL;
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    g_autoptr(GPtrArray) leases = g_ptr_array_new();
    for (size_t i = 0; inventory && i < G_N_ELEMENTS(configs); i++) {
        g_autoptr(NpConfig) config = np_config_parse("c", configs[i], NULL);
        g_autoptr(GError) error = NULL;
        NpWorld world = {inventory, config, leases};
        g_autoptr(NpPlan) plan = np_plan_claim(&world, vm, &error);
        g_assert_true(!plan == !!error);
        if (plan)
            g_free(np_plan_to_text(plan, vm));
    }
    return 0;
}
