/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Channel over a unix socket that the agent listens on.
 */
#include "agent/channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib-unix.h>

#include "agent/transport.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/base/log.h"
#include "lib/base/parse.h"
#include "lib/proto/proto.h"

#define BACKLOG         4
#define ACCEPT_RETRY_MS 1000 /* after running out of descriptors or memory */

typedef struct {
    NpChannel base;
    char *path;
    int listen_fd, fd; /* fd: the host's, -1 when there is none */
    guint listen_source, retry_timer;
} UnixChannel;

static gboolean accept_ready(gint fd, GIOCondition condition, gpointer data);

static gboolean
watch_listener(gpointer data)
{
    UnixChannel *self = data;
    self->retry_timer = 0;
    /* Behind everything else, so that a host which left is noticed before the next is looked at. */
    self->listen_source =
        g_unix_fd_add_full(G_PRIORITY_LOW, self->listen_fd, G_IO_IN, accept_ready, self, NULL);
    return G_SOURCE_REMOVE;
}

/* Whether the connected host has closed its end. It has been read from until then, unless the
 * channel is held. */
static bool
host_left(const UnixChannel *self)
{
    struct pollfd state = {.fd = self->fd, .events = 0};
    return poll(&state, 1, 0) > 0 && (state.revents & POLLHUP);
}

/* Tells a second host why it is not served. The line fits into an empty socket buffer. */
static void
turn_away(int fd)
{
    g_autoptr(GError) problem = NULL;
    np_throw(&problem, NP_ERROR_BUSY, "another host is connected to this agent");
    g_autoptr(json_t) reply = np_reply_error(NULL, 0, problem);
    g_autofree char *text = np_json_line(reply);
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    (void) send(fd, line, strlen(line), MSG_NOSIGNAL); /* one that has left needs no answer */
}

static gboolean
accept_ready(gint listen_fd, GIOCondition condition, gpointer data)
{
    UnixChannel *self = data;
    np_autofd int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
            return G_SOURCE_CONTINUE;
        np_log(G_LOG_LEVEL_WARNING, "%s: accept: %s; trying again", self->path, g_strerror(errno));
        g_clear_handle_id(&self->listen_source, g_source_remove);
        self->retry_timer = g_timeout_add(ACCEPT_RETRY_MS, watch_listener, self);
        return G_SOURCE_CONTINUE;
    }
    if (np_channel_connected(&self->base) && host_left(self))
        np_channel_end(&self->base);
    if (np_channel_connected(&self->base)) {
        turn_away(fd);
        return G_SOURCE_CONTINUE;
    }
    self->fd = np_fd_steal(&fd);
    np_channel_connect(&self->base, self->fd, self->fd);
    return G_SOURCE_CONTINUE;
}

static void
unix_start(NpChannel *channel)
{
    watch_listener(channel);
}

static void
unix_lost(NpChannel *channel, int errno_value)
{
    np_fd_clear(&((UnixChannel *) channel)->fd);
}

static void
unix_clear(NpChannel *channel)
{
    UnixChannel *self = (UnixChannel *) channel;
    g_clear_handle_id(&self->listen_source, g_source_remove);
    g_clear_handle_id(&self->retry_timer, g_source_remove);
    np_fd_clear(&self->fd);
    np_fd_clear(&self->listen_fd);
    (void) unlink(self->path); /* a leftover is replaced by the next agent */
    g_free(self->path);
}

static const NpTransport unix_transport = {unix_start, unix_lost, unix_clear};

/* Makes way for a new socket: removes one that nobody listens on. */
static bool
clear_path(const char *path, const struct sockaddr_un *address, GError **error)
{
    struct stat found;
    if (lstat(path, &found) < 0)
        return errno == ENOENT || np_throw_errno(error, errno, "%s", path);
    if (!S_ISSOCK(found.st_mode))
        return np_throw(error, NP_ERROR_CONFIG, "%s exists and is not a socket", path);
    np_autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return np_throw_errno(error, errno, "socket");
    if (connect(fd, (const struct sockaddr *) address, sizeof(*address)) == 0 || errno == EAGAIN)
        return np_throw(error, NP_ERROR_BUSY, "%s: another agent listens there", path);
    if (errno != ECONNREFUSED)
        return np_throw_errno(error, errno, "%s", path);
    if (unlink(path) < 0 && errno != ENOENT)
        return np_throw_errno(error, errno, "%s: remove the old socket", path);
    return true;
}

static int
listen_at(const char *path, GError **error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path)) {
        g_autofree char *quoted = np_quote(path);
        np_throw(error, NP_ERROR_CONFIG,
                 "%s: a unix socket's path has at most %zu bytes, this one has %zu", quoted,
                 sizeof(address.sun_path) - 1, strlen(path));
        return -1;
    }
    strcpy(address.sun_path, path);
    if (!clear_path(path, &address, error))
        return -1;
    np_autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        np_throw_errno(error, errno, "socket");
        return -1;
    }
    mode_t old = umask(0177); /* the socket's mode from its first moment on */
    bool bound = bind(fd, (const struct sockaddr *) &address, sizeof(address)) == 0;
    int errno_value = errno;
    umask(old);
    if (!bound || listen(fd, BACKLOG) < 0) {
        np_throw_errno(error, bound ? errno : errno_value, "%s: listen", path);
        return -1;
    }
    return np_fd_steal(&fd);
}

NpChannel *
np_channel_new_unix(const char *path, GError **error)
{
    int listen_fd = listen_at(path, error);
    if (listen_fd < 0)
        return NULL;
    UnixChannel *self = g_new0(UnixChannel, 1);
    np_channel_init(&self->base, &unix_transport);
    self->path = g_strdup(path);
    self->listen_fd = listen_fd;
    self->fd = -1;
    return &self->base;
}
