/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Frames: see frame.h.
 */
#include "lib/proto/frame.h"

#include <stdbool.h>
#include <string.h>

struct NpFrame {
    size_t max;
    GByteArray *bytes; /* fed and not yet taken, from `taken` on */
    size_t taken;
    size_t scanned; /* bytes behind `taken` known to hold no line end */
    bool dropping;  /* inside an overlong line that was reported */
};

NpFrame *
np_frame_new(size_t max)
{
    NpFrame *frame = g_new0(NpFrame, 1);
    frame->max = max;
    frame->bytes = g_byte_array_new();
    return frame;
}

void
np_frame_free(NpFrame *frame)
{
    if (!frame)
        return;
    g_byte_array_unref(frame->bytes);
    g_free(frame);
}

void
np_frame_reset(NpFrame *frame)
{
    g_byte_array_set_size(frame->bytes, 0);
    frame->taken = frame->scanned = 0;
    frame->dropping = false;
}

static void
discard_taken(NpFrame *frame)
{
    if (frame->taken > 0)
        g_byte_array_remove_range(frame->bytes, 0, (guint) frame->taken);
    frame->taken = 0;
}

void
np_frame_feed(NpFrame *frame, const void *data, size_t size)
{
    discard_taken(frame);
    g_byte_array_append(frame->bytes, data, (guint) size);
}

/* Drops what is there of a line that has no end yet. */
static void
drop_rest(NpFrame *frame)
{
    np_frame_reset(frame);
    frame->dropping = true;
}

NpFrameResult
np_frame_next(NpFrame *frame, const char **ret_line, size_t *ret_size)
{
    while (frame->bytes->len > frame->taken) { /* before the first byte there is no data at all */
        guint8 *start = frame->bytes->data + frame->taken;
        size_t size = frame->bytes->len - frame->taken;
        guint8 *end = size > frame->scanned
                          ? memchr(start + frame->scanned, '\n', size - frame->scanned)
                          : NULL;
        if (!end && (frame->dropping || size >= frame->max)) {
            bool was_dropping = frame->dropping;
            drop_rest(frame);
            return was_dropping ? NP_FRAME_NONE : NP_FRAME_OVERLONG;
        }
        if (!end) {
            frame->scanned = size;
            return NP_FRAME_NONE;
        }
        size_t length = (size_t) (end - start);
        bool dropped = frame->dropping;
        frame->taken += length + 1;
        frame->scanned = 0;
        frame->dropping = false;
        if (length == 0 || dropped)
            continue;
        if (length >= frame->max)
            return NP_FRAME_OVERLONG;
        *end = '\0';
        *ret_line = (const char *) start;
        *ret_size = length;
        return NP_FRAME_LINE;
    }
    return NP_FRAME_NONE;
}
