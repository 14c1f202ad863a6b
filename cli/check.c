/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * nicpass check: looks for what stands in the way of passthrough.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/host.h"
#include "lib/apply/tree.h"
#include "lib/base/fd.h"
#include "lib/bench/table.h"
#include "lib/plan/findings.h"

#define WIDTH       80
#define LOG_MAX     (1u << 20)
#define RECORD_SIZE 8192

static void
add_resources(GPtrArray *findings, int sys, const NpInventory *inventory)
{
    for (guint i = 0; i < inventory->functions->len; i++) {
        const NpFunction *function = g_ptr_array_index(inventory->functions, i);
        g_autofree char *path = np_tree_pci_path(&function->bdf, "resource");
        g_autofree char *text = NULL;
        if (function->sriov && np_tree_read_attr(sys, path, &text) == 0)
            np_findings_add_resource(findings, &function->bdf, text);
    }
}

/* The kernel's log, a record a read; a recorded one is a file of the same lines. False: not for
 * this user. */
static bool
add_log(GPtrArray *findings, int dev)
{
    np_autofd int fd = dev < 0 ? -1 : np_tree_openat(dev, "kmsg", O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return fd == -ENOENT;
    g_autoptr(GString) log = g_string_new(NULL);
    while (log->len < LOG_MAX) {
        char record[RECORD_SIZE];
        ssize_t got = read(fd, record, sizeof(record));
        if (got < 0 && (errno == EPIPE || errno == EINTR)) /* overwritten while we read */
            continue;
        if (got <= 0)
            break;
        g_string_append_len(log, record, got);
    }
    g_auto(GStrv) lines = g_strsplit(log->str, "\n", -1);
    for (char **line = lines; *line; line++) {
        const char *text = strchr(*line, ';'); /* "priority,number,time,flags;text" */
        np_findings_add_log(findings, text ? text + 1 : *line);
    }
    return true;
}

static void
add_host(GPtrArray *findings, const NpScanRoots *roots)
{
    if (!np_tree_exists(roots->sys, "bus/pci/drivers/vfio-pci"))
        np_findings_add(findings, NP_FINDING_NOTE, "host",
                        "vfio-pci is not loaded (nicpass loads it when a VM needs it)", NULL);
    if (roots->dev < 0 || !np_tree_exists(roots->dev, "kvm"))
        np_findings_add(findings, NP_FINDING_PROBLEM, "host", "there is no /dev/kvm",
                        "switch virtualisation (VT-x, AMD-V) on in the firmware set-up");
}

static json_t *
finding_to_json(const NpFinding *finding)
{
    json_t *object = json_pack("{s:s, s:s, s:s}", "level",
                               finding->level == NP_FINDING_PROBLEM ? "problem" : "note", "subject",
                               finding->subject, "text", finding->text);
    if (finding->advice)
        json_object_set_new(object, "advice", json_string(finding->advice));
    return object;
}

static void
print_finding(const NpFinding *finding)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autofree char *line =
        g_strdup_printf("%s: %s: %s", finding->level == NP_FINDING_PROBLEM ? "problem" : "note",
                        finding->subject, finding->text);
    np_text_wrap(out, line, WIDTH, "", "    ");
    if (finding->advice)
        np_text_wrap(out, finding->advice, WIDTH, "    -> ", "       ");
    fputs(out->str, stdout);
}

static NpExit
print_findings(const GPtrArray *findings, bool json)
{
    unsigned problems = 0;
    json_t *list = json_array();
    for (guint i = 0; i < findings->len; i++) {
        const NpFinding *finding = g_ptr_array_index(findings, i);
        problems += finding->level == NP_FINDING_PROBLEM;
        json_array_append_new(list, finding_to_json(finding));
        if (!json)
            print_finding(finding);
    }
    if (json)
        np_cli_print_json(json_pack("{s:b, s:O}", "root", np_cli_is_root(), "findings", list));
    else if (findings->len == 0)
        puts("nothing stands in the way");
    json_decref(list);
    return problems ? NP_EXIT_FAILED : NP_EXIT_OK;
}

NpExit
np_cmd_check(int argc, char **argv, GError **error)
{
    g_auto(NpHostOptions) options = {NULL};
    g_auto(NpCliHost) host = {NULL};
    NpExit status;
    g_autoptr(NpInventory) inventory =
        np_cli_host_look("check", &options, argc, argv, &host, &status, error);
    if (!inventory)
        return status;
    g_autoptr(GPtrArray) findings = np_findings_new();
    const NpScanRoots *roots = np_sys_linux_roots(host.sys);
    g_autoptr(GPtrArray) leases = np_cli_read_leases(&host);
    add_host(findings, roots);
    np_findings_add_inventory(findings, inventory, leases);
    add_resources(findings, roots->sys, inventory);
    if (!add_log(findings, roots->dev))
        np_findings_add(findings, NP_FINDING_NOTE, "kernel", "its log is for root only", NULL);
    if (!np_cli_is_root())
        np_findings_add(findings, NP_FINDING_NOTE, "host",
                        "not root: ACS of ports, who has a VFIO group open, and running libvirt "
                        "domains cannot be seen",
                        NULL);
    return print_findings(findings, options.json);
}
