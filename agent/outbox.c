/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Outbox: see outbox.h.
 */
#include "agent/outbox.h"

#include <string.h>

struct NpOutbox {
    GQueue lines; /* char * */
    size_t size, max;
    guint lost;
};

NpOutbox *
np_outbox_new(size_t max)
{
    NpOutbox *outbox = g_new0(NpOutbox, 1);
    g_queue_init(&outbox->lines);
    outbox->max = max;
    return outbox;
}

void
np_outbox_clear(NpOutbox *outbox)
{
    g_queue_clear_full(&outbox->lines, g_free);
    outbox->size = 0;
    outbox->lost = 0;
}

void
np_outbox_free(NpOutbox *outbox)
{
    if (!outbox)
        return;
    np_outbox_clear(outbox);
    g_free(outbox);
}

char *
np_outbox_take(NpOutbox *outbox)
{
    char *line = g_queue_pop_head(&outbox->lines);
    if (line)
        outbox->size -= strlen(line);
    return line;
}

void
np_outbox_put(NpOutbox *outbox, const char *line)
{
    g_queue_push_tail(&outbox->lines, g_strdup(line));
    outbox->size += strlen(line);
    while (outbox->size > outbox->max) {
        g_free(np_outbox_take(outbox));
        outbox->lost++;
    }
}

guint
np_outbox_lost(NpOutbox *outbox)
{
    guint lost = outbox->lost;
    outbox->lost = 0;
    return lost;
}
