/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Sampler: CPU ticks, NIC counters and the load processes' CPU time at chosen moments.
 */
#pragma once

#include "lib/base/json.h"

typedef struct NpSampler NpSampler;

/* Gets one sample event's fields (transfer full). */
typedef void (*NpSample)(json_t *fields, gpointer data);

/* Returns the live load processes as [[job, index, cpu_ns] ..] (transfer full). */
typedef json_t *(*NpSampleProcesses)(gpointer data);

NpSampler *np_sampler_new(NpSample sample, NpSampleProcesses processes, gpointer data);
void np_sampler_free(NpSampler *sampler);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpSampler, np_sampler_free)

/* The cpu verb's two actions; fields: a checked request. start throws BUSY when it runs already and
 * takes its first sample at once; stop throws NOT_FOUND when it does not run, takes a last sample
 * and returns the answer (transfer full). */
bool np_sampler_start(NpSampler *sampler, const json_t *fields, GError **error);
json_t *np_sampler_stop(NpSampler *sampler, GError **error);
