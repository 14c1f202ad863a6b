/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Attributes, inner parts: what attr.c and attr-vf.c share; for them only.
 */
#pragma once

#include "lib/apply/attr.h"

/* Whether a request is to be tried once more; waits before it says so. */
bool np_attr_again(NpSys *sys, int result, int64_t deadline_ms);

/* The first of the changes (NULL-terminated) whose value does not show, or NULL; *ret_value is what
 * it is instead. When one cannot be read at all, *error is set. */
const NpChange *np_attr_first_missing(NpSys *sys, const NpChange *const *changes,
                                      const char *const *values, char **ret_value, GError **error);

/* Waits until all values show: the kernel reports success for much that did not happen, and some of
 * it comes a moment later. Throws FAILED. */
bool np_attr_read_back(NpSys *sys, const NpChange *const *changes, const char *const *values,
                       GError **error);
