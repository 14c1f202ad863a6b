/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Configuration groups: from one [pool] or [vm] group to its struct; for config.c only.
 */
#pragma once

#include "lib/base/keyfile.h"
#include "lib/model/config.h"

/* "[pool NAME]" (transfer full). Throws CONFIG. */
NpPool *np_pool_parse(const NpKeyfile *file, const char *group, GError **error);
void np_pool_free(NpPool *pool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpPool, np_pool_free)

/* "[vm ID nic N]" or "[vm ID]" (transfer full). Throws CONFIG. */
NpNic *np_nic_parse(const NpKeyfile *file, const char *group, GError **error);
void np_nic_free(NpNic *nic);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpNic, np_nic_free)
