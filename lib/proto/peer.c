/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Peer: see peer.h.
 */
#include "lib/proto/peer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <glib-unix.h>

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/base/loop.h"
#include "lib/proto/frame.h"

#define SEND_TIMEOUT_MS  5000
#define CLOCK_ROUNDS     8
#define CLOCK_TIMEOUT_MS 5000

struct NpPeer {
    char *name;
    int fd; /* -1 once the agent is gone */
    guint source;
    NpFrame *frame;
    char session[33];
    bool in_step; /* the hello's answer has come: every line counts */
    int64_t last_id;
    GHashTable *replies; /* id -> json_t *, NULL value while it is awaited */
    NpPeerEvent event;
    gpointer data;
    NpPeerReopen reopen; /* nullable */
    gpointer reopen_data;
    int64_t silence_ms;
};

static void
peer_drop(NpPeer *peer)
{
    g_clear_handle_id(&peer->source, g_source_remove);
    np_fd_clear(&peer->fd);
}

void
np_peer_free(NpPeer *peer)
{
    if (!peer)
        return;
    peer_drop(peer);
    np_frame_free(peer->frame);
    g_hash_table_unref(peer->replies);
    g_free(peer->name);
    g_free(peer);
}

/* Gives an agent's line to whoever awaits it; lines of other sessions and unawaited replies are
 * old. */
static void
take_line(NpPeer *peer, const char *line, size_t size)
{
    g_autoptr(json_t) message = np_json_parse_object(line, size, NULL);
    if (!message || g_strcmp0(np_json_string(message, "session", NULL), peer->session) != 0)
        return;
    if (json_object_get(message, "verb")) /* our own hello, from a serial line that still echoes */
        return;
    int64_t id = np_json_int(message, "id", -1);
    if (id >= 0) {
        gint64 key = id;
        if (!g_hash_table_contains(peer->replies, &key))
            return;
        peer->in_step = true;
        g_hash_table_insert(peer->replies, g_memdup2(&key, sizeof(key)), json_incref(message));
        return;
    }
    const char *event = np_json_string(message, "event", NULL);
    if (event && peer->in_step && peer->event)
        peer->event(peer, event, message, peer->data);
}

static gboolean
read_stream(gint fd, GIOCondition condition, gpointer data)
{
    NpPeer *peer = data;
    char block[16384];
    ssize_t got = read(fd, block, sizeof(block));
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return G_SOURCE_CONTINUE;
    if (got <= 0) {
        peer->source = 0;
        np_fd_clear(&peer->fd);
        return G_SOURCE_REMOVE;
    }
    np_frame_feed(peer->frame, block, (size_t) got);
    const char *line;
    size_t size;
    NpFrameResult result;
    while ((result = np_frame_next(peer->frame, &line, &size)) != NP_FRAME_NONE)
        if (result == NP_FRAME_LINE)
            take_line(peer, line, size);
    return G_SOURCE_CONTINUE;
}

static void
reply_free(gpointer data)
{
    json_decref(data);
}

static void
peer_take_fd(NpPeer *peer, int fd)
{
    peer->fd = fd;
    if (np_fd_set_nonblocking(fd, NULL))
        peer->source = g_unix_fd_add(fd, G_IO_IN | G_IO_HUP | G_IO_ERR, read_stream, peer);
}

NpPeer *
np_peer_new(int fd, const char *name, NpPeerEvent event, gpointer data)
{
    NpPeer *peer = g_new0(NpPeer, 1);
    peer->name = g_strdup(name);
    peer->frame = np_frame_new(NP_PROTO_LINE_MAX);
    peer->replies = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, reply_free);
    peer->event = event;
    peer->data = data;
    peer_take_fd(peer, fd);
    return peer;
}

void
np_peer_set_reopen(NpPeer *peer, int64_t silence_ms, NpPeerReopen reopen, gpointer data)
{
    peer->silence_ms = silence_ms;
    peer->reopen = reopen;
    peer->reopen_data = data;
}

bool
np_peer_gone(const NpPeer *peer)
{
    return peer->fd < 0;
}

const char *
np_peer_name(const NpPeer *peer)
{
    return peer->name;
}

static bool
throw_gone(const NpPeer *peer, GError **error)
{
    return np_throw(error, NP_ERROR_PROTOCOL,
                    "%s: the agent is gone (its end of the channel closed)", peer->name);
}

/* Writes a whole line, waiting for room in the stream at most SEND_TIMEOUT_MS at a time. */
static bool
write_line(NpPeer *peer, const char *line, GError **error)
{
    const char *rest = line;
    size_t size = strlen(line);
    while (size > 0 && peer->fd >= 0) {
        ssize_t written = write(peer->fd, rest, size);
        if (written >= 0) {
            rest += written;
            size -= (size_t) written;
            continue;
        }
        struct pollfd room = {.fd = peer->fd, .events = POLLOUT};
        if (errno == EINTR || (errno == EAGAIN && poll(&room, 1, SEND_TIMEOUT_MS) > 0))
            continue;
        if (errno == EAGAIN)
            return np_throw(error, NP_ERROR_TIMEOUT, "%s: the agent does not read", peer->name);
        peer_drop(peer);
    }
    return peer->fd >= 0 || throw_gone(peer, error);
}

int64_t
np_peer_send(NpPeer *peer, NpVerb verb, json_t *fields, GError **error)
{
    gint64 id = ++peer->last_id;
    g_autoptr(json_t) request = np_request_new(id, verb, fields);
    g_autofree char *text = np_json_line(request);
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    g_hash_table_insert(peer->replies, g_memdup2(&id, sizeof(id)), NULL);
    if (write_line(peer, line, error))
        return id;
    g_hash_table_remove(peer->replies, &id);
    return 0;
}

typedef struct {
    const NpPeer *peer;
    gint64 id;
} Awaited;

static bool
answered_or_gone(gconstpointer data)
{
    const Awaited *awaited = data;
    return awaited->peer->fd < 0 || g_hash_table_lookup(awaited->peer->replies, &awaited->id);
}

json_t *
np_peer_wait(NpPeer *peer, int64_t id, int64_t timeout_ms, GError **error)
{
    Awaited awaited = {peer, id};
    g_autofree char *what = g_strdup_printf("%s: reply %" G_GINT64_FORMAT, peer->name, awaited.id);
    bool waited = np_loop_wait(answered_or_gone, &awaited, timeout_ms, what, error);
    g_autoptr(json_t) reply = json_incref(g_hash_table_lookup(peer->replies, &awaited.id));
    g_hash_table_remove(peer->replies, &awaited.id);
    if (!waited)
        return NULL;
    if (!reply) {
        throw_gone(peer, error);
        return NULL;
    }
    json_t *ok = json_object_get(reply, "ok");
    if (json_is_object(ok))
        return json_incref(ok);
    np_error_from_json(json_object_get(reply, "error"), error);
    g_prefix_error(error, "%s: ", peer->name);
    return NULL;
}

json_t *
np_peer_call(NpPeer *peer, NpVerb verb, json_t *fields, int64_t timeout_ms, GError **error)
{
    int64_t id = np_peer_send(peer, verb, fields, error);
    return id ? np_peer_wait(peer, id, timeout_ms, error) : NULL;
}

static json_t *
hello_again(NpPeer *peer, int64_t timeout_ms, GError **error)
{
    json_t *fields =
        json_pack("{s:i, s:s}", "protocol", NP_PROTO_VERSION, "session", peer->session);
    return np_peer_call(peer, NP_VERB_HELLO, fields, timeout_ms, error);
}

static json_t *
hello_first(NpPeer *peer, int64_t timeout_ms, GError **error)
{
    return write_line(peer, "\n", error) ? hello_again(peer, timeout_ms, error) : NULL;
}

static bool
peer_reopen(NpPeer *peer, GError **error)
{
    peer_drop(peer);
    np_frame_reset(peer->frame);
    int fd = peer->reopen(peer->reopen_data, error);
    if (fd < 0) {
        g_prefix_error(error, "%s: no answer for %" G_GINT64_FORMAT " ms, and to connect anew: ",
                       peer->name, peer->silence_ms);
        return false;
    }
    peer_take_fd(peer, fd);
    return true;
}

json_t *
np_peer_hello(NpPeer *peer, int64_t timeout_ms, GError **error)
{
    for (size_t i = 0; i < sizeof(peer->session) - 1; i += 8)
        g_snprintf(peer->session + i, sizeof(peer->session) - i, "%08x", g_random_int());
    peer->in_step = false;
    if (!peer->reopen || (timeout_ms >= 0 && timeout_ms <= peer->silence_ms))
        return hello_first(peer, timeout_ms, error);
    g_autoptr(GError) silence = NULL;
    json_t *ok = hello_first(peer, peer->silence_ms, &silence);
    if (ok || !g_error_matches(silence, NP_ERROR, NP_ERROR_TIMEOUT)) {
        if (silence)
            g_propagate_error(error, g_steal_pointer(&silence));
        return ok;
    }
    if (!peer_reopen(peer, error))
        return NULL;
    /* The same session: if the agent did hear the first hello, this continues it. */
    return hello_first(peer, timeout_ms < 0 ? -1 : timeout_ms - peer->silence_ms, error);
}

bool
np_peer_clock_offset(NpPeer *peer, int64_t *ret_offset_ns, int64_t *ret_error_ns, GError **error)
{
    int64_t best_ns = INT64_MAX, offset_ns = 0;
    for (int i = 0; i < CLOCK_ROUNDS; i++) {
        int64_t sent_ns = np_clock_ns();
        g_autoptr(json_t) ok = hello_again(peer, CLOCK_TIMEOUT_MS, error);
        if (!ok)
            return false;
        int64_t round_ns = np_clock_ns() - sent_ns;
        if (round_ns < best_ns) {
            best_ns = round_ns;
            offset_ns = np_json_int(ok, "now_ns", 0) - (sent_ns + round_ns / 2);
        }
    }
    *ret_offset_ns = offset_ns;
    *ret_error_ns = best_ns / 2;
    return true;
}
