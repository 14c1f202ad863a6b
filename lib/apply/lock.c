/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Locks: see lock.h.
 */
#include "lib/apply/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"

#define POLL_US 10000

static bool
throw_held(int fd, const char *path, GError **error)
{
    char pid[24] = "";
    ssize_t got = pread(fd, pid, sizeof(pid) - 1, 0);
    pid[got > 0 ? got : 0] = '\0';
    return np_throw(error, NP_ERROR_BUSY, "%s: held by process %s", path, *pid ? pid : "(unknown)");
}

int
np_lock_pf(const char *run_dir, const NpBdf *pf, int64_t timeout_ms, GError **error)
{
    char bdf[NP_BDF_TEXT_SIZE];
    g_autofree char *folder = g_build_filename(run_dir, "lock", NULL);
    g_autofree char *path = g_build_filename(folder, np_bdf_format(pf, bdf), NULL);
    if (g_mkdir_with_parents(folder, 0700) < 0) {
        np_throw_errno(error, errno, "%s", folder);
        return -1;
    }
    np_autofd int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        np_throw_errno(error, errno, "%s", path);
        return -1;
    }
    /* flock() has no deadline of its own, and a signal to break it would be the whole program's. */
    int64_t deadline = np_clock_ns() + timeout_ms * NP_NS_PER_MS;
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            np_throw_errno(error, errno, "%s", path);
            return -1;
        }
        if (np_clock_ns() >= deadline) {
            (void) throw_held(fd, path, error); /* always false */
            return -1;
        }
        g_usleep(POLL_US);
    }
    char pid[24];
    int length = snprintf(pid, sizeof(pid), "%d", (int) getpid());
    /* The number is for messages only: a lock without it is as good. */
    if (ftruncate(fd, 0) == 0)
        (void) !pwrite(fd, pid, (size_t) length, 0);
    return np_fd_steal(&fd);
}
