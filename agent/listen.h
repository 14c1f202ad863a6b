/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Listen: which TCP ports of this network namespace are listened on, without connecting to them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/* One bit a port. */
typedef struct {
    uint8_t bits[65536 / 8];
} NpPorts;

bool np_ports_has(const NpPorts *ports, unsigned port);

/* Adds the listening ports of one line of /proc/net/tcp or tcp6; false when the line is neither a
 * listening socket's nor the header. Pure. */
bool np_listen_take_line(const char *line, NpPorts *ports);

/* Every port that is listened on, over IPv4 or IPv6. Throws IO when /proc/net/tcp cannot be read.
 */
bool np_listen_scan(NpPorts *ret_ports, GError **error);
