/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Fake kernel: sysfs attributes, links and folders, and VFIO. See kernel.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/fake/kernel.h"

#define DEVICES "bus/pci/devices/"
#define DRIVERS "bus/pci/drivers/"

/* "bus/pci/devices/BDF/NAME": the device and NAME ("" for the folder itself); NULL when there is no
 * such device. */
static FakeDevice *
parse_path(FakeState *state, const char *path, const char **ret_name)
{
    if (!g_str_has_prefix(path, DEVICES))
        return NULL;
    g_autofree char *text = g_strdup(path + strlen(DEVICES));
    char *slash = strchr(text, '/');
    *ret_name = slash ? path + strlen(DEVICES) + (slash + 1 - text) : "";
    if (slash)
        *slash = '\0';
    NpBdf bdf;
    return np_parse_bdf(text, &bdf, NULL) ? fake_find_bdf(state, &bdf) : NULL;
}

static char *
value_of(const FakeDevice *device, const char *name)
{
    if (strcmp(name, "driver_override") == 0)
        return g_strdup(*device->override ? device->override : "(null)");
    if (strcmp(name, "vendor") == 0)
        return g_strdup_printf("0x%04x", device->vendor);
    if (strcmp(name, "device") == 0)
        return g_strdup_printf("0x%04x", device->device);
    if (strcmp(name, "numa_node") == 0)
        return g_strdup("-1");
    if (device->kind != NP_FUNCTION_PF)
        return NULL;
    if (strcmp(name, "sriov_numvfs") == 0)
        return g_strdup_printf("%u", device->count);
    if (strcmp(name, "sriov_totalvfs") == 0)
        return g_strdup_printf("%u", device->total);
    if (strcmp(name, "sriov_offset") == 0)
        return g_strdup_printf("%u", device->offset);
    if (strcmp(name, "sriov_stride") == 0)
        return g_strdup_printf("%u", device->stride);
    if (strcmp(name, "sriov_drivers_autoprobe") == 0)
        return g_strdup(device->autoprobe ? "1" : "0");
    return NULL;
}

static int
fake_read_attr(NpSys *sys, const char *path, char **ret_text)
{
    FakeKernel *kernel = (FakeKernel *) sys;
    const char *name;
    fake_lock(kernel);
    const FakeDevice *device = parse_path(kernel->state, path, &name);
    char *text = device ? value_of(device, name) : NULL;
    fake_unlock(kernel);
    if (!text)
        return -ENOENT;
    *ret_text = text;
    return 0;
}

/* Whether any VF of a PF, or the device itself, is open in a process. */
static bool
is_held(const FakeState *state, const FakeDevice *device)
{
    for (size_t i = 0; i < FAKE_DEVICES; i++) {
        const FakeDevice *vf = &state->devices[i];
        if (vf->exists && vf->held && vf->kind == NP_FUNCTION_VF &&
            np_bdf_equal(&vf->physfn, &device->bdf))
            return true;
    }
    return device->held;
}

static int
write_numvfs(FakeState *state, FakeDevice *pf, const char *text, int64_t timeout_ms)
{
    uint64_t count;
    if (!np_parse_uint(text, 0, UINT32_MAX, &count, NULL))
        return -EINVAL;
    if (count == 0 && pf->count > 0 && is_held(state, pf)) { /* L2: as long as it is held */
        state->now_ms += timeout_ms;
        return -ETIMEDOUT;
    }
    return fake_make_vfs(state, pf, (unsigned) count);
}

static int
write_unbind(FakeState *state, FakeDevice *device, const char *text, int64_t timeout_ms)
{
    char bdf[NP_BDF_TEXT_SIZE];
    if (!*device->driver)
        return -ENOENT;
    if (strcmp(text, np_bdf_format(&device->bdf, bdf)) != 0)
        return -ENODEV;
    if (device->held) { /* L2 */
        state->now_ms += timeout_ms;
        return -ETIMEDOUT;
    }
    fake_unbind(state, device);
    return 0;
}

static bool
has_new_id(const FakeState *state, const FakeDevice *device)
{
    char id[16];
    snprintf(id, sizeof(id), "%04x %04x", device->vendor, device->device);
    for (size_t i = 0; i < G_N_ELEMENTS(state->new_ids); i++)
        if (strcmp(state->new_ids[i], id) == 0)
            return true;
    return false;
}

/* Which driver takes a device: the override alone if there is one, else ids. */
static bool
takes(const FakeState *state, const char *driver, const FakeDevice *device)
{
    if (*device->override)
        return strcmp(device->override, driver) == 0;
    return strcmp(device->native, driver) == 0 ||
           (strcmp(driver, "vfio-pci") == 0 && has_new_id(state, device));
}

static bool
driver_exists(const FakeState *state, const char *driver)
{
    if (strcmp(driver, "vfio-pci") == 0)
        return true;
    for (size_t i = 0; i < FAKE_DEVICES; i++)
        if (state->devices[i].exists && strcmp(state->devices[i].native, driver) == 0)
            return true;
    return false;
}

static int
write_bind(FakeState *state, const char *driver, const char *text)
{
    NpBdf bdf;
    FakeDevice *device = np_parse_bdf(text, &bdf, NULL) ? fake_find_bdf(state, &bdf) : NULL;
    if (!driver_exists(state, driver))
        return -ENOENT;
    if (device && *device->driver)
        return -EBUSY;
    if (!device || !takes(state, driver, device))
        return -ENODEV;
    fake_bind(state, device, driver);
    return 0;
}

/* L5, L6, L8: success is reported whatever comes of it. */
static int
write_probe(FakeState *state, const char *text)
{
    NpBdf bdf;
    FakeDevice *device = np_parse_bdf(text, &bdf, NULL) ? fake_find_bdf(state, &bdf) : NULL;
    if (!device)
        return -ENODEV;
    if (*device->driver)
        return 0;
    if (takes(state, "vfio-pci", device))
        fake_bind(state, device, "vfio-pci");
    else if (*device->native && takes(state, device->native, device))
        fake_bind(state, device, device->native);
    return 0;
}

/* L7: takes all unbound devices of the id at once; EEXIST the second time. */
static int
write_new_id(FakeState *state, const char *text)
{
    for (size_t i = 0; i < G_N_ELEMENTS(state->new_ids); i++) {
        if (strcmp(state->new_ids[i], text) == 0)
            return -EEXIST;
        if (*state->new_ids[i])
            continue;
        g_strlcpy(state->new_ids[i], text, sizeof(state->new_ids[i]));
        for (size_t d = 0; d < FAKE_DEVICES; d++) {
            FakeDevice *device = &state->devices[d];
            if (device->exists && !*device->driver && takes(state, "vfio-pci", device))
                fake_bind(state, device, "vfio-pci");
        }
        return 0;
    }
    return -ENOMEM;
}

/* L20: the admin MAC stays; cards other than igb were not tried. */
static void
reset(FakeState *state, FakeDevice *device)
{
    device->resets++;
    if (state->faults.reset_clears && device->kind == NP_FUNCTION_VF)
        fake_find_bdf(state, &device->physfn)->vf[device->index] =
            (NpVfAttrs){.has = (NpVfFields) ((1 << NP_VF_FIELD_COUNT) - 1),
                        .spoofchk = true,
                        .proto = NP_PROTO_8021Q};
}

static int
write_device(FakeState *state, FakeDevice *device, const char *name, const char *text,
             int64_t timeout_ms)
{
    if (strcmp(name, "driver_override") == 0)
        g_strlcpy(device->override, text, sizeof(device->override));
    else if (strcmp(name, "reset") == 0)
        reset(state, device);
    else if (strcmp(name, "driver/unbind") == 0)
        return write_unbind(state, device, text, timeout_ms);
    else if (device->kind == NP_FUNCTION_PF && strcmp(name, "sriov_numvfs") == 0)
        return write_numvfs(state, device, text, timeout_ms);
    else if (device->kind == NP_FUNCTION_PF && strcmp(name, "sriov_drivers_autoprobe") == 0)
        device->autoprobe = strcmp(text, "0") != 0;
    else
        return -ENOENT;
    return 0;
}

static int
write_path(FakeState *state, const char *path, const char *text, int64_t timeout_ms)
{
    const char *name;
    FakeDevice *device = parse_path(state, path, &name);
    if (state->faults.lose_writes && strstr(path, state->faults.lose_only))
        return 0;
    if (device)
        return write_device(state, device, name, text, timeout_ms);
    if (strcmp(path, "bus/pci/drivers_probe") == 0)
        return write_probe(state, text);
    if (strcmp(path, DRIVERS "vfio-pci/new_id") == 0)
        return write_new_id(state, text);
    if (g_str_has_prefix(path, DRIVERS) && g_str_has_suffix(path, "/bind")) {
        g_autofree char *driver =
            g_strndup(path + strlen(DRIVERS), strlen(path) - strlen(DRIVERS) - strlen("/bind"));
        return write_bind(state, driver, text);
    }
    return -ENOENT;
}

static int
fake_write_attr(NpSys *sys, const char *path, const char *text, int64_t timeout_ms)
{
    FakeKernel *kernel = (FakeKernel *) sys;
    int result = fake_begin(kernel, "write %s=%s", path, text);
    return result ? result : fake_end(kernel, write_path(kernel->state, path, text, timeout_ms));
}

static FakeDevice *
vf_of(FakeState *state, const FakeDevice *pf, unsigned index)
{
    for (size_t i = 0; i < FAKE_DEVICES; i++) {
        FakeDevice *vf = &state->devices[i];
        if (vf->exists && vf->kind == NP_FUNCTION_VF && vf->index == index &&
            np_bdf_equal(&vf->physfn, &pf->bdf))
            return vf;
    }
    return NULL;
}

static char *
link_of(FakeState *state, const FakeDevice *device, const char *name)
{
    char bdf[NP_BDF_TEXT_SIZE];
    uint64_t index;
    if (!*name)
        return g_strdup(np_bdf_format(&device->bdf, bdf));
    if (strcmp(name, "driver") == 0 && *device->driver)
        return g_strdup(device->driver);
    if (strcmp(name, "iommu_group") == 0 && !state->no_iommu)
        return g_strdup_printf("%d", device->group);
    if (strcmp(name, "physfn") == 0 && device->kind == NP_FUNCTION_VF)
        return g_strdup(np_bdf_format(&device->physfn, bdf));
    if (!g_str_has_prefix(name, "virtfn") ||
        !np_parse_uint(name + strlen("virtfn"), 0, FAKE_VFS, &index, NULL))
        return NULL;
    if (state->faults.late_links > 0) {
        state->faults.late_links--;
        return NULL;
    }
    const FakeDevice *vf = vf_of(state, device, (unsigned) index);
    return vf ? g_strdup(np_bdf_format(&vf->bdf, bdf)) : NULL;
}

static int
fake_readlink(NpSys *sys, const char *path, char **ret_name)
{
    FakeKernel *kernel = (FakeKernel *) sys;
    const char *name;
    fake_lock(kernel);
    const FakeDevice *device = parse_path(kernel->state, path, &name);
    char *target = device ? link_of(kernel->state, device, name) : NULL;
    fake_unlock(kernel);
    if (!target)
        return -ENOENT;
    *ret_name = target;
    return 0;
}

static int
fake_list(NpSys *sys, const char *path, GPtrArray **ret_names)
{
    FakeKernel *kernel = (FakeKernel *) sys;
    const char *name;
    fake_lock(kernel);
    const FakeDevice *device = parse_path(kernel->state, path, &name);
    if (!device || *name) {
        fake_unlock(kernel);
        return -ENOENT;
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < device->count; i++)
        g_ptr_array_add(names, g_strdup_printf("virtfn%u", i));
    fake_unlock(kernel);
    *ret_names = names;
    return 0;
}

/* L4: ports do not spoil a group, other functions with a host driver do. */
static bool
is_viable(const FakeState *state, const FakeDevice *device)
{
    for (size_t i = 0; i < FAKE_DEVICES; i++) {
        const FakeDevice *other = &state->devices[i];
        if (other->exists && other->group == device->group && other->kind != NP_FUNCTION_PORT &&
            *other->driver && strcmp(other->driver, "vfio-pci") != 0)
            return false;
    }
    return true;
}

static int
fake_probe_vfio(NpSys *sys, const NpBdf *bdf, NpVfioState *ret_state, bool *ret_viable)
{
    FakeKernel *kernel = (FakeKernel *) sys;
    fake_lock(kernel);
    const FakeDevice *device = fake_find_bdf(kernel->state, bdf);
    bool vfio = device && strcmp(device->driver, "vfio-pci") == 0;
    if (device) {
        *ret_state = !vfio ? NP_VFIO_NONE : device->held ? NP_VFIO_BUSY : NP_VFIO_FREE; /* L3 */
        *ret_viable = *ret_state != NP_VFIO_FREE || is_viable(kernel->state, device);
    }
    fake_unlock(kernel);
    return device ? 0 : -ENOENT;
}

/* A driver that registers takes what waits for it: all functions without a driver whose override
 * names it. */
static int
fake_load_driver(NpSys *sys, const char *driver)
{
    FakeKernel *kernel = (FakeKernel *) sys;
    fake_lock(kernel);
    FakeState *state = kernel->state;
    bool registers = state->vfio_not_loaded && strcmp(driver, "vfio-pci") == 0;
    for (size_t i = 0; registers && i < FAKE_DEVICES; i++) {
        FakeDevice *device = &state->devices[i];
        if (device->exists && !*device->driver && takes(state, driver, device))
            fake_bind(state, device, driver);
    }
    if (registers)
        state->vfio_not_loaded = false;
    fake_unlock(kernel);
    return driver_exists(kernel->state, driver) ? 0 : -ENOENT;
}

void
fake_sysfs_install(NpSys *sys)
{
    sys->read_attr = fake_read_attr;
    sys->write_attr = fake_write_attr;
    sys->readlink = fake_readlink;
    sys->list = fake_list;
    sys->probe_vfio = fake_probe_vfio;
    sys->load_driver = fake_load_driver;
}
