/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Exec: see exec.h.
 */
#include "agent/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "lib/base/fd.h"

#define FDS_MAX       1024 /* how far to look without close_range() */
#define EXEC_FAILED   127
#define CLOEXEC_RANGE (1U << 2) /* CLOSE_RANGE_CLOEXEC, Linux 5.11 */

static const char *
program(const char *const *argv)
{
    return argv[0][0] == '/' ? argv[0] : "/proc/self/exe";
}

/* ## Between fork and exec: async-signal-safe calls only */

typedef struct {
    const char *const *argv;
    const cpu_set_t *cpus; /* nullable */
    int in, out, err, report;
    pid_t parent;
} Start;

static void
close_on_exec_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0U, CLOEXEC_RANGE) == 0)
        return;
#endif
    for (int fd = first; fd < FDS_MAX; fd++)
        (void) fcntl(fd, F_SETFD, FD_CLOEXEC); /* most are not open */
}

static bool
child_setup(const Start *start)
{
    static const int handled[] = {SIGPIPE, SIGCHLD, SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < G_N_ELEMENTS(handled); i++)
        signal(handled[i], SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, NULL) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return false;
    if (getppid() != start->parent) /* it died before it could be watched */
        _exit(EXEC_FAILED);
    /* A session of its own: Ctrl-C on a terminal is for the agent, which ends its children. */
    if (setsid() < 0 || dup2(start->in, STDIN_FILENO) < 0 || dup2(start->out, STDOUT_FILENO) < 0 ||
        dup2(start->err, STDERR_FILENO) < 0)
        return false;
    close_on_exec_from(STDERR_FILENO + 1);
    return !start->cpus || sched_setaffinity(0, sizeof(*start->cpus), start->cpus) == 0;
}

static void G_GNUC_NORETURN
child_main(const Start *start)
{
    static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", locale[] = "LC_ALL=C";
    char *const environment[] = {path, locale, NULL};
    if (child_setup(start))
        execve(program(start->argv), (char *const *) (uintptr_t) start->argv, environment);
    int errno_value = errno;
    (void) !write(start->report, &errno_value, sizeof(errno_value)); /* there is no other way out */
    _exit(EXEC_FAILED);
}

/* ## In the parent */

static bool
cpu_only(int cpu, cpu_set_t *set, GError **error)
{
    CPU_ZERO(set);
    if (cpu >= CPU_SETSIZE)
        return np_throw(error, NP_ERROR_UNSUPPORTED, "CPU %d: only 0 to %d can be bound to", cpu,
                        CPU_SETSIZE - 1);
    if (cpu >= 0)
        CPU_SET((size_t) cpu, set);
    return true;
}

pid_t
np_exec(const char *const *argv, int cpu, int in, int out, int err, GError **error)
{
    cpu_set_t cpus;
    int ends[2];
    if (!cpu_only(cpu, &cpus, error))
        return -1;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        np_throw_errno(error, errno, "pipe");
        return -1;
    }
    np_autofd int report = ends[0], theirs = ends[1];
    const Start start = {.argv = argv,
                         .cpus = cpu >= 0 ? &cpus : NULL,
                         .in = in,
                         .out = out,
                         .err = err,
                         .report = theirs,
                         .parent = getpid()};
    pid_t pid = fork();
    if (pid == 0)
        child_main(&start);
    if (pid < 0) {
        np_throw_errno(error, errno, "fork");
        return -1;
    }
    np_fd_clear(&theirs);
    int errno_value = 0;
    ssize_t got;
    do /* the pipe closes by the exec, or brings the errno that kept it from happening */
        got = read(report, &errno_value, sizeof(errno_value));
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return pid;
    (void) waitpid(pid, NULL, 0); /* it has said all there is */
    np_throw_errno(error, errno_value, "start %s", program(argv));
    return -1;
}
