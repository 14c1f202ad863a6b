/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Inventory's words: names of its enumerations in JSON; for inventory-json.c and -parse.c only.
 */
#pragma once

/* NULL-terminated, indexed by NpFunctionKind, NpAcs, NpVfioState and NpUseKind. */
extern const char *const np_function_kind_names[];
extern const char *const np_acs_names[];
extern const char *const np_vfio_names[];
extern const char *const np_use_names[];
