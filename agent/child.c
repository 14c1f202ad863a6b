/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Child: see child.h.
 *
 * Children are reaped by pid, each by us alone, after a SIGCHLD that comes through a signalfd:
 * pidfds need Linux 5.3 and AlmaLinux 8 has 4.18. Once a child is dead all it has written is in its
 * pipes, so its end does not wait for an end of file that some grandchild may withhold.
 */
#include "agent/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <glib-unix.h>

#include "agent/exec.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"

#define ERR_MAX   4096
#define READ_SIZE 16384

typedef struct {
    int fd; /* -1: closed */
    guint source;
    GString *text;
    size_t max;
    bool cut;
} Output;

struct NpChild {
    pid_t pid;
    int in_fd;
    guint in_source, watchdog;
    GString *input; /* to be written */
    bool close_input;
    Output out, err;
    size_t line_start; /* of the first line of out that was not yet reported */
    bool timed_out, killed;
    NpChildLine line;
    NpChildDone done;
    gpointer data;
};

static GPtrArray *children; /* every live NpChild: the one table a signal's handler needs */

static void
output_clear(Output *output)
{
    g_clear_handle_id(&output->source, g_source_remove);
    np_fd_clear(&output->fd);
    if (output->text)
        g_string_free(output->text, TRUE);
}

static void
child_free(NpChild *child)
{
    g_clear_handle_id(&child->in_source, g_source_remove);
    g_clear_handle_id(&child->watchdog, g_source_remove);
    np_fd_clear(&child->in_fd);
    g_string_free(child->input, TRUE);
    output_clear(&child->out);
    output_clear(&child->err);
    g_free(child);
}

static void
report_lines(NpChild *child)
{
    const char *end;
    while (child->line && (end = memchr(child->out.text->str + child->line_start, '\n',
                                        child->out.text->len - child->line_start)) != NULL) {
        const char *start = child->out.text->str + child->line_start;
        g_autofree char *line = g_strndup(start, (size_t) (end - start));
        child->line_start += (size_t) (end - start) + 1;
        child->line(child, line, child->data);
    }
}

/* Reads a block, also beyond the limit: a child must not wait for us. Returns 0 at the end of the
 * file, 1 when there may be more, -1 when there is nothing now. */
static int
output_read(Output *output)
{
    char block[READ_SIZE];
    ssize_t got = read(output->fd, block, sizeof(block));
    if (got < 0)
        return errno == EINTR ? 1 : errno == EAGAIN ? -1 : 0;
    size_t room = output->max - output->text->len;
    output->cut = output->cut || (size_t) got > room;
    g_string_append_len(output->text, block, (gssize) MIN((size_t) got, room));
    return got > 0;
}

static gboolean
output_ready(gint fd, GIOCondition condition, gpointer data)
{
    NpChild *child = data;
    Output *output = fd == child->out.fd ? &child->out : &child->err;
    if (output_read(output) == 0) {
        g_clear_handle_id(&output->source, g_source_remove);
        np_fd_clear(&output->fd);
    }
    if (output == &child->out)
        report_lines(child);
    return G_SOURCE_CONTINUE; /* or removed already */
}

static void
output_finish(Output *output)
{
    g_clear_handle_id(&output->source, g_source_remove);
    while (output->fd >= 0 && output_read(output) > 0)
        ;
}

static void
child_finish(NpChild *child, int wait_status, const struct rusage *usage)
{
    output_finish(&child->out);
    output_finish(&child->err);
    report_lines(child);
    const NpChildResult result = {.wait_status = wait_status,
                                  .usage = *usage,
                                  .timed_out = child->timed_out,
                                  .killed = child->killed,
                                  .out = child->out.text->str,
                                  .out_size = child->out.text->len,
                                  .err = child->err.text->str,
                                  .err_size = child->err.text->len,
                                  .out_cut = child->out.cut};
    child->done(child, &result, child->data);
    child_free(child);
}

/* A signal may stand for several children, and a callback may start new ones: look until a round
 * finds nobody. */
static gboolean
reap(gint fd, GIOCondition condition, gpointer data)
{
    struct signalfd_siginfo info;
    (void) !read(fd, &info, sizeof(info)); /* which child it was says wait4() */
    for (guint i = 0; i < children->len;) {
        NpChild *child = g_ptr_array_index(children, i);
        int wait_status;
        struct rusage usage;
        pid_t pid = wait4(child->pid, &wait_status, WNOHANG, &usage);
        if (pid != child->pid) {
            i++;
            continue;
        }
        g_ptr_array_remove_index(children, i);
        child_finish(child, wait_status, &usage);
        i = 0;
    }
    return G_SOURCE_CONTINUE;
}

void
np_child_setup(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        g_error("signalfd: %s", g_strerror(errno));
    children = g_ptr_array_new();
    g_unix_fd_add(fd, G_IO_IN, reap, NULL);
}

typedef struct {
    int read, write;
} Pipe;

static void
pipe_clear(Pipe *ends)
{
    np_fd_clear(&ends->read);
    np_fd_clear(&ends->write);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Pipe, pipe_clear)

static bool
pipe_open(Pipe *ends, GError **error)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return np_throw_errno(error, errno, "pipe");
    *ends = (Pipe){fds[0], fds[1]};
    /* A standard descriptor that was closed at our start must not be reused for a pipe: dup2()
     * would close it under the child. */
    if (fds[0] <= STDERR_FILENO || fds[1] <= STDERR_FILENO)
        return np_throw(error, NP_ERROR_IO, "pipe: a standard descriptor is closed");
    return true;
}

static gboolean
watchdog_bites(gpointer data)
{
    NpChild *child = data;
    child->watchdog = 0;
    child->timed_out = true;
    kill(child->pid, SIGKILL);
    return G_SOURCE_REMOVE;
}

void
np_child_set_watchdog(NpChild *child, int64_t watchdog_ms)
{
    g_clear_handle_id(&child->watchdog, g_source_remove);
    if (!child->timed_out)
        child->watchdog =
            g_timeout_add((guint) CLAMP(watchdog_ms, 0, G_MAXINT), watchdog_bites, child);
}

static void
output_watch(Output *output, int *fd, size_t max, NpChild *child)
{
    output->fd = np_fd_steal(fd);
    output->text = g_string_new(NULL);
    output->max = max;
    output->source = g_unix_fd_add(output->fd, G_IO_IN | G_IO_HUP | G_IO_ERR, output_ready, child);
}

NpChild *
np_child_spawn(const char *const *argv, int cpu, int64_t watchdog_ms, size_t out_max,
               NpChildLine line, NpChildDone done, gpointer data, GError **error)
{
    g_auto(Pipe) in = {-1, -1}, out = {-1, -1}, err = {-1, -1};
    if (!pipe_open(&in, error) || !pipe_open(&out, error) || !pipe_open(&err, error) ||
        !np_fd_set_nonblocking(in.write, error) || !np_fd_set_nonblocking(out.read, error) ||
        !np_fd_set_nonblocking(err.read, error))
        return NULL;
    pid_t pid = np_exec(argv, cpu, in.read, out.write, err.write, error);
    if (pid < 0)
        return NULL;
    NpChild *child = g_new0(NpChild, 1);
    child->pid = pid;
    child->in_fd = np_fd_steal(&in.write);
    child->input = g_string_new(NULL);
    output_watch(&child->out, &out.read, out_max, child);
    output_watch(&child->err, &err.read, ERR_MAX, child);
    child->line = line;
    child->done = done;
    child->data = data;
    g_ptr_array_add(children, child);
    np_child_set_watchdog(child, watchdog_ms);
    return child;
}

/* ## While it lives */

static gboolean
input_ready(gint fd, GIOCondition condition, gpointer data)
{
    NpChild *child = data;
    ssize_t written = write(fd, child->input->str, child->input->len);
    if (written < 0 && (errno == EAGAIN || errno == EINTR))
        return G_SOURCE_CONTINUE;
    if (written < 0) { /* it reads no more; how it ends will say why */
        g_string_truncate(child->input, 0);
        child->close_input = true;
    } else {
        g_string_erase(child->input, 0, written);
    }
    if (child->input->len > 0)
        return G_SOURCE_CONTINUE;
    g_clear_handle_id(&child->in_source, g_source_remove);
    if (child->close_input)
        np_fd_clear(&child->in_fd);
    return G_SOURCE_CONTINUE; /* removed already */
}

void
np_child_write(NpChild *child, const char *text, bool close)
{
    if (child->in_fd < 0)
        return;
    g_string_append(child->input, text);
    child->close_input = child->close_input || close;
    if (!child->in_source)
        child->in_source =
            g_unix_fd_add(child->in_fd, G_IO_OUT | G_IO_HUP | G_IO_ERR, input_ready, child);
}

void
np_child_kill(NpChild *child)
{
    child->killed = true;
    kill(child->pid, SIGKILL);
}

pid_t
np_child_pid(const NpChild *child)
{
    return child->pid;
}

int64_t
np_child_cpu_ns(const NpChild *child)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(child->pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
        return -1;
    return (int64_t) used.tv_sec * NP_NS_PER_S + used.tv_nsec;
}
