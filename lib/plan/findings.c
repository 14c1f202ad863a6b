/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Findings: see findings.h.
 */
#include "lib/plan/findings.h"

#include <string.h>

#include "lib/plan/guard.h"

#define CLASS_NETWORK     0x02
#define RESOURCE_VF_FIRST 7
#define RESOURCE_VF_LAST  12
#define LINE_MAX_BYTES    160

static void
finding_free(gpointer data)
{
    NpFinding *finding = data;
    g_free(finding->subject);
    g_free(finding->text);
    g_free(finding->advice);
    g_free(finding);
}

GPtrArray *
np_findings_new(void)
{
    return g_ptr_array_new_with_free_func(finding_free);
}

void
np_findings_add(GPtrArray *findings, NpFindingLevel level, const char *subject, const char *text,
                const char *advice)
{
    NpFinding *finding = g_new0(NpFinding, 1);
    finding->level = level;
    finding->subject = g_strdup(subject);
    finding->text = g_strdup(text);
    finding->advice = g_strdup(advice);
    g_ptr_array_add(findings, finding);
}

static void
add_for(GPtrArray *findings, NpFindingLevel level, const NpFunction *function, const char *text,
        const char *advice)
{
    char bdf[NP_BDF_TEXT_SIZE];
    np_findings_add(findings, level, np_bdf_format(&function->bdf, bdf), text, advice);
}

static bool
is_network(const NpFunction *function)
{
    return function->class_code >> 16 == CLASS_NETWORK && function->kind != NP_FUNCTION_PORT;
}

static bool
is_leased(const GPtrArray *leases, const NpFunction *function)
{
    for (guint i = 0; i < leases->len; i++)
        if (np_bdf_equal(&((const NpLease *) g_ptr_array_index(leases, i))->bdf, &function->bdf))
            return true;
    return false;
}

static bool
is_vfio(const NpFunction *function)
{
    return function->vfio != NP_VFIO_NONE;
}

static bool
is_used(const GPtrArray *leases, const NpFunction *function)
{
    return function->uses->len > 0 || function->vfio == NP_VFIO_BUSY || is_leased(leases, function);
}

static void
add_group(GPtrArray *findings, const NpInventory *inventory, const NpFunction *function)
{
    g_autoptr(GArray) ours = g_array_new(FALSE, FALSE, sizeof(NpBdf));
    g_autoptr(GError) problem = NULL;
    bool fine = np_guard_group(inventory, function, ours, &problem);
    if (fine && function->sriov && function->sriov->count == 0 && function->sriov->total > 0)
        fine = np_guard_future_group(inventory, function, &problem);
    if (!fine)
        add_for(findings, NP_FINDING_PROBLEM, function, problem->message, NULL);
}

static void
add_sriov(GPtrArray *findings, const NpInventory *inventory, const NpFunction *pf,
          const GPtrArray *leases)
{
    unsigned idle = 0;
    if (pf->sriov->total == 0)
        add_for(findings, NP_FINDING_PROBLEM, pf, "SR-IOV is switched off in the card's firmware",
                "switch it on with the vendor's tool (Mellanox: mstconfig -d ADDRESS set "
                "SRIOV_EN=1 NUM_OF_VFS=8) or in the firmware set-up, then power-cycle");
    for (guint i = 0; i < inventory->functions->len; i++) {
        const NpFunction *vf = g_ptr_array_index(inventory->functions, i);
        if (vf->kind == NP_FUNCTION_VF && np_bdf_equal(&vf->physfn, &pf->bdf) &&
            !is_used(leases, vf))
            idle++;
    }
    if (idle > 0) {
        g_autofree char *text =
            g_strdup_printf("%u of its %u VFs exist for nobody, which costs the others speed", idle,
                            pf->sriov->count);
        add_for(findings, NP_FINDING_NOTE, pf, text,
                "make fewer with nicpass vfs, once no VM uses the port");
    }
    if (pf->sriov->count > 0 && !pf->sriov->has_attrs)
        add_for(findings, NP_FINDING_NOTE, pf, "the settings of its VFs cannot be read",
                "only the driver of a port that has an interface can set MAC, VLAN and the like");
}

/* Neither the host nor a VM has it. A VF that was made without drivers is meant to be so. */
static void
add_lost(GPtrArray *findings, const NpInventory *inventory, const NpFunction *function,
         const GPtrArray *leases)
{
    const NpFunction *pf =
        function->kind == NP_FUNCTION_VF ? np_inventory_find(inventory, &function->physfn) : NULL;
    if (is_used(leases, function) || function->net)
        return;
    if (!function->driver && pf && pf->sriov && !pf->sriov->autoprobe)
        return;
    if (!function->driver || is_vfio(function)) {
        g_autofree char *text = g_strdup_printf(
            "is in no lease, and %s%s: neither the host nor a VM has it",
            function->driver ? "on " : "has no driver", function->driver ? function->driver : "");
        add_for(findings, NP_FINDING_NOTE, function, text,
                "nicpass repair puts back what nicpass did; else write the address to "
                "/sys/bus/pci/drivers_probe after clearing its driver_override");
    } else if (function->driver_override &&
               strcmp(function->driver_override, function->driver) != 0) {
        g_autofree char *text =
            g_strdup_printf("has driver_override %s and is on %s: it changes hands at its next "
                            "binding",
                            function->driver_override, function->driver);
        add_for(findings, NP_FINDING_NOTE, function, text, NULL);
    }
}

/* The first VF before this one with the same admin MAC, as text; NULL: none. */
static char *
find_twin(const NpInventory *inventory, const NpFunction *vf, const NpVfAttrs *attrs)
{
    static const NpMac zero;
    for (guint i = 0; i < inventory->functions->len; i++) {
        const NpFunction *other = g_ptr_array_index(inventory->functions, i);
        const NpVfAttrs *others =
            other->kind == NP_FUNCTION_VF ? np_inventory_vf_attrs(inventory, other) : NULL;
        char bdf[NP_BDF_TEXT_SIZE];
        if (other == vf)
            return NULL;
        if (others && !np_mac_equal(&attrs->mac, &zero) && np_mac_equal(&attrs->mac, &others->mac))
            return g_strdup(np_bdf_format(&other->bdf, bdf));
    }
    return NULL;
}

static void
add_twin(GPtrArray *findings, const NpInventory *inventory, const NpFunction *vf)
{
    const NpVfAttrs *attrs = np_inventory_vf_attrs(inventory, vf);
    char mac[NP_MAC_TEXT_SIZE];
    g_autofree char *twin = attrs ? find_twin(inventory, vf, attrs) : NULL;
    if (!twin)
        return;
    g_autofree char *text =
        g_strdup_printf("has the MAC %s, and so has %s", np_mac_format(&attrs->mac, mac), twin);
    add_for(findings, NP_FINDING_PROBLEM, vf, text, "nicpass repair, or set another MAC");
}

void
np_findings_add_inventory(GPtrArray *findings, const NpInventory *inventory,
                          const GPtrArray *leases)
{
    if (!inventory->iommu)
        np_findings_add(findings, NP_FINDING_PROBLEM, "host", "no IOMMU is active",
                        "switch VT-d or AMD-Vi on in the firmware set-up, and on Intel boot with "
                        "intel_iommu=on iommu=pt");
    if (inventory->path_problem)
        np_findings_add(findings, NP_FINDING_PROBLEM, "host", inventory->path_problem, NULL);
    for (guint i = 0; i < inventory->functions->len; i++) {
        const NpFunction *function = g_ptr_array_index(inventory->functions, i);
        if (!is_network(function))
            continue;
        if (inventory->iommu)
            add_group(findings, inventory, function);
        if (function->sriov)
            add_sriov(findings, inventory, function, leases);
        if (function->kind == NP_FUNCTION_VF)
            add_twin(findings, inventory, function);
        add_lost(findings, inventory, function, leases);
    }
}

/* "0x0000000000000000" */
static bool
is_zero(const char *text)
{
    return g_str_has_prefix(text, "0x0") && strspn(text, "0x") == strlen(text);
}

void
np_findings_add_resource(GPtrArray *findings, const NpBdf *pf, const char *resource)
{
    char bdf[NP_BDF_TEXT_SIZE];
    g_auto(GStrv) lines = g_strsplit(resource, "\n", -1);
    guint count = g_strv_length(lines);
    for (guint i = RESOURCE_VF_FIRST; i <= RESOURCE_VF_LAST && i < count; i++) {
        g_auto(GStrv) word = g_strsplit(lines[i], " ", 4); /* start, end, flags */
        if (g_strv_length(word) != 3 || !is_zero(word[0]) || is_zero(word[2]) ||
            !g_str_has_prefix(word[2], "0x"))
            continue;
        np_findings_add(findings, NP_FINDING_PROBLEM, np_bdf_format(pf, bdf),
                        "there is no room for the memory of its VFs",
                        "switch SR-IOV and 'Above 4G decoding' on in the firmware set-up, or boot "
                        "with pci=realloc");
        return;
    }
}

typedef struct {
    const char *words; /* as in the log */
    NpFindingLevel level;
    const char *advice;
} LogRule;

static const LogRule log_rules[] = {
    {"not enough MMIO resources for SR-IOV", NP_FINDING_PROBLEM,
     "switch SR-IOV and 'Above 4G decoding' on in the firmware set-up, or boot with pci=realloc"},
    {"SR-IOV: bus number out of range", NP_FINDING_PROBLEM, "boot with pci=assign-busses"},
    {"VFs already enabled", NP_FINDING_NOTE, "somebody tried to change a number of VFs that exist"},
    {"is not trusted, switch", NP_FINDING_NOTE,
     "a guest wants more than its VF may: trust = on allows it"},
    {"attempted to override", NP_FINDING_NOTE,
     "a guest changed its MAC: mac = guest or trust = on allow it"},
    {"Spoofed packets detected", NP_FINDING_NOTE,
     "a guest sends from a MAC that is not its own: spoofchk = off allows it"},
    {"No interrupt remapping support", NP_FINDING_PROBLEM,
     "switch interrupt remapping (x2APIC) on in the firmware set-up"},
    {"DMAR: [DMA", NP_FINDING_PROBLEM, "a device reaches for memory that is not its own"},
    {"AMD-Vi: Event logged", NP_FINDING_PROBLEM, "a device reaches for memory that is not its own"},
};

void
np_findings_add_log(GPtrArray *findings, const char *line)
{
    for (size_t i = 0; i < G_N_ELEMENTS(log_rules); i++) {
        const LogRule *rule = &log_rules[i];
        if (!strstr(line, rule->words))
            continue;
        for (guint j = 0; j < findings->len; j++) {
            const NpFinding *finding = g_ptr_array_index(findings, j);
            if (strcmp(finding->subject, "kernel") == 0 && strstr(finding->text, rule->words))
                return; /* said once is enough */
        }
        /* A line end inside a message is written so by /dev/kmsg. */
        const char *more = strstr(line, "\\x0a");
        size_t size = more ? (size_t) (more - line) : strlen(line);
        g_autofree char *start = g_strndup(line, MIN(size, LINE_MAX_BYTES));
        g_autofree char *text = g_str_to_ascii(start, "C");
        for (char *at = text; *at; at++)
            if (g_ascii_iscntrl(*at))
                *at = '?';
        np_findings_add(findings, rule->level, "kernel", text, rule->advice);
        return;
    }
}
