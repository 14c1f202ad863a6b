/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Fuzzer: the configuration. Input: one file's text.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/model/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *text = g_strndup((const char *) data, size);
    g_autoptr(GError) error = NULL;
    if (!g_utf8_validate(text, -1, NULL))
        return -1; /* the loader has refused it already */
    g_autoptr(NpConfig) config = np_config_parse("fuzz", text, &error);
    g_assert_true(!config == !!error);
    if (!config)
        return 0;
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    g_autoptr(GPtrArray) nics = np_config_nics(config, vm);
    for (guint i = 0; i < nics->len; i++) {
        const NpNic *nic = g_ptr_array_index(nics, i);
        g_assert_cmpuint(nic->attrs.vlan, <=, 4094);
        g_assert_cmpuint(nic->attrs.qos, <=, 7);
        g_assert_true(nic->source != NP_SOURCE_POOL || np_config_pool(config, nic->pool));
    }
    return 0;
}
