/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Result: see result.h.
 */
#include "agent/result.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/iperf.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/proto/proto.h"

#define STDERR_MAX   1024
#define LINE_RESERVE 2048                 /* of a line, for the session's and the job's fields */
#define REFUSED      "Connection refused" /* strerror(ECONNREFUSED) in the worker's locale, C */
#define IN_USE       "Address already in use"

typedef struct {
    int64_t start_us, end_us, bytes, retransmits, lost, packets;
} Interval;

/* Which of the optional columns there are. */
typedef struct {
    GArray *rows; /* Interval */
    bool retransmits, lost, packets;
} Intervals;

/* The first JSON value among the output's lines, also when something follows it (transfer full), or
 * NULL. */
static json_t *
find_json(const NpChildResult *child)
{
    const char *line = child->out;
    while (line && (line[0] != '{' || g_str_has_prefix(line, NP_IPERF_LINE))) {
        const char *end = strchr(line, '\n');
        line = end ? end + 1 : NULL;
    }
    if (!line)
        return NULL;
    /* All numbers as doubles, as libiperf writes them: its counters may have run below 0, and then
     * exceed what a whole number may be here. */
    json_t *value = json_loads(line, JSON_DISABLE_EOF_CHECK | JSON_DECODE_INT_AS_REAL, NULL);
    if (json_is_object(value))
        return value;
    json_decref(value);
    return NULL;
}

static int64_t
whole(const json_t *object, const char *key)
{
    double value = np_json_real(object, key, 0);
    return isfinite(value) && fabs(value) < 9e18 ? llround(value) : 0;
}

static int64_t
microseconds(const json_t *object, const char *key)
{
    double value = np_json_real(object, key, 0) * 1e6;
    return isfinite(value) && fabs(value) < 9e18 ? llround(value) : 0;
}

/* libiperf counts an interval's times from the last reset of its clock and without sign: the first
 * interval after the omitted seconds may seem to start before its end, and in truth starts with the
 * reset. */
static Intervals
read_intervals(const json_t *result, int64_t offset_us)
{
    Intervals found = {g_array_new(FALSE, FALSE, sizeof(Interval)), false, false, false};
    int64_t last_us = 0;
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(result, "intervals"), index, entry)
    {
        const json_t *sum = json_object_get(entry, "sum");
        if (!json_is_object(sum) || np_json_bool(sum, "omitted", false))
            continue;
        Interval row = {.start_us = found.rows->len ? microseconds(sum, "start") : 0,
                        .end_us = microseconds(sum, "end"),
                        .bytes = whole(sum, "bytes"),
                        .retransmits = whole(sum, "retransmits"),
                        .lost = whole(sum, "lost_packets"),
                        .packets = whole(sum, "packets")};
        if (row.end_us <= last_us || row.bytes < 0)
            continue;
        last_us = row.end_us;
        row.start_us = MAX(row.start_us, 0) + offset_us;
        row.end_us += offset_us;
        g_array_append_val(found.rows, row);
        found.retransmits |= json_object_get(sum, "retransmits") != NULL;
        found.lost |= json_object_get(sum, "lost_packets") != NULL;
        found.packets |= json_object_get(sum, "packets") != NULL;
    }
    return found;
}

/* Halves the number of intervals by joining neighbours. */
static void
join_neighbours(GArray *rows)
{
    guint kept = 0;
    for (guint i = 0; i < rows->len; i += 2) {
        Interval row = g_array_index(rows, Interval, i);
        if (i + 1 < rows->len) {
            const Interval *next = &g_array_index(rows, Interval, i + 1);
            row.end_us = next->end_us;
            row.bytes += next->bytes;
            row.retransmits += next->retransmits;
            row.lost += next->lost;
            row.packets += next->packets;
        }
        g_array_index(rows, Interval, kept++) = row;
    }
    g_array_set_size(rows, kept);
}

static json_t *
column(const GArray *rows, size_t offset)
{
    json_t *values = json_array();
    for (guint i = 0; i < rows->len; i++) {
        const char *row = (const char *) &g_array_index(rows, Interval, i);
        json_array_append_new(values, json_integer(*(const int64_t *) (row + offset)));
    }
    return values;
}

static json_t *
intervals_json(const Intervals *intervals)
{
    const struct {
        const char *name;
        size_t offset;
        bool there;
    } columns[] = {
        {"start_us", offsetof(Interval, start_us), true},
        {"end_us", offsetof(Interval, end_us), true},
        {"bytes", offsetof(Interval, bytes), true},
        {"retransmits", offsetof(Interval, retransmits), intervals->retransmits},
        {"lost", offsetof(Interval, lost), intervals->lost},
        {"packets", offsetof(Interval, packets), intervals->packets},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++)
        if (columns[i].there)
            json_object_set_new(object, columns[i].name,
                                column(intervals->rows, columns[i].offset));
    return object;
}

static void
add_intervals(json_t *fields, Intervals *intervals)
{
    while (intervals->rows->len > NP_PROTO_INTERVALS_MAX)
        join_neighbours(intervals->rows);
    for (;;) {
        json_object_set_new(fields, "intervals", intervals_json(intervals));
        g_autofree char *line = np_json_line(fields);
        if (strlen(line) < NP_PROTO_LINE_MAX - LINE_RESERVE || intervals->rows->len < 2)
            return;
        join_neighbours(intervals->rows);
    }
}

/* Sums over the whole test, returns its bytes. */
static int64_t
add_sums(json_t *fields, const Intervals *intervals)
{
    int64_t bytes = 0, retransmits = 0;
    for (guint i = 0; i < intervals->rows->len; i++) {
        bytes += g_array_index(intervals->rows, Interval, i).bytes;
        retransmits += g_array_index(intervals->rows, Interval, i).retransmits;
    }
    if (intervals->rows->len)
        json_object_set_new(fields, "bytes", json_integer(bytes));
    if (intervals->retransmits)
        json_object_set_new(fields, "retransmits", json_integer(retransmits));
    return bytes;
}

/* What the test ran with, in the kernel's own words. */
static void
add_settings(json_t *fields, const json_t *result)
{
    const json_t *start = json_object_get(result, "start"), *end = json_object_get(result, "end");
    const json_t *test = json_object_get(start, "test_start");
    const char *protocol = np_json_string(test, "protocol", NULL);
    if (protocol) {
        g_autofree char *lower = g_ascii_strdown(protocol, -1);
        json_object_set_new(fields, "protocol", json_string(lower));
    }
    if (json_object_get(test, "num_streams"))
        json_object_set_new(fields, "streams", json_integer(whole(test, "num_streams")));
    bool sends = np_json_bool(json_object_get(end, "sum_sent"), "sender", true);
    const char *congestion =
        np_json_string(end, sends ? "sender_tcp_congestion" : "receiver_tcp_congestion", NULL);
    if (congestion)
        json_object_set_new(fields, "congestion", json_string(congestion));
    static const char *const numbers[][2] = {
        {"mss", "tcp_mss_default"},
        {"mss", "tcp_mss"},
        {"sndbuf", "sndbuf_actual"},
        {"rcvbuf", "rcvbuf_actual"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        if (whole(start, numbers[i][1]) > 0) /* a server's mss reads 0: it does not know it */
            json_object_set_new(fields, numbers[i][0], json_integer(whole(start, numbers[i][1])));
}

static void
add_usage(json_t *fields, const struct rusage *usage)
{
    const struct timeval *user = &usage->ru_utime, *system = &usage->ru_stime;
    json_object_set_new(fields, "user_us", json_integer(user->tv_sec * 1000000 + user->tv_usec));
    json_object_set_new(fields, "system_us",
                        json_integer(system->tv_sec * 1000000 + system->tv_usec));
    json_object_set_new(fields, "max_rss_kib", json_integer(usage->ru_maxrss));
}

/* The beginning of a text as valid UTF-8 (transfer full). */
static char *
short_text(const char *text, size_t max)
{
    g_autofree char *stripped = g_strstrip(g_strndup(text, max));
    return g_utf8_make_valid(stripped, -1);
}

static void
throw_iperf_error(const NpResultContext *context, const char *text, bool *ret_again, GError **error)
{
    const char *cause = context->cause ? context->cause : "other";
    const char *target = context->target ? context->target : "";
    if (strcmp(cause, "connect") == 0 && strstr(text, REFUSED)) {
        *ret_again = !context->server;
        np_throw(error, NP_ERROR_NOT_FOUND, "no iperf server listens at %s port %u: %s", target,
                 context->port, text);
    } else if (strcmp(cause, "busy") == 0) {
        *ret_again = !context->server;
        np_throw(error, NP_ERROR_BUSY, "the iperf server at %s port %u serves somebody else: %s",
                 target, context->port, text);
    } else if (strcmp(cause, "connect") == 0) {
        np_throw(error, NP_ERROR_TIMEOUT, "cannot reach %s port %u: %s", target, context->port,
                 text);
    } else if (strcmp(cause, "listen") == 0) {
        np_throw(error, strstr(text, IN_USE) ? NP_ERROR_BUSY : NP_ERROR_IO, "port %u: %s",
                 context->port, text);
    } else if (strcmp(cause, "peer") == 0) {
        np_throw(error, NP_ERROR_PROTOCOL, "the other end's iperf went away: %s", text);
    } else {
        np_throw(error, strstr(text, IN_USE) ? NP_ERROR_BUSY : NP_ERROR_FAILED, "iperf: %s", text);
    }
}

static void
throw_unreadable(const NpChildResult *child, GError **error)
{
    g_autofree char *said = short_text(child->err, STDERR_MAX);
    np_throw(error, NP_ERROR_FAILED,
             "the iperf process ended with status %d and left no readable result (%zu bytes%s)%s%s",
             WEXITSTATUS(child->wait_status), child->out_size,
             child->out_cut ? ", cut: too many intervals" : "", said[0] ? ": " : "", said);
}

/* Whether the test counts; if not, why. */
static bool
judge(const NpChildResult *child, const NpResultContext *context, const json_t *result,
      int64_t bytes, bool *ret_again, GError **error)
{
    if (child->timed_out)
        return np_throw(error, NP_ERROR_TIMEOUT,
                        "the iperf process was killed by its watchdog: it had not ended in time; "
                        "the other end or the path to it is frozen, or the load was slower than "
                        "planned");
    if (child->killed)
        return np_throw(error, NP_ERROR_INTERRUPTED, "the iperf process was stopped on request");
    if (WIFSIGNALED(child->wait_status))
        return np_throw(error, NP_ERROR_FAILED, "the iperf process was killed by signal %d (%s)",
                        WTERMSIG(child->wait_status), strsignal(WTERMSIG(child->wait_status)));
    if (!result) {
        throw_unreadable(child, error);
        return false;
    }
    const json_t *text = json_object_get(result, "error");
    if (text) {
        g_autofree char *said = short_text(
            json_is_string(text) ? json_string_value(text) : "unknown error", STDERR_MAX);
        throw_iperf_error(context, said, ret_again, error);
        return false;
    }
    if (bytes <= 0)
        return np_throw(error, NP_ERROR_FAILED, "iperf reports no error, but also no %s",
                        json_array_size(json_object_get(result, "intervals")) ? "bytes"
                                                                              : "intervals");
    return true;
}

void
np_result_set_error(json_t *fields, const GError *error)
{
    json_object_set_new(fields, "ok", json_false());
    json_object_set_new(fields, "error", np_error_to_json(error));
}

json_t *
np_result_new(const NpChildResult *child, const NpResultContext *context, bool *ret_again)
{
    g_autoptr(json_t) result = find_json(child);
    g_autoptr(GError) problem = NULL;
    bool omitted = context->start_ns >= 0 && context->reset_ns >= 0;
    int64_t offset_us =
        omitted ? (context->reset_ns - context->start_ns) / (int64_t) NP_NS_PER_US : 0;
    Intervals intervals = read_intervals(result, offset_us);
    json_t *fields = json_object();
    *ret_again = false;
    json_object_set_new(fields, "ok", json_true());
    if (child->err_size > 0) {
        g_autofree char *said = short_text(child->err, STDERR_MAX);
        json_object_set_new(fields, "stderr", json_string(said));
    }
    if (context->start_ns >= 0)
        json_object_set_new(fields, "start_ns", json_integer(context->start_ns));
    add_usage(fields, &child->usage);
    add_settings(fields, result);
    int64_t bytes = add_sums(fields, &intervals);
    if (!judge(child, context, result, bytes, ret_again, &problem))
        np_result_set_error(fields, problem);
    add_intervals(fields, &intervals);
    g_array_unref(intervals.rows);
    return fields;
}
