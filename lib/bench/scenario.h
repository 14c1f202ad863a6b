/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Scenario: what to measure, as read from a key file. The format is described in
 * nicpass-scenario(5).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

typedef enum {
    NP_LINK_DIRECT, /* two network namespaces joined by one veth pair */
    NP_LINK_BRIDGE, /* each joined to a bridge in a third namespace */
} NpLink;

typedef enum {
    NP_DIRECTION_FORWARD, /* the side called sender connects and sends */
    NP_DIRECTION_REVERSE, /* the side called sender connects and receives */
} NpDirection;

/* What every JSON reader keeps exactly. */
#define NP_SEED_MAX ((UINT64_C(1) << 53) - 1)

#define NP_SCENARIO_RUNS_MAX     10000
#define NP_SCENARIO_DURATION_MAX (INT64_C(7) * 24 * 3600 * 1000) /* ms */

/* One way to join the two ends: a [topology NAME] group. */
typedef struct {
    char *name;
    NpLink link;
    unsigned mtu; /* bytes; 0: leave the default */
} NpTopology;

typedef struct {
    char *name;   /* one word: the file's name without .ini */
    char *title;  /* a sentence for people */
    char *digest; /* hex SHA-256 over every effective value but title, blocks and seed, so that a
                     scenario with more blocks carries on where one with fewer stopped */
    GPtrArray *topologies; /* NpTopology *, baseline first, at least one */
    GArray *processes;     /* unsigned, 1 to 64, in file order, distinct */
    GArray *directions;    /* NpDirection, distinct */
    bool udp;
    unsigned streams;                    /* per process */
    int64_t omit_ms, window_ms, tail_ms; /* whole seconds in all, see nicpass-scenario(5) */
    int64_t idle_ms;                     /* idle baseline once a boot; 0: none */
    unsigned blocks;                     /* every topology is booted once a block */
    unsigned runs;                       /* repeats inside one boot */
    uint64_t seed;         /* at most NP_SEED_MAX; 0: the run draws one and records it */
    uint64_t rate_bps;     /* per process, 0 unlimited */
    char *congestion;      /* nullable: the kernel's default */
    uint64_t window_bytes; /* socket buffer, 0 automatic */
    bool zerocopy;
    bool pin; /* bind process i to CPU i modulo the CPUs of its side */
} NpScenario;

/* Reads a scenario and applies overrides ("KEY=VALUE" for [scenario], "NAME.KEY=VALUE" for
 * [topology NAME]; NULL-terminated, nullable). Throws CONFIG naming file, line or override and what
 * is allowed. */
NpScenario *np_scenario_load(const char *path, const char *const *overrides, GError **error);

/* The same from text; name stands for the path in messages. Pure. */
NpScenario *
np_scenario_parse(const char *name, const char *text, const char *const *overrides, GError **error);

/* The keys that [scenario] and [topology NAME] take (NULL-terminated), for documents and
 * completion.
 */
extern const char *const np_scenario_keys[];
extern const char *const np_topology_keys[];

/* The words of the file format: "direct", "forward". */
const char *np_link_name(NpLink link);
const char *np_direction_name(NpDirection direction);

void np_scenario_free(NpScenario *scenario);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpScenario, np_scenario_free)
