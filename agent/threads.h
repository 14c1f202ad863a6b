/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Threads: CPU time of QEMU processes on a hypervisor, by what their threads are for.
 */
#pragma once

#include "lib/base/json.h"

typedef enum {
    NP_THREAD_VCPU,
    NP_THREAD_VHOST,
    NP_THREAD_IOTHREAD,
    NP_THREAD_EMULATOR,
    NP_THREAD_KINDS,
} NpThreadKind;

/* What a QEMU process's thread with this name (its comm) is for. Pure. */
NpThreadKind np_thread_kind(const char *comm);

typedef struct NpThreads NpThreads;

/* Remembers the processes whose pids (an array of integers, at most NP_PROTO_QEMU_MAX; a pid named
 * twice counts once) are to be read. proc_dir and kvm_dir: "/proc" and KVM's folder in debugfs.
 * Throws NOT_FOUND for a pid that is not there, UNSUPPORTED when the kernel does not tell the CPU
 * time of threads. */
NpThreads *
np_threads_new(const char *proc_dir, const char *kvm_dir, const json_t *pids, GError **error);
void np_threads_free(NpThreads *threads);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpThreads, np_threads_free)

/* Reads all of them, in their order, as a sample's member "qemu" (transfer full; see
 * lib/proto/proto.h). A process that has ended is left out from then on, also when another bears
 * its pid. No time ever goes backwards: what was last seen of a thread that has ended stays
 * counted. */
json_t *np_threads_read(NpThreads *threads);
