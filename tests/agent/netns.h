/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test helper: a network namespace of the test's own, and ip(8) in it.
 */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* Moves the process into a fresh network namespace (as non-root: into a user namespace with it).
 * Call before anything else. False when that is not allowed here; with NP_MUST_RUN=1 it then fails
 * the test program instead. */
bool np_test_netns_enter(void);

/* Runs ip(8) with these words; fails the test unless it succeeds. Returns its output (transfer
 * full). */
char *np_test_ip_output(const char *words);
void np_test_ip(const char *words);

/* Everything ip(8) tells about links, addresses and routes once the kernel has settled, for
 * comparing (transfer full). */
char *np_test_net_state(void);

/* Waits until that text holds part. */
void np_test_wait_for_state(const char *part);

/* Fails the test, showing the lines that differ, unless the state becomes this one. */
void np_test_assert_net_state(const char *wanted);

/* Writes a setting below /proc/sys/net of the namespace. */
void np_test_sysctl(const char *path, const char *value);

/* Two veth ends 'left' (02:00:00:00:00:01) and 'right' (..:02), without IPv6 addresses of the
 * kernel's own making, which come at a moment of its choice. Deletes former ones. */
void np_test_veth_make(void);
