/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * iperf: see iperf.h.
 *
 * What libiperf 3.12 does, and what follows: iperf_run_client() returns 0 also after a failure, so
 * errors are read from i_errno and the JSON; a server's failure leaves the JSON unprinted, so it is
 * finished here; a write to a connection that is gone raises SIGPIPE, which its command line
 * ignores; the interval clock's start is not told, so two of its functions are wrapped by the
 * linker (see AGENT_WRAP in the Makefile).
 */
#include "agent/iperf.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <iperf_api.h>

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/proto/proto.h"

#define LINE_MAX_BYTES     4096
#define CONNECT_TIMEOUT_MS 5000
#define EXIT_USAGE         2

static const NpJsonField job_fields[] = {
    {"role", NP_JSON_STRING, true, 6, 6},
    {"port", NP_JSON_INT, true, 1, 65535},
    {"interval_ms", NP_JSON_INT, true, 100, 60000},
    {"target", NP_JSON_STRING, false, 2, 128},
    {"seconds", NP_JSON_INT, false, 1, 86400},
    {"streams", NP_JSON_INT, false, 1, 64},
    {"omit", NP_JSON_INT, false, 0, 60},
    {"reverse", NP_JSON_BOOL, false},
    {"protocol", NP_JSON_STRING, false, 3, 3},
    {"rate_bps", NP_JSON_INT, false, 0, INT64_C(10000000000000)},
    {"congestion", NP_JSON_STRING, false, 1, 15},
    {"window_bytes", NP_JSON_INT, false, 0, INT32_MAX},
    {"zerocopy", NP_JSON_BOOL, false},
    {"source_port", NP_JSON_INT, false, 1, 65535},
    {NULL},
};

/* The names the linker gives to a wrapped function and to its original. */
int __wrap_iperf_init_test(struct iperf_test *test);
int __real_iperf_init_test(struct iperf_test *test);
void __wrap_iperf_reset_stats(struct iperf_test *test);
void __real_iperf_reset_stats(struct iperf_test *test);

/* libiperf writes its JSON at the very end, so lines written before that stand before it. */
static void
note_time(const char *what)
{
    dprintf(STDOUT_FILENO, NP_IPERF_LINE "%s\",\"now_ns\":%" G_GINT64_FORMAT "}\n", what,
            np_clock_ns());
}

int
__wrap_iperf_init_test(struct iperf_test *test)
{
    note_time("start");
    return __real_iperf_init_test(test);
}

void
__wrap_iperf_reset_stats(struct iperf_test *test)
{
    __real_iperf_reset_stats(test);
    note_time("reset");
}

const char *
np_iperf_version(void)
{
    return iperf_get_iperf_version();
}

/* Reads up to a line's end, which is not kept; byte by byte, for what follows is for later. */
static bool
read_line(char *line, size_t size)
{
    size_t length = 0;
    for (;;) {
        char byte;
        ssize_t got = read(STDIN_FILENO, &byte, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || length + 1 >= size)
            return false;
        if (byte == '\n')
            break;
        line[length++] = byte;
    }
    line[length] = '\0';
    return true;
}

static void
configure(struct iperf_test *test, const json_t *job)
{
    double interval_s = (double) np_json_int(job, "interval_ms", 0) / 1000;
    iperf_set_test_server_port(test, (int) np_json_int(job, "port", 0));
    iperf_set_test_stats_interval(test, interval_s);
    iperf_set_test_reporter_interval(test, interval_s);
    iperf_set_test_json_output(test, 1);
}

static void
configure_client(struct iperf_test *test, const json_t *job)
{
    const char *congestion = np_json_string(job, "congestion", NULL);
    int64_t streams = np_json_int(job, "streams", 1), rate_bps = np_json_int(job, "rate_bps", 0);
    iperf_set_test_role(test, 'c');
    iperf_set_test_server_hostname(test, np_json_string(job, "target", ""));
    iperf_set_test_connect_timeout(test, CONNECT_TIMEOUT_MS);
    iperf_set_test_duration(test, (int) np_json_int(job, "seconds", 0));
    iperf_set_test_omit(test, (int) np_json_int(job, "omit", 0));
    iperf_set_test_num_streams(test, (int) streams);
    iperf_set_test_reverse(test, np_json_bool(job, "reverse", false));
    /* libiperf's rate is a stream's. */
    iperf_set_test_rate(test, (uint64_t) ((rate_bps + streams - 1) / streams));
    iperf_set_test_socket_bufsize(test, (int) np_json_int(job, "window_bytes", 0));
    iperf_set_test_zerocopy(test, np_json_bool(job, "zerocopy", false));
    iperf_set_test_bind_port(test, (int) np_json_int(job, "source_port", 0));
    if (congestion)
        iperf_set_test_congestion_control(test, (char *) (uintptr_t) congestion); /* it copies */
    if (strcmp(np_json_string(job, "protocol", "tcp"), "udp") == 0) {
        set_protocol(test, Pudp);
        iperf_set_test_blksize(test, 0); /* 0: what the control connection's MSS allows */
        iperf_set_test_udp_counters_64bit(test, 1);
    }
}

static const char *
cause_of(int code)
{
    switch (code) {
    case IENONE:
        return "none";
    case IELISTEN:
        return "listen";
    case IECONNECT:
        return "connect";
    case IEACCESSDENIED:
        return "busy";
    case IECTRLWRITE:
    case IECTRLREAD:
    case IECTRLCLOSE:
    case IESENDMESSAGE:
    case IERECVMESSAGE:
    case IESENDPARAMS:
    case IERECVPARAMS:
    case IESENDRESULTS:
    case IERECVRESULTS:
    case IESENDCOOKIE:
    case IERECVCOOKIE:
    case IECLIENTTERM:
    case IESERVERTERM:
    case IESTREAMWRITE:
    case IESTREAMREAD:
    case IESTREAMCLOSE:
    case IENOMSG:
        return "peer";
    default:
        return "other";
    }
}

static void
run_server(struct iperf_test *test)
{
    iperf_set_test_role(test, 's');
    iperf_set_test_one_off(test, 1);
    if (iperf_run_server(test) >= 0)
        return;
    iperf_err(test, "%s", iperf_strerror(i_errno));
    (void) iperf_json_finish(test); /* without its output the parent sees that there is none */
}

static int
run_job(const json_t *job)
{
    bool server = strcmp(np_json_string(job, "role", ""), "server") == 0;
    char line[LINE_MAX_BYTES];
    struct iperf_test *test = iperf_new_test();
    if (!test || iperf_defaults(test) < 0) {
        fprintf(stderr, "libiperf: %s\n", iperf_strerror(i_errno));
        return EXIT_USAGE;
    }
    configure(test, job);
    i_errno = IENONE;
    if (server) {
        run_server(test);
    } else {
        configure_client(test, job);
        dprintf(STDOUT_FILENO, NP_IPERF_LINE "armed\"}\n");
        if (!read_line(line, sizeof(line)) || strcmp(line, "go") != 0) {
            fprintf(stderr, "no go came\n");
            return EXIT_USAGE;
        }
        (void) iperf_run_client(test); /* 0 whatever happened */
    }
    int code = i_errno;
    fflush(stdout);
    dprintf(STDOUT_FILENO, NP_IPERF_LINE "end\",\"cause\":\"%s\"}\n", cause_of(code));
    return 0; /* test is not freed: the process is at its end */
}

int
np_iperf_worker(void)
{
    char line[LINE_MAX_BYTES];
    g_autoptr(GError) problem = NULL;
    signal(SIGPIPE, SIG_IGN);
    (void) prctl(PR_SET_NAME, NP_IPERF_NAME); /* only for people who look */
    if (!read_line(line, sizeof(line))) {
        fprintf(stderr, "no job came\n");
        return EXIT_USAGE;
    }
    g_autoptr(json_t) job = np_json_parse_object(line, strlen(line), &problem);
    if (!job || !np_json_check(job, job_fields, &problem)) {
        fprintf(stderr, "job: %s\n", problem->message);
        return EXIT_USAGE;
    }
    return run_job(job);
}
