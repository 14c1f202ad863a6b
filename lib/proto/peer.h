/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Peer: the host's end of a conversation with one agent.
 */
#pragma once

#include "lib/proto/proto.h"

typedef struct NpPeer NpPeer;

/* Called from the main loop for every event of the agent; message: the whole object (borrowed). */
typedef void (*NpPeerEvent)(NpPeer *peer, const char *event, const json_t *message, gpointer data);

/* Takes over fd, a stream to an agent (socket, virtio-serial port). name: for messages, such as
 * "sender". event may be NULL. Never fails: a dead stream shows at the first call. The
 * program must ignore SIGPIPE. */
NpPeer *np_peer_new(int fd, const char *name, NpPeerEvent event, gpointer data);
void np_peer_free(NpPeer *peer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpPeer, np_peer_free)

/* Connects to the agent once more: a stream as np_peer_new takes it, or -1 with the error set. The
 * old one is closed by then. */
typedef int (*NpPeerReopen)(gpointer data, GError **error);

/* Makes np_peer_hello connect anew, once, when the agent has not answered for silence_ms (from 1),
 * and ask again in what is left of its time; not at all when that is not longer. For virtio-serial
 * ports: when a guest's port was full as the host's end was closed, QEMU (10.0.2) passes nothing on
 * to the next connection, but all to the one after. Errors of reopen are np_peer_hello's, which
 * leave the peer gone. */
void np_peer_set_reopen(NpPeer *peer, int64_t silence_ms, NpPeerReopen reopen, gpointer data);

/* Begins a session with a fresh random id: resynchronises the stream and returns the agent's answer
 * (transfer full). Throws PROTOCOL when the agent is gone, UNSUPPORTED for another protocol
 * version, TIMEOUT. */
json_t *np_peer_hello(NpPeer *peer, int64_t timeout_ms, GError **error);

/* Sends a request (fields taken over, NULL for none) and returns its id, or 0 with PROTOCOL thrown.
 */
int64_t np_peer_send(NpPeer *peer, NpVerb verb, json_t *fields, GError **error);

/* Waits for the reply to a request: its ok object (transfer full), or the agent's error, prefixed
 * with name and verb; PROTOCOL when the agent goes away, TIMEOUT, INTERRUPTED. */
json_t *np_peer_wait(NpPeer *peer, int64_t id, int64_t timeout_ms, GError **error);

/* np_peer_send and np_peer_wait. */
json_t *np_peer_call(NpPeer *peer, NpVerb verb, json_t *fields, int64_t timeout_ms, GError **error);

/* The agent's clock minus ours, in ns, from the fastest of several hellos; *ret_error_ns is half
 * its round trip. */
bool
np_peer_clock_offset(NpPeer *peer, int64_t *ret_offset_ns, int64_t *ret_error_ns, GError **error);

/* Whether the stream has ended. */
bool np_peer_gone(const NpPeer *peer);

const char *np_peer_name(const NpPeer *peer);
