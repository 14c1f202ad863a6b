/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * File descriptors and small files: see fd.h.
 */
#include "lib/base/fd.h"

#include <errno.h>
#include <fcntl.h>

#include "lib/base/error.h"

void
np_fd_clear(int *fd)
{
    int saved_errno = errno;
    if (*fd >= 0)
        (void) close(*fd); /* nothing can be done about a failing close here */
    *fd = -1;
    errno = saved_errno;
}

bool
np_fd_set_nonblocking(int fd, GError **error)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return np_throw_errno(error, errno, "make descriptor %d non-blocking", fd);
    return true;
}

bool
np_fd_write_all(int fd, const void *data, size_t size, GError **error)
{
    const char *rest = data;
    while (size > 0) {
        ssize_t written = write(fd, rest, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return np_throw_errno(error, errno, "write");
        rest += written;
        size -= (size_t) written;
    }
    return true;
}

bool
np_fd_read_all(int fd, size_t max, char **ret_data, size_t *ret_size, GError **error)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    for (;;) {
        guint8 block[4096];
        ssize_t got = read(fd, block, sizeof(block));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return np_throw_errno(error, errno, "read");
        if (got == 0)
            break;
        if (bytes->len + (size_t) got > max)
            return np_throw(error, NP_ERROR_CONFIG, "read: more than %zu bytes", max);
        g_byte_array_append(bytes, block, (guint) got);
    }
    if (ret_size)
        *ret_size = bytes->len;
    g_byte_array_append(bytes, (const guint8 *) "", 1);
    *ret_data = (char *) g_byte_array_free(g_steal_pointer(&bytes), FALSE);
    return true;
}

bool
np_file_read(const char *path, size_t max, char **ret_data, size_t *ret_size, GError **error)
{
    np_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return np_throw_errno(error, errno, "%s", path);
    if (!np_fd_read_all(fd, max, ret_data, ret_size, error)) {
        g_prefix_error(error, "%s: ", path);
        return false;
    }
    return true;
}

char *
np_file_read_line(const char *path)
{
    char *text = NULL;
    if (!np_file_read(path, 4096, &text, NULL, NULL))
        return NULL;
    return g_strchomp(text);
}
