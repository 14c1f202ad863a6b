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

/* One way to join the two ends: a [topology NAME] group. */
typedef struct {
    char *name;
    NpLink link;
    unsigned mtu; /* bytes; 0: leave the default */
} NpTopology;

typedef struct {
    char *name;   /* one word: the file's name without .ini */
    char *title;  /* a sentence for people */
    char *digest; /* hex SHA-256 over every effective value but the seed: equal scenarios, equal
                     digest */
    GPtrArray *topologies; /* NpTopology *, baseline first, at least one */
    GArray *processes;     /* unsigned, 1 to 64, in file order, distinct */
    GArray *directions;    /* NpDirection, distinct */
    bool udp;
    unsigned streams;                    /* per process */
    int64_t omit_ms, window_ms, tail_ms; /* whole seconds in all, see nicpass-scenario(5) */
    int64_t idle_ms;                     /* idle baseline once a boot; 0: none */
    unsigned blocks;                     /* every topology is booted once a block */
    unsigned runs;                       /* repeats inside one boot */
    uint64_t seed;                       /* 0: the run draws one and records it */
    uint64_t rate_bps;                   /* per process, 0 unlimited */
    char *congestion;                    /* nullable: the kernel's default */
    uint64_t window_bytes;               /* socket buffer, 0 automatic */
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

void np_scenario_free(NpScenario *scenario);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpScenario, np_scenario_free)
