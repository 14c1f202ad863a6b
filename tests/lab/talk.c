/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * talk: speaks the agent's protocol from a shell, to several agents at once.
 *
 *     talk NAME=SOCKET... <COMMANDS
 *
 * A command is a line. The first one for an agent connects to its unix socket and says hello.
 *
 *     NAME hello             only that
 *     NAME VERB [JSON]       a request with these fields; "job" of load go and of cancel is added
 *     NAME wait SECONDS      until the agent's last job has ended
 *     NAME cut-answer BYTES  a connection that is lost once that many bytes of answers have come
 *     NAME cut-request BYTES a connection that is lost after that many bytes of requests
 *
 * Prints one JSON object a line: {"agent", "verb", "ok" or "error"} for a reply, and events with
 * an "agent". Exits 1 when any command failed.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/base/log.h"
#include "lib/base/loop.h"
#include "lib/base/parse.h"
#include "lib/proto/peer.h"

#define ANSWER_MS 30000 /* the guests are emulated */
#define CUT_MS    5000

typedef struct {
    const char *name, *path;
    NpPeer *peer;  /* NULL while not connected */
    int64_t job;   /* the last one, 0: none */
    bool job_over; /* it has ended */
} Agent;

static void
agent_free(gpointer data)
{
    Agent *agent = data;
    np_peer_free(agent->peer);
    g_free(agent);
}

static void
print(json_t *line)
{
    g_autofree char *text = np_json_line(line);
    puts(text);
    fflush(stdout);
    json_decref(line);
}

static void
take_event(NpPeer *peer, const char *event, const json_t *message, gpointer data)
{
    Agent *agent = data;
    json_t *line = json_deep_copy(message);
    json_object_set_new(line, "agent", json_string(agent->name));
    print(line);
    if (strcmp(event, "end") == 0 && np_json_int(message, "job", 0) == agent->job)
        agent->job_over = true;
}

/* Prints what came of a command; ok (taken over) is NULL when error says why. */
static bool
print_reply(const Agent *agent, const char *verb, json_t *ok, const GError *error)
{
    json_t *line = json_pack("{s:s, s:s}", "agent", agent->name, "verb", verb);
    if (ok)
        json_object_set_new(line, "ok", ok);
    else
        json_object_set_new(line, "error", np_error_to_json(error));
    print(line);
    return ok != NULL;
}

static int
connect_socket(const char *path, GError **error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (g_strlcpy(address.sun_path, path, sizeof(address.sun_path)) >= sizeof(address.sun_path)) {
        np_throw(error, NP_ERROR_CONFIG, "the path '%s' is too long", path);
        return -1;
    }
    np_autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0) {
        np_throw_errno(error, errno, "connect to '%s'", path);
        return -1;
    }
    return np_fd_steal(&fd);
}

/* Connects unless that is done, and says hello. */
static bool
greet(Agent *agent, GError **error)
{
    if (agent->peer && !np_peer_gone(agent->peer))
        return true;
    g_clear_pointer(&agent->peer, np_peer_free);
    int fd = connect_socket(agent->path, error);
    if (fd < 0)
        return false;
    agent->peer = np_peer_new(fd, agent->name, take_event, agent);
    json_t *ok = np_peer_hello(agent->peer, ANSWER_MS, error);
    return ok && print_reply(agent, "hello", ok, NULL);
}

static int
find_verb(const char *name)
{
    for (int verb = NP_VERB_HELLO; verb <= NP_VERB_BYE; verb++)
        if (strcmp(np_verb_name((NpVerb) verb), name) == 0)
            return verb;
    return -1;
}

static bool
request(Agent *agent, int verb, const char *text, GError **error)
{
    json_t *fields = np_json_parse_object(text, strlen(text), error);
    if (!fields)
        return false;
    const char *action = np_json_string(fields, "action", "");
    bool begins = verb == NP_VERB_SERVE || (verb == NP_VERB_LOAD && strcmp(action, "arm") == 0);
    if ((verb == NP_VERB_CANCEL || strcmp(action, "go") == 0) && !json_object_get(fields, "job"))
        json_object_set_new(fields, "job", json_integer(agent->job));
    int64_t id = np_peer_send(agent->peer, (NpVerb) verb, fields, error);
    if (id && begins) {
        agent->job = id;
        agent->job_over = false;
    }
    json_t *ok = id ? np_peer_wait(agent->peer, id, ANSWER_MS, error) : NULL;
    return ok && print_reply(agent, np_verb_name((NpVerb) verb), ok, NULL);
}

static bool
job_over(gconstpointer data)
{
    const Agent *agent = data;
    return agent->job_over || np_peer_gone(agent->peer);
}

static bool
wait_for_job(Agent *agent, const char *seconds, GError **error)
{
    int64_t timeout_ms;
    if (!np_parse_seconds(seconds, 1, 600000, &timeout_ms, error) ||
        !np_loop_wait(job_over, agent, timeout_ms, "the job's end", error))
        return false;
    if (!agent->job_over)
        return np_throw(error, NP_ERROR_PROTOCOL, "%s: gone before its job ended", agent->name);
    return print_reply(agent, "wait", json_object(), NULL);
}

/* Reads until that many bytes have come. */
static bool
read_bytes(int fd, uint64_t bytes, GError **error)
{
    char block[4096];
    while (bytes > 0) {
        struct pollfd more = {.fd = fd, .events = POLLIN};
        ssize_t got = poll(&more, 1, CUT_MS) > 0 ? read(fd, block, MIN(sizeof(block), bytes)) : 0;
        if (got <= 0)
            return np_throw(error, NP_ERROR_TIMEOUT, "no more answers to cut");
        bytes -= (uint64_t) got;
    }
    return true;
}

/* A conversation that is broken off in the middle. */
static bool
cut(Agent *agent, bool answer, const char *count, GError **error)
{
    g_autofree char *requests =
        g_strdup_printf("\n{\"id\":1,\"verb\":\"hello\",\"protocol\":%d,\"session\":\"cut-%08x\"}\n"
                        "{\"id\":2,\"verb\":\"info\"}\n",
                        NP_PROTO_VERSION, g_random_int());
    uint64_t bytes;
    if (!np_parse_uint(count, 0, answer ? NP_PROTO_LINE_MAX : strlen(requests), &bytes, error))
        return false;
    g_clear_pointer(&agent->peer, np_peer_free);
    np_autofd int fd = connect_socket(agent->path, error);
    if (fd < 0 || !np_fd_write_all(fd, requests, answer ? strlen(requests) : bytes, error))
        return false;
    if (answer && !read_bytes(fd, bytes, error))
        return false;
    return print_reply(agent, "cut", json_object(), NULL);
}

static bool
carry_out(Agent *agent, const char *verb, const char *rest, GError **error)
{
    if (strcmp(verb, "cut-answer") == 0 || strcmp(verb, "cut-request") == 0)
        return cut(agent, strcmp(verb, "cut-answer") == 0, rest, error);
    if (!greet(agent, error) || strcmp(verb, "hello") == 0)
        return agent->peer && !*error;
    if (strcmp(verb, "wait") == 0)
        return wait_for_job(agent, rest, error);
    int known = find_verb(verb);
    if (known < 0)
        return np_throw(error, NP_ERROR_CONFIG, "no verb '%s'", verb);
    return request(agent, known, *rest ? rest : "{}", error);
}

static bool
take_command(GPtrArray *agents, char *line)
{
    g_auto(GStrv) word = g_strsplit(g_strstrip(line), " ", 3);
    guint words = g_strv_length(word);
    if (words == 0 || word[0][0] == '#')
        return true;
    for (guint i = 0; i < agents->len && words >= 2; i++) {
        Agent *agent = g_ptr_array_index(agents, i);
        if (strcmp(agent->name, word[0]) != 0)
            continue;
        g_autoptr(GError) error = NULL;
        return carry_out(agent, word[1], words == 3 ? word[2] : "", &error) ||
               print_reply(agent, word[1], NULL, error);
    }
    np_log(G_LOG_LEVEL_CRITICAL, "no agent or no verb in '%s'", line);
    return false;
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    np_log_start("talk", false);
    g_autoptr(GPtrArray) agents = g_ptr_array_new_with_free_func(agent_free);
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (!equals)
            break;
        *equals = '\0';
        Agent *agent = g_new0(Agent, 1);
        *agent = (Agent){.name = argv[i], .path = equals + 1};
        g_ptr_array_add(agents, agent);
    }
    if (agents->len == 0 || agents->len != (guint) argc - 1) {
        fputs("usage: talk NAME=SOCKET... <COMMANDS\n", stderr);
        return 2;
    }
    bool good = true;
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) >= 0)
        good = take_command(agents, line) && good;
    free(line);
    return good ? 0 : 1;
}
