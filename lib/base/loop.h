/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Loop: waiting for conditions in the main loop, with deadlines and Ctrl-C.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* Whether the awaited thing has happened; looked at after every dispatch of the main context. */
typedef bool (*NpLoopTest)(gconstpointer data);

/* From here on SIGINT, SIGTERM and SIGHUP make every wait end with NP_ERROR_INTERRUPTED instead of
 * ending the program, so that everything is put back. A second signal changes nothing. Call once,
 * in main. */
void np_loop_catch_signals(void);

/* The signal that asked to stop, or 0. */
int np_loop_interrupted(void);

/* Runs the default main context until test(data) holds. Throws TIMEOUT once timeout_ms have passed
 * (-1: never), INTERRUPTED after a signal; what is the awaited thing's name in the message. */
bool np_loop_wait(NpLoopTest test, gconstpointer data, int64_t timeout_ms, const char *what,
                  GError **error);
