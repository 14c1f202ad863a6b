/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Host CPU: see hostcpu.h.
 */
#include "lib/bench/hostcpu.h"

#include <math.h>

#include "lib/base/clock.h"

/* Places in a sample's row of a QEMU process. */
enum { ROW_PID, ROW_VCPU, ROW_VHOST, ROW_IOTHREAD, ROW_EMULATOR, ROW_THREADS, ROW_GUEST, ROW_HALT };

static int64_t
row_pid(const json_t *row)
{
    return json_integer_value(json_array_get(row, ROW_PID));
}

static const json_t *
find_row(const json_t *rows, int64_t pid)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        if (row_pid(row) == pid)
            return row;
    }
    return NULL;
}

/* The cores of one counter, or NAN when either row has none. */
static double
cores_of(const json_t *from, const json_t *to, size_t place, NpHostCpu *split)
{
    const json_t *before = json_array_get(from, place), *after = json_array_get(to, place);
    if (!json_is_number(before) || !json_is_number(after))
        return NAN;
    double ns = json_number_value(after) - json_number_value(before);
    if (ns < 0) {
        split->clamped++;
        ns = 0;
    }
    return ns / NP_NS_PER_S / split->wall_s;
}

/* False when a number that is always there is not. */
static bool
take_vm(const json_t *from, const json_t *to, NpHostCpu *split)
{
    NpHostVm vm = {
        .pid = row_pid(to),
        .vcpu = cores_of(from, to, ROW_VCPU, split),
        .vhost = cores_of(from, to, ROW_VHOST, split),
        .iothread = cores_of(from, to, ROW_IOTHREAD, split),
        .emulator = cores_of(from, to, ROW_EMULATOR, split),
        .guest = cores_of(from, to, ROW_GUEST, split),
        .halt_poll = cores_of(from, to, ROW_HALT, split),
    };
    if (isnan(vm.vhost) || isnan(vm.iothread) || isnan(vm.emulator))
        return false;
    vm.named = !isnan(vm.vcpu);
    if (!vm.named)
        vm.vcpu = 0;
    split->vcpu += vm.vcpu;
    split->vhost += vm.vhost;
    split->emulator += vm.iothread + vm.emulator;
    split->guest += vm.guest; /* NAN stays NAN */
    split->halt_poll += vm.halt_poll;
    split->named = split->named && vm.named;
    split->vm[split->vms++] = vm;
    return true;
}

/* How many rows of one sample have no partner in the other. */
static unsigned
count_lone(const json_t *rows, const json_t *others)
{
    unsigned count = 0;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) count += find_row(others, row_pid(row)) == NULL;
    return count;
}

bool
np_host_cpu(const NpCpuEdges *edges, NpHostCpu *ret_split)
{
    const json_t *from = json_object_get(edges->from, "qemu");
    const json_t *to = json_object_get(edges->to, "qemu");
    NpCpuUse use;
    if (!json_is_array(from) || !json_is_array(to) || json_array_size(to) > NP_HOST_VMS_MAX ||
        !np_cpu_use(edges, &use))
        return false;
    NpHostCpu split = {
        .wall_s = use.wall_s, .cpus = use.cpus, .busy = use.busy_cores, .named = true};
    split.irq = (use.seconds[NP_CPU_IRQ] + use.seconds[NP_CPU_SOFTIRQ]) / use.wall_s;
    size_t i;
    json_t *row;
    json_array_foreach(to, i, row)
    {
        const json_t *before = find_row(from, row_pid(row));
        if (before && !take_vm(before, row, &split))
            return false;
    }
    split.lost = count_lone(from, to) + count_lone(to, from);
    split.unattributed = split.busy - split.vcpu - split.vhost - split.emulator - split.irq;
    *ret_split = split;
    return true;
}
