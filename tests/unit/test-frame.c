/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Frames: lines out of a stream, however it is cut, and lines that are too long.
 */
#include <string.h>

#include "lib/proto/frame.h"

#define LINE_MAX_BYTES 8 /* a line of 7 bytes and its end */

/* Takes all there is: lines joined by '|', an overlong one as '!'. */
static void
take(NpFrame *frame, GString *seen)
{
    const char *line;
    size_t size;
    NpFrameResult result;
    while ((result = np_frame_next(frame, &line, &size)) != NP_FRAME_NONE) {
        if (result == NP_FRAME_LINE) {
            g_assert_cmpint(line[size], ==, '\0');
            g_string_append_len(seen, line, (gssize) size);
        }
        g_string_append_c(seen, result == NP_FRAME_LINE ? '|' : '!');
    }
}

static const struct {
    const char *stream, *seen;
} rows[] = {
    {"", ""},
    {"abc", ""},
    {"abc\n", "abc|"},
    {"\n\n\nabc\n\n", "abc|"},
    {"a\nb\nc", "a|b|"},
    {"1234567\n", "1234567|"},
    {"12345678\nab\n", "!ab|"},
    {"123456789\nab\n", "!ab|"},
    {"12345678", "!"},
    {"1234567890123456789012345678901234567890", "!"},
    {"1234567890123456789012345678901234567890\n\nab\n1234567890\nc\n", "!ab|!c|"},
    {"ab\r\n", "ab\r|"},
};

static void
test_lines_are_cut_however_the_stream_comes(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        size_t length = strlen(rows[i].stream);
        for (size_t step = 1; step <= length + 1; step++) {
            g_autoptr(NpFrame) frame = np_frame_new(LINE_MAX_BYTES);
            g_autoptr(GString) seen = g_string_new(NULL);
            for (size_t at = 0; at < length; at += step) {
                np_frame_feed(frame, rows[i].stream + at, MIN(step, length - at));
                take(frame, seen);
            }
            take(frame, seen);
            g_assert_cmpstr(seen->str, ==, rows[i].seen);
        }
    }
}

static void
test_lines_wait_until_they_are_taken(void)
{
    g_autoptr(NpFrame) frame = np_frame_new(LINE_MAX_BYTES);
    g_autoptr(GString) seen = g_string_new(NULL);
    const char *line;
    size_t size;
    np_frame_feed(frame, "a\nbc\nd", 6);
    g_assert_cmpint(np_frame_next(frame, &line, &size), ==, NP_FRAME_LINE);
    g_assert_cmpstr(line, ==, "a");
    np_frame_feed(frame, "ef\n", 3);
    take(frame, seen);
    g_assert_cmpstr(seen->str, ==, "bc|def|");
}

static void
test_nul_bytes_are_part_of_a_line(void)
{
    g_autoptr(NpFrame) frame = np_frame_new(LINE_MAX_BYTES);
    const char *line;
    size_t size;
    np_frame_feed(frame, "a\0b\n", 4);
    g_assert_cmpint(np_frame_next(frame, &line, &size), ==, NP_FRAME_LINE);
    g_assert_cmpmem(line, size, "a\0b", 3);
}

static void
test_reset_forgets_halves_and_overlong_lines(void)
{
    static const char *const before[] = {"", "abc", "123456789", "a\nb\n"};
    for (size_t i = 0; i < G_N_ELEMENTS(before); i++) {
        g_autoptr(NpFrame) frame = np_frame_new(LINE_MAX_BYTES);
        g_autoptr(GString) seen = g_string_new(NULL);
        const char *line;
        size_t size;
        np_frame_feed(frame, before[i], strlen(before[i]));
        (void) np_frame_next(frame, &line, &size);
        np_frame_reset(frame);
        take(frame, seen);
        np_frame_feed(frame, "xyz\n", 4);
        take(frame, seen);
        g_assert_cmpstr(seen->str, ==, "xyz|");
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/frame/lines-are-cut-however-the-stream-comes",
                    test_lines_are_cut_however_the_stream_comes);
    g_test_add_func("/frame/lines-wait-until-they-are-taken", test_lines_wait_until_they_are_taken);
    g_test_add_func("/frame/nul-bytes-are-part-of-a-line", test_nul_bytes_are_part_of_a_line);
    g_test_add_func("/frame/reset-forgets-halves-and-overlong-lines",
                    test_reset_forgets_halves_and_overlong_lines);
    return g_test_run();
}
