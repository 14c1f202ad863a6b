/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Modules: loading one by its name.
 */
#pragma once

/* Runs modprobe with that name and nothing else. Returns 0; ENOENT when modprobe failed, with its
 * last words in *ret_hint (transfer full, else NULL); ETIMEDOUT after half a minute. */
int np_module_load(const char *name, char **ret_hint);
