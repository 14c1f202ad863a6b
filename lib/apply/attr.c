/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Attributes: see attr.h.
 */
#include "lib/apply/attr.h"

#include <errno.h>
#include <string.h>

#include "lib/apply/attr-parts.h"
#include "lib/base/error.h"

/* KDOC:sysfs-bus-pci: driver_override, drivers/X/bind and unbind, sriov_numvfs, reset.
 * LAB: tried on Linux 6.1 with QEMU's igb. */

#define RETRY_MS     100
#define READ_BACK_MS 2000

/* "bus/pci/devices/BDF/rest" (transfer full). */
static char *
device_path(const NpBdf *bdf, const char *rest)
{
    char text[NP_BDF_TEXT_SIZE];
    return g_strconcat("bus/pci/devices/", np_bdf_format(bdf, text), rest ? "/" : NULL, rest, NULL);
}

static bool
throw_sys(NpSys *sys, int result, const NpChange *change, GError **error)
{
    char text[NP_BDF_TEXT_SIZE];
    const char *hint = sys->hint(sys);
    return np_throw_errno(error, -result, "%s of %s%s%s%s", np_attr_name(change->attr),
                          np_bdf_format(&change->object, text), hint ? " (" : "", hint ? hint : "",
                          hint ? ")" : "");
}

/* A link of a function, "" when there is none but the function exists. */
static int
read_link(NpSys *sys, const NpBdf *bdf, const char *link, char **ret_name)
{
    g_autofree char *path = device_path(bdf, link);
    g_autofree char *device = device_path(bdf, NULL);
    g_autofree char *self = NULL;
    int result = sys->readlink(sys, path, ret_name);
    if (result != -ENOENT)
        return result;
    result = sys->readlink(sys, device, &self);
    if (result == 0)
        *ret_name = g_strdup("");
    return result;
}

static int
read_text(NpSys *sys, const NpBdf *bdf, const char *name, char **ret_text)
{
    g_autofree char *path = device_path(bdf, name);
    int result = sys->read_attr(sys, path, ret_text);
    if (result == 0 && strcmp(*ret_text, "(null)") == 0)
        (*ret_text)[0] = '\0';
    return result;
}

static int
read_vf(NpSys *sys, const NpChange *change, NpVfAttrs *ret_attrs)
{
    int result = sys->get_vf(sys, &change->pf, change->vf_index, ret_attrs);
    if (result == 0)
        np_vf_clean(ret_attrs);
    return result == -EINVAL ? -ENOENT : result; /* L18: an index beyond the count */
}

static int
read_net(NpSys *sys, const NpChange *change, char **ret_text)
{
    g_auto(NpNetState) state = {0};
    int result = sys->get_net(sys, &change->object, &state);
    if (result < 0)
        return result;
    if (change->attr == NP_ATTR_NET_UP)
        *ret_text = g_strdup(state.up ? "1" : "0");
    else if (change->attr == NP_ATTR_NET_MTU)
        *ret_text = g_strdup_printf("%u", state.mtu);
    else if (change->attr == NP_ATTR_NET_MASTER)
        *ret_text = g_strdup(state.master ? state.master : "");
    else
        *ret_text = g_strjoinv(" ", state.addresses);
    return 0;
}

char *
np_attr_read(NpSys *sys, const NpChange *change, GError **error)
{
    char *text = NULL;
    NpVfAttrs attrs;
    int result = 0;
    switch (change->attr) {
    case NP_ATTR_NUMVFS:
        result = read_text(sys, &change->object, "sriov_numvfs", &text);
        break;
    case NP_ATTR_DRIVER:
        result = read_link(sys, &change->object, "driver", &text);
        break;
    case NP_ATTR_OVERRIDE:
        result = read_text(sys, &change->object, "driver_override", &text);
        break;
    case NP_ATTR_NONE:
    case NP_ATTR_COUNT:
    case NP_ATTR_RESET:
        return g_strdup(""); /* write-only: what a reset did cannot be put back */
    case NP_ATTR_VF_MAC:
    case NP_ATTR_VF_VLAN:
    case NP_ATTR_VF_RATE:
    case NP_ATTR_VF_SPOOFCHK:
    case NP_ATTR_VF_LINK:
    case NP_ATTR_VF_RSS_QUERY:
    case NP_ATTR_VF_TRUST:
        result = read_vf(sys, change, &attrs);
        if (result == 0 && !(text = np_vf_format(&attrs, np_attr_vf_field(change->attr))))
            result = -EOPNOTSUPP;
        break;
    case NP_ATTR_NET_UP:
    case NP_ATTR_NET_MTU:
    case NP_ATTR_NET_MASTER:
    case NP_ATTR_NET_ADDRESSES:
        result = read_net(sys, change, &text);
        break;
    }
    if (result < 0)
        throw_sys(sys, result, change, error);
    return text;
}

static bool
same_vf(const NpChange *a, const NpChange *b)
{
    return np_attr_vf_field(a->attr) && np_attr_vf_field(b->attr) && a->vf_index == b->vf_index &&
           np_bdf_equal(&a->pf, &b->pf);
}

GPtrArray *
np_attr_read_all(NpSys *sys, const NpChange *const *changes, GError **error)
{
    g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
    NpVfAttrs attrs;
    bool known = false; /* attrs are those of changes[i] */
    for (guint i = 0; changes[i]; i++) {
        char *value = NULL;
        known = known && same_vf(changes[i - 1], changes[i]);
        if (!known && changes[i + 1] && same_vf(changes[i], changes[i + 1]))
            known = read_vf(sys, changes[i], &attrs) == 0;
        if (known)
            value = np_vf_format(&attrs, np_attr_vf_field(changes[i]->attr));
        if (!value && !(value = np_attr_read(sys, changes[i], error))) /* for its error, too */
            return NULL;
        g_ptr_array_add(values, value);
    }
    return g_steal_pointer(&values);
}

bool
np_attr_again(NpSys *sys, int result, int64_t deadline_ms)
{
    if (result != -EAGAIN || sys->now_ms(sys) >= deadline_ms)
        return false;
    sys->sleep_ms(sys, RETRY_MS);
    return true;
}

static int
write_text(NpSys *sys, const char *path, const char *text, const NpChange *change)
{
    int64_t timeout_ms = np_op_info(change->kind)->timeout_ms;
    int64_t deadline_ms = sys->now_ms(sys) + timeout_ms;
    int result;
    do
        result = sys->write_attr(sys, path, text, timeout_ms);
    while (np_attr_again(sys, result, deadline_ms));
    return result;
}

/* What the kernel means by an errno of sriov_numvfs, and what to do about it. */
static const char *
numvfs_advice(int result)
{
    switch (-result) {
    case EBUSY:
        return "VFs exist already, or the driver refuses now; see the kernel's log";
    case ENOSPC:
        return "MSI-X vectors or bus numbers are used up: make fewer VFs, or give the drivers of "
               "this card fewer queues (sriov_vf_total_msix shows the card's part)";
    case ENOMEM:
        return "no room for the VFs' memory: switch SR-IOV and 'Above 4G decoding' on in the "
               "firmware set-up, or boot with pci=realloc; an X552 may need its driver reloaded by "
               "hand";
    case ENOENT:
    case ENOSYS:
        return "the driver bound to the PF cannot make VFs (or is vfio-pci)";
    case ERANGE:
        return "more than sriov_totalvfs";
    default:
        return "see the kernel's log";
    }
}

static bool
write_numvfs(NpSys *sys, const NpChange *change, const char *value, GError **error)
{
    g_autofree char *path = device_path(&change->object, "sriov_numvfs");
    int result = write_text(sys, path, value, change);
    if (result == 0)
        return true;
    g_autofree char *driver = NULL, *total = NULL;
    (void) read_link(sys, &change->object, "driver", &driver); /* for the message only */
    (void) read_text(sys, &change->object, "sriov_totalvfs", &total);
    throw_sys(sys, result, change, error);
    if (error)
        g_prefix_error(error, "%s VFs of %s possible, driver %s, %s: ", value, total ? total : "?",
                       driver && *driver ? driver : "none", numvfs_advice(result));
    return false;
}

/* The object is what the plan took it for: a VF of this PF, or a port that is no VF. */
static bool
check_role(NpSys *sys, const NpChange *change, GError **error)
{
    char object[NP_BDF_TEXT_SIZE], pf[NP_BDF_TEXT_SIZE];
    g_autofree char *physfn = NULL;
    int result = read_link(sys, &change->object, "physfn", &physfn);
    if (result < 0)
        return throw_sys(sys, result, change, error);
    np_bdf_format(&change->object, object);
    if (change->role == NP_ROLE_VF && strcmp(physfn, np_bdf_format(&change->pf, pf)) == 0)
        return true;
    if (change->role == NP_ROLE_PORT && *physfn == '\0')
        return true;
    return np_throw(error, NP_ERROR_DENIED, "%s is not what it was planned for (its PF is '%s')",
                    object, physfn);
}

static bool
unbind(NpSys *sys, const NpChange *change, GError **error)
{
    char bdf[NP_BDF_TEXT_SIZE];
    g_autofree char *path = device_path(&change->object, "driver/unbind");
    int result = write_text(sys, path, np_bdf_format(&change->object, bdf), change);
    if (result < 0 && result != -ENOENT) /* somebody else was faster: read-back decides */
        return throw_sys(sys, result, change, error);
    return true;
}

/* Through the driver's own "bind" and not through drivers_probe, which reports success when no
 * driver bound or another one did (LAB L6), and gives functions to vfio-pci after new_id (LAB L8).
 */
static bool
bind_driver(NpSys *sys, const NpChange *change, const char *driver, GError **error)
{
    char bdf[NP_BDF_TEXT_SIZE];
    g_autofree char *path = g_strconcat("bus/pci/drivers/", driver, "/bind", NULL);
    g_autofree char *now = NULL;
    int result = sys->load_driver(sys, driver);
    if (result < 0)
        return np_throw_errno(error, -result, "load driver '%s'", driver);
    /* A driver takes what waits for it when it is loaded; binding would then be EBUSY. */
    if (read_link(sys, &change->object, "driver", &now) == 0 && strcmp(now, driver) == 0)
        return true;
    result = write_text(sys, path, np_bdf_format(&change->object, bdf), change);
    if (result == 0)
        return true;
    if (result == -ENODEV)
        return np_throw(error, NP_ERROR_UNSUPPORTED, "driver '%s' does not take %s", driver, bdf);
    g_prefix_error(error, "bind to '%s': ", driver);
    return throw_sys(sys, result, change, error);
}

static bool
write_driver(NpSys *sys, const NpChange *change, const char *value, GError **error)
{
    g_autofree char *now = np_attr_read(sys, change, error);
    if (!now || !check_role(sys, change, error))
        return false;
    if (*now && strcmp(now, value) != 0 && !unbind(sys, change, error))
        return false;
    if (*value && strcmp(now, value) != 0)
        return bind_driver(sys, change, value, error);
    return true;
}

static bool
write_plain(NpSys *sys, const NpChange *change, const char *name, const char *value, GError **error)
{
    g_autofree char *path = device_path(&change->object, name);
    int result = write_text(sys, path, value, change);
    return result == 0 || throw_sys(sys, result, change, error);
}

static bool
write_net(NpSys *sys, const NpChange *change, const char *value, GError **error)
{
    g_auto(NpNetState) state = {0};
    if (change->attr == NP_ATTR_NET_UP) {
        state.has = NP_NET_UP;
        state.up = strcmp(value, "1") == 0;
    } else if (change->attr == NP_ATTR_NET_MTU) {
        uint64_t mtu;
        if (!np_parse_uint(value, 0, UINT32_MAX, &mtu, error))
            return false;
        state.has = NP_NET_MTU;
        state.mtu = (unsigned) mtu;
    } else if (change->attr == NP_ATTR_NET_MASTER) {
        state.has = NP_NET_MASTER;
        state.master = *value ? g_strdup(value) : NULL;
    } else {
        state.has = NP_NET_ADDRESSES;
        state.addresses = g_strsplit(value, " ", -1);
    }
    int64_t timeout_ms = np_op_info(change->kind)->timeout_ms;
    int result = sys->set_net(sys, &change->object, &state, timeout_ms);
    return result == 0 || throw_sys(sys, result, change, error);
}

static bool
write_once(NpSys *sys, const NpChange *change, const char *value, GError **error)
{
    if (np_attr_vf_field(change->attr)) {
        const NpChange *changes[] = {change, NULL};
        return np_attr_write_vf(sys, changes, &value, error);
    }
    switch ((int) change->attr) {
    case NP_ATTR_NUMVFS:
        return write_numvfs(sys, change, value, error);
    case NP_ATTR_DRIVER:
        return write_driver(sys, change, value, error);
    case NP_ATTR_OVERRIDE:
        return write_plain(sys, change, "driver_override", value, error);
    case NP_ATTR_RESET:
        return *value == '\0' || write_plain(sys, change, "reset", value, error);
    default:
        return write_net(sys, change, value, error);
    }
}

const NpChange *
np_attr_first_missing(NpSys *sys, const NpChange *const *changes, const char *const *values,
                      char **ret_value, GError **error)
{
    g_autoptr(GPtrArray) now = np_attr_read_all(sys, changes, error);
    for (guint i = 0; now && changes[i]; i++) {
        const char *value = g_ptr_array_index(now, i);
        if (changes[i]->attr == NP_ATTR_RESET || strcmp(value, values[i]) == 0)
            continue;
        *ret_value = g_strdup(value);
        return changes[i];
    }
    return NULL;
}

bool
np_attr_read_back(NpSys *sys, const NpChange *const *changes, const char *const *values,
                  GError **error)
{
    int64_t deadline_ms = sys->now_ms(sys) + READ_BACK_MS;
    for (;;) {
        g_autoptr(GError) problem = NULL;
        g_autofree char *now = NULL;
        const NpChange *missing = np_attr_first_missing(sys, changes, values, &now, &problem);
        if (problem) {
            g_propagate_error(error, g_steal_pointer(&problem));
            return false;
        }
        if (!missing)
            return true;
        if (sys->now_ms(sys) >= deadline_ms)
            return np_throw(error, NP_ERROR_FAILED,
                            "%s is '%s' although the kernel reported success in changing it",
                            np_attr_name(missing->attr), now);
        sys->sleep_ms(sys, RETRY_MS);
    }
}

bool
np_attr_write(NpSys *sys, const NpChange *change, const char *value, GError **error)
{
    if (!write_once(sys, change, value, error))
        return false;
    const NpChange *changes[] = {change, NULL};
    return np_attr_vf_field(change->attr) || np_attr_read_back(sys, changes, &value, error);
}
