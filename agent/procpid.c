/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Proc pid: see procpid.h.
 */
#include "agent/procpid.h"

#include <string.h>

#include "lib/base/fd.h"
#include "lib/base/parse.h"

#define FLAG_KERNEL 0x00200000 /* PF_KTHREAD, Linux, include/linux/sched.h */

/* Places behind the name, from 0: proc_pid_stat(5)'s fields 9, 22 and 43. */
enum { STAT_FLAGS = 6, STAT_START = 19, STAT_GUEST = 40 };

bool
np_procpid_parse(const char *text, NpProcpid *ret_stat)
{
    NpProcpid stat = {0};
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open || close[1] != ' ')
        return false;
    g_auto(GStrv) fields = g_strsplit(close + 2, " ", -1);
    unsigned count = g_strv_length(fields);
    uint64_t flags;
    if (count <= STAT_START || !np_parse_uint(fields[STAT_FLAGS], 0, UINT64_MAX, &flags, NULL) ||
        !np_parse_uint(fields[STAT_START], 0, UINT64_MAX, &stat.start, NULL))
        return false;
    stat.kernel = flags & FLAG_KERNEL;
    stat.has_guest = count > STAT_GUEST &&
                     np_parse_uint(fields[STAT_GUEST], 0, UINT64_MAX, &stat.guest_ticks, NULL);
    g_strlcpy(stat.comm, open + 1, MIN(sizeof(stat.comm), (size_t) (close - open)));
    *ret_stat = stat;
    return true;
}

bool
np_procpid_read(const char *dir, uint64_t pid, NpProcpid *ret_stat)
{
    g_autofree char *path = g_strdup_printf("%s/%" G_GUINT64_FORMAT "/stat", dir, pid);
    g_autofree char *text = np_file_read_line(path);
    return text && np_procpid_parse(text, ret_stat);
}

static char *
read_task(const char *dir, uint64_t pid, uint64_t tid, const char *file)
{
    g_autofree char *path = g_strdup_printf(
        "%s/%" G_GUINT64_FORMAT "/task/%" G_GUINT64_FORMAT "/%s", dir, pid, tid, file);
    return np_file_read_line(path);
}

char *
np_procpid_task_comm(const char *dir, uint64_t pid, uint64_t tid)
{
    return read_task(dir, pid, tid, "comm");
}

bool
np_procpid_task_cpu_ns(const char *dir, uint64_t pid, uint64_t tid, uint64_t *ret_ns)
{
    g_autofree char *text = read_task(dir, pid, tid, "schedstat");
    if (!text)
        return false;
    text[strcspn(text, " ")] = '\0';
    return np_parse_uint(text, 0, INT64_MAX, ret_ns, NULL);
}

void
np_procpid_each(const char *path, NpProcpidVisit visit, gpointer data)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *digits = g_strndup(name, strspn(name, "0123456789"));
        uint64_t number;
        if (np_parse_uint(digits, 0, NP_PID_MAX, &number, NULL))
            visit(number, name, data);
    }
}
