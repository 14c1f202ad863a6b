/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Frames: cuts a byte stream into lines of bounded length.
 */
#pragma once

#include <stddef.h>

#include <glib.h>

/* Collects bytes until a line is complete. Memory stays below max plus what one feed brings. */
typedef struct NpFrame NpFrame;

typedef enum {
    NP_FRAME_NONE,     /* no complete line yet: feed more */
    NP_FRAME_LINE,     /* a line was taken */
    NP_FRAME_OVERLONG, /* a line exceeded the limit; it is dropped up to its end */
} NpFrameResult;

/* max: the longest line, with its end, in bytes. */
NpFrame *np_frame_new(size_t max);
void np_frame_free(NpFrame *frame);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpFrame, np_frame_free)

/* Adds bytes from the stream. */
void np_frame_feed(NpFrame *frame, const void *data, size_t size);

/* Takes the next line without its end (empty lines are skipped); *ret_line is valid until the next
 * call on this frame and NUL-terminated. Call until NP_FRAME_NONE. OVERLONG is reported once a
 * line. */
NpFrameResult np_frame_next(NpFrame *frame, const char **ret_line, size_t *ret_size);

/* Forgets everything, for a new connection. */
void np_frame_reset(NpFrame *frame);
