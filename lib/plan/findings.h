/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Findings: what in a host stands in the way of passthrough, in words. Pure.
 */
#pragma once

#include "lib/model/inventory.h"
#include "lib/model/lease.h"

typedef enum {
    NP_FINDING_NOTE,    /* worth knowing */
    NP_FINDING_PROBLEM, /* something will not work */
} NpFindingLevel;

typedef struct {
    NpFindingLevel level;
    char *subject; /* an address, or "host", "kernel" */
    char *text;
    char *advice; /* nullable: what to do about it */
} NpFinding;

/* An empty array of NpFinding. */
GPtrArray *np_findings_new(void);

/* Adds one; text and advice (nullable) are copied. */
void np_findings_add(GPtrArray *findings, NpFindingLevel level, const char *subject,
                     const char *text, const char *advice);

/* From an inventory and the leases (of NpLease, judged): IOMMU, groups, SR-IOV switched off in the
 * firmware, VFs that exist for nobody, functions that neither the host nor a VM has, MACs given to
 * two VFs, the host's own path. */
void np_findings_add_inventory(GPtrArray *findings, const NpInventory *inventory,
                               const GPtrArray *leases);

/* From the text of a PF's `resource` attribute, whose lines 8 to 13 are the memory of its VFs: with
 * a size and without a place, the firmware has left no room. */
void np_findings_add_resource(GPtrArray *findings, const NpBdf *pf, const char *resource);

/* From a line of the kernel's log, if it says one of the things that keep VFs or VFIO from working.
 */
void np_findings_add_log(GPtrArray *findings, const char *line);
