/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Modules: see module.h.
 */
#include "lib/apply/module.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "lib/base/clock.h"
#include "lib/base/fd.h"

#define LOAD_MS  30000
#define HINT_MAX 500

/* modprobe's error output up to its end or the deadline; false: the deadline. */
static bool
read_words(int fd, int64_t end_ns, GString *words)
{
    for (;;) {
        int64_t left_ms = (end_ns - np_clock_ns()) / NP_NS_PER_MS;
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (left_ms <= 0)
            return false;
        if (poll(&wait, 1, (int) left_ms) <= 0)
            continue;
        char data[256];
        ssize_t got = read(fd, data, sizeof(data));
        if (got <= 0)
            return true;
        if (words->len < HINT_MAX)
            g_string_append_len(words, data, got);
    }
}

static int
spawn_modprobe(const char *name, int errors, pid_t *ret_pid)
{
    char *const environment[] = {(char *) (uintptr_t) "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                                 (char *) (uintptr_t) "LC_ALL=C", NULL};
    char *const arguments[] = {(char *) (uintptr_t) "modprobe", (char *) (uintptr_t) "--",
                               (char *) (uintptr_t) name, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, 0, 1);
    posix_spawn_file_actions_adddup2(&actions, errors, 2);
    int result = posix_spawn(ret_pid, "/sbin/modprobe", &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    return -result;
}

int
np_module_load(const char *name, char **ret_hint)
{
    int pipe_fd[2];
    pid_t pid;
    if (pipe2(pipe_fd, O_CLOEXEC) < 0)
        return -errno;
    np_autofd int ours = pipe_fd[0];
    np_autofd int theirs = pipe_fd[1];
    int result = spawn_modprobe(name, theirs, &pid);
    np_fd_clear(&theirs);
    if (result < 0)
        return result;
    GString *words = g_string_new(NULL);
    bool ended = read_words(ours, np_clock_ns() + LOAD_MS * NP_NS_PER_MS, words);
    g_autofree char *text = g_string_free(words, FALSE);
    if (!ended)
        return -ETIMEDOUT; /* it may be stuck in the kernel: nobody waits for it */
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (*g_strstrip(text))
        *ret_hint = g_steal_pointer(&text);
    return -ENOENT;
}
