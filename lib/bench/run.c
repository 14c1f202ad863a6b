/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Run: see run.h. The order of one run: servers up, clients armed, barrier, omit, window, tail.
 */
#include "lib/bench/run.h"

#include <math.h>

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/loop.h"
#include "lib/bench/side.h"

#define WATCHDOG_SLACK_MS                                                                          \
    15000                  /* beyond the load itself: a healthy iperf takes well below a second */
#define DIAGNOSIS_MS  3000 /* for the other ends to notice that one process has died */
#define BARRIER_MS    200  /* from the last "armed" to the common start */
#define INTERVALS_AIM 500  /* a process, below NP_PROTO_INTERVALS_MAX */
#define FIRST_PORT    5201

typedef struct {
    const NpScenario *scenario;
    const NpStage *stage;
    NpRecords *records;
    uint64_t seed;
    GPtrArray *runs;
    NpProgressFunc progress;
    gpointer progress_data;
    NpProgress now;
    NpBenchResult result;
    NpBoot boot;
    bool booted; /* boot holds something to halt */
    bool clean;  /* no run on this boot has failed */
    NpBenchSide sender, receiver;
} Bench;

static void
end_clear(NpEnd *end)
{
    np_peer_free(end->peer);
    g_free(end->endpoint);
    g_free(end->mac);
    g_free(end->address);
    g_free(end->cidr);
    *end = (NpEnd){0};
}

static void
show_progress(Bench *bench)
{
    if (!bench->progress || !bench->now.run)
        return;
    bool reverse = bench->now.run->direction == NP_DIRECTION_REVERSE;
    bench->now.live_bps = np_side_live_bps(reverse ? &bench->sender : &bench->receiver);
    bench->progress(&bench->now, bench->progress_data);
}

/* Every event of both agents comes here. */
static void
take_event(NpPeer *peer, const char *event, const json_t *message, gpointer data)
{
    Bench *bench = data;
    np_side_take_event(peer == bench->boot.sender.peer ? &bench->sender : &bench->receiver, event,
                       message);
    show_progress(bench);
}

/* Both edges of the idle baseline are there, or never will be. */
static bool
idle_over(gconstpointer data)
{
    const NpBenchSide *side = data;
    unsigned edges = 0;
    size_t index;
    json_t *sample;
    json_array_foreach(side->samples, index, sample)
    {
        edges += np_json_bool(sample, "edge", false);
    }
    return edges >= 2 || np_peer_gone(side->end->peer);
}

/* What the machines do while nothing is loaded, once a boot. */
static bool
measure_idle(Bench *bench, GError **error)
{
    int64_t idle_ms = bench->scenario->idle_ms;
    int64_t from_ns = np_clock_ns() + BARRIER_MS * NP_NS_PER_MS;
    NpBenchSide *sides[] = {&bench->sender, &bench->receiver};
    if (idle_ms == 0)
        return true;
    for (size_t i = 0; i < G_N_ELEMENTS(sides); i++)
        if (!np_side_cpu_start(sides[i], from_ns, from_ns + idle_ms * NP_NS_PER_MS, error))
            return false;
    for (size_t i = 0; i < G_N_ELEMENTS(sides); i++) {
        if (!np_loop_wait(idle_over, sides[i], BARRIER_MS + idle_ms + WATCHDOG_SLACK_MS,
                          "idle baseline", error) ||
            !np_side_cpu_stop(sides[i], error))
            return false;
        sides[i]->idle = json_incref(sides[i]->samples);
        np_side_reset_run(sides[i]);
    }
    return true;
}

static json_t *
ports_of(const NpRun *run)
{
    json_t *ports = json_array();
    for (unsigned i = 0; i < run->processes; i++)
        json_array_append_new(ports, json_integer(FIRST_PORT + i));
    return ports;
}

static int64_t
load_ms(const NpScenario *scenario)
{
    return scenario->omit_ms + scenario->window_ms + scenario->tail_ms;
}

/* Fine enough to cut the window out, and few enough for one message. */
static int64_t
interval_ms(const NpScenario *scenario)
{
    return MAX(100, (load_ms(scenario) / INTERVALS_AIM + 99) / 100 * 100);
}

static json_t *
cpus_of(const Bench *bench, const NpRun *run)
{
    json_t *cpus = json_array();
    int64_t count = np_json_int(bench->sender.info, "cpus", 1);
    for (int64_t i = 0; i < MIN(count, run->processes); i++)
        json_array_append_new(cpus, json_integer(i));
    return cpus;
}

/* The omit is ours, not iperf's: the window is cut from the intervals, so iperf runs for all of it.
 */
static json_t *
load_fields(const Bench *bench, const NpRun *run)
{
    const NpScenario *scenario = bench->scenario;
    json_t *fields = json_pack("{s:s, s:s, s:o, s:I, s:I, s:I}", "action", "arm", "target",
                               bench->boot.receiver.address, "ports", ports_of(run), "seconds",
                               (json_int_t) (load_ms(scenario) / 1000), "interval_ms",
                               (json_int_t) interval_ms(scenario), "watchdog_ms",
                               (json_int_t) (load_ms(scenario) + WATCHDOG_SLACK_MS));
    g_autoptr(json_t) how =
        json_pack("{s:i, s:b, s:s, s:I, s:b, s:i}", "streams", (int) scenario->streams, "reverse",
                  (int) (run->direction == NP_DIRECTION_REVERSE), "protocol",
                  scenario->udp ? "udp" : "tcp", "rate_bps", (json_int_t) scenario->rate_bps,
                  "zerocopy", (int) scenario->zerocopy, "source_port", (int) run->source_port);
    json_object_update(fields, how);
    if (scenario->congestion)
        json_object_set_new(fields, "congestion", json_string(scenario->congestion));
    if (scenario->window_bytes)
        json_object_set_new(fields, "window_bytes",
                            json_integer((json_int_t) scenario->window_bytes));
    if (scenario->pin)
        json_object_set_new(fields, "cpus", cpus_of(bench, run));
    return fields;
}

static bool
both_over(gconstpointer data)
{
    const Bench *bench = data;
    return np_side_job_over(&bench->sender) && np_side_job_over(&bench->receiver);
}

/* Both jobs are over, or one of their processes has failed, or an agent is gone. */
static bool
load_decided(gconstpointer data)
{
    const Bench *bench = data;
    return both_over(bench) || bench->sender.failed || bench->receiver.failed ||
           np_peer_gone(bench->boot.sender.peer) || np_peer_gone(bench->boot.receiver.peer);
}

/* Servers first, then clients, which wait for their go. */
static bool
arm(Bench *bench, const NpRun *run, GError **error)
{
    int64_t watchdog_ms = load_ms(bench->scenario) + 2 * WATCHDOG_SLACK_MS;
    json_t *serve = json_pack("{s:o, s:I, s:I}", "ports", ports_of(run), "interval_ms",
                              (json_int_t) interval_ms(bench->scenario), "watchdog_ms",
                              (json_int_t) watchdog_ms);
    return np_side_begin_job(&bench->receiver, NP_VERB_SERVE, serve, error) &&
           np_side_begin_job(&bench->sender, NP_VERB_LOAD, load_fields(bench, run), error);
}

static bool
throw_if_gone(const NpPeer *peer, GError **error)
{
    return !np_peer_gone(peer) || np_throw(error, NP_ERROR_PROTOCOL,
                                           "%s: the agent died during the run", np_peer_name(peer));
}

/* Starts the samplers with the window's edges, then the load; waits for its end. */
static bool
load(Bench *bench, NpResult *result, GError **error)
{
    const NpScenario *scenario = bench->scenario;
    int64_t go_ns = np_clock_ns() + BARRIER_MS * NP_NS_PER_MS;
    result->from_ns = go_ns + scenario->omit_ms * NP_NS_PER_MS;
    result->to_ns = result->from_ns + scenario->window_ms * NP_NS_PER_MS;
    int64_t limit_ms = BARRIER_MS + load_ms(scenario) + 3 * WATCHDOG_SLACK_MS;
    if (!np_side_cpu_start(&bench->receiver, result->from_ns, result->to_ns, error) ||
        !np_side_cpu_start(&bench->sender, result->from_ns, result->to_ns, error) ||
        !np_side_go(&bench->sender, go_ns, error) ||
        !np_loop_wait(load_decided, bench, limit_ms, "load", error))
        return false;
    if (!both_over(bench)) /* whether it ends by itself or not is in the processes' own results */
        (void) np_loop_wait(both_over, bench, DIAGNOSIS_MS, "end of the load", NULL);
    return throw_if_gone(bench->boot.sender.peer, error) &&
           throw_if_gone(bench->boot.receiver.peer, error);
}

static char *
now_text(void)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    return g_date_time_format(now, "%Y-%m-%dT%H:%M:%SZ");
}

static bool
append_record(Bench *bench, const NpResult *result, GError **error)
{
    g_autoptr(json_t) record = np_record_new(result);
    if (!np_records_append(bench->records, record, error))
        return false;
    bench->result.done++;
    bench->result.invalid += !np_json_bool(record, "valid", false);
    bench->now.record = record;
    show_progress(bench);
    bench->now.record = NULL;
    return true;
}

/* Carries out one run and appends its record. Throws only what must stop the benchmark. */
static bool
run_one(Bench *bench, const NpRun *run, GError **error)
{
    g_autoptr(GError) failure = NULL;
    g_autofree char *started = now_text();
    NpResult result = {.scenario = bench->scenario,
                       .run = run,
                       .seed = bench->seed,
                       .started = started,
                       .shared_kernel = bench->boot.shared_kernel};
    np_side_reset_run(&bench->sender);
    np_side_reset_run(&bench->receiver);
    bool loaded = arm(bench, run, &failure) && load(bench, &result, &failure) &&
                  np_side_cpu_stop(&bench->sender, &failure) &&
                  np_side_cpu_stop(&bench->receiver, &failure);
    if (np_loop_interrupted()) {
        g_clear_error(&failure);
        return np_throw(error, NP_ERROR_INTERRUPTED, "stopped by a signal during %s", run->key);
    }
    np_side_end_job(&bench->sender);
    np_side_end_job(&bench->receiver);
    bench->clean = loaded && !bench->sender.failed && !bench->receiver.failed;
    result.failure = failure;
    result.sender = np_side_result(&bench->sender);
    result.receiver = np_side_result(&bench->receiver);
    return append_record(bench, &result, error);
}

static void
halt(Bench *bench)
{
    bench->now.run = NULL;
    np_side_bye(&bench->sender);
    np_side_bye(&bench->receiver);
    np_side_clear(&bench->sender);
    np_side_clear(&bench->receiver);
    end_clear(&bench->boot.sender);
    end_clear(&bench->boot.receiver);
    bench->stage->halt(&bench->boot);
    bench->boot = (NpBoot){0};
    bench->booted = false;
}

static bool
boot(Bench *bench, const NpTopology *topology, GError **error)
{
    bench->booted = bench->clean = true;
    if (!bench->stage->boot(topology, take_event, bench, &bench->boot, error))
        return false;
    bench->sender.end = &bench->boot.sender;
    bench->receiver.end = &bench->boot.receiver;
    np_side_reset_run(&bench->sender);
    np_side_reset_run(&bench->receiver);
    return np_side_prepare(&bench->receiver, topology->mtu, error) &&
           np_side_prepare(&bench->sender, topology->mtu, error) && measure_idle(bench, error);
}

static int64_t
left_ms(const Bench *bench, unsigned index)
{
    g_autoptr(GPtrArray) left = g_ptr_array_new();
    for (unsigned i = index; i < bench->runs->len; i++)
        g_ptr_array_add(left, g_ptr_array_index(bench->runs, i));
    return np_matrix_duration_ms(bench->scenario, left);
}

/* One entry of the matrix, on the boot that stands if it is of the same topology and clean, or a
 * new one. */
static bool
carry_out(Bench *bench, unsigned index, GError **error)
{
    const NpRun *run = g_ptr_array_index(bench->runs, index);
    const NpRun *before = index ? g_ptr_array_index(bench->runs, index - 1) : run;
    if (np_records_has_valid(bench->records, run->key)) {
        bench->result.skipped++;
        return true;
    }
    bool same = before->block == run->block && before->topology == run->topology;
    if (bench->booted && !(same && bench->clean))
        halt(bench);
    const NpTopology *topology = g_ptr_array_index(bench->scenario->topologies, run->topology);
    if (!bench->booted && !boot(bench, topology, error)) {
        g_prefix_error(error, "topology '%s': ", topology->name);
        return false;
    }
    bench->now.run = run;
    bench->now.index = index;
    bench->now.left_ms = left_ms(bench, index);
    return run_one(bench, run, error);
}

bool
np_bench(const NpScenario *scenario, uint64_t seed, const NpStage *stage, NpRecords *records,
         NpProgressFunc progress, gpointer data, NpBenchResult *ret_result, GError **error)
{
    Bench bench = {.scenario = scenario,
                   .stage = stage,
                   .records = records,
                   .seed = seed,
                   .runs = np_matrix_expand(scenario, seed),
                   .progress = progress,
                   .progress_data = data};
    bench.now.scenario = scenario;
    bench.now.count = bench.runs->len;
    bool carried_out = true;
    for (unsigned i = 0; carried_out && i < bench.runs->len; i++)
        carried_out = carry_out(&bench, i, error);
    if (bench.booted)
        halt(&bench);
    g_ptr_array_unref(bench.runs);
    *ret_result = bench.result;
    return carried_out;
}
