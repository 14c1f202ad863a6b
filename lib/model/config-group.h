/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * One configuration group being read: values with their positions; for config-*.c only.
 */
#pragma once

#include "lib/base/keyfile.h"
#include "lib/model/config.h"

typedef struct {
    const NpKeyfile *file;
    const char *group;
} NpGroup;

/* The value or NULL. */
const char *np_group_get(const NpGroup *group, const char *key);

/* Puts the position before *error and returns false. */
bool np_group_bad(const NpGroup *group, const char *key, GError **error);

/* The index of the key's value in words (NULL-terminated); the fallback when it is absent. */
bool np_group_word(const NpGroup *group, const char *key, const char *const *words, int fallback,
                   int *ret_index, GError **error);

/* "driver": a name, or NULL. */
bool np_group_driver(const NpGroup *group, char **ret_driver, GError **error);

/* "pf" in any of its three spellings, "pf-mac" and "pf-name" to check it against. */
bool np_group_pf(const NpGroup *group, NpPfRef *pf, GError **error);
