/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * The serve and load verbs that go well, from outside, over the loopback.
 */
#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/listen.h"
#include "lib/base/clock.h"
#include "lib/base/fd.h"
#include "tests/agent/agent-load.h"

/* A load from its begin to its end, and the processes' events of both sides. */
typedef struct {
    int64_t from_ns, to_ns;
    json_t *served, *loaded;
} Outcome;

static void
outcome_clear(Outcome *outcome)
{
    json_decref(outcome->served);
    json_decref(outcome->loaded);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Outcome, outcome_clear)

/* more: as for job_arm. */
static Outcome
run(Pair *pair, unsigned count, json_t *more)
{
    g_autoptr(json_t) ports = free_ports(count);
    int64_t serve = job_serve(pair->server.host, ports, json_pack("{s:i}", "interval_ms", 100));
    int64_t load = job_arm(pair->client.host, ports, more);
    Outcome outcome = {.from_ns = np_clock_ns()};
    job_go(pair->client.host, load, 0);
    outcome.loaded = job_events(pair->client.host, load, count);
    outcome.served = job_events(pair->server.host, serve, count);
    outcome.to_ns = np_clock_ns();
    for (unsigned i = 0; i < count; i++) {
        check_process(json_array_get(outcome.loaded, i), outcome.from_ns, outcome.to_ns);
        check_process(json_array_get(outcome.served, i), outcome.from_ns, outcome.to_ns);
    }
    return outcome;
}

static const json_t *
client(const Outcome *outcome)
{
    return json_array_get(outcome->loaded, 0);
}

static const json_t *
server(const Outcome *outcome)
{
    return json_array_get(outcome->served, 0);
}

static const json_t *
column(const json_t *event, const char *name)
{
    return json_object_get(json_object_get(event, "intervals"), name);
}

static bool
listened_on(const json_t *ports, size_t i)
{
    NpPorts listening;
    g_assert_true(np_listen_scan(&listening, NULL));
    return np_ports_has(&listening, (unsigned) json_integer_value(json_array_get(ports, i)));
}

static void
test_serve_answers_once_every_port_listens(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_autoptr(json_t) ports = free_ports(8);
    job_serve(pair->server.host, ports, NULL);
    for (size_t i = 0; i < json_array_size(ports); i++)
        g_assert_true(listened_on(ports, i));
    g_autoptr(GArray) children = agent_children(pair->server.agent->pid);
    g_assert_cmpuint(children->len, ==, 8);
}

static void
test_a_process_can_be_recognised(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_autoptr(json_t) ports = free_ports(1);
    job_serve(pair->server.host, ports, NULL);
    g_autofree char *dir = g_strdup_printf("/proc/%d/", only_child(&pair->server));
    g_autofree char *comm = g_strconcat(dir, "comm", NULL);
    g_autofree char *cmdline = g_strconcat(dir, "cmdline", NULL);
    g_autofree char *name = np_file_read_line(comm), *command = np_file_read_line(cmdline);
    g_assert_cmpstr(name, ==, "nicpass-iperf");
    g_assert_cmpstr(command, ==, "nicpass-iperf"); /* its first word */
}

/* Listens on a port of the loopback. */
static int
occupy(unsigned port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                        .sin_port = htons((uint16_t) port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(bind(fd, (const struct sockaddr *) &address, sizeof(address)), ==, 0);
    g_assert_cmpint(listen(fd, 1), ==, 0);
    return fd;
}

static void
test_a_port_in_use_is_busy_and_named(void)
{
    g_autoptr(Pair) pair = pair_new();
    Host *host = pair->server.host;
    g_autoptr(json_t) ports = free_ports(2);
    unsigned taken = (unsigned) json_integer_value(json_array_get(ports, 1));
    np_autofd int listener = occupy(taken);
    g_autofree char *name = g_strdup_printf("port %u ", taken);
    g_autofree char *text =
        host_error(host, NP_VERB_SERVE,
                   json_pack("{s:O, s:i}", "ports", ports, "watchdog_ms", WAIT_MS), "busy");
    g_assert_nonnull(strstr(text, name));
    g_autoptr(GArray) children = agent_children(pair->server.agent->pid);
    g_assert_cmpuint(children->len, ==, 0);
    g_assert_false(listened_on(ports, 0));
    np_fd_clear(&listener);
    job_serve(host, ports, NULL);
    g_autofree char *again = host_error(
        host, NP_VERB_SERVE, json_pack("{s:[i], s:i}", "ports", taken, "watchdog_ms", 1), "busy");
    g_assert_nonnull(strstr(again, name));
}

static void
test_both_sides_tell_what_they_moved(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_auto(Outcome) outcome = run(pair, 1, NULL);
    g_assert_cmpstr(np_json_string(client(&outcome), "protocol", NULL), ==, "tcp");
    g_assert_nonnull(np_json_string(client(&outcome), "congestion", NULL));
    g_assert_cmpint(np_json_int(client(&outcome), "retransmits", -1), >=, 0);
    g_assert_nonnull(column(client(&outcome), "retransmits"));
    g_assert_null(column(server(&outcome), "retransmits")); /* only who sends knows */
    g_assert_cmpint(np_json_int(client(&outcome), "mss", 0), >, 0);
    /* What has arrived was sent, and the rate was kept. */
    int64_t sent = np_json_int(client(&outcome), "bytes", 0);
    g_assert_cmpint(np_json_int(server(&outcome), "bytes", 0), <=, sent);
    g_assert_cmpint(sent, <, 2 * 100000000 / 8);
}

static void
test_reverse_lets_the_server_send(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_auto(Outcome) outcome = run(pair, 1, json_pack("{s:b}", "reverse", 1));
    g_assert_null(column(client(&outcome), "retransmits"));
    g_assert_nonnull(column(server(&outcome), "retransmits"));
    g_assert_cmpint(np_json_int(client(&outcome), "bytes", 0), <=,
                    np_json_int(server(&outcome), "bytes", 0));
}

static void
test_udp_counts_packets_at_its_rate(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_auto(Outcome) outcome =
        run(pair, 1, json_pack("{s:s, s:i}", "protocol", "udp", "rate_bps", 20000000));
    g_assert_cmpstr(np_json_string(client(&outcome), "protocol", NULL), ==, "udp");
    g_assert_cmpstr(np_json_string(server(&outcome), "protocol", NULL), ==, "udp");
    g_assert_null(json_object_get(client(&outcome), "congestion"));
    g_assert_nonnull(column(server(&outcome), "packets"));
    g_assert_nonnull(column(server(&outcome), "lost"));
    g_assert_cmpint(np_json_int(client(&outcome), "bytes", 0), <, 2 * 20000000 / 8);
    g_autofree char *text =
        host_error(pair->client.host, NP_VERB_LOAD,
                   json_pack("{s:s, s:s, s:[i], s:i, s:i, s:i, s:s}", "action", "arm", "target",
                             "127.0.0.1", "ports", 5201, "seconds", 1, "interval_ms", 100,
                             "watchdog_ms", 1, "protocol", "udp"),
                   "config");
    g_assert_nonnull(strstr(text, "rate_bps"));
}

/* The rate is a process's, however many streams share it. */
static void
test_several_ports_and_streams(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_auto(Outcome) outcome =
        run(pair, 3, json_pack("{s:i, s:i}", "streams", 4, "rate_bps", 40000000));
    for (size_t i = 0; i < 3; i++) {
        const json_t *event = json_array_get(outcome.loaded, i);
        g_assert_cmpint(np_json_int(event, "streams", 0), ==, 4);
        g_assert_cmpint(np_json_int(event, "port", 0), ==,
                        np_json_int(json_array_get(outcome.served, i), "port", -1));
        g_assert_cmpint(np_json_int(event, "bytes", 0), <, 2 * 40000000 / 8);
        for (size_t j = 0; j < i; j++)
            g_assert_cmpint(np_json_int(event, "pid", 0), !=,
                            np_json_int(json_array_get(outcome.loaded, j), "pid", 0));
    }
}

/* omit's seconds are in no interval, but in the clock from start_ns. */
static void
test_omitted_seconds_are_left_out(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_auto(Outcome) outcome = run(pair, 1, json_pack("{s:i}", "omit", 1));
    const json_t *start_us = column(client(&outcome), "start_us");
    g_assert_cmpint(json_integer_value(json_array_get(start_us, 0)), >=, 900000);
    const json_t *end_us = column(client(&outcome), "end_us");
    g_assert_cmpint(json_integer_value(json_array_get(end_us, json_array_size(end_us) - 1)), >=,
                    1900000);
}

static void
test_zerocopy_moves_data(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_auto(Outcome) outcome = run(pair, 1, json_pack("{s:b}", "zerocopy", 1));
    g_assert_cmpstr(np_json_string(client(&outcome), "protocol", NULL), ==, "tcp");
}

static void
test_congestion_is_what_was_asked(void)
{
    g_autofree char *line =
        np_file_read_line("/proc/sys/net/ipv4/tcp_available_congestion_control");
    g_auto(GStrv) names = g_strsplit(line, " ", -1);
    const char *name = g_strv_contains((const char *const *) names, "cubic") ? "cubic" : names[0];
    g_autoptr(Pair) pair = pair_new();
    g_auto(Outcome) outcome = run(pair, 1, json_pack("{s:s}", "congestion", name));
    g_assert_cmpstr(np_json_string(client(&outcome), "congestion", NULL), ==, name);
}

static void
test_unknown_congestion_is_an_error_that_names_it(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_autoptr(json_t) ports = free_ports(1);
    job_serve(pair->server.host, ports, NULL);
    int64_t load =
        job_send_arm(pair->client.host, ports, json_pack("{s:s}", "congestion", "qubic"));
    g_autoptr(json_t) reply = host_reply(pair->client.host, load);
    g_assert_nonnull(strstr(error_text(reply, "unsupported"), "'qubic'"));
}

static void
test_a_time_ahead_is_waited_for(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_autoptr(json_t) ports = free_ports(1);
    int64_t serve = job_serve(pair->server.host, ports, NULL);
    int64_t load = job_arm(pair->client.host, ports, NULL);
    int64_t at_ns = np_clock_ns() + 300 * NP_NS_PER_MS;
    job_go(pair->client.host, load, at_ns);
    g_autoptr(json_t) loaded = job_event(pair->client.host, load);
    g_autoptr(json_t) served = job_event(pair->server.host, serve);
    check_process(loaded, at_ns, np_clock_ns());
    check_process(served, at_ns, np_clock_ns());
}

static void
test_loads_that_cannot_work_are_refused(void)
{
    static const struct {
        const char *more, *part;
    } rows[] = {
        {"{\"target\":\"localhost\"}", "localhost"},
        {"{\"protocol\":\"xyz\"}", "xyz"},
        {"{\"protocol\":\"udp\",\"rate_bps\":0}", "rate_bps"},
        {"{\"source_port\":65535,\"streams\":2}", "source_port"},
        {"{\"seconds\":86400}", "interval_ms"},
        {"{\"ports\":[7001,7001]}", "7001"},
    };
    g_autoptr(Pair) pair = pair_new();
    Host *host = pair->client.host;
    g_autoptr(json_t) ports = free_ports(1);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        int64_t load = job_send_arm(host, ports, json_loads(rows[i].more, 0, NULL));
        g_autoptr(json_t) reply = host_reply(host, load);
        g_assert_nonnull(strstr(error_text(reply, "config"), rows[i].part));
    }
    job_arm(host, ports, NULL);
    int64_t again = job_send_arm(host, ports, NULL);
    g_autoptr(json_t) reply = host_reply(host, again);
    g_assert_nonnull(strstr(error_text(reply, "busy"), "is used by job"));
}

static void
test_a_go_is_refused_where_it_makes_no_sense(void)
{
    g_autoptr(Pair) pair = pair_new();
    Host *host = pair->client.host;
    g_autoptr(json_t) ports = free_ports(1);
    int64_t serve = job_serve(host, ports, NULL), load = job_arm(host, ports, NULL);
    const struct {
        int64_t job, at_ns;
        const char *code, *text;
    } rows[] = {
        {4711, 0, "not-found", "4711"},
        {serve, 0, "protocol", "serves"},
        {load, np_clock_ns() + 700 * NP_NS_PER_S, "config", "600"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text =
            host_error(host, NP_VERB_LOAD,
                       json_pack("{s:s, s:I, s:I}", "action", "go", "job", (json_int_t) rows[i].job,
                                 "at_ns", (json_int_t) rows[i].at_ns),
                       rows[i].code);
        g_assert_nonnull(strstr(text, rows[i].text));
    }
    job_go(host, load, 0);
    g_autofree char *twice = host_error(
        host, NP_VERB_LOAD,
        json_pack("{s:s, s:I, s:i}", "action", "go", "job", (json_int_t) load, "at_ns", 0),
        "protocol");
    g_assert_nonnull(strstr(twice, "already"));
}

static void
test_two_jobs_at_once(void)
{
    g_autoptr(Pair) pair = pair_new();
    Host *server_host = pair->server.host, *client_host = pair->client.host;
    g_autoptr(json_t) all = free_ports(2);
    int64_t serve[2], load[2], from_ns = np_clock_ns();
    for (size_t i = 0; i < 2; i++) {
        g_autoptr(json_t) ports = json_pack("[O]", json_array_get(all, i));
        serve[i] = job_serve(server_host, ports, NULL);
        load[i] = job_arm(client_host, ports, NULL);
    }
    for (size_t i = 0; i < 2; i++)
        job_go(client_host, load[i], 0);
    for (size_t i = 2; i-- > 0;) { /* the later one's end is looked for first */
        g_autoptr(json_t) loaded = job_event(client_host, load[i]);
        g_autoptr(json_t) served = job_event(server_host, serve[i]);
        check_process(loaded, from_ns, np_clock_ns());
        check_process(served, from_ns, np_clock_ns());
        g_assert_true(json_equal(json_object_get(loaded, "port"), json_array_get(all, i)));
    }
}

/* The CPU that child i of the agent is bound to. */
static int
bound_to(pid_t pid)
{
    cpu_set_t set;
    g_assert_cmpint(sched_getaffinity(pid, sizeof(set), &set), ==, 0);
    g_assert_cmpint(CPU_COUNT(&set), ==, 1);
    int cpu = 0;
    while (!CPU_ISSET((size_t) cpu, &set))
        cpu++;
    return cpu;
}

static void
test_processes_are_bound_to_the_cpus_in_turn(void)
{
    cpu_set_t ours;
    g_assert_cmpint(sched_getaffinity(0, sizeof(ours), &ours), ==, 0);
    int first = 0, last = CPU_SETSIZE - 1;
    while (!CPU_ISSET((size_t) first, &ours))
        first++;
    while (!CPU_ISSET((size_t) last, &ours))
        last--;
    g_autoptr(Pair) pair = pair_new();
    g_autoptr(json_t) ports = free_ports(3);
    job_arm(pair->client.host, ports, json_pack("{s:[i,i]}", "cpus", last, first));
    g_autoptr(GArray) children = agent_children(pair->client.agent->pid);
    const int wanted[] = {last, first, last};
    g_assert_cmpuint(children->len, ==, G_N_ELEMENTS(wanted));
    for (guint i = 0; i < children->len; i++)
        g_assert_cmpint(bound_to(g_array_index(children, pid_t, i)), ==, wanted[i]);
    int64_t missing = job_send_arm(pair->client.host, ports,
                                   json_pack("{s:s, s:[i]}", "target", "127.0.0.2", "cpus", 8191));
    g_autoptr(json_t) reply = host_reply(pair->client.host, missing);
    g_assert_nonnull(strstr(error_text(reply, "unsupported"), "8191"));
}

typedef struct {
    unsigned from, to;
} Connection;

/* Whether there is such a connection, in whatever state. */
static bool
connection_is_there(gconstpointer data)
{
    const Connection *wanted = data;
    g_autofree char *text = NULL;
    g_assert_true(np_file_read("/proc/net/tcp", 64 * 1024 * 1024, &text, NULL, NULL));
    g_autofree char *line =
        g_strdup_printf(" 0100007F:%04X 0100007F:%04X ", wanted->from, wanted->to);
    return strstr(text, line) != NULL;
}

/* Process i's streams come from source_port + i * streams on. */
static void
test_source_ports_are_bound(void)
{
    g_autoptr(Pair) pair = pair_new();
    g_autoptr(json_t) ports = free_ports(2);
    unsigned source = free_port();
    int64_t serve = job_serve(pair->server.host, ports, NULL);
    int64_t load = job_arm(pair->client.host, ports, json_pack("{s:i}", "source_port", source));
    int64_t from_ns = np_clock_ns();
    job_go(pair->client.host, load, 0);
    for (unsigned i = 0; i < 2; i++) {
        const Connection wanted = {source + i,
                                   (unsigned) json_integer_value(json_array_get(ports, i))};
        wait_until(connection_is_there, &wanted, "a connection from the source port");
    }
    g_autoptr(json_t) loaded = job_events(pair->client.host, load, 2);
    g_autoptr(json_t) served = job_events(pair->server.host, serve, 2);
    for (size_t i = 0; i < 2; i++) {
        check_process(json_array_get(loaded, i), from_ns, np_clock_ns());
        check_process(json_array_get(served, i), from_ns, np_clock_ns());
    }
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/load/serve-answers-once-every-port-listens",
                    test_serve_answers_once_every_port_listens);
    g_test_add_func("/load/a-process-can-be-recognised", test_a_process_can_be_recognised);
    g_test_add_func("/load/a-port-in-use-is-busy-and-named", test_a_port_in_use_is_busy_and_named);
    g_test_add_func("/load/both-sides-tell-what-they-moved", test_both_sides_tell_what_they_moved);
    g_test_add_func("/load/reverse-lets-the-server-send", test_reverse_lets_the_server_send);
    g_test_add_func("/load/udp-counts-packets-at-its-rate", test_udp_counts_packets_at_its_rate);
    g_test_add_func("/load/several-ports-and-streams", test_several_ports_and_streams);
    g_test_add_func("/load/omitted-seconds-are-left-out", test_omitted_seconds_are_left_out);
    g_test_add_func("/load/zerocopy-moves-data", test_zerocopy_moves_data);
    g_test_add_func("/load/congestion-is-what-was-asked", test_congestion_is_what_was_asked);
    g_test_add_func("/load/unknown-congestion-is-an-error-that-names-it",
                    test_unknown_congestion_is_an_error_that_names_it);
    g_test_add_func("/load/a-time-ahead-is-waited-for", test_a_time_ahead_is_waited_for);
    g_test_add_func("/load/loads-that-cannot-work-are-refused",
                    test_loads_that_cannot_work_are_refused);
    g_test_add_func("/load/a-go-is-refused-where-it-makes-no-sense",
                    test_a_go_is_refused_where_it_makes_no_sense);
    g_test_add_func("/load/two-jobs-at-once", test_two_jobs_at_once);
    g_test_add_func("/load/processes-are-bound-to-the-cpus-in-turn",
                    test_processes_are_bound_to_the_cpus_in_turn);
    g_test_add_func("/load/source-ports-are-bound", test_source_ports_are_bound);
    return g_test_run();
}
