/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Channel: see channel.h. Here is what a connection is; how one comes about is in channel-*.c.
 */
#include "agent/channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <glib-unix.h>

#include "agent/transport.h"
#include "lib/base/clock.h"
#include "lib/proto/proto.h"

#define READ_SIZE    16384
#define COMPACT_SIZE 65536 /* written bytes are cut off the queue from here on */

static gboolean read_ready(gint fd, GIOCondition condition, gpointer data);
static gboolean write_ready(gint fd, GIOCondition condition, gpointer data);

void
np_channel_init(NpChannel *channel, const NpTransport *transport)
{
    channel->transport = transport;
    channel->frame = np_frame_new(NP_PROTO_LINE_MAX);
    channel->output = g_byte_array_new();
    channel->in_fd = channel->out_fd = -1;
}

bool
np_channel_connected(const NpChannel *channel)
{
    return channel->out_fd >= 0;
}

static void
remove_sources(NpChannel *channel)
{
    g_clear_handle_id(&channel->in_source, g_source_remove);
    g_clear_handle_id(&channel->out_source, g_source_remove);
    g_clear_handle_id(&channel->pump_source, g_source_remove);
    g_clear_handle_id(&channel->break_source, g_source_remove);
}

void
np_channel_free(NpChannel *channel)
{
    if (!channel)
        return;
    remove_sources(channel);
    channel->transport->clear(channel);
    np_frame_free(channel->frame);
    g_byte_array_unref(channel->output);
    g_free(channel);
}

void
np_channel_start(NpChannel *channel, const NpChannelEvents *events, gpointer data)
{
    channel->events = events;
    channel->data = data;
    channel->transport->start(channel);
}

static void
watch_input(NpChannel *channel)
{
    if (!channel->in_source && !channel->held && channel->in_fd >= 0)
        channel->in_source =
            g_unix_fd_add(channel->in_fd, G_IO_IN | G_IO_HUP | G_IO_ERR, read_ready, channel);
}

void
np_channel_connect(NpChannel *channel, int in_fd, int out_fd)
{
    channel->in_fd = in_fd;
    channel->out_fd = out_fd;
    channel->broken = false;
    np_frame_reset(channel->frame);
    /* The stream may hold the beginning of a line from before: end it. */
    channel->line_open = true;
    g_byte_array_append(channel->output, (const guint8 *) "\n", 1);
    watch_input(channel);
    channel->events->connected(channel->data);
}

/* Where the line begins that the first unwritten byte belongs to. */
static size_t
unwritten_line(const NpChannel *channel)
{
    const guint8 *bytes = channel->output->data;
    const guint8 *end = channel->written ? memrchr(bytes, '\n', channel->written) : NULL;
    return end ? (size_t) (end - bytes) + 1 : 0;
}

static void
drop_output(NpChannel *channel)
{
    g_byte_array_set_size(channel->output, 0);
    channel->written = 0;
}

/* Tells which lines the host cannot have got. */
static void
report_unsent(NpChannel *channel)
{
    size_t start = channel->output->len ? unwritten_line(channel) : 0;
    g_autofree char *rest =
        g_strndup((const char *) channel->output->data + start, channel->output->len - start);
    drop_output(channel);
    for (char *line = rest, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (*line)
            channel->events->unsent(line, channel->data);
    }
}

/* Ends the connection. Without a next host what is queued stays for np_channel_drain, unless it is
 * the output that failed. */
static void
end_connection(NpChannel *channel, int errno_value)
{
    bool final = !channel->transport->lost;
    remove_sources(channel);
    channel->in_fd = -1;
    if (!final || channel->broken) {
        channel->out_fd = -1;
        report_unsent(channel);
    }
    np_frame_reset(channel->frame);
    if (final) {
        channel->events->closed(channel->data);
        return;
    }
    channel->transport->lost(channel, errno_value);
    channel->events->gone(channel->data);
}

void
np_channel_end(NpChannel *channel)
{
    end_connection(channel, 0);
}

static gboolean
break_now(gpointer data)
{
    NpChannel *channel = data;
    channel->break_source = 0;
    end_connection(channel, 0);
    return G_SOURCE_REMOVE;
}

/* The connection is of no use any more. Its end comes from the main loop, for whoever is sending
 * does not expect its own session to end under it. */
static void
break_later(NpChannel *channel)
{
    channel->broken = true;
    g_clear_handle_id(&channel->out_source, g_source_remove);
    if (!channel->break_source)
        channel->break_source = g_idle_add(break_now, channel);
}

/* Delivers the complete lines that were read. */
static void
pump(NpChannel *channel)
{
    channel->pumping = true;
    while (!channel->held && !channel->broken && channel->in_fd >= 0) {
        const char *line;
        size_t size;
        NpFrameResult result = np_frame_next(channel->frame, &line, &size);
        if (result == NP_FRAME_NONE)
            break;
        if (result == NP_FRAME_LINE)
            channel->events->line(line, size, channel->data);
        else
            channel->events->overlong(channel->data);
    }
    channel->pumping = false;
}

static gboolean
pump_later(gpointer data)
{
    NpChannel *channel = data;
    channel->pump_source = 0;
    pump(channel);
    return G_SOURCE_REMOVE;
}

/* Sources are removed by their ids, so every answer here is "continue": it means nothing for a
 * source that has been removed meanwhile. */
static gboolean
read_ready(gint fd, GIOCondition condition, gpointer data)
{
    NpChannel *channel = data;
    char block[READ_SIZE];
    ssize_t got = read(fd, block, sizeof(block));
    int errno_value = got < 0 ? errno : 0;
    if (errno_value == EINTR)
        return G_SOURCE_CONTINUE;
    if (errno_value == EAGAIN && !(condition & (G_IO_HUP | G_IO_ERR)))
        return G_SOURCE_CONTINUE;
    if (got <= 0) {
        end_connection(channel, errno_value == EAGAIN ? 0 : errno_value);
        return G_SOURCE_CONTINUE;
    }
    np_frame_feed(channel->frame, block, (size_t) got);
    pump(channel);
    return G_SOURCE_CONTINUE;
}

static void
flush(NpChannel *channel)
{
    GByteArray *output = channel->output;
    while (channel->written < output->len) {
        ssize_t written =
            write(channel->out_fd, output->data + channel->written, output->len - channel->written);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN) {
            if (!channel->out_source)
                channel->out_source =
                    g_unix_fd_add(channel->out_fd, G_IO_OUT, write_ready, channel);
            return;
        }
        if (written < 0) {
            break_later(channel);
            return;
        }
        channel->written += (size_t) written;
        if (channel->written > 0)
            channel->line_open = output->data[channel->written - 1] != '\n';
        size_t done = channel->written >= COMPACT_SIZE ? unwritten_line(channel) : 0;
        if (done > 0) {
            g_byte_array_remove_range(output, 0, (guint) done);
            channel->written -= done;
        }
    }
    drop_output(channel);
    g_clear_handle_id(&channel->out_source, g_source_remove);
}

static gboolean
write_ready(gint fd, GIOCondition condition, gpointer data)
{
    flush(data);
    return G_SOURCE_CONTINUE;
}

void
np_channel_send(NpChannel *channel, const char *line)
{
    size_t size = strlen(line), queued = channel->output->len - channel->written;
    if (!np_channel_connected(channel) || (channel->broken && queued > NP_CHANNEL_OUTPUT_MAX))
        return;
    g_byte_array_append(channel->output, (const guint8 *) line, (guint) size);
    g_byte_array_append(channel->output, (const guint8 *) "\n", 1);
    if (channel->broken) /* kept for report_unsent */
        return;
    if (queued + size >= NP_CHANNEL_OUTPUT_MAX)
        break_later(channel);
    else if (!channel->out_source)
        flush(channel);
}

void
np_channel_discard(NpChannel *channel)
{
    if (!np_channel_connected(channel))
        return;
    drop_output(channel);
    if (channel->line_open)
        g_byte_array_append(channel->output, (const guint8 *) "\n", 1);
}

void
np_channel_hold(NpChannel *channel, bool held)
{
    if (channel->held == held)
        return;
    channel->held = held;
    if (held) {
        g_clear_handle_id(&channel->in_source, g_source_remove);
        return;
    }
    watch_input(channel);
    if (!channel->pumping && !channel->pump_source)
        channel->pump_source = g_idle_add(pump_later, channel);
}

void
np_channel_drain(NpChannel *channel, int timeout_ms)
{
    int64_t end_ns = np_clock_ns() + timeout_ms * NP_NS_PER_MS;
    while (np_channel_connected(channel) && !channel->broken && channel->output->len > 0) {
        int64_t left_ms = (end_ns - np_clock_ns()) / NP_NS_PER_MS;
        struct pollfd room = {.fd = channel->out_fd, .events = POLLOUT};
        if (left_ms <= 0 || poll(&room, 1, (int) left_ms) <= 0)
            return;
        flush(channel);
    }
}
