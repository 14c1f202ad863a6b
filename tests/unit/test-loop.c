/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Loop: waiting for something, for too long, and until Ctrl-C.
 */
#include <signal.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/loop.h"

static bool
is_set(gconstpointer data)
{
    return *(const int *) data != 0;
}

/* Counts down to 0, then sets what was awaited. */
typedef struct {
    int left, done;
} Countdown;

static gboolean
count_down(gpointer data)
{
    Countdown *countdown = data;
    if (countdown->left-- > 0)
        return G_SOURCE_CONTINUE;
    countdown->done = 1;
    return G_SOURCE_REMOVE;
}

static void
test_what_has_happened_is_not_waited_for(void)
{
    static const int done = 1;
    static const int64_t timeouts[] = {-1, 0, 1, 60000};
    for (size_t i = 0; i < G_N_ELEMENTS(timeouts); i++)
        g_assert_true(np_loop_wait(is_set, &done, timeouts[i], "it", NULL));
}

static void
test_events_are_dispatched_until_it_happens(void)
{
    static const int64_t timeouts[] = {-1, 60000, INT64_MAX};
    for (size_t i = 0; i < G_N_ELEMENTS(timeouts); i++) {
        Countdown countdown = {.left = 5};
        g_autoptr(GError) error = NULL;
        g_idle_add(count_down, &countdown);
        g_assert_true(np_loop_wait(is_set, &countdown.done, timeouts[i], "it", &error));
        g_assert_no_error(error);
        g_assert_cmpint(countdown.left, ==, -1);
    }
}

static void
test_a_deadline_is_an_error_that_names_what_was_awaited(void)
{
    static const int never = 0;
    static const int64_t timeouts[] = {0, 5};
    for (size_t i = 0; i < G_N_ELEMENTS(timeouts); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(np_loop_wait(is_set, &never, timeouts[i], "the agent's answer", &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_TIMEOUT);
        g_assert_true(g_str_has_prefix(error->message, "the agent's answer: "));
    }
    g_assert_false(g_main_context_pending(NULL)); /* no timer is left */
    g_assert_cmpint(np_loop_interrupted(), ==, 0);
}

static gboolean
interrupt(gpointer data)
{
    (void) raise(GPOINTER_TO_INT(data));
    return G_SOURCE_REMOVE;
}

static void
wait_interrupted(int first, int second)
{
    static const int never = 0;
    g_autoptr(GError) error = NULL, later = NULL;
    np_loop_catch_signals();
    g_idle_add(interrupt, GINT_TO_POINTER(first));
    g_assert_false(np_loop_wait(is_set, &never, -1, "the end", &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_INTERRUPTED);
    g_assert_nonnull(strstr(error->message, strsignal(first)));
    g_assert_cmpint(np_loop_interrupted(), ==, first);
    /* From then on no wait waits, a second signal changes nothing, and what has happened counts. */
    g_assert_cmpint(raise(second), ==, 0);
    while (g_main_context_iteration(NULL, FALSE))
        ;
    g_assert_false(np_loop_wait(is_set, &never, -1, "the end", &later));
    g_assert_error(later, NP_ERROR, NP_ERROR_INTERRUPTED);
    g_assert_cmpint(np_loop_interrupted(), ==, first);
    static const int done = 1;
    g_assert_true(np_loop_wait(is_set, &done, -1, "it", NULL));
}

/* An interruption lasts, so each has a process of its own. */
static void
test_signals_interrupt(gconstpointer data)
{
    if (g_test_subprocess()) {
        int first = GPOINTER_TO_INT(data);
        wait_interrupted(first, first == SIGTERM ? SIGINT : SIGTERM);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_passed();
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/loop/what-has-happened-is-not-waited-for",
                    test_what_has_happened_is_not_waited_for);
    g_test_add_func("/loop/events-are-dispatched-until-it-happens",
                    test_events_are_dispatched_until_it_happens);
    g_test_add_func("/loop/a-deadline-is-an-error-that-names-what-was-awaited",
                    test_a_deadline_is_an_error_that_names_what_was_awaited);
    g_test_add_data_func("/loop/sigint-interrupts", GINT_TO_POINTER(SIGINT),
                         test_signals_interrupt);
    g_test_add_data_func("/loop/sigterm-interrupts", GINT_TO_POINTER(SIGTERM),
                         test_signals_interrupt);
    g_test_add_data_func("/loop/sighup-interrupts", GINT_TO_POINTER(SIGHUP),
                         test_signals_interrupt);
    return g_test_run();
}
