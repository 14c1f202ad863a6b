/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Run: carries out the runs of a scenario on a stage and appends their records.
 */
#pragma once

#include "lib/bench/matrix.h"
#include "lib/bench/record.h"
#include "lib/proto/peer.h"

/* One end of a topology that has been booted. */
typedef struct {
    NpPeer *peer;         /* its agent, not greeted yet */
    char *endpoint;       /* "local" */
    char *mac;            /* of the NIC under test */
    char *address, *cidr; /* what that NIC shall get: "198.18.0.1", "198.18.0.1/24" */
} NpEnd;

/* A topology that has been booted: two agents whose NICs are joined. */
typedef struct {
    NpEnd sender, receiver;
    bool shared_kernel; /* both ends run on one kernel */
    void *handle;       /* the stage's own */
} NpBoot;

/* Who builds topologies. halt takes down everything that boot made, also after a boot that failed
 * half-way, and is called exactly once for every boot. The agents' events must reach event with
 * data. */
typedef struct {
    bool (*boot)(const NpTopology *topology, NpPeerEvent event, gpointer data, NpBoot *ret_boot,
                 GError **error);
    void (*halt)(NpBoot *boot);
} NpStage;

/* Where a benchmark stands, for whoever shows it. */
typedef struct {
    const NpScenario *scenario;
    const NpRun *run;
    unsigned index, count; /* of the run, from 0 */
    double live_bps; /* what the receiving NIC took in during the last second; NAN when unknown */
    int64_t left_ms; /* at the least */
    const json_t *record; /* of the run that has just ended, NULL while it goes on */
} NpProgress;

typedef void (*NpProgressFunc)(const NpProgress *progress, gpointer data);

typedef struct {
    unsigned done, skipped,
        invalid; /* runs of this call; skipped: a valid record was there already */
} NpBenchResult;

/* Carries out every run that has no valid record yet, booting once a block and topology. A run that
 * fails is recorded as invalid with its cause and the next one goes on, on a fresh boot if an agent
 * was lost. Throws INTERRUPTED (the run under way is not recorded), or whatever stops everything: a
 * boot that fails, a record that cannot be written. Everything booted is halted in
 * every case. */
bool np_bench(const NpScenario *scenario, uint64_t seed, const NpStage *stage, NpRecords *records,
              NpProgressFunc progress, gpointer data, NpBenchResult *ret_result, GError **error);
