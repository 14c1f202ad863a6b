/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Fake agent: see fake-agent.h.
 */
#include "tests/fake/fake-agent.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib-unix.h>

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/proto/frame.h"

#define INTERVAL_US 100000

struct FakeAgent {
    FakeFault fault;
    char *mac, *session;
    double bps;
    int fd, other_fd;
    guint source;
    NpFrame *frame;
    unsigned counts[NP_VERB_BYE + 1];
    FakeAgent *server;        /* of a client */
    int64_t job;              /* the job that is armed or listens */
    unsigned processes, jobs; /* of that job; jobs begun so far */
    int64_t seconds;
    int64_t edges_ns[2];
    bool loaded; /* samples count traffic */
};

static void
send_message(FakeAgent *agent, json_t *message)
{
    g_autoptr(json_t) owned = message;
    g_autofree char *text = np_json_line(owned);
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    if (agent->fd >= 0)
        g_assert_true(np_fd_write_all(agent->fd, line, strlen(line), NULL));
}

static void
send_event(FakeAgent *agent, const char *event, json_t *fields)
{
    send_message(agent, np_event_new(agent->session, event, fields));
}

/* A sample as if bytes had flowed at bps * processes since the first edge. */
static void
send_sample(FakeAgent *agent, int64_t now_ns, bool edge)
{
    int64_t since_ns = agent->loaded ? now_ns - agent->edges_ns[0] : 0;
    bool idle = agent->fault == FAKE_WRONG_NIC || !agent->loaded;
    int64_t bytes = idle ? 0 : (int64_t) (agent->bps / 8e9 * agent->processes * (double) since_ns);
    int64_t ticks = now_ns / 10000000;
    json_t *cpu = json_pack("[[I,i,I,i,I,i,I,i], [I,i,I,i,I,i,I,i]]", ticks / 10, 0, ticks / 5, 0,
                            ticks / 10, 0, ticks - ticks / 10 * 2 - ticks / 5, 0, ticks / 10, 0,
                            ticks / 5, 0, ticks / 10, 0, ticks - ticks / 10 * 2 - ticks / 5, 0);
    send_event(agent, "sample",
               json_pack("{s:I, s:b, s:o, s:i, s:[[s,I,I,I,I]], s:[]}", "now_ns",
                         (json_int_t) now_ns, "edge", (int) edge, "cpu", cpu, "hz", 100, "nics",
                         agent->mac, (json_int_t) bytes, (json_int_t) bytes,
                         (json_int_t) bytes / 1500, (json_int_t) bytes / 1500, "processes"));
}

/* Interval arrays of one process that starts at once and runs for the job's seconds. */
static json_t *
intervals_of(const FakeAgent *agent, int64_t *ret_bytes)
{
    json_t *starts = json_array(), *ends = json_array(), *bytes = json_array(),
           *retransmits = json_array();
    int64_t each = (int64_t) (agent->bps / 8e6 * INTERVAL_US);
    for (int64_t at = 0; at < agent->seconds * 1000000; at += INTERVAL_US) {
        json_array_append_new(starts, json_integer(at));
        json_array_append_new(ends, json_integer(at + INTERVAL_US));
        json_array_append_new(bytes, json_integer(each));
        json_array_append_new(retransmits, json_integer(0));
        *ret_bytes += each;
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "start_us", starts, "end_us", ends, "bytes", bytes,
                     "retransmits", retransmits);
}

static void
send_processes(FakeAgent *agent, int64_t start_ns)
{
    bool fails = agent->fault == FAKE_PROCESS_FAILS ||
                 (agent->fault == FAKE_PROCESS_FAILS_ONCE && agent->jobs == 1);
    for (unsigned i = 0; i < agent->processes; i++) {
        int64_t bytes = 0;
        bool ok = !(fails && i == 0);
        json_t *intervals = intervals_of(agent, &bytes);
        json_t *fields = json_pack("{s:I, s:i, s:i, s:i, s:b, s:I, s:i, s:i, s:i, s:i, s:o, s:I, "
                                   "s:i, s:i}",
                                   "job", (json_int_t) agent->job, "index", (int) i, "port",
                                   5201 + (int) i, "pid", 1000 + (int) i, "ok", (int) ok,
                                   "start_ns", (json_int_t) start_ns, "tries", 1, "user_us", 1000,
                                   "system_us", 90000, "max_rss_kib", 4096, "intervals", intervals,
                                   "bytes", (json_int_t) bytes, "retransmits", 0, "mss", 1448);
        if (!ok)
            json_object_set_new(
                fields, "error",
                json_pack("{s:s, s:s}", "code", "io", "text", "killed by signal 9"));
        send_event(agent, "process", fields);
    }
    send_event(agent, "end", json_pack("{s:I}", "job", (json_int_t) agent->job));
    agent->job = 0;
}

static void
answer_hello(FakeAgent *agent, const NpRequest *request)
{
    if (agent->fault == FAKE_OLD_PROTOCOL) {
        g_autoptr(GError) error = NULL;
        np_throw(&error, NP_ERROR_UNSUPPORTED, "protocol 1 is not spoken here");
        send_message(agent, np_reply_error(np_json_string(request->fields, "session", ""),
                                           request->id, error));
        return;
    }
    g_free(agent->session);
    agent->session = g_strdup(np_json_string(request->fields, "session", ""));
    g_assert_true(np_fd_write_all(agent->fd, "\n", 1, NULL)); /* ends a half line of old */
    send_message(agent, np_reply_ok(agent->session, request->id,
                                    json_pack("{s:i, s:s, s:s, s:I}", "protocol", NP_PROTO_VERSION,
                                              "agent", NP_VERSION, "iperf", "3.12", "now_ns",
                                              (json_int_t) np_clock_ns())));
}

/* The load's own clock: it starts where go says; both ends report at once, as if it had passed. */
static void
run_load(FakeAgent *agent, const NpRequest *request)
{
    int64_t start_ns = np_json_int(request->fields, "at_ns", 0);
    if (agent->fault == FAKE_DIES_ON_GO) {
        g_clear_handle_id(&agent->source, g_source_remove);
        np_fd_clear(&agent->fd);
        return;
    }
    FakeAgent *pair[] = {agent, agent->server};
    agent->server->seconds = agent->seconds;
    for (size_t i = 0; i < G_N_ELEMENTS(pair); i++) {
        pair[i]->loaded = true;
        send_sample(pair[i], pair[i]->edges_ns[0], true);
        send_sample(pair[i], pair[i]->edges_ns[1], true);
        send_processes(pair[i], start_ns);
    }
}

static void
start_sampler(FakeAgent *agent, const NpRequest *request)
{
    const json_t *at_ns = json_object_get(request->fields, "at_ns");
    for (size_t i = 0; i < G_N_ELEMENTS(agent->edges_ns); i++)
        agent->edges_ns[i] = json_integer_value(json_array_get(at_ns, i));
    agent->loaded = false;
    if (!agent->job) { /* idle baseline: nobody will start a load */
        send_sample(agent, agent->edges_ns[0], true);
        send_sample(agent, agent->edges_ns[1], true);
    }
}

static bool
refuses(const FakeAgent *agent, const NpRequest *request, GError **error)
{
    if (agent->fault == FAKE_REFUSES_NIC && request->verb == NP_VERB_NIC_SET)
        return !np_throw(error, NP_ERROR_NOT_FOUND, "no NIC has this MAC");
    if (agent->fault == FAKE_PORT_BUSY && request->verb == NP_VERB_SERVE)
        return !np_throw(error, NP_ERROR_BUSY, "port 5201 is in use");
    return false;
}

static void
take_request(FakeAgent *agent, const NpRequest *request)
{
    g_autoptr(GError) error = NULL;
    const char *action = np_json_string(request->fields, "action", "");
    agent->counts[request->verb]++;
    if (agent->fault == FAKE_SILENT)
        return;
    if (request->verb == NP_VERB_HELLO) {
        answer_hello(agent, request);
        return;
    }
    if (refuses(agent, request, &error)) {
        send_message(agent, np_reply_error(agent->session, request->id, error));
        return;
    }
    json_t *ok = request->verb == NP_VERB_INFO
                     ? json_pack("{s:i, s:s, s:[]}", "cpus", 2, "kernel", "6.1.0", "nics")
                     : NULL;
    send_message(agent, np_reply_ok(agent->session, request->id, ok));
    if (request->verb == NP_VERB_SERVE || g_str_equal(action, "arm")) {
        agent->job = request->id;
        agent->jobs++;
        agent->processes = (unsigned) json_array_size(json_object_get(request->fields, "ports"));
        agent->seconds = np_json_int(request->fields, "seconds", 0);
    } else if (g_str_equal(action, "go")) {
        run_load(agent, request);
    } else if (g_str_equal(action, "start")) {
        start_sampler(agent, request);
    } else if (request->verb == NP_VERB_CANCEL) {
        send_event(agent, "end", json_pack("{s:I}", "job", (json_int_t) agent->job));
    }
}

static gboolean
read_requests(gint fd, GIOCondition condition, gpointer data)
{
    FakeAgent *agent = data;
    char block[4096];
    ssize_t got = read(fd, block, sizeof(block));
    if (got <= 0) {
        agent->source = 0;
        return G_SOURCE_REMOVE;
    }
    np_frame_feed(agent->frame, block, (size_t) got);
    const char *line;
    size_t size;
    while (agent->fd >= 0 && np_frame_next(agent->frame, &line, &size) == NP_FRAME_LINE) {
        g_auto(NpRequest) request = {0};
        int64_t id;
        g_autoptr(GError) error = NULL;
        if (agent->fault == FAKE_ECHOES) {
            g_assert_true(np_fd_write_all(agent->fd, line, size, NULL));
            g_assert_true(np_fd_write_all(agent->fd, "\n", 1, NULL));
        }
        np_request_parse(line, size, &request, &id, &error);
        g_assert_no_error(error);
        take_request(agent, &request);
    }
    return G_SOURCE_CONTINUE;
}

FakeAgent *
fake_agent_new(FakeFault fault, const char *mac, double bps)
{
    static const char stale[] =
        "\"ok\":{}}\n{\"session\":\"old-old-old\",\"id\":1,\"ok\":{}}\n{\"half";
    FakeAgent *agent = g_new0(FakeAgent, 1);
    int pair[2];
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
    agent->fault = fault;
    agent->mac = g_strdup(mac);
    agent->bps = bps;
    agent->fd = pair[0];
    agent->other_fd = pair[1];
    agent->frame = np_frame_new(NP_PROTO_LINE_MAX);
    agent->source = g_unix_fd_add(agent->fd, G_IO_IN | G_IO_HUP, read_requests, agent);
    if (fault == FAKE_STALE_BYTES)
        g_assert_true(np_fd_write_all(agent->fd, stale, sizeof(stale) - 1, NULL));
    return agent;
}

void
fake_agent_free(FakeAgent *agent)
{
    if (!agent)
        return;
    g_clear_handle_id(&agent->source, g_source_remove);
    np_fd_clear(&agent->fd);
    np_fd_clear(&agent->other_fd);
    np_frame_free(agent->frame);
    g_free(agent->mac);
    g_free(agent->session);
    g_free(agent);
}

int
fake_agent_take_fd(FakeAgent *agent)
{
    return np_fd_steal(&agent->other_fd);
}

unsigned
fake_agent_count(const FakeAgent *agent, NpVerb verb)
{
    return agent->counts[verb];
}

void
fake_agent_pair(FakeAgent *client, FakeAgent *server)
{
    client->server = server;
}
