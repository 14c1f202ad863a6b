/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Outbox: order and bounds.
 */
#include "agent/outbox.h"

static void
lines_come_out_as_they_went_in(void)
{
    g_autoptr(NpOutbox) outbox = np_outbox_new(100);
    np_outbox_put(outbox, "one");
    np_outbox_put(outbox, "two");
    g_autofree char *first = np_outbox_take(outbox), *second = np_outbox_take(outbox);
    g_assert_cmpstr(first, ==, "one");
    g_assert_cmpstr(second, ==, "two");
    g_assert_null(np_outbox_take(outbox));
    g_assert_cmpuint(np_outbox_lost(outbox), ==, 0);
}

static void
the_oldest_make_room_and_are_counted_once(void)
{
    g_autoptr(NpOutbox) outbox = np_outbox_new(6);
    np_outbox_put(outbox, "aaa");
    np_outbox_put(outbox, "bbb"); /* full to the byte */
    g_assert_cmpuint(np_outbox_lost(outbox), ==, 0);
    np_outbox_put(outbox, "c");
    g_autofree char *left = np_outbox_take(outbox);
    g_assert_cmpstr(left, ==, "bbb");
    g_assert_cmpuint(np_outbox_lost(outbox), ==, 1);
    g_assert_cmpuint(np_outbox_lost(outbox), ==, 0);
}

static void
a_line_larger_than_all_is_lost_and_the_rest_with_it(void)
{
    g_autoptr(NpOutbox) outbox = np_outbox_new(6);
    np_outbox_put(outbox, "a");
    np_outbox_put(outbox, "1234567");
    g_assert_null(np_outbox_take(outbox));
    g_assert_cmpuint(np_outbox_lost(outbox), ==, 2);
    np_outbox_put(outbox, "123456");
    g_autofree char *line = np_outbox_take(outbox);
    g_assert_cmpstr(line, ==, "123456");
}

static void
clearing_forgets_lines_and_losses(void)
{
    g_autoptr(NpOutbox) outbox = np_outbox_new(3);
    np_outbox_put(outbox, "aaa");
    np_outbox_put(outbox, "bbb");
    np_outbox_clear(outbox);
    g_assert_cmpuint(np_outbox_lost(outbox), ==, 0);
    g_assert_null(np_outbox_take(outbox));
    np_outbox_put(outbox, "ccc");
    g_assert_cmpuint(np_outbox_lost(outbox), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/outbox/lines-come-out-as-they-went-in", lines_come_out_as_they_went_in);
    g_test_add_func("/outbox/the-oldest-make-room-and-are-counted-once",
                    the_oldest_make_room_and_are_counted_once);
    g_test_add_func("/outbox/a-line-larger-than-all-is-lost-and-the-rest-with-it",
                    a_line_larger_than_all_is_lost_and_the_rest_with_it);
    g_test_add_func("/outbox/clearing-forgets-lines-and-losses", clearing_forgets_lines_and_losses);
    return g_test_run();
}
