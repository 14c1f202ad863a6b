/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Session: what one host asks of this agent, from its hello to its end.
 */
#pragma once

#include "agent/channel.h"
#include "agent/nic.h"

typedef struct NpSession NpSession;

/* Serves the channel, which it starts. gone_ms: how long a session outlives its host. channel and
 * nics are borrowed. closed is called when the channel has closed for good. */
NpSession *np_session_new(NpChannel *channel, NpNics *nics, guint gone_ms,
                          void (*closed)(gpointer data), gpointer data);

/* Ends whatever session there is (jobs killed and reaped, sampler stopped, NICs put back), then
 * calls done, at once or from the main loop. Nothing is served any more. */
void np_session_shutdown(NpSession *session, void (*done)(gpointer data), gpointer data);

/* Call only after np_session_shutdown is done. */
void np_session_free(NpSession *session);
