/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Listen: see listen.h.
 *
 * iperf serves the first connection it gets, so a probe by connecting would be taken for the test.
 * The kernel lists listening sockets before all others, so reading ends early however many
 * connections there are.
 */
#include "agent/listen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/error.h"

#define STATE_LISTEN 10

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FILE, fclose)

bool
np_ports_has(const NpPorts *ports, unsigned port)
{
    return port < 65536 && (ports->bits[port / 8] >> (port % 8) & 1);
}

/* count hex digits at text into value. */
static bool
hex(const char *text, size_t count, unsigned *ret_value)
{
    unsigned value = 0;
    for (size_t i = 0; i < count; i++) {
        int digit = g_ascii_xdigit_value(text[i]);
        if (digit < 0)
            return false;
        value = value << 4 | (unsigned) digit;
    }
    *ret_value = value;
    return true;
}

/* "  0: 00000000:1451 00000000:0000 0A ..." */
bool
np_listen_take_line(const char *line, NpPorts *ports)
{
    unsigned port, state;
    if (strstr(line, "local_address"))
        return true;
    const char *local = strstr(line, ": ");
    const char *local_port = local ? strchr(local + 2, ':') : NULL;
    const char *remote_port = local_port ? strchr(local_port + 1, ':') : NULL;
    if (!remote_port || !hex(local_port + 1, 4, &port) || strlen(remote_port) < 8 ||
        remote_port[5] != ' ' || !hex(remote_port + 6, 2, &state) || state != STATE_LISTEN)
        return false;
    ports->bits[port / 8] |= (uint8_t) (1 << port % 8);
    return true;
}

static bool
scan_file(const char *path, NpPorts *ports, GError **error)
{
    g_autoptr(FILE) file = fopen(path, "re");
    if (!file)
        return np_throw_errno(error, errno, "%s", path);
    char line[512];
    while (fgets(line, sizeof(line), file) && np_listen_take_line(line, ports))
        ;
    return true;
}

bool
np_listen_scan(NpPorts *ret_ports, GError **error)
{
    NpPorts ports = {{0}};
    if (!scan_file("/proc/net/tcp", &ports, error))
        return false;
    (void) scan_file("/proc/net/tcp6", &ports, NULL); /* absent without IPv6 */
    *ret_ports = ports;
    return true;
}
