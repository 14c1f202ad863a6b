/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Congestion: whether the kernel has a TCP congestion control.
 */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* Tries the name on a socket of its own, which loads the module if need be and allowed. Throws
 * UNSUPPORTED, naming what there is, or DENIED. */
bool np_congestion_check(const char *name, GError **error);
