/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Channel over stdin and stdout: for a host at the other end of ssh, a pipe or a socket pair.
 */
#include "agent/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "agent/transport.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"

typedef struct {
    NpChannel base;
    int in_flags, out_flags; /* as found: the open files may be a terminal shared with a shell */
} StdioChannel;

static void
stdio_start(NpChannel *channel)
{
    np_channel_connect(channel, STDIN_FILENO, STDOUT_FILENO);
}

static void
stdio_clear(NpChannel *channel)
{
    StdioChannel *stdio = (StdioChannel *) channel;
    (void) fcntl(STDIN_FILENO, F_SETFL, stdio->in_flags); /* the program is at its end */
    (void) fcntl(STDOUT_FILENO, F_SETFL, stdio->out_flags);
}

static const NpTransport stdio_transport = {stdio_start, NULL, stdio_clear};

NpChannel *
np_channel_new_stdio(GError **error)
{
    int in_flags = fcntl(STDIN_FILENO, F_GETFL), out_flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (in_flags < 0 || out_flags < 0) {
        np_throw_errno(error, errno, "standard %s", in_flags < 0 ? "input" : "output");
        return NULL;
    }
    if (!np_fd_set_nonblocking(STDIN_FILENO, error) || !np_fd_set_nonblocking(STDOUT_FILENO, error))
        return NULL;
    StdioChannel *stdio = g_new0(StdioChannel, 1);
    stdio->in_flags = in_flags;
    stdio->out_flags = out_flags;
    np_channel_init(&stdio->base, &stdio_transport);
    return &stdio->base;
}
