/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Channel: the stream to the host, whatever carries it, as lines and comings and goings.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <glib.h>

/* One host at a time:
 *
 *     waiting --connected--> connected --gone--> waiting
 *
 * Only stdin and stdout end for good (closed). Nothing here blocks, sleeps or spins. */
typedef struct NpChannel NpChannel;

/* All called from the main loop, never from within a function below but np_channel_start. */
typedef struct {
    void (*connected)(gpointer data);
    void (*line)(const char *line, size_t size, gpointer data); /* valid until it returns */
    void (*overlong)(gpointer data);                            /* a line was too long; dropped */
    void (*unsent)(const char *line, gpointer data); /* before gone: each line not fully gone out */
    void (*gone)(gpointer data);
    void (*closed)(gpointer data); /* no host will come again */
} NpChannelEvents;

/* Listens on a unix socket (mode 0600). A second host while one is connected gets one error line. A
 * socket that nobody answers is replaced. Throws BUSY when an agent answers there, CONFIG for a
 * path too long or taken by another kind of file, and the system's errors. */
NpChannel *np_channel_new_unix(const char *path, GError **error);

/* Stdin and stdout. */
NpChannel *np_channel_new_stdio(GError **error);

/* A virtio-serial port by name, or a character device (port or serial line) by absolute path. It
 * may be missing: looked for every retry_ms. Throws CONFIG for a name that is none. */
NpChannel *np_channel_new_port(const char *name, guint retry_ms, GError **error);

/* Begins to look for a host. events is kept, not copied. */
void np_channel_start(NpChannel *channel, const NpChannelEvents *events, gpointer data);

void np_channel_free(NpChannel *channel);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpChannel, np_channel_free)

/* Queues one line (without its end). Without a host it is dropped. A host that lets more than
 * NP_CHANNEL_OUTPUT_MAX bytes pile up is treated as gone. */
void np_channel_send(NpChannel *channel, const char *line);

/* Drops every queued line that has not gone out; one that is partly out is ended where it is. */
void np_channel_discard(NpChannel *channel);

/* While held no line is delivered and none is read. */
void np_channel_hold(NpChannel *channel, bool held);

/* Waits at most timeout_ms for the queue to empty: for the end of the program only. */
void np_channel_drain(NpChannel *channel, int timeout_ms);

#define NP_CHANNEL_OUTPUT_MAX (4 * 1024 * 1024)
