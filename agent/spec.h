/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Spec: what a serve or load request asks of its processes.
 */
#pragma once

#include "lib/base/json.h"

/* Checks what the protocol's tables of fields cannot say. fields: a checked request. Throw CONFIG.
 * Pure. */
bool np_spec_check_ports(const json_t *fields, GError **error);
bool np_spec_check_load(const json_t *fields, GError **error);

/* The job (agent/iperf.h) of the request's process i (transfer full). Pure. */
json_t *np_spec_worker(const json_t *fields, bool server, unsigned i);
