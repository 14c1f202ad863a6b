/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Congestion: see congestion.h.
 */
#include "agent/congestion.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/base/parse.h"

#define AVAILABLE "/proc/sys/net/ipv4/tcp_available_congestion_control"

bool
np_congestion_check(const char *name, GError **error)
{
    np_autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return np_throw_errno(error, errno, "socket");
    if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t) strlen(name)) == 0)
        return true;
    int errno_value = errno;
    g_autofree char *quoted = np_quote(name);
    if (errno_value != ENOENT)
        return np_throw_errno(error, errno_value, "congestion: %s", quoted);
    g_autofree char *available = np_file_read_line(AVAILABLE);
    return np_throw(error, NP_ERROR_UNSUPPORTED,
                    "congestion: this kernel has no %s; it has %s, and may load more as modules",
                    quoted, available ? available : "others");
}
