/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Network file: what tells systemd-networkd to leave NICs alone.
 */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* The .network file (systemd.network(5)) for these NICs (NpLink), by permanent MAC where every one
 * has it, which no bridge or VLAN on top copies; else by MAC (transfer full). Without any it names
 * an interface that cannot exist, for such a name is too long. Pure. */
char *np_networkfile_text(const GPtrArray *links);

/* Writes it in place, since the agent may write this one file but not its folder. Throws NOT_FOUND,
 * DENIED or IO. */
bool np_networkfile_write(const char *path, const GPtrArray *links, GError **error);
