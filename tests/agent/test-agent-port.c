/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * The agent on a serial line (a pseudo-terminal stands for it) and on stdin and stdout.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "lib/base/fd.h"
#include "tests/agent/agent-client.h"

/* A folder with a link "port" to the line, as udev has for a named port. */
typedef struct {
    char *dir, *link, *next;
    pid_t pid;
} Port;

static void
port_setup(Port *port, gconstpointer data)
{
    port->dir = g_dir_make_tmp("nicpass-test-XXXXXX", NULL);
    port->link = g_build_filename(port->dir, "port", NULL);
    port->next = g_build_filename(port->dir, "next", NULL);
    const char *args[] = {"--leave-managers", "--retry-ms", "5", "--port", port->link, NULL};
    port->pid = agent_spawn(args, -1);
}

static void
port_teardown(Port *port, gconstpointer data)
{
    int status;
    kill(port->pid, SIGTERM);
    g_assert_cmpint(waitpid(port->pid, &status, 0), ==, port->pid);
    g_assert_cmpint(status, ==, 0);
    (void) unlink(port->link); /* not every test has made it */
    g_assert_cmpint(rmdir(port->dir), ==, 0);
    g_free(port->dir);
    g_free(port->link);
    g_free(port->next);
}

/* The host's end of a new line that the link then leads to. Raw from the start, so that nothing is
 * echoed before the agent has opened it. */
static int
new_line(const Port *port)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct termios settings;
    char name[64];
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(grantpt(fd), ==, 0);
    g_assert_cmpint(unlockpt(fd), ==, 0);
    g_assert_cmpint(tcgetattr(fd, &settings), ==, 0);
    cfmakeraw(&settings);
    g_assert_cmpint(tcsetattr(fd, TCSANOW, &settings), ==, 0);
    g_assert_cmpint(ptsname_r(fd, name, sizeof(name)), ==, 0);
    g_assert_cmpint(symlink(name, port->next), ==, 0);
    g_assert_cmpint(rename(port->next, port->link), ==, 0);
    return fd;
}

static void
test_a_missing_port_is_waited_for(Port *port, gconstpointer data)
{
    g_autoptr(Host) host = host_new(new_line(port));
    json_decref(host_hello(host, "session-1"));
    json_decref(host_ok(host, NP_VERB_INFO, NULL));
}

static void
test_a_file_that_is_no_port_is_waited_out(Port *port, gconstpointer data)
{
    g_assert_true(g_file_set_contents(port->link, "text", -1, NULL));
    g_autoptr(Host) host = host_new(new_line(port));
    json_decref(host_hello(host, "session-1"));
}

/* A host that leaves after any byte of a conversation, and one that comes afterwards. */
static void
test_a_line_cut_at_any_byte_does_no_harm(Port *port, gconstpointer data)
{
    static const char talk[] =
        "\n{\"id\":1,\"verb\":\"hello\",\"protocol\":1,\"session\":\"before-1\"}\n"
        "{\"id\":2,\"verb\":\"cpu\",\"action\":\"start\",\"period_ms\":100}\n"
        "{\"id\":3,\"verb\":\"bye\"}\n";
    for (size_t cut = 0; cut <= strlen(talk); cut++) {
        Host *first = host_new(new_line(port));
        json_decref(host_hello(first, "before-0")); /* the agent is there */
        g_autofree char *part = g_strndup(talk, cut);
        host_write(first, part);
        host_free(first);
        g_autofree char *session = g_strdup_printf("session-%zu", cut);
        g_autoptr(Host) second = host_new(new_line(port));
        json_decref(host_hello(second, session));
        host_refused(second, NP_VERB_CPU, json_pack("{s:s}", "action", "stop"), "not-found");
    }
}

/* The same, but the first host has been answered: what is cut is the agent's own line. */
static void
test_an_answer_cut_at_any_byte_does_no_harm(Port *port, gconstpointer data)
{
    for (size_t cut = 1; cut < 100; cut++) {
        Host *first = host_new(new_line(port));
        host_write(first,
                   "\n{\"id\":1,\"verb\":\"hello\",\"protocol\":1,\"session\":\"before-1\"}\n");
        for (size_t i = 0; i < cut; i++) {
            char byte;
            g_assert_cmpint(read(first->fd, &byte, 1), ==, 1);
        }
        host_free(first);
        g_autoptr(Host) second = host_new(new_line(port));
        json_decref(host_hello(second, "before-1"));
        json_decref(host_ok(second, NP_VERB_INFO, NULL));
    }
}

/* Starts an agent whose standard input and output are the returned socket's other end. */
static int
start_stdio(pid_t *ret_pid)
{
    static const char *const args[] = {"--stdio", "--leave-managers", NULL};
    int pair[2];
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
    *ret_pid = agent_spawn(args, pair[1]);
    close(pair[1]);
    return pair[0];
}

static void
assert_exits(pid_t pid)
{
    int status;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_cmpint(status, ==, 0);
}

static void
test_stdio_answers_what_came_before_the_end(void)
{
    pid_t pid;
    g_autoptr(Host) host = host_new(start_stdio(&pid));
    host_write(host, "\n{\"id\":1,\"verb\":\"hello\",\"protocol\":1,\"session\":\"session-1\"}\n"
                     "{\"id\":2,\"verb\":\"info\"}\n");
    g_assert_cmpint(shutdown(host->fd, SHUT_WR), ==, 0);
    json_decref(host_reply(host, 1));
    json_decref(host_reply(host, 2));
    g_assert_null(host_read(host));
    assert_exits(pid);
}

static void
test_stdio_ends_with_its_host_and_takes_its_processes_along(void)
{
    pid_t pid;
    Host *host = host_new(start_stdio(&pid));
    json_decref(host_hello(host, "session-1"));
    json_decref(host_ok(host, NP_VERB_SERVE,
                        json_pack("{s:[i], s:i}", "ports", free_port(), "watchdog_ms", WAIT_MS)));
    g_autoptr(GArray) children = agent_children(pid);
    g_assert_cmpuint(children->len, ==, 1);
    int server = process_open(g_array_index(children, pid_t, 0));
    host_free(host);
    assert_exits(pid);
    process_wait(server);
}

/* bye is answered, and the end of the session with it, before a second session begins. */
static void
test_stdio_carries_several_sessions(void)
{
    pid_t pid;
    Host *host = host_new(start_stdio(&pid));
    for (int i = 0; i < 3; i++) {
        g_autofree char *session = g_strdup_printf("session-%d", i);
        json_decref(host_hello(host, session));
        json_decref(host_ok(host, NP_VERB_BYE, NULL));
    }
    host_free(host);
    assert_exits(pid);
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    g_test_init(&argc, &argv, NULL);
    g_test_add("/port/a-missing-port-is-waited-for", Port, NULL, port_setup,
               test_a_missing_port_is_waited_for, port_teardown);
    g_test_add("/port/a-file-that-is-no-port-is-waited-out", Port, NULL, port_setup,
               test_a_file_that_is_no_port_is_waited_out, port_teardown);
    g_test_add("/port/a-line-cut-at-any-byte-does-no-harm", Port, NULL, port_setup,
               test_a_line_cut_at_any_byte_does_no_harm, port_teardown);
    g_test_add("/port/an-answer-cut-at-any-byte-does-no-harm", Port, NULL, port_setup,
               test_an_answer_cut_at_any_byte_does_no_harm, port_teardown);
    g_test_add_func("/stdio/answers-what-came-before-the-end",
                    test_stdio_answers_what_came_before_the_end);
    g_test_add_func("/stdio/ends-with-its-host-and-takes-its-processes-along",
                    test_stdio_ends_with_its_host_and_takes_its_processes_along);
    g_test_add_func("/stdio/carries-several-sessions", test_stdio_carries_several_sessions);
    return g_test_run();
}
