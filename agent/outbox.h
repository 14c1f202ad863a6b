/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Outbox: lines kept for a host that is away, within bounds.
 */
#pragma once

#include <stddef.h>

#include <glib.h>

typedef struct NpOutbox NpOutbox;

/* max: bytes of all lines together. */
NpOutbox *np_outbox_new(size_t max);
void np_outbox_free(NpOutbox *outbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpOutbox, np_outbox_free)

/* Keeps a copy of the line; the oldest lines make room for it. */
void np_outbox_put(NpOutbox *outbox, const char *line);

/* Takes the oldest line (transfer full), or NULL. */
char *np_outbox_take(NpOutbox *outbox);

/* How many lines made room since the last call. */
guint np_outbox_lost(NpOutbox *outbox);

void np_outbox_clear(NpOutbox *outbox);
