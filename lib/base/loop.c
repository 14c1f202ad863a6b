/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Loop: see loop.h.
 */
#include "lib/base/loop.h"

#include <signal.h>
#include <string.h>

#include <glib-unix.h>

#include "lib/base/error.h"

static int interrupted;

static gboolean
note_signal(gpointer data)
{
    if (!interrupted)
        interrupted = GPOINTER_TO_INT(data);
    return G_SOURCE_CONTINUE;
}

void
np_loop_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        g_unix_signal_add(numbers[i], note_signal, GINT_TO_POINTER(numbers[i]));
}

int
np_loop_interrupted(void)
{
    return interrupted;
}

static gboolean
note_timeout(gpointer data)
{
    *(bool *) data = true;
    return G_SOURCE_CONTINUE; /* np_loop_wait removes it */
}

bool
np_loop_wait(NpLoopTest test, gconstpointer data, int64_t timeout_ms, const char *what,
             GError **error)
{
    bool expired = timeout_ms == 0;
    guint timer = timeout_ms > 0
                      ? g_timeout_add((guint) MIN(timeout_ms, G_MAXUINT), note_timeout, &expired)
                      : 0;
    while (!test(data) && !interrupted && !expired)
        g_main_context_iteration(NULL, TRUE);
    if (timer)
        g_source_remove(timer);
    if (test(data))
        return true;
    if (interrupted)
        return np_throw(error, NP_ERROR_INTERRUPTED, "%s: stopped by %s", what,
                        strsignal(interrupted));
    return np_throw(error, NP_ERROR_TIMEOUT, "%s: nothing within %" G_GINT64_FORMAT " ms", what,
                    timeout_ms);
}
