/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Detached writes: see detach.h.
 */
#include "lib/apply/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/fd.h"

/* In the grandchild: only what may be called after a fork of a process with threads. */
static _Noreturn void
write_and_report(int fd, int report, const void *data, size_t size)
{
    setsid();
    int attribute = fcntl(fd, F_DUPFD, 3);
    int answer = fcntl(report, F_DUPFD, 3);
    if (attribute < 0 || answer < 0 || dup2(attribute, 0) < 0 || dup2(answer, 1) < 0)
        _exit(1);
    closefrom(2);
    ssize_t written = write(0, data, size);
    int result = written < 0 ? -errno : (size_t) written == size ? 0 : -EIO;
    _exit(write(1, &result, sizeof(result)) == sizeof(result) ? 0 : 1);
}

/* Forks twice, so that init inherits the writer and nobody has to wait for it. */
static int
start_writer(int fd, int report, const void *data, size_t size)
{
    pid_t child = fork();
    if (child < 0)
        return -errno;
    if (child == 0) {
        pid_t writer = fork();
        if (writer == 0)
            write_and_report(fd, report, data, size);
        _exit(writer < 0 ? 1 : 0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return errno == ECHILD ? 0 : -errno; /* SIGCHLD is ignored: the kernel has waited */
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EAGAIN;
}

static int
wait_for_report(int report, int64_t timeout_ms)
{
    int64_t end_ns = np_clock_ns() + timeout_ms * NP_NS_PER_MS;
    for (;;) {
        int64_t left_ms = (end_ns - np_clock_ns() + NP_NS_PER_MS - 1) / NP_NS_PER_MS;
        if (left_ms < 0)
            left_ms = 0;
        struct pollfd wait = {.fd = report, .events = POLLIN};
        int ready = poll(&wait, 1, left_ms > 60000 ? 60000 : (int) left_ms);
        if (ready < 0 && errno != EINTR)
            return -errno;
        if (ready > 0) {
            int result;
            return read(report, &result, sizeof(result)) == sizeof(result) ? result : -EIO;
        }
        if (left_ms == 0)
            return -ETIMEDOUT;
    }
}

int
np_detached_write(int fd, const void *data, size_t size, int64_t timeout_ms)
{
    int pipe_fd[2];
    if (pipe2(pipe_fd, O_CLOEXEC) < 0)
        return -errno;
    np_autofd int ours = pipe_fd[0];
    np_autofd int theirs = pipe_fd[1];
    int result = start_writer(fd, theirs, data, size);
    np_fd_clear(&theirs);
    return result < 0 ? result : wait_for_report(ours, timeout_ms);
}
