/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Fake kernel: behind the vtable of lib/apply/sys.h, a machine whose rules were seen on a real one.
 *
 * All state is flat and in shared memory: forked children act on one machine, and what they did
 * stays when they die. Rules carry the number (L1, L2, ...) of the fact that they come from, as
 * tried on Linux 6.1 with QEMU's igb; tests/fake/conformance.c runs the same list against both.
 */
#pragma once

#include <pthread.h>

#include "lib/apply/sys.h"

#define FAKE_DEVICES   48
#define FAKE_VFS       8
#define FAKE_TEXT      64
#define FAKE_ADDRESSES 4
#define FAKE_USES      4
#define FAKE_LOG       256
#define FAKE_MAX_MTU   9216

typedef struct {
    bool exists;
    char name[FAKE_TEXT];
    int ifindex;
    NpMac mac, perm;
    bool up, carrier;
    unsigned mtu;
    char master[FAKE_TEXT];
    char addresses[FAKE_ADDRESSES][FAKE_TEXT];
} FakeNet;

typedef struct {
    NpUseKind kind;
    char text[FAKE_TEXT];
    uint32_t vmid;
} FakeUse;

typedef struct {
    bool exists;
    NpBdf bdf;
    NpFunctionKind kind;
    uint16_t vendor, device;
    char native[FAKE_TEXT]; /* the driver that takes it by its id; "" for none */
    char driver[FAKE_TEXT];
    char override[FAKE_TEXT];
    int group;
    bool has_upstream;
    NpBdf upstream;
    NpAcs acs;
    NpBdf physfn;
    unsigned index;
    unsigned total, count, offset, stride; /* of a PF */
    bool autoprobe, switchdev;
    NpVfAttrs vf[FAKE_VFS];
    FakeNet net;
    FakeNet born; /* how its netdev looks when its driver is bound */
    bool held;    /* a process has its VFIO group open */
    bool hidden;  /* the scan does not see it */
    unsigned resets;
    FakeUse uses[FAKE_USES];
    unsigned use_count;
} FakeDevice;

/* What a PF driver does, beyond what all do. */
typedef struct {
    const char *driver, *vf_driver;
    NpVfFields reports; /* what it tells of a VF */
    NpVfFields refuses; /* EOPNOTSUPP */
    bool takes_8021ad, takes_min_rate, rate_needs_link;
    bool refuses_zero_mac; /* EINVAL */
    bool none_is_4095;     /* how it tells "no VLAN" */
    bool vfs_need_up;      /* no VFs while the PF is down */
    bool ignores_link_up;  /* success without effect */
} FakeDriver;

/* What goes wrong, once or for good. Calls with an effect are counted from 1. */
typedef struct {
    unsigned fail_at; /* the call that fails, 0: none */
    int fail_errno;
    unsigned fail_times;       /* how many calls from fail_at on, at least 1 */
    bool fail_after;           /* it fails although it had its effect */
    unsigned die_at;           /* the call at which the process ends, 0: none */
    bool die_after;            /* after its effect instead of before */
    unsigned again;            /* so many VF requests give EAGAIN first */
    bool reset_clears;         /* a reset clears what the PF has set for the VF, too */
    bool lose_path;            /* unbinding a port takes the host's path away */
    bool lose_writes;          /* success is reported, nothing happens */
    char lose_only[FAKE_TEXT]; /* with lose_writes: only for paths that contain this */
    unsigned meddle_at;        /* after this call somebody sets VLAN 99 on VF 0 of the first PF */
    unsigned late_links;       /* so many looks at virtfn links find none yet */
} FakeFaults;

typedef struct {
    pthread_mutex_t mutex; /* between processes */
    FakeDevice devices[FAKE_DEVICES];
    char new_ids[4][FAKE_TEXT]; /* "8086 10ca": what vfio-pci takes by id (L7) */
    bool no_iommu;
    bool path_lost;
    bool vfio_not_loaded; /* vfio-pci is a module that nobody has needed yet */
    int next_ifindex;
    uint32_t random;
    int64_t now_ms;
    bool all_vms_alive;
    uint32_t alive_vmids[8];
    char alive_uuid[40];
    FakeFaults faults;
    unsigned effects;       /* calls with an effect so far */
    unsigned queries;       /* calls of get_vf so far */
    char log[FAKE_LOG][96]; /* one line an effect: "write PATH=VALUE", "vf 0 mac vlan", ... */
    unsigned log_count;
} FakeState;

typedef struct {
    NpSys sys; /* first, so that an NpSys * is a FakeKernel * */
    FakeState *state;
} FakeKernel;

/* A machine with nothing in it; sys functions are ready to use. Free through np_sys_free. */
FakeKernel *fake_kernel_new(void);

/* Two-port igb below ports with ACS: PFs 0000:01:00.0 "ens1f0" and 0000:01:00.1 "ens1f1" of 7 VFs
 * each, up, with a link, VFs at 0000:01:10.0, .2, ... and 0000:01:10.1, .3, ...; 0000:05:00.0
 * "eno1" (e1000e), port of vmbr0, with the host's address. Every function has its own group. */
FakeKernel *fake_kernel_new_igb(void);

/* The same with another PF driver of the table ("mlx5_core", "i40e", ...). */
FakeKernel *fake_kernel_new_with(const char *driver);

FakeDevice *fake_add(FakeKernel *kernel, const char *bdf, NpFunctionKind kind, const char *native);
FakeDevice *fake_find(FakeKernel *kernel, const char *bdf);
FakeDevice *fake_find_bdf(FakeState *state, const NpBdf *bdf);
void fake_use(FakeDevice *device, NpUseKind kind, const char *text, uint32_t vmid);

/* The rules, without faults and without the count of effects: for outsiders in tests. */
int fake_make_vfs(FakeState *state, FakeDevice *pf, unsigned count);
void fake_bind(FakeState *state, FakeDevice *device, const char *driver);
void fake_unbind(FakeState *state, FakeDevice *device);
const FakeDriver *fake_driver(const char *name);

/* The machine's lasting state in words, for comparing before and after: devices, drivers,
 * overrides, attributes, netdevs (without ifindex). (transfer full) */
char *fake_kernel_dump(const FakeKernel *kernel);

/* Parts of the vtable, one file each. */
void fake_sysfs_install(NpSys *sys);
void fake_net_install(NpSys *sys);
void fake_scan_install(NpSys *sys);

/* Every call with an effect begins and ends with these, holding the mutex in between: begin gives
 * the errno to return at once, 0 to go on; end the result to return. what goes to the log. */
int fake_begin(FakeKernel *kernel, const char *format, ...) G_GNUC_PRINTF(2, 3);
int fake_end(FakeKernel *kernel, int result);
void fake_lock(FakeKernel *kernel);
void fake_unlock(FakeKernel *kernel);
