/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * The agent's streams that come, go and break anywhere: a terminal as its port, and stdin and
 * stdout.
 *
 * A pseudoterminal cannot be opened again once its master has closed, so the port's name is a link
 * that is made anew each time.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "lib/base/fd.h"
#include "tests/agent/agent-client.h"

#define REPLY_STEP 61 /* through the long reply; the short one is cut everywhere */

/* An agent whose port is a name in a folder of its own. */
static Agent *
agent_new_port(void)
{
    Agent *agent = g_new0(Agent, 1);
    agent->dir = g_dir_make_tmp("nicpass-test-XXXXXX", NULL);
    agent->path = g_build_filename(agent->dir, "port", NULL);
    const char *args[] = {"--port", agent->path, "--leave-managers", "--retry-ms", "2", NULL};
    agent->pid = agent_spawn(args, -1);
    return agent;
}

/* A new terminal under the port's name; its host's end. */
static Host *
host_plug_in(const Agent *agent)
{
    struct termios settings;
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(grantpt(fd), ==, 0);
    g_assert_cmpint(unlockpt(fd), ==, 0);
    /* Before the agent does it: else a line sent at once would come back as an echo. */
    g_assert_cmpint(tcgetattr(fd, &settings), ==, 0);
    cfmakeraw(&settings);
    g_assert_cmpint(tcsetattr(fd, TCSANOW, &settings), ==, 0);
    g_autofree char *link = g_strconcat(agent->path, ".new", NULL);
    g_assert_cmpint(symlink(ptsname(fd), link), ==, 0);
    g_assert_cmpint(rename(link, agent->path), ==, 0);
    return host_new(fd);
}

static char *
session_name(unsigned number)
{
    return g_strdup_printf("session-%u", number);
}

static void
test_a_terminal_works_as_port(void)
{
    g_autoptr(Agent) agent = agent_new_port();
    g_autoptr(Host) host = host_plug_in(agent);
    json_decref(host_hello(host, "session-1"));
    g_autoptr(json_t) info = host_ok(host, NP_VERB_INFO, NULL);
    g_assert_nonnull(np_json_string(info, "kernel", NULL));
}

static void
test_a_host_may_leave_at_any_byte_of_its_requests(void)
{
    g_autoptr(Agent) agent = agent_new_port();
    for (unsigned cut = 0;; cut++) {
        g_autoptr(Host) host = host_plug_in(agent);
        g_autofree char *session = session_name(cut);
        g_autofree char *stream =
            g_strdup_printf("\n{\"id\":2,\"verb\":\"hello\",\"protocol\":1,\"session\":\"%s\"}\n"
                            "{\"id\":3,\"verb\":\"info\"}\n",
                            session);
        json_decref(host_hello(host, session));
        if (cut > strlen(stream))
            break;
        stream[cut] = '\0';
        host_write(host, stream);
    }
}

/* Reads up to count bytes and leaves; false when there were not so many. */
static bool
read_and_leave(const Agent *agent, const char *session, size_t count)
{
    g_autoptr(Host) host = host_plug_in(agent);
    g_autofree char *stream =
        g_strdup_printf("\n{\"id\":1,\"verb\":\"hello\",\"protocol\":1,\"session\":\"%s\"}\n"
                        "{\"id\":2,\"verb\":\"info\"}\n",
                        session);
    unsigned lines = 0; /* the empty one, and two replies */
    host_write(host, stream);
    for (size_t seen = 0; seen < count && lines < 3; seen++) {
        char byte;
        struct pollfd state = {.fd = host->fd, .events = POLLIN};
        g_assert_cmpint(poll(&state, 1, WAIT_MS), ==, 1);
        g_assert_cmpint(read(host->fd, &byte, 1), ==, 1);
        lines += byte == '\n';
    }
    return lines < 3;
}

/* Every second host continues the session, in which nothing must be left of the cut reply. */
static void
test_a_host_may_leave_at_any_byte_of_the_replies(void)
{
    g_autoptr(Agent) agent = agent_new_port();
    unsigned number = 0;
    size_t count = 0;
    for (bool more = true; more; number++, count += count < 200 ? 1 : REPLY_STEP) {
        g_autofree char *session = session_name(number);
        g_autofree char *next = session_name(number + number % 2);
        more = read_and_leave(agent, session, count);
        g_autoptr(Host) host = host_plug_in(agent);
        json_decref(host_hello(host, next));
        g_autoptr(json_t) info = host_ok(host, NP_VERB_INFO, NULL);
        g_assert_nonnull(np_json_string(info, "kernel", NULL));
    }
    g_assert_cmpuint(number, >, 200);
}

/* Starts an agent on the port and returns what it says on stderr. */
static int
start_listened_to(Agent *agent)
{
    int ends[2], saved = dup(STDERR_FILENO);
    g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
    const char *args[] = {"--port", agent->path, "--leave-managers", "--retry-ms", "2", NULL};
    g_assert_cmpint(dup2(ends[1], STDERR_FILENO), >=, 0);
    agent->pid = agent_spawn(args, -1);
    g_assert_cmpint(dup2(saved, STDERR_FILENO), >=, 0);
    close(saved);
    close(ends[1]);
    return ends[0];
}

static void
read_until(int fd, const char *wanted)
{
    g_autoptr(GString) text = g_string_new(NULL);
    while (!strstr(text->str, wanted)) {
        char block[512];
        struct pollfd state = {.fd = fd, .events = POLLIN};
        g_assert_cmpint(poll(&state, 1, WAIT_MS), ==, 1);
        ssize_t got = read(fd, block, sizeof(block));
        g_assert_cmpint(got, >, 0);
        g_string_append_len(text, block, got);
    }
}

static void
test_a_missing_port_is_waited_for(void)
{
    static const char *const problems[] = {"No such file", "not a character device"};
    for (size_t i = 0; i < G_N_ELEMENTS(problems); i++) {
        g_autoptr(Agent) agent = g_new0(Agent, 1);
        agent->dir = g_dir_make_tmp("nicpass-test-XXXXXX", NULL);
        agent->path = g_build_filename(agent->dir, "port", NULL);
        if (i == 1)
            g_assert_true(g_file_set_contents(agent->path, "", 0, NULL));
        np_autofd int said = start_listened_to(agent);
        read_until(said, problems[i]);
        g_autoptr(Host) host = host_plug_in(agent);
        json_decref(host_hello(host, "session-1"));
    }
}

static void
test_a_hung_up_port_is_looked_for_again(void)
{
    g_autoptr(Agent) agent = agent_new_port();
    Host *first = host_plug_in(agent);
    json_decref(host_hello(first, "session-1"));
    int64_t serve = host_send(first, NP_VERB_SERVE,
                              json_pack("{s:[i], s:i}", "ports", free_port(), "watchdog_ms", 1000));
    json_decref(host_reply(first, serve));
    g_autoptr(GArray) children = agent_children(agent->pid);
    g_assert_cmpint(unlink(agent->path), ==, 0);
    host_free(first);
    process_wait_reaped(g_array_index(children, pid_t, 0)); /* by its watchdog, without a host */
    g_autoptr(Host) second = host_plug_in(agent);
    json_decref(host_hello(second, "session-1"));
    g_autoptr(json_t) process = host_read(second);
    g_assert_cmpint(np_json_int(process, "job", 0), ==, serve);
    g_assert_nonnull(strstr(error_text(process, "timeout"), "watchdog"));
}

/* An agent on a socket pair as its stdin and stdout, and the host's end of that. */
static pid_t
start_stdio(Host **ret_host)
{
    static const char *const args[] = {"--stdio", "--leave-managers", NULL};
    int ends[2];
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
    pid_t pid = agent_spawn(args, ends[1]);
    close(ends[1]);
    *ret_host = host_new(ends[0]);
    return pid;
}

static void
check_ended(pid_t pid)
{
    int status;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, 0);
}

static void
test_stdio_ends_with_its_input_after_the_last_answer(void)
{
    Host *created;
    pid_t pid = start_stdio(&created);
    g_autoptr(Host) host = created;
    json_decref(host_hello(host, "session-1"));
    int64_t id = host_send(host, NP_VERB_INFO, NULL);
    host_write(host, "{\"id\":99,\"verb\":\"in"); /* a line that never ends is none */
    g_assert_cmpint(shutdown(host->fd, SHUT_WR), ==, 0);
    g_autoptr(json_t) reply = host_reply(host, id);
    g_assert_nonnull(json_object_get(reply, "ok"));
    g_assert_null(host_read(host));
    check_ended(pid);
}

static void
test_stdio_leaves_no_child(void)
{
    Host *host;
    pid_t pid = start_stdio(&host);
    json_decref(host_hello(host, "session-1"));
    json_decref(host_ok(host, NP_VERB_SERVE,
                        json_pack("{s:[i], s:i}", "ports", free_port(), "watchdog_ms", WAIT_MS)));
    g_autoptr(GArray) children = agent_children(pid);
    g_assert_cmpuint(children->len, ==, 1);
    host_free(host);
    check_ended(pid);
    g_assert_cmpint(kill(g_array_index(children, pid_t, 0), 0), ==, -1);
    g_assert_cmpint(errno, ==, ESRCH);
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/port/a-terminal-works-as-port", test_a_terminal_works_as_port);
    g_test_add_func("/port/a-host-may-leave-at-any-byte-of-its-requests",
                    test_a_host_may_leave_at_any_byte_of_its_requests);
    g_test_add_func("/port/a-host-may-leave-at-any-byte-of-the-replies",
                    test_a_host_may_leave_at_any_byte_of_the_replies);
    g_test_add_func("/port/a-missing-port-is-waited-for", test_a_missing_port_is_waited_for);
    g_test_add_func("/port/a-hung-up-port-is-looked-for-again",
                    test_a_hung_up_port_is_looked_for_again);
    g_test_add_func("/stdio/it-ends-with-its-input-after-the-last-answer",
                    test_stdio_ends_with_its_input_after_the_last_answer);
    g_test_add_func("/stdio/it-leaves-no-child", test_stdio_leaves_no_child);
    return g_test_run();
}
