/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Network file: see networkfile.h.
 */
#include "agent/networkfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "agent/netlink.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"

#define FILE_TEXT                                                                                  \
    "# Written by nicpass-agent: NICs under measurement.\n[Match]\n%s=%s\n\n"                      \
    "[Link]\nUnmanaged=yes\n"

char *
np_networkfile_text(const GPtrArray *links)
{
    if (links->len == 0)
        return g_strdup_printf(FILE_TEXT, "Name", "nicpass-agent-holds-none");
    bool permanent = true;
    for (guint i = 0; i < links->len; i++)
        permanent = permanent && ((const NpLink *) links->pdata[i])->has_permanent_mac;
    g_autoptr(GString) macs = g_string_new(NULL);
    for (guint i = 0; i < links->len; i++) {
        const NpLink *link = links->pdata[i];
        char buffer[NP_MAC_TEXT_SIZE];
        g_string_append_printf(
            macs, "%s%s", i > 0 ? " " : "",
            np_mac_format(permanent ? &link->permanent_mac : &link->mac, buffer));
    }
    return g_strdup_printf(FILE_TEXT, permanent ? "PermanentMACAddress" : "MACAddress", macs->str);
}

bool
np_networkfile_write(const char *path, const GPtrArray *links, GError **error)
{
    g_autofree char *text = np_networkfile_text(links);
    np_autofd int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return np_throw_errno(error, errno, "%s (is the package's tmpfiles.d entry applied?)",
                              path);
    if (!np_fd_write_all(fd, text, strlen(text), error)) {
        g_prefix_error(error, "%s: ", path);
        return false;
    }
    return true;
}
