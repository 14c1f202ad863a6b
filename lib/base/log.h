/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Log: structured messages to journald when it is there, one plain line to stderr otherwise.
 */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* Logs one message with the caller's position as CODE_FILE, CODE_LINE and CODE_FUNC: a bare
 * g_log_structured() call does not add them. level: G_LOG_LEVEL_MESSAGE, _WARNING and so on. */
#define np_log(level, ...)                                                                         \
    g_log_structured(G_LOG_DOMAIN, (level), "CODE_FILE", __FILE__, "CODE_LINE",                    \
                     G_STRINGIFY(__LINE__), "CODE_FUNC", G_STRFUNC, "MESSAGE", __VA_ARGS__)

/* Installs the writer: "program: message" on stderr (never stdout, which is data), or structured
 * fields to journald when stderr is connected to it. debug: show levels below MESSAGE too. Call
 * once, first thing in main. program is kept, not copied. */
void np_log_start(const char *program, bool debug);
