/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Channel over a virtio-serial port or a serial line, which may come, go and hang up at any time.
 *
 * A virtio-serial port without a host answers poll() with POLLHUP for as long as that lasts, asked
 * or not, so it must not be in the main loop then: a timer looks instead. Closing and opening it
 * each time would tell the hypervisor each time that the agent had gone. Reading a port that was
 * unplugged gives ENODEV. A terminal that was hung up (EIO, or an end of file) is of no more use
 * and is opened anew.
 */
#include "agent/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "agent/transport.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/base/log.h"
#include "lib/base/parse.h"

#define NAMED_PORTS "/dev/virtio-ports"
#define SYS_PORTS   "/sys/class/virtio-ports"

typedef struct {
    NpChannel base;
    char *name; /* of a virtio-serial port, or an absolute path */
    guint retry_ms, timer;
    int fd; /* -1: not open */
    bool terminal;
    char *problem; /* why the port is not open, logged once */
} PortChannel;

/* The device of a named port (transfer full), also where no udev rule has linked the name. */
static char *
find_port(const char *name)
{
    g_autofree char *linked = g_build_filename(NAMED_PORTS, name, NULL);
    if (g_file_test(linked, G_FILE_TEST_EXISTS))
        return g_steal_pointer(&linked);
    g_autoptr(GDir) ports = g_dir_open(SYS_PORTS, 0, NULL);
    const char *entry;
    while (ports && (entry = g_dir_read_name(ports))) {
        g_autofree char *attribute = g_build_filename(SYS_PORTS, entry, "name", NULL);
        g_autofree char *found = np_file_read_line(attribute);
        if (g_strcmp0(found, name) == 0)
            return g_build_filename("/dev", entry, NULL);
    }
    return NULL;
}

static bool
set_raw(int fd, const char *path, GError **error)
{
    struct termios settings;
    if (tcgetattr(fd, &settings) < 0)
        return np_throw_errno(error, errno, "%s: read the line's settings", path);
    cfmakeraw(&settings);
    settings.c_cflag |= CLOCAL | CREAD;
    if (tcsetattr(fd, TCSANOW, &settings) < 0)
        return np_throw_errno(error, errno, "%s: set the line raw", path);
    return true;
}

static bool
port_open(PortChannel *self, GError **error)
{
    g_autofree char *path = self->name[0] == '/' ? g_strdup(self->name) : find_port(self->name);
    if (!path)
        return np_throw(error, NP_ERROR_NOT_FOUND,
                        "no virtio-serial port is named '%s': give the VM a channel of this name",
                        self->name);
    np_autofd int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return np_throw_errno(error, errno, "%s", path);
    struct stat status;
    if (fstat(fd, &status) < 0)
        return np_throw_errno(error, errno, "%s", path);
    if (!S_ISCHR(status.st_mode))
        return np_throw(error, NP_ERROR_CONFIG, "%s is not a character device", path);
    bool terminal = isatty(fd);
    if (terminal && !set_raw(fd, path, error))
        return false;
    self->terminal = terminal;
    self->fd = np_fd_steal(&fd);
    return true;
}

static void
port_open_logged(PortChannel *self)
{
    g_autoptr(GError) problem = NULL;
    if (port_open(self, &problem)) {
        np_log(self->problem ? G_LOG_LEVEL_MESSAGE : G_LOG_LEVEL_INFO, "%s: open", self->name);
        g_clear_pointer(&self->problem, g_free);
        return;
    }
    if (g_strcmp0(self->problem, problem->message) == 0)
        return;
    np_log(G_LOG_LEVEL_WARNING, "%s; waiting for it", problem->message);
    g_free(self->problem);
    self->problem = g_strdup(problem->message);
}

/* Whether the open port has a host. One that was unplugged is closed. */
static bool
port_has_host(PortChannel *self)
{
    struct pollfd state = {.fd = self->fd, .events = POLLIN};
    if (poll(&state, 1, 0) >= 0 && !(state.revents & (POLLHUP | POLLERR | POLLNVAL)))
        return true;
    char left[4096]; /* what a host wrote before it left again is of no session */
    ssize_t got = read(self->fd, left, sizeof(left));
    if (self->terminal || (got < 0 && errno != EAGAIN && errno != EINTR))
        np_fd_clear(&self->fd);
    return false;
}

static gboolean
look(gpointer data)
{
    PortChannel *self = data;
    if (self->fd < 0)
        port_open_logged(self);
    if (self->fd < 0 || !port_has_host(self))
        return G_SOURCE_CONTINUE;
    g_clear_handle_id(&self->timer, g_source_remove);
    np_channel_connect(&self->base, self->fd, self->fd);
    return G_SOURCE_CONTINUE; /* removed already */
}

static void
port_start(NpChannel *channel)
{
    PortChannel *self = (PortChannel *) channel;
    self->timer = g_timeout_add(self->retry_ms, look, self);
    look(self);
}

static void
port_lost(NpChannel *channel, int errno_value)
{
    PortChannel *self = (PortChannel *) channel;
    if (self->terminal || errno_value)
        np_fd_clear(&self->fd);
    if (!self->timer)
        self->timer = g_timeout_add(self->retry_ms, look, self);
}

static void
port_clear(NpChannel *channel)
{
    PortChannel *self = (PortChannel *) channel;
    g_clear_handle_id(&self->timer, g_source_remove);
    np_fd_clear(&self->fd);
    g_free(self->problem);
    g_free(self->name);
}

static const NpTransport port_transport = {port_start, port_lost, port_clear};

NpChannel *
np_channel_new_port(const char *name, guint retry_ms, GError **error)
{
    if (name[0] != '/' && !np_parse_name(name, error)) {
        g_prefix_error(error, "port: ");
        return NULL;
    }
    PortChannel *self = g_new0(PortChannel, 1);
    np_channel_init(&self->base, &port_transport);
    self->name = g_strdup(name);
    self->retry_ms = retry_ms;
    self->fd = -1;
    return &self->base;
}
