/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Fake agent: answers the protocol in this process, at once, with made-up figures and faults on
 * demand.
 */
#pragma once

#include "lib/proto/proto.h"

/* What goes wrong. Everything else is answered as a healthy agent would. */
typedef enum {
    FAKE_HEALTHY,
    FAKE_STALE_BYTES,        /* the stream begins with the end of an older conversation */
    FAKE_ECHOES,             /* a serial line that sends back what it gets, before the answer */
    FAKE_SILENT,             /* reads, never answers */
    FAKE_OLD_PROTOCOL,       /* speaks another protocol version */
    FAKE_REFUSES_NIC,        /* nic-set fails */
    FAKE_PORT_BUSY,          /* serve fails */
    FAKE_DIES_ON_GO,         /* closes the channel when the load starts */
    FAKE_PROCESS_FAILS,      /* the first process of every job reports an error */
    FAKE_PROCESS_FAILS_ONCE, /* the same, in the first job only */
    FAKE_WRONG_NIC,          /* the NIC under test carries nothing */
} FakeFault;

typedef struct FakeAgent FakeAgent;

/* bps: what each process moves. mac: of its NIC. Answers on the returned agent's channel from the
 * main loop. */
FakeAgent *fake_agent_new(FakeFault fault, const char *mac, double bps);
void fake_agent_free(FakeAgent *agent);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FakeAgent, fake_agent_free)

/* The other end of the channel (the caller's to close). */
int fake_agent_take_fd(FakeAgent *agent);

/* How often a verb was asked; whether the session ended with bye. */
unsigned fake_agent_count(const FakeAgent *agent, NpVerb verb);

/* A pair learns of each other's jobs: when the client's load runs, the server's processes report
 * too. */
void fake_agent_pair(FakeAgent *client, FakeAgent *server);
