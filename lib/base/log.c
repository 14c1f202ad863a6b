/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Log: see log.h.
 */
#include "lib/base/log.h"

#include <stdio.h>
#include <unistd.h>

static struct {
    const char *program;
    bool debug;
} settings = {"nicpass", false};

static const char *
field_message(const GLogField *fields, gsize count)
{
    for (gsize i = 0; i < count; i++)
        if (g_strcmp0(fields[i].key, "MESSAGE") == 0)
            return fields[i].value;
    return "";
}

static GLogWriterOutput
write_log(GLogLevelFlags level, const GLogField *fields, gsize count, gpointer data)
{
    if ((level & (G_LOG_LEVEL_INFO | G_LOG_LEVEL_DEBUG)) && !settings.debug)
        return G_LOG_WRITER_HANDLED;
    if (g_log_writer_is_journald(STDERR_FILENO) &&
        g_log_writer_journald(level, fields, count, data) == G_LOG_WRITER_HANDLED)
        return G_LOG_WRITER_HANDLED;
    const char *kind = level & G_LOG_LEVEL_WARNING ? "warning: " : "";
    fprintf(stderr, "%s: %s%s\n", settings.program, kind, field_message(fields, count));
    return G_LOG_WRITER_HANDLED;
}

void
np_log_start(const char *program, bool debug)
{
    settings.program = program;
    settings.debug = debug;
    g_log_writer_default_set_use_stderr(TRUE);
    g_log_set_writer_func(write_log, NULL, NULL);
}
