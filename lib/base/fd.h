/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * File descriptors and small files: cleanup attribute, complete reads and writes, with limits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include <glib.h>

/* Closes the descriptor at the end of the scope when it is not negative; errno is preserved. */
#define np_autofd __attribute__((cleanup(np_fd_clear)))

/* Closes *fd if it is not negative and sets it to -1. Keeps errno. */
void np_fd_clear(int *fd);

/* Returns *fd and sets it to -1, for handing a descriptor over. */
static inline int
np_fd_steal(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

/* O_NONBLOCK on. Throws IO. */
bool np_fd_set_nonblocking(int fd, GError **error);

/* Writes all bytes to a blocking descriptor, restarting after signals. Throws IO; how many bytes
 * went out before that is unknown. */
bool np_fd_write_all(int fd, const void *data, size_t size, GError **error);

/* Reads to the end of a blocking descriptor, at most max bytes (more is NP_ERROR_CONFIG). The
 * result (transfer full) is NUL-terminated; ret_size may be NULL. */
bool np_fd_read_all(int fd, size_t max, char **ret_data, size_t *ret_size, GError **error);

/* A whole file below max bytes, as np_fd_read_all; works for /proc and /sys, whose sizes lie. The
 * error names the path. */
bool np_file_read(const char *path, size_t max, char **ret_data, size_t *ret_size, GError **error);

/* np_file_read of a one-line attribute: trailing white space removed (transfer full), NULL when the
 * file cannot be read. For attributes whose absence is an answer. Limit 4096 bytes. */
char *np_file_read_line(const char *path);
