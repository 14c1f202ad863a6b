/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Records: one JSON object a run, made from what was gathered, kept in an append-only file.
 */
#pragma once

#include "lib/base/json.h"
#include "lib/bench/matrix.h"

/* What one end gave in one run. JSON members are the agent's own messages (lib/proto/proto.h).
 * Borrowed. */
typedef struct {
    const char *endpoint;    /* "local" */
    const char *mac;         /* of the NIC under test */
    const json_t *hello;     /* hello reply's ok */
    const json_t *info;      /* info reply's ok */
    const json_t *idle;      /* array of sample events while idle, once a boot; nullable */
    const json_t *samples;   /* array of sample events of this run, in arrival order */
    const json_t *processes; /* array of process events of this run's job, any order */
    int64_t offset_ns;       /* the agent's clock minus the host's */
    int64_t offset_error_ns; /* half the round trip of the measurement of it */
} NpSide;

/* Everything that one run gave. Borrowed. */
typedef struct {
    const NpScenario *scenario;
    const NpRun *run;
    uint64_t seed;
    const char *started;     /* UTC, ISO 8601 */
    NpSide sender, receiver; /* the client's side and the server's side */
    bool shared_kernel;      /* both ends run on one kernel, so its CPU counts once */
    int64_t from_ns, to_ns;  /* the window's edges on the host's clock; 0 when it never began */
    const GError *failure;   /* nullable: why the run could not be carried out */
} NpResult;

/* The record of a run (transfer full): goodput from the receiving end's intervals cut to the
 * window, CPU and NIC counters between the samples at its edges, verdict of the sanity rules
 * (valid, causes, flags). Its fields and units are described in nicpass-record(5). Never fails:
 * what is missing makes it invalid. Pure. */
json_t *np_record_new(const NpResult *result);

#define NP_RECORD_SCHEMA 1
#define NP_RECORDS_FILE  "records.jsonl"

/* An append-only file of records, locked against a second writer. */
typedef struct NpRecords NpRecords;

/* Opens or creates DIR/records.jsonl for writing; DIR is created when missing. A half-written last
 * line, left by a crash, is cut off. Throws BUSY when another process writes there, CONFIG when a
 * record in it belongs to another scenario (by digest) or is unreadable (line number). digest NULL:
 * any scenario. */
NpRecords *np_records_open(const char *dir, const char *digest, GError **error);
void np_records_free(NpRecords *records);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpRecords, np_records_free)

/* Whether a valid record of the key is there; the seed of the records, 0 when there is none. */
bool np_records_has_valid(const NpRecords *records, const char *key);
uint64_t np_records_seed(const NpRecords *records);

/* Appends one line and fsyncs it. */
bool np_records_append(NpRecords *records, const json_t *record, GError **error);

/* Reads all records of DIR for a report (array, transfer full); needs no write permission. A
 * half-written last line is passed over. Throws NOT_FOUND, or CONFIG with file and line. */
json_t *np_records_read(const char *dir, GError **error);
