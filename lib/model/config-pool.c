/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Pools: [pool NAME]. See config-parse.h.
 */
#include <string.h>

#include "lib/model/config-group.h"
#include "lib/model/config-parse.h"

#define MTU_MIN 1280 /* IPv6 */
#define MTU_MAX 65535

void
np_pool_free(NpPool *pool)
{
    if (!pool)
        return;
    g_free(pool->name);
    g_free(pool->pf.name);
    g_free(pool->driver);
    g_free(pool->origin);
    g_free(pool);
}

static bool
fill_pool(NpPool *pool, const NpGroup *group, GError **error)
{
    static const char *const pf_up_words[] = {"require", "set", NULL};
    int pf_up;
    uint64_t number;
    if (!np_group_get(group, "pf"))
        return np_keyfile_throw(group->file, group->group, NULL, error,
                                "key 'pf' is missing: which port's VFs this pool gives away");
    if (!np_group_pf(group, &pool->pf, error) || !np_group_driver(group, &pool->driver, error) ||
        !np_group_word(group, "pf-up", pf_up_words, NP_PF_UP_REQUIRE, &pf_up, error))
        return false;
    pool->pf_up = (NpPfUp) pf_up;
    if (!pool->driver)
        pool->driver = g_strdup("vfio-pci");
    const char *vfs = np_group_get(group, "vfs"), *mtu = np_group_get(group, "mtu");
    if (vfs && strcmp(vfs, "as-needed") != 0) {
        if (!np_parse_uint(vfs, 1, UINT16_MAX, &number, error)) {
            g_prefix_error(error, "neither 'as-needed' nor a number: ");
            return np_group_bad(group, "vfs", error);
        }
        pool->vfs = (unsigned) number;
    }
    if (mtu) {
        if (!np_parse_uint(mtu, MTU_MIN, MTU_MAX, &number, error))
            return np_group_bad(group, "mtu", error);
        pool->mtu = (unsigned) number;
    }
    return true;
}

NpPool *
np_pool_parse(const NpKeyfile *file, const char *name, GError **error)
{
    static const char *const keys[] = {"pf",     "pf-mac", "pf-name", "vfs",
                                       "driver", "pf-up",  "mtu",     NULL};
    const NpGroup group = {file, name};
    const char *pool_name = name + strlen("pool ");
    if (!np_parse_name(pool_name, error)) {
        (void) np_keyfile_prefix(file, name, NULL, error); /* always false */
        return NULL;
    }
    if (!np_keyfile_check_keys(file, name, keys, error))
        return NULL;
    g_autoptr(NpPool) pool = g_new0(NpPool, 1);
    pool->name = g_strdup(pool_name);
    pool->origin = g_strdup(np_keyfile_origin(file, name, NULL));
    if (!fill_pool(pool, &group, error))
        return NULL;
    return g_steal_pointer(&pool);
}
