/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Proc stat: see procstat.h. The format is proc_stat(5)'s.
 */
#include "agent/procstat.h"

#include <string.h>

#include "lib/base/error.h"
#include "lib/base/parse.h"

/* The kernel's columns in order, and where each goes. */
static const NpTick columns[] = {
    NP_TICK_USER,   NP_TICK_NICE, NP_TICK_SYSTEM,  NP_TICK_IDLE,
    NP_TICK_IOWAIT, NP_TICK_IRQ,  NP_TICK_SOFTIRQ, NP_TICK_STEAL,
};

/* user, nice, system and idle are there since the first kernels. */
#define COLUMNS_MIN 4

static bool
is_cpu_line(const char *line)
{
    return strncmp(line, "cpu", 3) == 0;
}

bool
np_procstat_complete(const char *text)
{
    while (is_cpu_line(text)) {
        const char *end = strchr(text, '\n');
        if (!end)
            return false;
        text = end + 1;
    }
    /* "c" and "cp" at the end may become another CPU's line. */
    return *text != '\0' && strncmp(text, "cpu", MIN(strlen(text), 3)) != 0;
}

static bool
throw_line(const char *line, const char *why, GError **error)
{
    g_autofree char *quoted = np_quote(line);
    return np_throw(error, NP_ERROR_PROTOCOL, "/proc/stat: line %s: %s", quoted, why);
}

/* Reads digits; on success *cursor stands behind them. */
static bool
take_number(const char **cursor, uint64_t *ret_value)
{
    uint64_t value = 0;
    const char *start = *cursor;
    for (; g_ascii_isdigit(**cursor); (*cursor)++) {
        unsigned digit = (unsigned) (**cursor - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (*cursor == start)
        return false;
    *ret_value = value;
    return true;
}

static bool
parse_columns(const char *line, const char *rest, uint64_t ticks[NP_TICKS], GError **error)
{
    size_t count = 0;
    while (*rest == ' ') {
        while (*rest == ' ')
            rest++;
        if (*rest == '\0')
            break;
        uint64_t value;
        if (!take_number(&rest, &value))
            return throw_line(line, "a counter is not a number below 2^64", error);
        if (count < G_N_ELEMENTS(columns))
            ticks[columns[count]] = value;
        count++;
    }
    if (*rest != '\0')
        return throw_line(line, "a counter is not a number below 2^64", error);
    if (count < COLUMNS_MIN)
        return throw_line(line, "fewer than four counters", error);
    return true;
}

static bool
parse_line(const char *line, NpProcstat *stat, GError **error)
{
    const char *rest = line + strlen("cpu");
    if (*rest == ' ')
        return true; /* the sum of all CPUs */
    uint64_t number;
    if (!take_number(&rest, &number))
        return throw_line(line, "no CPU number", error);
    if (number >= NP_PROCSTAT_CPUS_MAX)
        return np_throw(error, NP_ERROR_UNSUPPORTED,
                        "/proc/stat: CPU %" G_GUINT64_FORMAT ": at most %d CPUs are supported",
                        number, NP_PROCSTAT_CPUS_MAX);
    if (stat->present[number])
        return throw_line(line, "this CPU came before", error);
    if (!parse_columns(line, rest, stat->ticks[number], error))
        return false;
    stat->present[number] = true;
    stat->cpus = MAX(stat->cpus, (unsigned) number + 1);
    return true;
}

bool
np_procstat_parse(const char *text, NpProcstat *ret_stat, GError **error)
{
    g_autofree NpProcstat *stat = g_new0(NpProcstat, 1);
    while (is_cpu_line(text)) {
        const char *end = strchr(text, '\n');
        if (!end)
            return throw_line(text, "cut off", error);
        char line[512];
        if ((size_t) (end - text) >= sizeof(line))
            return throw_line(text, "longer than any the kernel writes", error);
        memcpy(line, text, (size_t) (end - text));
        line[end - text] = '\0';
        if (!parse_line(line, stat, error))
            return false;
        text = end + 1;
    }
    if (stat->cpus == 0)
        return np_throw(error, NP_ERROR_PROTOCOL, "/proc/stat: no CPU lines");
    *ret_stat = *stat;
    return true;
}

unsigned
np_procstat_backwards(const NpProcstat *before, const NpProcstat *after)
{
    unsigned count = 0;
    for (unsigned cpu = 0; cpu < MIN(before->cpus, after->cpus); cpu++) {
        if (!before->present[cpu] || !after->present[cpu])
            continue;
        for (int tick = 0; tick < NP_TICKS; tick++)
            count += after->ticks[cpu][tick] < before->ticks[cpu][tick];
    }
    return count;
}
