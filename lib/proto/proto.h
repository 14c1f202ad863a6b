/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * The protocol between host and agent: frames, messages, verbs and their fields.
 */
#pragma once

#include <stdbool.h>

#include <glib.h>
#include <jansson.h>

#include "lib/base/json.h"

/* clang-format off */
/* # The protocol, version 1
 *
 * Transport: any ordered byte stream (virtio-serial port, unix socket, stdin and stdout). One JSON
 * object a line, "\n" ends it, at most NP_PROTO_LINE_MAX bytes with the end. Empty lines mean
 * nothing.
 *
 *     host -> agent   {"id":7,"verb":"serve", ...the verb's fields}
 *     agent -> host   {"session":S,"id":7,"ok":{...}}
 *                     {"session":S,"id":7,"error":{"code":"busy","text":"..."}}
 *                     {"session":S,"event":"process", ...the event's fields}
 *
 * id: a whole number from 1, chosen by the host, unique in its session; the reply repeats it. Every
 * request gets exactly one reply; replies may overtake each other. code: a name of np_error_name.
 * Events come unasked. A line that is no request (not JSON, no id, too long) is answered with
 * "id":0 and an error; the rest of an overlong line is dropped.
 *
 * Resynchronisation: after every connect the stream may hold the tail of an older conversation in
 * both directions. The host sends "\n", then hello with its session id, and drops whatever arrives
 * until a line carries that session id and the hello's request id. The agent's first line of a
 * connection has a "\n" before it too; verbs before the first hello are answered with an error. S
 * is null in an agent's line before that; a refused hello is answered with the session id it asked
 * for.
 *
 * Sessions: a hello with another session id than the agent's current one ends the old session: its
 * jobs are killed, its sampler stops, changed NICs are put back; the reply comes after that, and
 * nothing of the old session follows it. The same id continues a session after a lost connection.
 * When the host goes away the session lives on for NP_PROTO_GONE_MS, unless the same id says hello
 * again, then ends in the same way.
 *
 * What a session has to say while its host is away (replies, events) is kept, up to 2 MiB, and
 * follows the reply to the next hello of the same id. Beyond that the oldest lines are dropped and
 * counted in that reply's "lost". What the stream had taken before it broke and nobody read is lost
 * uncounted; a line may come twice. A host that lets 4 MiB pile up unread is disconnected.
 *
 * Times are in ns on the agent's own CLOCK_MONOTONIC, rates in bit/s, counters in bytes and
 * packets.
 *
 * ## Verbs
 *
 * hello       {protocol, session} -> {protocol, agent, iperf, now_ns, lost?}
 *             Another protocol version is an "unsupported" error and changes nothing. May be
 *             repeated at any time, also to read the agent's clock.
 * info        {} -> {kernel, distribution, virtualisation, clock_source, cpus, cpu_model,
 *                    microcode, hz, command_line, config: {name: value}, mitigations: {name:
 *                    state}, governor, turbo: bool, smt, numa_nodes, hugepages: {size_kib, total,
 *                    free}, transparent_hugepages, irqbalance: bool, halt_poll_ns, iommu: bool,
 *                    sysctls: {name: value}, nics: [NIC], left_out?: ["offloads", "nics"]}
 *             NIC: {name, mac, permanent_mac, pci, driver, firmware, speed_mbps, mtu, up, carrier,
 *                   queues_rx, queues_tx, ring_rx, ring_tx, coalesce: {rx_usecs, tx_usecs,
 *                   adaptive_rx: bool, adaptive_tx: bool}, qdisc, pcie_speed, pcie_width,
 *                   pcie_speed_max, pcie_width_max, numa_node, offloads: [names that are on],
 *                   rx_bytes, tx_bytes, rx_packets, tx_packets}
 *             What the kernel does not say is absent. Loopback is listed too. At most
 *             NP_PROTO_NICS_MAX NICs. virtualisation: the hypervisor's name, such as "kvm", or
 *             "none". queues_rx, queues_tx: those in use where the driver tells, else the most
 *             there may be. hz: ticks a second in a sample; the kernel's own clock is
 *             config.CONFIG_HZ. config: a few CONFIG_ options that decide how CPU time is counted,
 *             "n" for one that is off; absent when neither /boot nor /lib/modules has them.
 *             mitigations: those of /sys/devices/system/cpu/vulnerabilities but "Not affected".
 *             smt: "on", "off", "forceoff", "notsupported". irqbalance: whether it runs; absent
 *             when the agent may not see other users' processes. halt_poll_ns: KVM's module
 *             parameter, absent where KVM is not loaded. iommu: whether the kernel drives one.
 *             pcie_speed: as in sysfs, such as "8.0 GT/s PCIe"; a VF has no link of its own to tell
 *             of. numa_node: absent when the machine tells none. What did not fit the line is
 *             missing and named in left_out: "offloads" (of all NICs), "nics" (from the last on).
 * nic-set     {mac, address?, mtu?, up?} -> {name}
 *             Finds the one NIC with this MAC (its permanent MAC first), keeps network managers off
 *             it, sets what is given. address: "198.18.0.1/24"; replaces all addresses of its
 *             family on that NIC. What was there is remembered on the first nic-set of a NIC in a
 *             session.
 * nic-restore {mac?} -> {restored: count}
 *             Puts that NIC, or every NIC, back.
 * serve       {ports: [..], watchdog_ms, interval_ms?} -> {} once every port listens
 *             One one-off iperf server process a port; job id = request id. interval_ms: of the
 *             server's own intervals, 1000 when absent. A port in use is a "busy" error. Events:
 *             process per server, then end.
 * load        {action: "arm", target, ports: [..], seconds, interval_ms, watchdog_ms, streams?,
 *              omit?, reverse?, protocol?: "tcp"|"udp", rate_bps?, congestion?, window_bytes?,
 *              zerocopy?, cpus?: [..], source_port?} -> {} once every client waits for its go
 *             One client process a port; job id = request id. rate_bps is per process, 0 unlimited;
 *             UDP needs one. cpus: process i is bound to cpus[i mod length]. source_port: process
 *             i's first stream binds source_port + i * streams. omit (s) is iperf's own; seconds
 *             does not contain it. A congestion control that the kernel lacks is an "unsupported"
 *             error.
 *             {action: "go", job, at_ns} -> {} at once
 *             The processes start when the clock reads at_ns (0: now; at most 600 s ahead). A
 *             client that is refused or finds its server busy is tried three times. Events:
 *             process per client, then end.
 * cpu         {action: "start", period_ms, at_ns?: [..], macs?: [..], qemu?: [pids]} -> {}
 *             One sample at once, one each period, and one at each time of at_ns. macs: whose
 *             counters to read; when absent, those of cards, veths and dummies, not of the loopback
 *             or of what is stacked on other NICs. qemu: for an agent on the hypervisor itself,
 *             QEMU processes whose threads to read, at most NP_PROTO_QEMU_MAX; one that is not
 *             there is a "not-found" error. One sampler at a time. Events: sample.
 *             {action: "stop"} -> {samples, clamped} after a last sample
 *             clamped: how many tick counters went backwards from one sample to the next.
 * cancel      {job} -> {}
 *             Kills the job's processes; process events with error "interrupted" and end follow. A
 *             job that still waits to be answered gets that error as its reply, without events. A
 *             job that has ended already: {}.
 * bye         {} -> {}
 *             Ends the session as above; the reply comes when that is done.
 *
 * watchdog_ms: a process that has not ended by then is killed. It counts from the request, and for
 * a load anew from at_ns and for each further try.
 *
 * ## Events
 *
 * process     {job, index, port, pid, ok: bool, error?: {code, text}, stderr?, start_ns?, tries,
 *              user_us, system_us, max_rss_kib, protocol?, streams?, congestion?, mss?, sndbuf?,
 *              rcvbuf?, intervals: {start_us: [..], end_us: [..], bytes: [..], retransmits?: [..],
 *              lost?: [..], packets?: [..]}, bytes?, retransmits?}
 *             One iperf process has been reaped. start_ns: when libiperf's interval clock started
 *             (absent when the test did not start). Interval times count from there; each interval
 *             is the sum of the process's streams, of what this end sent or received, without what
 *             iperf omitted. At most NP_PROTO_INTERVALS_MAX intervals: neighbours are joined if
 *             there are more. They may be there also when ok is false.
 *             error code: not-found (refused), busy (server or port), protocol (the other end went
 *             away), timeout (watchdog, unreachable), interrupted (cancelled), failed (killed by a
 *             signal, unreadable result, iperf's own errors).
 * end         {job}: no process of the job is left.
 * sample      {now_ns, edge: bool, cpu: [[user, nice, system, irq, softirq, steal, idle, iowait]
 *              per CPU], hz, nics: [[mac, rx_bytes, tx_bytes, rx_packets, tx_packets] ..],
 *              processes: [[job, index, cpu_ns] ..],
 *              qemu?: [[pid, vcpu_ns, vhost_ns, iothread_ns, emulator_ns, threads, guest_ns,
 *                       halt_poll_ns] ..]}
 *             cpu: /proc/stat ticks (hz a second) with guest time inside user and nice, as the
 *             kernel counts; null for a CPU that is offline, so that a place is the CPU's number.
 *             edge: taken for one of at_ns. nics: a NIC that is gone is left out. processes: CPU
 *             time that each live iperf process has used.
 *             qemu: only when cpu start named processes; one that has ended, or whose pid is
 *             another process's now, is left out. CPU time since the process began, by kind of
 *             thread, each as of its last tick; it never goes backwards: a thread that has ended,
 *             or changed its name, since the sampler started still counts with its last known time
 *             where it was. vcpu_ns: threads named "CPU n/KVM" or "CPU n/TCG", guest time included.
 *             vhost_ns: "vhost-N", both QEMU's own threads and kernel threads. iothread_ns: "IO .."
 *             threads. emulator_ns: all others. vcpu_ns is null when no thread has such a name
 *             (QEMU before 11 without debug-threads=on): all is in emulator_ns then. threads: how
 *             many there are now. guest_ns: the part of vcpu_ns in the guest's code, in whole
 *             ticks. halt_poll_ns: the part of vcpu_ns spent polling before a halt, from KVM's
 *             debugfs; null when it cannot be read (not root, before Linux 5.8, TCG).
 */
/* clang-format on */

#define NP_PROTO_VERSION       1
#define NP_PROTO_LINE_MAX      (64 * 1024)
#define NP_PROTO_GONE_MS       30000
#define NP_PROTO_NICS_MAX      64
#define NP_PROTO_PORTS_MAX     64
#define NP_PROTO_QEMU_MAX      64
#define NP_PROTO_INTERVALS_MAX 600
#define NP_PROTO_PORT_NAME     "org.nicpass.agent.0"

typedef enum {
    NP_VERB_HELLO,
    NP_VERB_INFO,
    NP_VERB_NIC_SET,
    NP_VERB_NIC_RESTORE,
    NP_VERB_SERVE,
    NP_VERB_LOAD,
    NP_VERB_CPU,
    NP_VERB_CANCEL,
    NP_VERB_BYE,
} NpVerb;

/* A request that has passed every check of the tables: fields are present, of their type and in
 * range. */
typedef struct {
    int64_t id;
    NpVerb verb;
    json_t *fields; /* the whole object */
} NpRequest;

void np_request_clear(NpRequest *request);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NpRequest, np_request_clear)

const char *np_verb_name(NpVerb verb);

/* Parses one line from the host. On failure throws PROTOCOL (or UNSUPPORTED for an unknown verb)
 * and sets *ret_id to the id to answer with: the request's if it could be read, else 0. Pure. */
bool np_request_parse(const char *line, size_t size, NpRequest *ret_request, int64_t *ret_id,
                      GError **error);

/* Messages (transfer full). fields and ok are taken over and may be NULL for none; session may be
 * NULL. */
json_t *np_request_new(int64_t id, NpVerb verb, json_t *fields);
json_t *np_reply_ok(const char *session, int64_t id, json_t *ok);
json_t *np_reply_error(const char *session, int64_t id, const GError *error);
json_t *np_event_new(const char *session, const char *event, json_t *fields);

/* A wire error object {code, text} as a GError of our domain; text is prefixed with nothing. */
void np_error_from_json(const json_t *object, GError **error);
json_t *np_error_to_json(const GError *error);
