/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Info: see info.h. Here is what collects; infoformat.c makes the answer of it.
 */
#include "agent/info.h"

#include <string.h>
#include <sys/utsname.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "agent/infoformat.h"
#include "agent/machine.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"

#define TEXT_MAX        128
#define CPUINFO_MAX     (16 * 1024 * 1024)
#define OS_RELEASE_MAX  65536
#define CLOCKSOURCE_DIR "/sys/devices/system/clocksource/clocksource0/"

/* Settings that change throughput or CPU cost. Some exist only in the first network namespace. */
static const char *const sysctls[] = {
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.rmem_default",
    "net.core.wmem_default",
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.dev_weight",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.optmem_max",
    "net.core.rps_sock_flow_entries",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_mem",
    "net.ipv4.udp_mem",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_dsack",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_early_retrans",
    "net.ipv4.tcp_recovery",
    "kernel.numa_balancing",
    "kernel.sched_autogroup_enabled",
};

static void
collect_sysctls(NpInfo *info)
{
    for (size_t i = 0; i < G_N_ELEMENTS(sysctls); i++) {
        g_autofree char *path = g_strconcat("/proc/sys/", sysctls[i], NULL);
        g_strdelimit(path + strlen("/proc/sys/"), ".", '/');
        g_autofree char *value = np_file_read_line(path);
        if (!value)
            continue;
        g_strdelimit(value, "\t", ' ');
        g_autofree char *cut = g_strndup(value, TEXT_MAX);
        json_object_set_new(info->sysctls, sysctls[i], json_string(cut));
    }
}

#if defined(__x86_64__) || defined(__i386__)
/* The hypervisor's signature, which it shows at a leaf of its own. KVM that also plays Hyper-V for
 * its guest shows Hyper-V's first and its own 0x100 further on, hence the second look. */
static const char *
hypervisor_by_cpuid(void)
{
    static const struct {
        char signature[13];
        const char *name;
    } known[] = {
        {"KVMKVMKVM\0\0\0", "kvm"}, {"TCGTCGTCGTCG", "qemu"},    {"XenVMMXenVMM", "xen"},
        {"VMwareVMware", "vmware"}, {"Microsoft Hv", "hyper-v"}, {"bhyve bhyve ", "bhyve"},
    };
    static const unsigned leaves[] = {0x40000100, 0x40000000};
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return NULL;
    if (!(c & (UINT32_C(1) << 31)))
        return "none";
    for (size_t l = 0; l < G_N_ELEMENTS(leaves); l++) {
        char signature[12];
        __cpuid(leaves[l], a, b, c, d);
        memcpy(signature, &b, 4);
        memcpy(signature + 4, &c, 4);
        memcpy(signature + 8, &d, 4);
        for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
            if (memcmp(signature, known[i].signature, sizeof(signature)) == 0)
                return known[i].name;
    }
    return NULL;
}
#else
static const char *
hypervisor_by_cpuid(void)
{
    return NULL;
}
#endif

/* NULL when nothing tells. */
static char *
collect_virtualisation(void)
{
    const char *name = hypervisor_by_cpuid();
    if (name)
        return g_strdup(name);
    char *type = np_file_read_line("/sys/hypervisor/type");
    if (type)
        return type;
    g_autofree char *vendor = np_file_read_line("/sys/class/dmi/id/sys_vendor");
    return vendor && g_str_has_prefix(vendor, "QEMU") ? g_strdup("qemu") : NULL;
}

/* A file's text through one of the pure parsers; NULL when there is no such file or line. */
static char *
collect_from(const char *path, size_t max, char *(*parse)(const char *text))
{
    g_autofree char *text = NULL;
    return np_file_read(path, max, &text, NULL, NULL) ? parse(text) : NULL;
}

/* At most TEXT_MAX bytes of a string (taken over). */
static char *
cut_text(char *text)
{
    if (text && strlen(text) > TEXT_MAX)
        text[TEXT_MAX] = '\0';
    return text;
}

static bool
collect_nics(NpInfo *info, GError **error)
{
    g_autoptr(NpNetlink) netlink = np_netlink_open(error);
    if (!netlink)
        return false;
    g_autoptr(GPtrArray) links = np_links_read(netlink, error);
    if (!links)
        return false;
    np_autofd int fd = np_ethtool_open(error);
    if (fd < 0)
        return false;
    for (guint i = 0; i < links->len; i++) {
        NpInfoNic nic = {.link = *(const NpLink *) links->pdata[i]};
        np_ethtool_read(fd, nic.link.name, &nic.ethtool);
        if (!nic.link.has_permanent_mac && !nic.link.stacked)
            nic.link.has_permanent_mac =
                np_ethtool_permanent_mac(fd, nic.link.name, &nic.link.permanent_mac);
        if (nic.ethtool.pci)
            np_pcie_read("/sys/bus/pci/devices", nic.ethtool.pci, &nic.pcie);
        g_array_append_val(info->nics, nic);
    }
    return true;
}

json_t *
np_info_collect(GError **error)
{
    g_auto(NpInfo) info = {0};
    np_info_init(&info);
    struct utsname names;
    if (uname(&names) == 0)
        info.kernel = g_strdup(names.release);
    info.distribution =
        cut_text(collect_from("/etc/os-release", OS_RELEASE_MAX, np_info_os_release));
    info.virtualisation = cut_text(collect_virtualisation());
    info.clock_source = cut_text(np_file_read_line(CLOCKSOURCE_DIR "current_clocksource"));
    info.cpu_model = cut_text(collect_from("/proc/cpuinfo", CPUINFO_MAX, np_info_cpu_model));
    info.microcode = cut_text(collect_from("/proc/cpuinfo", CPUINFO_MAX, np_info_microcode));
    info.machine = np_machine_collect("", info.kernel);
    info.cpus = sysconf(_SC_NPROCESSORS_ONLN);
    info.hz = sysconf(_SC_CLK_TCK);
    collect_sysctls(&info);
    if (!collect_nics(&info, error))
        return NULL;
    return np_info_format(&info);
}
