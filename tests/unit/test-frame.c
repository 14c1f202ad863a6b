/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Frames: lines from any cutting of the stream, within bounds.
 */
#include "lib/proto/frame.h"

#include <stdbool.h>
#include <string.h>

/* What a stream gives, one letter or line each: lines in brackets, "!" for an overlong one. */
static void
collect(NpFrame *frame, GString *out)
{
    const char *line;
    size_t size;
    NpFrameResult result;
    while ((result = np_frame_next(frame, &line, &size)) != NP_FRAME_NONE) {
        if (result == NP_FRAME_OVERLONG) {
            g_string_append_c(out, '!');
            continue;
        }
        g_assert_cmpuint(strlen(line), ==, size);
        g_string_append_printf(out, "[%s]", line);
    }
}

static const struct {
    const char *stream, *wanted;
} rows[] = {
    {"", ""},
    {"a", ""},
    {"a\n", "[a]"},
    {"a\nb\n", "[a][b]"},
    {"\n\n\na\n\n", "[a]"},
    {"a\r\n", "[a\r]"},
    {"1234567\n", "[1234567]"}, /* with its end 8 bytes */
    {"12345678\n", "!"},
    {"12345678", "!"},
    {"12345678901234567890\na\n", "![a]"},
    {"12345678901234567890", "!"},
    {"12345678901234567890\n12345678901234567890\n", "!!"},
    {"a\n12345678901234567890\nb\n1234567\n", "[a]![b][1234567]"},
};

static void
lines_are_the_same_however_the_stream_is_cut(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        size_t size = strlen(rows[i].stream);
        for (size_t piece = 1; piece <= size + 1; piece++) {
            g_autoptr(NpFrame) frame = np_frame_new(8);
            g_autoptr(GString) out = g_string_new(NULL);
            collect(frame, out); /* nothing was fed yet */
            for (size_t at = 0; at < size; at += piece) {
                np_frame_feed(frame, rows[i].stream + at, MIN(piece, size - at));
                collect(frame, out);
            }
            g_assert_cmpstr(out->str, ==, rows[i].wanted);
        }
    }
}

static void
lines_may_be_taken_after_several_feeds(void)
{
    g_autoptr(NpFrame) frame = np_frame_new(8);
    g_autoptr(GString) out = g_string_new(NULL);
    const char *line;
    size_t size;
    np_frame_feed(frame, "a\nb\nc", 5);
    g_assert_cmpint(np_frame_next(frame, &line, &size), ==, NP_FRAME_LINE);
    g_assert_cmpstr(line, ==, "a");
    np_frame_feed(frame, "d\n", 2);
    collect(frame, out);
    g_assert_cmpstr(out->str, ==, "[b][cd]");
}

static void
a_reset_forgets_half_lines_and_overlong_ones(void)
{
    static const char *const before[] = {"half", "1234567890", "a\nhalf", "1234567890\nhalf"};
    for (size_t i = 0; i < G_N_ELEMENTS(before); i++) {
        g_autoptr(NpFrame) frame = np_frame_new(8);
        g_autoptr(GString) forgotten = g_string_new(NULL), out = g_string_new(NULL);
        np_frame_feed(frame, before[i], strlen(before[i]));
        collect(frame, forgotten);
        np_frame_reset(frame);
        np_frame_feed(frame, "x\n", 2);
        collect(frame, out);
        g_assert_cmpstr(out->str, ==, "[x]");
    }
}

static void
zero_bytes_stay_in_their_line(void)
{
    g_autoptr(NpFrame) frame = np_frame_new(8);
    const char *line;
    size_t size;
    np_frame_feed(frame, "a\0b\n", 4);
    g_assert_cmpint(np_frame_next(frame, &line, &size), ==, NP_FRAME_LINE);
    g_assert_cmpmem(line, size, "a\0b", 3);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/frame/lines-are-the-same-however-the-stream-is-cut",
                    lines_are_the_same_however_the_stream_is_cut);
    g_test_add_func("/frame/lines-may-be-taken-after-several-feeds",
                    lines_may_be_taken_after_several_feeds);
    g_test_add_func("/frame/a-reset-forgets-half-lines-and-overlong-ones",
                    a_reset_forgets_half_lines_and_overlong_ones);
    g_test_add_func("/frame/zero-bytes-stay-in-their-line", zero_bytes_stay_in_their_line);
    return g_test_run();
}
