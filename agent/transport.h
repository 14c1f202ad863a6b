/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Transport: what the kinds of channels share with channel.c; for channel*.c only.
 */
#pragma once

#include "agent/channel.h"
#include "lib/proto/frame.h"

typedef struct {
    void (*start)(NpChannel *channel);
    /* The connection is over (errno_value: why, 0 for an ordinary end): close or keep the
     * descriptors, look for the next host. NULL: there is no next host. */
    void (*lost)(NpChannel *channel, int errno_value);
    void (*clear)(NpChannel *channel); /* frees what is the transport's own */
} NpTransport;

/* First member of each transport's own struct. */
struct NpChannel {
    const NpTransport *transport;
    const NpChannelEvents *events;
    gpointer data;
    NpFrame *frame;
    int in_fd, out_fd; /* borrowed from the transport; -1: no host */
    guint in_source, out_source, pump_source, break_source;
    GByteArray *output; /* to be written from `written` on */
    size_t written;
    bool line_open; /* the last byte written was no line end */
    bool held, pumping, broken;
};

void np_channel_init(NpChannel *channel, const NpTransport *transport);

/* Whether a host is there. */
bool np_channel_connected(const NpChannel *channel);

/* A host is there, on non-blocking descriptors. */
void np_channel_connect(NpChannel *channel, int in_fd, int out_fd);

/* The host that was there is gone, what it wrote and was not read yet is dropped. Not from within a
 * line's delivery. */
void np_channel_end(NpChannel *channel);
