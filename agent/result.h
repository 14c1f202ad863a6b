/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Result: what an iperf worker left behind, judged and reduced to a process event.
 */
#pragma once

#include "agent/child.h"
#include "lib/base/json.h"

/* What is known of a worker besides its output. Borrowed. */
typedef struct {
    bool server;
    const char *target; /* a client's */
    unsigned port;
    int64_t start_ns, reset_ns; /* when the interval clock started, was set back; -1: it was not */
    const char *cause;          /* of the worker's end line; NULL: it wrote none */
} NpResultContext;

/* The fields of the process event that come from the worker (transfer full): ok, error, stderr,
 * start_ns, usage, the test's settings, intervals and their sums. ok only when the output holds a
 * complete JSON value without an error, with intervals and with bytes: libiperf's exit status says
 * nothing. Small enough for one line of the protocol. *ret_again: a client that was refused or met
 * a busy server, which is worth another try. Pure. */
json_t *np_result_new(const NpChildResult *child, const NpResultContext *context, bool *ret_again);

/* Replaces the verdict by an error. */
void np_result_set_error(json_t *fields, const GError *error);
