/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Machine: see machine.h.
 */
#include "agent/machine.h"

#include <string.h>

#include "agent/procpid.h"
#include "lib/base/fd.h"
#include "lib/base/parse.h"

#define TEXT_MAX         128
#define COMMAND_LINE_MAX 1024
#define CONFIG_MAX       (1024 * 1024)
#define MEMINFO_MAX      65536
#define MITIGATIONS_MAX  64
#define CPUS_MAX         8192
#define CPU_DIR          "/sys/devices/system/cpu/"

/* They decide how CPU time is counted and how often the kernel is interrupted. */
static const char *const options[] = {
    "CONFIG_HZ",
    "CONFIG_TICK_CPU_ACCOUNTING",
    "CONFIG_VIRT_CPU_ACCOUNTING_GEN",
    "CONFIG_IRQ_TIME_ACCOUNTING",
    "CONFIG_PARAVIRT_TIME_ACCOUNTING",
    "CONFIG_NO_HZ_IDLE",
    "CONFIG_NO_HZ_FULL",
    "CONFIG_PREEMPT_NONE",
    "CONFIG_PREEMPT_VOLUNTARY",
    "CONFIG_PREEMPT",
    "CONFIG_PREEMPT_DYNAMIC",
    "CONFIG_PREEMPT_RT",
};

static void
put_text(json_t *facts, const char *key, const char *text, size_t max)
{
    if (!text || text[0] == '\0')
        return;
    g_autofree char *cut = g_strndup(text, max);
    g_autofree char *valid = g_utf8_make_valid(cut, -1);
    json_object_set_new(facts, key, json_string(valid));
}

static char *
read_line(const char *root, const char *path)
{
    g_autofree char *whole = g_strconcat(root, path, NULL);
    return np_file_read_line(whole);
}

static bool
read_number(const char *root, const char *path, uint64_t *ret_value)
{
    g_autofree char *text = read_line(root, path);
    return text && np_parse_uint(text, 0, INT64_MAX, ret_value, NULL);
}

/* ## The kernel */

/* The value of "name=value" at a line's begin (transfer full), or NULL. */
static char *
find_option(const char *text, const char *name)
{
    g_autofree char *key = g_strconcat("\n", name, "=", NULL);
    const char *line = strstr(text, key);
    if (!line)
        return NULL;
    line += strlen(key);
    return g_strndup(line, strcspn(line, "\n"));
}

static void
put_config(json_t *facts, const char *root, const char *release)
{
    g_autofree char *text = NULL;
    g_autofree char *boot = g_strconcat(root, "/boot/config-", release, NULL);
    g_autofree char *modules = g_strconcat(root, "/lib/modules/", release, "/config", NULL);
    if (!np_file_read(boot, CONFIG_MAX, &text, NULL, NULL) &&
        !np_file_read(modules, CONFIG_MAX, &text, NULL, NULL))
        return;
    json_t *config = json_object();
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        g_autofree char *value = find_option(text, options[i]);
        put_text(config, options[i], value ? value : "n", TEXT_MAX);
    }
    json_object_set_new(facts, "config", config);
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static void
put_mitigations(json_t *facts, const char *root)
{
    g_autofree char *path = g_strconcat(root, CPU_DIR "vulnerabilities", NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    if (!dir)
        return;
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    while ((name = g_dir_read_name(dir)) && names->len < MITIGATIONS_MAX)
        g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_sort(names, compare_names);
    json_t *mitigations = json_object();
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *file = g_build_filename(path, names->pdata[i], NULL);
        g_autofree char *state = np_file_read_line(file);
        if (g_strcmp0(state, "Not affected") != 0)
            put_text(mitigations, names->pdata[i], state, TEXT_MAX);
    }
    json_object_set_new(facts, "mitigations", mitigations);
}

/* ## CPUs */

/* Of every CPU; where they differ, each governor once. */
static void
put_governor(json_t *facts, const char *root)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
        g_autofree char *dir = g_strdup_printf("%s" CPU_DIR "cpu%u", root, cpu);
        if (!g_file_test(dir, G_FILE_TEST_IS_DIR))
            break;
        char *name = read_line(dir, "/cpufreq/scaling_governor");
        if (!name || g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
            g_free(name);
        else
            g_ptr_array_add(names, name);
    }
    g_ptr_array_add(names, NULL);
    g_autofree char *joined = g_strjoinv(" ", (char **) names->pdata);
    put_text(facts, "governor", joined, TEXT_MAX);
}

static void
put_turbo(json_t *facts, const char *root)
{
    uint64_t value;
    if (read_number(root, CPU_DIR "intel_pstate/no_turbo", &value))
        json_object_set_new(facts, "turbo", json_boolean(value == 0));
    else if (read_number(root, CPU_DIR "cpufreq/boost", &value))
        json_object_set_new(facts, "turbo", json_boolean(value != 0));
}

/* ## Memory */

static int
count_entries(const char *root, const char *path, const char *prefix)
{
    g_autofree char *whole = g_strconcat(root, path, NULL);
    g_autoptr(GDir) dir = g_dir_open(whole, 0, NULL);
    const char *name;
    int count = 0;
    while (dir && (name = g_dir_read_name(dir)))
        count += g_str_has_prefix(name, prefix) &&
                 (prefix[0] == '\0' || g_ascii_isdigit(name[strlen(prefix)]));
    return dir ? count : -1;
}

/* The number in "name:  number" or "name:  number kB" at a line's begin. */
static bool
find_memory(const char *text, const char *name, uint64_t *ret_value)
{
    g_autofree char *key = g_strconcat("\n", name, ":", NULL);
    const char *line = strstr(text, key);
    if (!line)
        return false;
    line += strlen(key);
    line += strspn(line, " ");
    g_autofree char *digits = g_strndup(line, strspn(line, "0123456789"));
    return np_parse_uint(digits, 0, INT64_MAX, ret_value, NULL);
}

static void
put_hugepages(json_t *facts, const char *root)
{
    g_autofree char *path = g_strconcat(root, "/proc/meminfo", NULL);
    g_autofree char *text = NULL;
    uint64_t size_kib, total, free_pages;
    if (!np_file_read(path, MEMINFO_MAX, &text, NULL, NULL) ||
        !find_memory(text, "Hugepagesize", &size_kib) ||
        !find_memory(text, "HugePages_Total", &total) ||
        !find_memory(text, "HugePages_Free", &free_pages))
        return;
    json_object_set_new(facts, "hugepages",
                        json_pack("{s:I, s:I, s:I}", "size_kib", (json_int_t) size_kib, "total",
                                  (json_int_t) total, "free", (json_int_t) free_pages));
}

/* The one in brackets of "always [madvise] never". */
static void
put_transparent_hugepages(json_t *facts, const char *root)
{
    g_autofree char *line = read_line(root, "/sys/kernel/mm/transparent_hugepage/enabled");
    char *open = line ? strchr(line, '[') : NULL;
    if (!open)
        return;
    open[1 + strcspn(open + 1, "]")] = '\0';
    put_text(facts, "transparent_hugepages", open + 1, TEXT_MAX);
}

/* ## The rest */

typedef struct {
    char *proc_dir;
    bool found;
} Search;

static void
visit_process(uint64_t pid, const char *name, gpointer data)
{
    Search *search = data;
    NpProcpid stat;
    if (!search->found && np_procpid_read(search->proc_dir, pid, &stat))
        search->found = strcmp(stat.comm, "irqbalance") == 0;
}

static void
put_irqbalance(json_t *facts, const char *root)
{
    g_autofree char *proc_dir = g_strconcat(root, "/proc", NULL);
    Search search = {proc_dir, false};
    NpProcpid init;
    np_procpid_each(proc_dir, visit_process, &search);
    /* Whoever does not see the first process does not see others' at all (hidepid). */
    if (search.found || np_procpid_read(proc_dir, 1, &init))
        json_object_set_new(facts, "irqbalance", json_boolean(search.found));
}

json_t *
np_machine_collect(const char *root, const char *release)
{
    json_t *facts = json_object();
    uint64_t number;
    g_autofree char *command_line = read_line(root, "/proc/cmdline");
    g_autofree char *smt = read_line(root, CPU_DIR "smt/control");
    put_text(facts, "command_line", command_line, COMMAND_LINE_MAX);
    if (release)
        put_config(facts, root, release);
    put_mitigations(facts, root);
    put_governor(facts, root);
    put_turbo(facts, root);
    put_text(facts, "smt", smt, TEXT_MAX);
    int nodes = count_entries(root, "/sys/devices/system/node", "node");
    if (nodes > 0)
        json_object_set_new(facts, "numa_nodes", json_integer(nodes));
    put_hugepages(facts, root);
    put_transparent_hugepages(facts, root);
    put_irqbalance(facts, root);
    if (read_number(root, "/sys/module/kvm/parameters/halt_poll_ns", &number))
        json_object_set_new(facts, "halt_poll_ns", json_integer((json_int_t) number));
    int iommus = count_entries(root, "/sys/class/iommu", "");
    if (iommus >= 0)
        json_object_set_new(facts, "iommu", json_boolean(iommus > 0));
    return facts;
}
