/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Sampler: see sampler.h.
 */
#include "agent/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/timerfd.h>

#include <glib-unix.h>

#include "agent/netlink.h"
#include "agent/nicset.h"
#include "agent/procstat.h"
#include "agent/threads.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/base/log.h"
#include "lib/proto/proto.h"

#define STAT_PATH     "/proc/stat"
#define KVM_DIR       "/sys/kernel/debug/kvm"
#define STAT_SIZE_MIN 4096
#define STAT_SIZE_MAX (1024 * 1024)

struct NpSampler {
    NpSample sample;
    NpSampleProcesses processes;
    gpointer data;

    /* Below: only while it runs. */
    bool running;
    int timer_fd, stat_fd;
    guint source;
    char *text; /* the head of /proc/stat */
    size_t text_size;
    NpNetlink *netlink;
    NpThreads *threads;       /* QEMU's; NULL: none were named */
    GArray *links;            /* NpLink: whose counters are read */
    NpProcstat *now, *before; /* before is valid once samples > 0 */
    int64_t period_ns, next_ns;
    GArray *edges; /* int64_t ascending, those still to come */
    int64_t samples, clamped;
    bool warned;
};

NpSampler *
np_sampler_new(NpSample sample, NpSampleProcesses processes, gpointer data)
{
    NpSampler *sampler = g_new0(NpSampler, 1);
    sampler->sample = sample;
    sampler->processes = processes;
    sampler->data = data;
    sampler->timer_fd = sampler->stat_fd = -1;
    return sampler;
}

static void
clear_run(NpSampler *sampler)
{
    if (sampler->source)
        g_source_remove(sampler->source);
    sampler->source = 0;
    np_fd_clear(&sampler->timer_fd);
    np_fd_clear(&sampler->stat_fd);
    g_clear_pointer(&sampler->text, g_free);
    g_clear_pointer(&sampler->netlink, nl_socket_free);
    g_clear_pointer(&sampler->threads, np_threads_free);
    g_clear_pointer(&sampler->links, g_array_unref);
    g_clear_pointer(&sampler->edges, g_array_unref);
    g_clear_pointer(&sampler->now, g_free);
    g_clear_pointer(&sampler->before, g_free);
    sampler->samples = sampler->clamped = 0;
    sampler->running = sampler->warned = false;
}

void
np_sampler_free(NpSampler *sampler)
{
    if (!sampler)
        return;
    clear_run(sampler);
    g_free(sampler);
}

/* Reads /proc/stat up to its first line that is not a CPU's, with the time right before: the kernel
 * counts while this read is under way. */
static bool
read_stat(NpSampler *sampler, int64_t *ret_now_ns, GError **error)
{
    for (;;) {
        int64_t now_ns = np_clock_ns();
        ssize_t got = pread(sampler->stat_fd, sampler->text, sampler->text_size - 1, 0);
        if (got < 0)
            return np_throw_errno(error, errno, STAT_PATH);
        sampler->text[got] = '\0';
        if (np_procstat_complete(sampler->text)) {
            *ret_now_ns = now_ns;
            return np_procstat_parse(sampler->text, sampler->now, error);
        }
        if (sampler->text_size >= STAT_SIZE_MAX)
            return np_throw(error, NP_ERROR_UNSUPPORTED, "%s: CPU lines beyond %d bytes", STAT_PATH,
                            STAT_SIZE_MAX);
        sampler->text_size *= 2;
        sampler->text = g_realloc(sampler->text, sampler->text_size);
    }
}

/* An offline CPU's place is null, so that a place is always the CPU's number. */
static json_t *
cpu_json(const NpProcstat *stat)
{
    json_t *cpus = json_array();
    for (unsigned cpu = 0; cpu < stat->cpus; cpu++) {
        if (!stat->present[cpu]) {
            json_array_append_new(cpus, json_null());
            continue;
        }
        json_t *ticks = json_array();
        for (int tick = 0; tick < NP_TICKS; tick++)
            json_array_append_new(ticks, json_integer((json_int_t) stat->ticks[cpu][tick]));
        json_array_append_new(cpus, ticks);
    }
    return cpus;
}

/* A NIC that is gone is left out. */
static json_t *
nics_json(NpSampler *sampler)
{
    json_t *nics = json_array();
    for (guint i = 0; i < sampler->links->len; i++) {
        NpLink *link = &g_array_index(sampler->links, NpLink, i);
        char mac[NP_MAC_TEXT_SIZE];
        if (!np_link_read_counters(sampler->netlink, link, NULL))
            continue;
        const uint64_t counters[] = {link->rx_bytes, link->tx_bytes, link->rx_packets,
                                     link->tx_packets};
        json_t *nic = json_array();
        json_array_append_new(nic, json_string(np_mac_format(&link->mac, mac)));
        for (size_t c = 0; c < G_N_ELEMENTS(counters); c++)
            json_array_append_new(nic, json_integer((json_int_t) counters[c]));
        json_array_append_new(nics, nic);
    }
    return nics;
}

static bool
take_sample(NpSampler *sampler, bool edge, GError **error)
{
    int64_t now_ns = 0;
    if (!read_stat(sampler, &now_ns, error))
        return false;
    json_t *qemu = sampler->threads ? np_threads_read(sampler->threads) : NULL;
    json_t *nics = nics_json(sampler);
    json_t *processes = sampler->processes ? sampler->processes(sampler->data) : json_array();
    if (sampler->samples > 0)
        sampler->clamped += np_procstat_backwards(sampler->before, sampler->now);
    sampler->samples++;
    json_t *fields =
        json_pack("{s:I, s:b, s:o, s:I, s:o, s:o, s:o*}", "now_ns", (json_int_t) now_ns, "edge",
                  edge, "cpu", cpu_json(sampler->now), "hz", (json_int_t) sysconf(_SC_CLK_TCK),
                  "nics", nics, "processes", processes, "qemu", qemu);
    NpProcstat *swap = sampler->before;
    sampler->before = sampler->now;
    sampler->now = swap;
    sampler->sample(fields, sampler->data);
    return true;
}

/* Sets the timer to the next period's end or edge, whichever is first. */
static bool
arm_timer(NpSampler *sampler, GError **error)
{
    int64_t at_ns = sampler->next_ns;
    if (sampler->edges->len > 0)
        at_ns = MIN(at_ns, g_array_index(sampler->edges, int64_t, 0));
    const struct itimerspec when = {
        .it_value = {.tv_sec = at_ns / NP_NS_PER_S, .tv_nsec = at_ns % NP_NS_PER_S}};
    if (timerfd_settime(sampler->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) < 0)
        return np_throw_errno(error, errno, "set the sampler's timer");
    return true;
}

/* Takes what is due: a sample for each edge whose time has come, or else for the period. An edge's
 * sample also serves a period that ends by then; periods missed while the machine slept are not
 * made up for. */
static bool
take_due(NpSampler *sampler, GError **error)
{
    int64_t now_ns = np_clock_ns();
    bool due = sampler->next_ns <= now_ns;
    if (due)
        sampler->next_ns +=
            sampler->period_ns * ((now_ns - sampler->next_ns) / sampler->period_ns + 1);
    while (sampler->running && sampler->edges->len > 0 &&
           g_array_index(sampler->edges, int64_t, 0) <= now_ns) {
        g_array_remove_index(sampler->edges, 0);
        if (!take_sample(sampler, true, error))
            return false;
        due = false;
    }
    return !due || !sampler->running || take_sample(sampler, false, error);
}

static gboolean
timer_ready(gint fd, GIOCondition condition, gpointer data)
{
    NpSampler *sampler = data;
    uint64_t ticks;
    if (read(fd, &ticks, sizeof(ticks)) < 0)
        return G_SOURCE_CONTINUE; /* not due after all */
    g_autoptr(GError) error = NULL;
    if (!take_due(sampler, &error) && !sampler->warned) {
        np_log(G_LOG_LEVEL_WARNING, "a sample is lost: %s", error->message);
        sampler->warned = true;
    }
    if (!sampler->running)
        return G_SOURCE_REMOVE;
    g_clear_error(&error);
    if (!arm_timer(sampler, &error)) {
        np_log(G_LOG_LEVEL_WARNING, "no more samples: %s", error->message);
        sampler->source = 0;
        return G_SOURCE_REMOVE;
    }
    return G_SOURCE_CONTINUE;
}

/* Remembers the NICs to read by index, so that a sample needs no look-up. */
static bool
choose_links(NpSampler *sampler, const json_t *macs, GError **error)
{
    sampler->links = g_array_new(FALSE, FALSE, sizeof(NpLink));
    size_t i;
    json_t *mac;
    if (macs) {
        json_array_foreach(macs, i, mac)
        {
            NpLink link;
            if (!np_nic_find(sampler->netlink, json_string_value(mac), &link, error))
                return false;
            np_parse_mac(json_string_value(mac), &link.mac,
                         NULL); /* it goes by what it was asked */
            g_array_append_val(sampler->links, link);
        }
        return true;
    }
    g_autoptr(GPtrArray) links = np_links_read(sampler->netlink, error);
    if (!links)
        return false;
    for (guint l = 0; l < links->len && sampler->links->len < NP_PROTO_NICS_MAX; l++) {
        const NpLink *link = links->pdata[l];
        if (link->has_mac && !link->stacked && !link->loopback)
            g_array_append_vals(sampler->links, link, 1);
    }
    return true;
}

static int
compare_times(const void *a, const void *b)
{
    int64_t left = *(const int64_t *) a, right = *(const int64_t *) b;
    return (left > right) - (left < right);
}

static bool
prepare_run(NpSampler *sampler, const json_t *fields, GError **error)
{
    sampler->stat_fd = open(STAT_PATH, O_RDONLY | O_CLOEXEC);
    if (sampler->stat_fd < 0)
        return np_throw_errno(error, errno, STAT_PATH);
    sampler->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (sampler->timer_fd < 0)
        return np_throw_errno(error, errno, "make the sampler's timer");
    sampler->netlink = np_netlink_open(error);
    if (!sampler->netlink || !choose_links(sampler, json_object_get(fields, "macs"), error))
        return false;
    const json_t *qemu = json_object_get(fields, "qemu");
    if (json_array_size(qemu) > 0) {
        sampler->threads = np_threads_new("/proc", KVM_DIR, qemu, error);
        if (!sampler->threads)
            return false;
    }
    sampler->text_size = STAT_SIZE_MIN;
    sampler->text = g_malloc(sampler->text_size);
    sampler->now = g_new0(NpProcstat, 1);
    sampler->before = g_new0(NpProcstat, 1);
    sampler->edges = g_array_new(FALSE, FALSE, sizeof(int64_t));
    size_t i;
    json_t *at;
    json_array_foreach(json_object_get(fields, "at_ns"), i, at)
    {
        int64_t at_ns = json_integer_value(at);
        g_array_append_val(sampler->edges, at_ns);
    }
    g_array_sort(sampler->edges, compare_times);
    sampler->period_ns = np_json_int(fields, "period_ms", 1000) * NP_NS_PER_MS;
    return true;
}

bool
np_sampler_start(NpSampler *sampler, const json_t *fields, GError **error)
{
    if (sampler->running)
        return np_throw(error, NP_ERROR_BUSY, "the sampler runs already: stop it first");
    bool ok = prepare_run(sampler, fields, error);
    if (ok) {
        sampler->running = true;
        sampler->next_ns = np_clock_ns() + sampler->period_ns;
        ok = take_sample(sampler, false, error) && take_due(sampler, error);
        if (ok && !sampler->running)
            return true; /* stopped by its first samples' receiver */
        ok = ok && arm_timer(sampler, error);
    }
    if (!ok) {
        clear_run(sampler);
        return false;
    }
    sampler->source = g_unix_fd_add(sampler->timer_fd, G_IO_IN, timer_ready, sampler);
    return true;
}

json_t *
np_sampler_stop(NpSampler *sampler, GError **error)
{
    if (!sampler->running) {
        np_throw(error, NP_ERROR_NOT_FOUND, "the sampler does not run");
        return NULL;
    }
    bool ok = take_sample(sampler, false, error);
    json_t *answer = ok ? json_pack("{s:I, s:I}", "samples", (json_int_t) sampler->samples,
                                    "clamped", (json_int_t) sampler->clamped)
                        : NULL;
    clear_run(sampler);
    return answer;
}
