/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Agent client: see agent-client.h.
 */
#include "tests/agent/agent-client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/fd.h"

char *
agent_program(void)
{
    const char *build = g_getenv("NP_BUILD");
    g_assert_nonnull(build);
    return g_build_filename(build, "nicpass-agent", NULL);
}

pid_t
agent_spawn(const char *const *args, int stdio)
{
    g_autofree char *program = agent_program();
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_ptr_array_add(argv, program);
    for (; args && *args; args++)
        g_ptr_array_add(argv, (gpointer) (uintptr_t) *args);
    g_ptr_array_add(argv, NULL);
    pid_t pid = fork();
    g_assert_cmpint(pid, >=, 0);
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failing test leaves nothing behind */
    if (stdio >= 0 && (dup2(stdio, STDIN_FILENO) < 0 || dup2(stdio, STDOUT_FILENO) < 0))
        _exit(126);
    execv(program, (char **) argv->pdata);
    _exit(127);
}

static void
wait_readable(int fd, const char *what)
{
    struct pollfd state = {.fd = fd, .events = POLLIN};
    if (poll(&state, 1, WAIT_MS) <= 0)
        g_error("%s: nothing within %d ms", what, WAIT_MS);
}

void
agent_start(Agent *agent, const char *const *args)
{
    np_autofd int watch = inotify_init1(IN_CLOEXEC);
    g_assert_cmpint(inotify_add_watch(watch, agent->dir, IN_CREATE), >=, 0);
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    const char *first[] = {"--leave-managers", "--unix", agent->path};
    for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
        g_ptr_array_add(all, (gpointer) (uintptr_t) first[i]);
    for (; args && *args; args++)
        g_ptr_array_add(all, (gpointer) (uintptr_t) *args);
    g_ptr_array_add(all, NULL);
    agent->pid = agent_spawn((const char *const *) all->pdata, -1);
    wait_readable(watch, "the agent's socket");
}

Agent *
agent_new(const char *const *args)
{
    Agent *agent = g_new0(Agent, 1);
    g_autoptr(GError) problem = NULL;
    agent->dir = g_dir_make_tmp("nicpass-test-XXXXXX", &problem);
    g_assert_no_error(problem);
    agent->path = g_build_filename(agent->dir, "agent", NULL);
    agent_start(agent, args);
    return agent;
}

int
agent_wait(Agent *agent)
{
    int status = -1;
    if (agent->pid)
        g_assert_cmpint(waitpid(agent->pid, &status, 0), ==, agent->pid);
    agent->pid = 0;
    return status;
}

void
agent_free(Agent *agent)
{
    if (agent->pid) {
        kill(agent->pid, SIGTERM);
        g_assert_cmpint(agent_wait(agent), ==, 0);
    }
    (void) unlink(agent->path); /* left by an agent that was killed */
    g_assert_cmpint(rmdir(agent->dir), ==, 0);
    g_free(agent->dir);
    g_free(agent->path);
    g_free(agent);
}

GArray *
agent_children(pid_t pid)
{
    GArray *children = g_array_new(FALSE, FALSE, sizeof(pid_t));
    g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
    const char *entry;
    while ((entry = g_dir_read_name(proc))) {
        g_autofree char *path = g_build_filename("/proc", entry, "stat", NULL);
        g_autofree char *stat = g_ascii_isdigit(entry[0]) ? np_file_read_line(path) : NULL;
        const char *rest = stat ? strrchr(stat, ')') : NULL; /* "pid (name) state ppid ..." */
        g_auto(GStrv) fields = rest ? g_strsplit(rest, " ", 4) : NULL;
        if (!fields || g_strv_length(fields) < 3 || atoi(fields[2]) != pid || fields[1][0] == 'Z')
            continue;
        pid_t child = atoi(entry);
        guint at = 0;
        while (at < children->len && g_array_index(children, pid_t, at) < child)
            at++;
        g_array_insert_val(children, at, child);
    }
    return children;
}

int
process_open(pid_t pid)
{
    int fd = (int) syscall(SYS_pidfd_open, pid, 0);
    g_assert_cmpint(fd, >=, 0);
    return fd;
}

void
process_wait(int pidfd)
{
    wait_readable(pidfd, "the end of a process");
    close(pidfd);
}

void
wait_until(bool (*condition)(gconstpointer data), gconstpointer data, const char *what)
{
    int64_t end_ns = np_clock_ns() + WAIT_MS * NP_NS_PER_MS;
    while (!condition(data)) {
        if (np_clock_ns() > end_ns)
            g_error("%s: not within %d ms", what, WAIT_MS);
        g_usleep(1000); /* leaves the CPU to what is awaited */
    }
}

static bool
reaped(gconstpointer data)
{
    return kill(*(const pid_t *) data, 0) < 0 && errno == ESRCH;
}

void
process_wait_reaped(pid_t pid)
{
    wait_until(reaped, &pid, "the reaping of a process");
}

Host *
host_new(int fd)
{
    Host *host = g_new0(Host, 1);
    host->fd = fd;
    host->frame = np_frame_new(NP_PROTO_LINE_MAX);
    g_queue_init(&host->messages);
    return host;
}

typedef struct {
    int fd;
    struct sockaddr_un address;
} Connecting;

/* A socket between its bind and its listen refuses, like one that nobody listens on any more; while
 * it is replaced there is none. */
static bool
connected(gconstpointer data)
{
    const Connecting *to = data;
    if (connect(to->fd, (const struct sockaddr *) &to->address, sizeof(to->address)) == 0)
        return true;
    g_assert_true(errno == ECONNREFUSED || errno == ENOENT);
    return false;
}

Host *
host_connect(const Agent *agent)
{
    Connecting to = {socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), {.sun_family = AF_UNIX}};
    g_assert_cmpuint(g_strlcpy(to.address.sun_path, agent->path, sizeof(to.address.sun_path)), <,
                     sizeof(to.address.sun_path));
    wait_until(connected, &to, "the agent's socket");
    return host_new(to.fd);
}

static void
message_free(gpointer data)
{
    json_decref(data);
}

void
host_free(Host *host)
{
    close(host->fd);
    np_frame_free(host->frame);
    g_free(host->session);
    g_queue_clear_full(&host->messages, message_free);
    g_free(host);
}

void
host_write(Host *host, const char *text)
{
    g_autoptr(GError) problem = NULL;
    np_fd_write_all(host->fd, text, strlen(text), &problem);
    g_assert_no_error(problem);
}

int64_t
host_send(Host *host, NpVerb verb, json_t *fields)
{
    g_autoptr(json_t) request = np_request_new(++host->last_id, verb, fields);
    g_autofree char *text = np_json_line(request);
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    host_write(host, line);
    return host->last_id;
}

static json_t *
parse_message(Host *host, const char *line, size_t size)
{
    g_autoptr(GError) problem = NULL;
    json_t *message = np_json_parse_object(line, size, &problem);
    g_assert_no_error(problem);
    if (host->session)
        g_assert_cmpstr(np_json_string(message, "session", NULL), ==, host->session);
    return message;
}

/* From the stream. */
static json_t *
read_message(Host *host)
{
    for (;;) {
        const char *line;
        size_t size;
        NpFrameResult result = np_frame_next(host->frame, &line, &size);
        g_assert_cmpint(result, !=, NP_FRAME_OVERLONG);
        if (result == NP_FRAME_LINE)
            return parse_message(host, line, size);
        char block[4096];
        wait_readable(host->fd, "a line of the agent");
        ssize_t got = read(host->fd, block, sizeof(block));
        if (got <= 0)
            return NULL;
        np_frame_feed(host->frame, block, (size_t) got);
    }
}

json_t *
host_read(Host *host)
{
    json_t *kept = g_queue_pop_head(&host->messages);
    return kept ? kept : read_message(host);
}

/* The first message, kept or new, with that reply id or event name. */
static json_t *
await(Host *host, int64_t id, const char *event)
{
    for (GList *link = host->messages.head;; link = link->next) {
        if (!link) {
            json_t *message = read_message(host);
            if (!message)
                g_error("the agent closed the stream before %s", event ? event : "its reply");
            g_queue_push_tail(&host->messages, message);
            link = host->messages.tail;
        }
        json_t *message = link->data;
        bool wanted = event ? g_strcmp0(np_json_string(message, "event", NULL), event) == 0
                            : np_json_int(message, "id", -1) == id;
        if (wanted) {
            g_queue_delete_link(&host->messages, link);
            return message;
        }
    }
}

json_t *
host_reply(Host *host, int64_t id)
{
    return await(host, id, NULL);
}

json_t *
host_event(Host *host, const char *name)
{
    return await(host, 0, name);
}

json_t *
host_ok(Host *host, NpVerb verb, json_t *fields)
{
    g_autoptr(json_t) message = host_reply(host, host_send(host, verb, fields));
    const char *text = np_json_string(json_object_get(message, "error"), "text", NULL);
    g_assert_cmpstr(text, ==, NULL);
    g_assert_true(json_is_object(json_object_get(message, "ok")));
    return json_incref(json_object_get(message, "ok"));
}

const char *
error_text(const json_t *message, const char *code)
{
    const json_t *error = json_object_get(message, "error");
    g_assert_cmpstr(np_json_string(error, "code", NULL), ==, code);
    g_assert_nonnull(np_json_string(error, "text", NULL));
    return np_json_string(error, "text", NULL);
}

char *
host_error(Host *host, NpVerb verb, json_t *fields, const char *code)
{
    g_autoptr(json_t) message = host_reply(host, host_send(host, verb, fields));
    return g_strdup(error_text(message, code));
}

void
host_refused(Host *host, NpVerb verb, json_t *fields, const char *code)
{
    g_free(host_error(host, verb, fields, code));
}

json_t *
host_hello(Host *host, const char *session)
{
    /* Until the answer comes lines may be of an older session. */
    g_clear_pointer(&host->session, g_free);
    host_write(host, "\n");
    json_t *ok = host_ok(host, NP_VERB_HELLO,
                         json_pack("{s:i, s:s}", "protocol", NP_PROTO_VERSION, "session", session));
    host->session = g_strdup(session);
    g_queue_clear_full(&host->messages, message_free);
    return ok;
}

unsigned
free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    np_autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(bind(fd, (const struct sockaddr *) &address, sizeof(address)), ==, 0);
    g_assert_cmpint(getsockname(fd, (struct sockaddr *) &address, &size), ==, 0);
    return ntohs(address.sin_port);
}
