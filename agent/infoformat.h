/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Info format: the info verb's answer from collected facts, within one line of the protocol.
 */
#pragma once

#include "agent/ethtool.h"
#include "agent/netlink.h"
#include "agent/pcie.h"
#include "lib/base/json.h"

typedef struct {
    NpLink link;
    NpEthtool ethtool;
    NpPcie pcie;
} NpInfoNic;

/* Absent strings are NULL, absent numbers -1. */
typedef struct {
    char *kernel, *distribution, *virtualisation, *clock_source, *cpu_model, *microcode;
    int64_t cpus, hz;
    json_t *machine; /* members of the answer that need no formatting; NULL: none */
    json_t *sysctls; /* name to value, both strings */
    GArray *nics;    /* NpInfoNic, cleared with the array */
} NpInfo;

void np_info_init(NpInfo *info);
void np_info_clear(NpInfo *info);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NpInfo, np_info_clear)

/* The answer (transfer full). When it would not fit a line, the offloads of all NICs are left out,
 * then NICs from the last on; the member "left_out" names what was: ["offloads", "nics"]. Pure. */
json_t *np_info_format(const NpInfo *info);

/* PRETTY_NAME of an os-release(5) text (transfer full), or NULL. Pure. */
char *np_info_os_release(const char *text);

/* The first CPU's "model name" in a /proc/cpuinfo text (transfer full), or NULL: not every
 * architecture has one. Pure. */
char *np_info_cpu_model(const char *text);

/* The same of its "microcode". */
char *np_info_microcode(const char *text);
