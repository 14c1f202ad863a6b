/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Host CPU: a hypervisor's busy cores between two samples, split by what was busy.
 */
#pragma once

#include "lib/bench/cpu.h"

/* As many QEMU processes as one sample may carry. */
#define NP_HOST_VMS_MAX 64

/* Cores (CPU seconds a second) of one QEMU process between two samples. */
typedef struct {
    int64_t pid;
    bool named;      /* its vCPU threads could be told by name; if not, emulator has their time, and
                        vcpu and iothread are 0 */
    double vcpu;     /* with the guest's own time in it, exits and halt polling */
    double vhost;    /* the kernel's half of virtio-net, wherever it runs */
    double iothread; /* disk and the like */
    double emulator; /* QEMU's main loop and workers */
    double guest;    /* the part of vcpu that ran the guest's code; NAN when not known */
    double halt_poll; /* the part of vcpu spent polling for work; NAN when not known */
} NpHostVm;

/* The host's busy cores and where they went. The guests' own busy figures must never be added: they
 * are inside vcpu. */
typedef struct {
    double wall_s;
    unsigned cpus;
    double busy;         /* user + nice + system + irq + softirq of /proc/stat */
    double vcpu, vhost;  /* of all VMs together */
    double emulator;     /* iothreads and emulator threads of all VMs */
    double irq;          /* irq + softirq of the host, shared by all */
    double unattributed; /* busy minus the four above; a little below 0 is possible, see below */
    double halt_poll;    /* part of vcpu; NAN when not known of every VM */
    double guest;        /* part of vcpu; NAN when not known of every VM */
    bool named;          /* vCPU threads could be told by name in every VM */
    unsigned vms;        /* how many of vm[] there are */
    unsigned lost;       /* VMs that stand in only one of the samples, or that another process's
                            pid replaced: their time is in unattributed */
    unsigned clamped;    /* counters that went backwards and were taken as unchanged */
    NpHostVm vm[NP_HOST_VMS_MAX]; /* in the later sample's order */
} NpHostCpu;

/* Splits what happened between two samples whose cpu start named QEMU processes. False when either
 * sample has none of that, is malformed, or time did not pass.
 *
 * How sure the parts are: a thread's time is exact to the tick it is in; busy and irq are sampled
 * ticks. Without IRQ_TIME_ACCOUNTING in the kernel, interrupts also count as the thread that they
 * interrupted, so that unattributed may be below 0 by as much as irq. Pure. */
bool np_host_cpu(const NpCpuEdges *edges, NpHostCpu *ret_split);
