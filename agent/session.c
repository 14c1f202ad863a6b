/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Session: see session.h.
 *
 *     none --hello--> live --another hello, bye, host gone for too long--> ending --> none or live
 *
 * While a session ends, until its processes are reaped, no line is taken from the channel: whoever
 * is answered afterwards finds every port free and every NIC as it was.
 */
#include "agent/session.h"

#include <string.h>

#include "agent/info.h"
#include "agent/iperf.h"
#include "agent/job.h"
#include "agent/outbox.h"
#include "agent/sampler.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/parse.h"

#define KEPT_MAX  (NP_CHANNEL_OUTPUT_MAX / 2) /* what was kept is sent at once */
#define ENDING_MS 5000 /* a killed process that is not reaped by then sits in the kernel */

struct NpSession {
    NpChannel *channel;
    NpNics *nics;
    NpJobs *jobs;
    guint gone_ms;
    void (*closed)(gpointer data);
    gpointer closed_data;

    char *id;            /* NULL: no session */
    unsigned generation; /* of sessions: an answer to an older one is dropped */
    bool connected;      /* there is a host */
    bool greeted;        /* it has said hello to this session */
    NpSampler *sampler;  /* while a session lives */
    guint gone_timer;    /* runs while the session has no host */
    NpOutbox *kept;      /* lines for a host that is away */

    bool ending;
    guint ending_timer;
    char *next_id;    /* the session to begin then, for the hello of this id: */
    int64_t reply_id; /* the request to answer then, 0 for none */
    void (*done)(gpointer data);
    gpointer done_data;
};

/* The answer to one request, from wherever and whenever it comes. */
typedef struct {
    NpSession *session;
    unsigned generation;
    int64_t id;
} Pending;

/* ## Sending */

static void
send_now(NpSession *session, json_t *message)
{
    g_autofree char *line = np_json_line(message);
    np_channel_send(session->channel, line);
    json_decref(message);
}

/* Sends a line of the session, or keeps it for its host's return. One that is too long for a line
 * is not sent: false. */
static bool
post(NpSession *session, json_t *message)
{
    g_autofree char *line = np_json_line(message);
    json_decref(message);
    if (strlen(line) + 1 > NP_PROTO_LINE_MAX)
        return false;
    if (session->greeted)
        np_channel_send(session->channel, line);
    else
        np_outbox_put(session->kept, line);
    return true;
}

static void
reply(NpSession *session, int64_t id, json_t *ok, const GError *error)
{
    g_autoptr(GError) problem = NULL;
    json_t *message =
        error ? np_reply_error(session->id, id, error) : np_reply_ok(session->id, id, ok);
    if (post(session, message))
        return;
    np_throw(&problem, NP_ERROR_FAILED, "the answer is longer than a line may be (%d bytes)",
             NP_PROTO_LINE_MAX);
    (void) post(session, np_reply_error(session->id, id, problem)); /* short */
}

/* To a host that belongs to no session (yet). */
static void
refuse(NpSession *session, int64_t id, const char *session_id, const GError *error)
{
    send_now(session, np_reply_error(session_id, id, error));
}

static void
post_event(const char *event, json_t *fields, gpointer data)
{
    NpSession *session = data;
    if (!post(session, np_event_new(session->id, event, fields)))
        np_log(G_LOG_LEVEL_WARNING, "an event '%s' was too long for a line and is lost", event);
}

static void
post_sample(json_t *fields, gpointer data)
{
    post_event("sample", fields, data);
}

static json_t *
live_processes(gpointer data)
{
    return np_jobs_processes(((NpSession *) data)->jobs);
}

static void
take_answer(json_t *ok, const GError *error, gpointer data)
{
    g_autofree Pending *pending = data;
    if (pending->generation == pending->session->generation)
        reply(pending->session, pending->id, ok, error);
    else
        json_decref(ok);
}

static Pending *
pending_new(NpSession *session, int64_t id)
{
    Pending *pending = g_new(Pending, 1);
    *pending = (Pending){session, session->generation, id};
    return pending;
}

/* ## Beginning and ending */

static gboolean gone_for_too_long(gpointer data);

static void
start_gone_timer(NpSession *session)
{
    if (session->id && !session->ending && !session->gone_timer)
        session->gone_timer = g_timeout_add(session->gone_ms, gone_for_too_long, session);
}

static json_t *
hello_answer(NpSession *session)
{
    json_t *ok =
        json_pack("{s:i, s:s, s:s, s:I}", "protocol", NP_PROTO_VERSION, "agent", NP_VERSION,
                  "iperf", np_iperf_version(), "now_ns", (json_int_t) np_clock_ns());
    guint lost = np_outbox_lost(session->kept);
    if (lost)
        json_object_set_new(ok, "lost", json_integer(lost));
    return ok;
}

/* The host has said hello to the session: answer, then what it missed. */
static void
greet(NpSession *session, int64_t hello_id)
{
    session->greeted = true;
    g_clear_handle_id(&session->gone_timer, g_source_remove);
    reply(session, hello_id, hello_answer(session), NULL);
    char *line;
    while ((line = np_outbox_take(session->kept))) {
        np_channel_send(session->channel, line);
        g_free(line);
    }
}

static void
begin(NpSession *session, char *id, int64_t hello_id)
{
    session->id = id;
    session->sampler = np_sampler_new(post_sample, live_processes, session);
    np_log(G_LOG_LEVEL_INFO, "session '%s' begins", id);
    if (session->connected)
        greet(session, hello_id);
    else
        start_gone_timer(session);
}

static void
ended(gpointer data)
{
    NpSession *session = data;
    if (!session->ending)
        return; /* the timer was first */
    g_clear_handle_id(&session->ending_timer, g_source_remove);
    np_nics_restore_all(session->nics);
    session->ending = false;
    g_autofree char *old_id = g_steal_pointer(&session->id);
    np_log(G_LOG_LEVEL_INFO, "session '%s' has ended", old_id);
    int64_t reply_id = session->reply_id;
    session->reply_id = 0;
    if (session->done) {
        session->done(session->done_data);
        return;
    }
    np_channel_hold(session->channel, false);
    if (session->next_id)
        begin(session, g_steal_pointer(&session->next_id), reply_id);
    else if (reply_id && session->connected)
        send_now(session, np_reply_ok(old_id, reply_id, NULL));
}

static gboolean
ending_takes_too_long(gpointer data)
{
    NpSession *session = data;
    session->ending_timer = 0;
    np_log(G_LOG_LEVEL_WARNING, "killed processes are still there after %d ms; going on without",
           ENDING_MS);
    ended(session);
    return G_SOURCE_REMOVE;
}

/* Ends the live session. reply_id: the request to answer afterwards (0: none); next_id (transfer
 * full, nullable): the session to begin then. */
static void
end(NpSession *session, int64_t reply_id, char *next_id)
{
    session->ending = true;
    session->greeted = false;
    session->generation++;
    session->reply_id = reply_id;
    session->next_id = next_id;
    np_channel_hold(session->channel, true);
    g_clear_handle_id(&session->gone_timer, g_source_remove);
    g_clear_pointer(&session->sampler, np_sampler_free);
    np_outbox_clear(session->kept);
    session->ending_timer = g_timeout_add(ENDING_MS, ending_takes_too_long, session);
    np_jobs_abandon(session->jobs, ended, session);
}

static gboolean
gone_for_too_long(gpointer data)
{
    NpSession *session = data;
    session->gone_timer = 0;
    np_log(G_LOG_LEVEL_MESSAGE, "the host was gone for %u ms: its session ends", session->gone_ms);
    end(session, 0, NULL);
    return G_SOURCE_REMOVE;
}

/* ## Verbs */

static void
verb_hello(NpSession *session, const NpRequest *request)
{
    const char *id = np_json_string(request->fields, "session", "");
    int64_t protocol = np_json_int(request->fields, "protocol", 0);
    g_autoptr(GError) problem = NULL;
    if (protocol != NP_PROTO_VERSION) {
        np_throw(&problem, NP_ERROR_UNSUPPORTED,
                 "protocol version %" G_GINT64_FORMAT
                 ": this agent (%s) speaks version %d; install "
                 "the same version of nicpass on both sides",
                 protocol, NP_VERSION, NP_PROTO_VERSION);
        refuse(session, request->id, id, problem); /* the host waits for a line of its session */
        return;
    }
    if (g_strcmp0(session->id, id) == 0) {
        greet(session, request->id);
        return;
    }
    np_channel_discard(session->channel);
    if (session->id)
        end(session, request->id, g_strdup(id));
    else
        begin(session, g_strdup(id), request->id);
}

static void
verb_info(NpSession *session, const NpRequest *request)
{
    g_autoptr(GError) problem = NULL;
    json_t *info = np_info_collect(&problem);
    reply(session, request->id, info, problem);
}

static void
verb_nic_set(NpSession *session, const NpRequest *request)
{
    np_nics_set(session->nics, request->fields, take_answer, pending_new(session, request->id));
}

static void
verb_nic_restore(NpSession *session, const NpRequest *request)
{
    np_nics_restore(session->nics, request->fields, take_answer, pending_new(session, request->id));
}

static void
verb_serve(NpSession *session, const NpRequest *request)
{
    np_jobs_serve(session->jobs, request, take_answer, pending_new(session, request->id));
}

static void
verb_load(NpSession *session, const NpRequest *request)
{
    g_autoptr(GError) problem = NULL;
    if (strcmp(np_json_string(request->fields, "action", ""), "arm") == 0) {
        np_jobs_arm(session->jobs, request, take_answer, pending_new(session, request->id));
        return;
    }
    (void) np_jobs_go(session->jobs, request->fields, &problem);
    reply(session, request->id, NULL, problem);
}

static void
verb_cpu(NpSession *session, const NpRequest *request)
{
    g_autoptr(GError) problem = NULL;
    json_t *ok = NULL;
    if (strcmp(np_json_string(request->fields, "action", ""), "start") == 0)
        (void) np_sampler_start(session->sampler, request->fields, &problem);
    else
        ok = np_sampler_stop(session->sampler, &problem);
    reply(session, request->id, ok, problem);
}

static void
verb_cancel(NpSession *session, const NpRequest *request)
{
    np_jobs_cancel(session->jobs, np_json_int(request->fields, "job", 0));
    reply(session, request->id, NULL, NULL);
}

static void
verb_bye(NpSession *session, const NpRequest *request)
{
    end(session, request->id, NULL);
}

static void (*const verbs[])(NpSession *session, const NpRequest *request) = {
    [NP_VERB_HELLO] = verb_hello,     [NP_VERB_INFO] = verb_info,
    [NP_VERB_NIC_SET] = verb_nic_set, [NP_VERB_NIC_RESTORE] = verb_nic_restore,
    [NP_VERB_SERVE] = verb_serve,     [NP_VERB_LOAD] = verb_load,
    [NP_VERB_CPU] = verb_cpu,         [NP_VERB_CANCEL] = verb_cancel,
    [NP_VERB_BYE] = verb_bye,
};

/* ## The channel's events */

static void
take_line(const char *line, size_t size, gpointer data)
{
    NpSession *session = data;
    g_autoptr(GError) problem = NULL;
    g_auto(NpRequest) request = {0};
    int64_t id = 0;
    const char *of = session->greeted ? session->id : NULL;
    if (!np_request_parse(line, size, &request, &id, &problem)) {
        refuse(session, id, of, problem);
        return;
    }
    if (!session->greeted && request.verb != NP_VERB_HELLO) {
        np_throw(&problem, NP_ERROR_PROTOCOL, "verb '%s' before hello", np_verb_name(request.verb));
        refuse(session, id, NULL, problem);
        return;
    }
    verbs[request.verb](session, &request);
}

static void
take_overlong(gpointer data)
{
    NpSession *session = data;
    g_autoptr(GError) problem = NULL;
    np_throw(&problem, NP_ERROR_PROTOCOL, "a line is longer than %d bytes", NP_PROTO_LINE_MAX);
    refuse(session, 0, session->greeted ? session->id : NULL, problem);
}

static void
take_connected(gpointer data)
{
    NpSession *session = data;
    session->connected = true;
    np_log(G_LOG_LEVEL_INFO, "a host is connected");
}

/* A line that the host, before it was known to be gone, cannot have got. */
static void
take_unsent(const char *line, gpointer data)
{
    NpSession *session = data;
    if (session->greeted)
        np_outbox_put(session->kept, line);
}

static void
take_gone(gpointer data)
{
    NpSession *session = data;
    session->connected = session->greeted = false;
    np_log(G_LOG_LEVEL_INFO, "the host is gone");
    start_gone_timer(session);
}

static void
take_closed(gpointer data)
{
    NpSession *session = data;
    session->connected = false;
    session->closed(session->closed_data);
}

static const NpChannelEvents channel_events = {take_connected, take_line, take_overlong,
                                               take_unsent,    take_gone, take_closed};

NpSession *
np_session_new(NpChannel *channel, NpNics *nics, guint gone_ms, void (*closed)(gpointer data),
               gpointer data)
{
    NpSession *session = g_new0(NpSession, 1);
    session->channel = channel;
    session->nics = nics;
    session->jobs = np_jobs_new(post_event, session);
    session->gone_ms = gone_ms;
    session->closed = closed;
    session->closed_data = data;
    session->kept = np_outbox_new(KEPT_MAX);
    np_channel_start(channel, &channel_events, session);
    return session;
}

void
np_session_shutdown(NpSession *session, void (*done)(gpointer data), gpointer data)
{
    if (session->done) /* asked before */
        return;
    session->done = done;
    session->done_data = data;
    np_channel_hold(session->channel, true);
    if (session->ending)
        return;
    if (session->id)
        end(session, 0, NULL);
    else
        done(data);
}

void
np_session_free(NpSession *session)
{
    if (!session)
        return;
    g_clear_handle_id(&session->gone_timer, g_source_remove);
    g_clear_handle_id(&session->ending_timer, g_source_remove);
    np_outbox_free(session->kept);
    np_jobs_free(session->jobs);
    g_free(session->next_id);
    g_free(session->id);
    g_free(session);
}
