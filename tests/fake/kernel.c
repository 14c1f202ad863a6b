/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Fake kernel: state, drivers and the rules of binding. See kernel.h.
 */
#include "tests/fake/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALL                                                                                        \
    (NP_VF_MAC | NP_VF_VLAN | NP_VF_RATE | NP_VF_SPOOFCHK | NP_VF_LINK | NP_VF_RSS_QUERY |         \
     NP_VF_TRUST)

static const FakeDriver drivers[] = {
    /* L16, L17 */
    {.driver = "igb",
     .vf_driver = "igbvf",
     .reports = ALL & ~NP_VF_RSS_QUERY,
     .refuses = NP_VF_LINK | NP_VF_RSS_QUERY,
     .rate_needs_link = true},
    {.driver = "ixgbe",
     .vf_driver = "ixgbevf",
     .reports = ALL,
     .rate_needs_link = true,
     .ignores_link_up = true},
    {.driver = "i40e",
     .vf_driver = "iavf",
     .reports = ALL & ~NP_VF_RSS_QUERY,
     .refuses = NP_VF_RSS_QUERY},
    {.driver = "mlx5_core",
     .vf_driver = "mlx5_core_vf",
     .reports = ALL & ~NP_VF_RSS_QUERY,
     .refuses = NP_VF_RSS_QUERY,
     .takes_8021ad = true,
     .takes_min_rate = true,
     .refuses_zero_mac = true,
     .none_is_4095 = true},
    {.driver = "bnxt_en",
     .vf_driver = "bnxt_vf",
     .reports = ALL & ~NP_VF_RSS_QUERY,
     .refuses = NP_VF_RSS_QUERY,
     .takes_min_rate = true,
     .vfs_need_up = true},
    {.driver = "plain-driver",
     .vf_driver = "plain-vf",
     .reports = NP_VF_MAC | NP_VF_VLAN | NP_VF_RATE | NP_VF_LINK,
     .refuses = NP_VF_SPOOFCHK | NP_VF_RSS_QUERY | NP_VF_TRUST},
    {.driver = NULL},
};

const FakeDriver *
fake_driver(const char *name)
{
    const FakeDriver *driver = drivers;
    while (driver->driver && strcmp(driver->driver, name) != 0)
        driver++;
    return driver;
}

void
fake_lock(FakeKernel *kernel)
{
    if (pthread_mutex_lock(&kernel->state->mutex) == EOWNERDEAD)
        pthread_mutex_consistent(&kernel->state->mutex);
}

void
fake_unlock(FakeKernel *kernel)
{
    pthread_mutex_unlock(&kernel->state->mutex);
}

int
fake_begin(FakeKernel *kernel, const char *format, ...)
{
    fake_lock(kernel);
    FakeState *state = kernel->state;
    FakeFaults *faults = &state->faults;
    state->effects++;
    if (state->log_count < FAKE_LOG) {
        va_list args;
        va_start(args, format);
        g_vsnprintf(state->log[state->log_count++], sizeof(state->log[0]), format, args);
        va_end(args);
    }
    if (state->effects == faults->die_at && !faults->die_after)
        _exit(42);
    bool fails = faults->fail_at && state->effects >= faults->fail_at &&
                 state->effects < faults->fail_at + MAX(faults->fail_times, 1);
    if (!fails || faults->fail_after)
        return 0;
    fake_unlock(kernel);
    return -faults->fail_errno;
}

int
fake_end(FakeKernel *kernel, int result)
{
    FakeState *state = kernel->state;
    const FakeFaults *faults = &state->faults;
    if (state->effects == faults->die_at && faults->die_after)
        _exit(42);
    for (size_t i = 0; state->effects == faults->meddle_at && i < FAKE_DEVICES; i++) {
        if (state->devices[i].kind != NP_FUNCTION_PF)
            continue;
        state->devices[i].vf[0].vlan = 99;
        break;
    }
    if (faults->fail_after && state->effects == faults->fail_at)
        result = -faults->fail_errno;
    fake_unlock(kernel);
    return result;
}

FakeDevice *
fake_find_bdf(FakeState *state, const NpBdf *bdf)
{
    for (size_t i = 0; i < FAKE_DEVICES; i++)
        if (state->devices[i].exists && np_bdf_equal(&state->devices[i].bdf, bdf))
            return &state->devices[i];
    return NULL;
}

FakeDevice *
fake_find(FakeKernel *kernel, const char *text)
{
    NpBdf bdf;
    g_assert_true(np_parse_bdf(text, &bdf, NULL));
    return fake_find_bdf(kernel->state, &bdf);
}

static FakeDevice *
add_device(FakeState *state, const NpBdf *bdf, NpFunctionKind kind, const char *native)
{
    for (size_t i = 0; i < FAKE_DEVICES; i++) {
        FakeDevice *device = &state->devices[i];
        if (device->exists)
            continue;
        memset(device, 0, sizeof(*device));
        device->exists = true;
        device->bdf = *bdf;
        device->kind = kind;
        device->group = (int) i + 1;
        device->autoprobe = true;
        g_strlcpy(device->native, native, sizeof(device->native));
        return device;
    }
    g_assert_not_reached();
}

FakeDevice *
fake_add(FakeKernel *kernel, const char *text, NpFunctionKind kind, const char *native)
{
    NpBdf bdf;
    g_assert_true(np_parse_bdf(text, &bdf, NULL));
    FakeDevice *device = add_device(kernel->state, &bdf, kind, native);
    fake_bind(kernel->state, device, native);
    return device;
}

void
fake_use(FakeDevice *device, NpUseKind kind, const char *text, uint32_t vmid)
{
    g_assert_cmpuint(device->use_count, <, FAKE_USES);
    FakeUse *use = &device->uses[device->use_count++];
    use->kind = kind;
    use->vmid = vmid;
    g_strlcpy(use->text, text, sizeof(use->text));
}

static void
draw_mac(FakeState *state, NpMac *mac)
{
    *mac = (NpMac){{0x06, 0xfa, 0, 0, (uint8_t) (++state->random >> 8), (uint8_t) state->random}};
}

/* L12: a netdev that comes back has a new ifindex, is down and in no bridge. L15: a VF takes its
 * admin MAC, or else draws one. */
static void
bear_netdev(FakeState *state, FakeDevice *device)
{
    static const NpMac zero;
    device->net = device->born;
    device->net.ifindex = ++state->next_ifindex;
    if (device->kind != NP_FUNCTION_VF) {
        state->path_lost = false;
        return;
    }
    const FakeDevice *pf = fake_find_bdf(state, &device->physfn);
    device->net.mac = pf->vf[device->index].mac;
    if (np_mac_equal(&device->net.mac, &zero))
        draw_mac(state, &device->net.mac);
}

void
fake_bind(FakeState *state, FakeDevice *device, const char *driver)
{
    g_strlcpy(device->driver, driver, sizeof(device->driver));
    if (device->born.exists && strcmp(driver, device->native) == 0)
        bear_netdev(state, device);
}

/* L10: a PF that loses its driver loses its VFs, its netdev and its place in a bridge, silently. */
void
fake_unbind(FakeState *state, FakeDevice *device)
{
    if (device->kind == NP_FUNCTION_PF && device->count > 0)
        (void) fake_make_vfs(state, device, 0);
    if (device->kind != NP_FUNCTION_VF && device->net.exists && state->faults.lose_path)
        state->path_lost = true;
    memset(&device->net, 0, sizeof(device->net));
    device->driver[0] = '\0';
}

/* L7, L8: what stands in new_ids goes to vfio-pci first. */
static bool
vfio_takes(const FakeState *state, const FakeDevice *device)
{
    char id[16];
    snprintf(id, sizeof(id), "%04x %04x", device->vendor, device->device);
    for (size_t i = 0; i < G_N_ELEMENTS(state->new_ids); i++)
        if (strcmp(state->new_ids[i], id) == 0)
            return true;
    return false;
}

static void
make_vf(FakeState *state, FakeDevice *pf, unsigned index)
{
    uint32_t id = (uint32_t) pf->bdf.bus << 8 | (uint32_t) pf->bdf.device << 3 | pf->bdf.function;
    id += pf->offset + index * pf->stride;
    NpBdf bdf = {pf->bdf.domain, (uint8_t) (id >> 8), (uint8_t) (id >> 3 & 0x1f),
                 (uint8_t) (id & 7)};
    FakeDevice *vf = add_device(state, &bdf, NP_FUNCTION_VF, fake_driver(pf->native)->vf_driver);
    vf->physfn = pf->bdf;
    vf->index = index;
    vf->vendor = pf->vendor;
    vf->device = (uint16_t) (pf->device + 1);
    vf->has_upstream = pf->has_upstream;
    vf->upstream = pf->upstream;
    const FakeDevice *port = pf->has_upstream ? fake_find_bdf(state, &pf->upstream) : NULL;
    if (port && port->acs == NP_ACS_ABSENT)
        vf->group = pf->group;
    vf->born = (FakeNet){.exists = true, .carrier = true, .mtu = 1500};
    snprintf(vf->born.name, sizeof(vf->born.name), "%.40sv%u", pf->born.name, index);
    pf->vf[index] = (NpVfAttrs){.has = ALL, .spoofchk = true, .proto = NP_PROTO_8021Q};
    if (!pf->autoprobe) /* L14 */
        return;
    fake_bind(state, vf, vfio_takes(state, vf) ? "vfio-pci" : vf->native); /* L8 */
}

int
fake_make_vfs(FakeState *state, FakeDevice *pf, unsigned count)
{
    if (strcmp(pf->driver, pf->native) != 0 || pf->kind != NP_FUNCTION_PF)
        return -ENOENT; /* L11 */
    if (count == pf->count)
        return 0; /* L1 */
    if (count > pf->total)
        return -ERANGE; /* L1 */
    if (count && pf->count)
        return -EBUSY; /* L1 */
    if (count && fake_driver(pf->native)->vfs_need_up && !pf->net.up)
        return -EINVAL;
    for (size_t i = 0; i < FAKE_DEVICES; i++) { /* L9: what a VF was goes with it */
        FakeDevice *vf = &state->devices[i];
        if (vf->exists && vf->kind == NP_FUNCTION_VF && np_bdf_equal(&vf->physfn, &pf->bdf))
            vf->exists = false;
    }
    for (unsigned i = 0; i < count; i++)
        make_vf(state, pf, i);
    pf->count = count;
    return 0;
}

static void
kernel_free(NpSys *sys)
{
    FakeKernel *kernel = (FakeKernel *) sys;
    munmap(kernel->state, sizeof(FakeState));
    g_free(kernel);
}

FakeKernel *
fake_kernel_new(void)
{
    FakeKernel *kernel = g_new0(FakeKernel, 1);
    kernel->state =
        mmap(NULL, sizeof(FakeState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    g_assert_true(kernel->state != MAP_FAILED);
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&kernel->state->mutex, &shared);
    pthread_mutexattr_destroy(&shared);
    kernel->state->now_ms = 100000;
    fake_sysfs_install(&kernel->sys);
    fake_net_install(&kernel->sys);
    fake_scan_install(&kernel->sys);
    kernel->sys.free = kernel_free;
    return kernel;
}

static void
add_port(FakeKernel *kernel, const char *bdf)
{
    FakeDevice *port = fake_add(kernel, bdf, NP_FUNCTION_PORT, "pcieport");
    port->acs = NP_ACS_ON;
}

static FakeDevice *
add_nic(FakeKernel *kernel, const char *bdf, const char *driver, const char *name, uint8_t last)
{
    NpBdf address;
    g_assert_true(np_parse_bdf(bdf, &address, NULL));
    bool sriov = fake_driver(driver)->driver;
    FakeDevice *nic =
        add_device(kernel->state, &address, sriov ? NP_FUNCTION_PF : NP_FUNCTION_PLAIN, driver);
    nic->vendor = 0x8086;
    nic->device = 0x10c9;
    nic->has_upstream = true;
    nic->born = (FakeNet){.exists = true, .carrier = true, .mtu = 1500};
    g_strlcpy(nic->born.name, name, sizeof(nic->born.name));
    nic->born.mac = nic->born.perm = (NpMac){{0x00, 0x1b, 0x21, 0, 0, last}};
    fake_bind(kernel->state, nic, driver);
    nic->net.up = true;
    return nic;
}

FakeKernel *
fake_kernel_new_with(const char *driver)
{
    FakeKernel *kernel = fake_kernel_new();
    add_port(kernel, "0000:00:01.0");
    add_port(kernel, "0000:00:02.0");
    for (unsigned i = 0; i < 2; i++) {
        FakeDevice *pf = add_nic(kernel, i ? "0000:01:00.1" : "0000:01:00.0", driver,
                                 i ? "ens1f1" : "ens1f0", (uint8_t) (0x10 + i));
        pf->upstream = (NpBdf){.device = 1};
        pf->total = 7;
        pf->offset = 0x80;
        pf->stride = 2;
    }
    FakeDevice *onboard = add_nic(kernel, "0000:05:00.0", "e1000e", "eno1", 0x50);
    onboard->upstream = (NpBdf){.device = 2};
    g_strlcpy(onboard->net.master, "vmbr0", sizeof(onboard->net.master));
    fake_use(onboard, NP_USE_MEMBER, "it is a port of vmbr0", 0);
    fake_use(onboard, NP_USE_DEFAULT_ROUTE, "vmbr0 has the default route", 0);
    return kernel;
}

FakeKernel *
fake_kernel_new_igb(void)
{
    return fake_kernel_new_with("igb");
}

static void
dump_device(const FakeState *state, const FakeDevice *device, GString *text)
{
    char bdf[NP_BDF_TEXT_SIZE], mac[NP_MAC_TEXT_SIZE];
    g_string_append_printf(text, "%s driver=%s override=%s count=%u\n",
                           np_bdf_format(&device->bdf, bdf), device->driver, device->override,
                           device->count);
    for (unsigned i = 0; i < device->count; i++) {
        NpVfAttrs attrs = device->vf[i];
        np_vf_clean(&attrs);
        g_string_append_printf(text, "  vf %u:", i);
        for (unsigned field = 0; field < NP_VF_FIELD_COUNT; field++) {
            g_autofree char *value = np_vf_format(&attrs, (NpVfFields) (1 << field));
            g_string_append_printf(text, " %s", value);
        }
        g_string_append_c(text, '\n');
    }
    if (device->net.exists)
        g_string_append_printf(text, "  net %s mac=%s up=%d mtu=%u master=%s addresses=%s,%s\n",
                               device->net.name, np_mac_format(&device->net.mac, mac),
                               device->net.up, device->net.mtu, device->net.master,
                               device->net.addresses[0], device->net.addresses[1]);
}

char *
fake_kernel_dump(const FakeKernel *kernel)
{
    GString *text = g_string_new(NULL);
    for (size_t i = 0; i < FAKE_DEVICES; i++)
        if (kernel->state->devices[i].exists)
            dump_device(kernel->state, &kernel->state->devices[i], text);
    return g_string_free(text, FALSE);
}
