/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Exec: starts a program and tells whether it started.
 */
#pragma once

#include <sys/types.h>

#include <glib.h>

/* Starts argv[0] (an absolute path; a bare name stands for this program, called that) in a session
 * of its own with the three descriptors as its standard ones and no others, an environment of PATH
 * and LC_ALL=C, no signal blocked or ignored, SIGKILL once this process dies, bound to one CPU (-1:
 * any). Returns its pid, or -1 with IO, NOT_FOUND and so on thrown when fork, exec or binding
 * fails. */
pid_t np_exec(const char *const *argv, int cpu, int in, int out, int err, GError **error);
