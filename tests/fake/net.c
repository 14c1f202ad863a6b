/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Fake kernel: VF attributes and netdevs. See kernel.h.
 */
#include <errno.h>
#include <string.h>

#include "tests/fake/kernel.h"

static FakeDevice *
pf_of(FakeState *state, const NpBdf *bdf)
{
    FakeDevice *pf = fake_find_bdf(state, bdf);
    return pf && pf->kind == NP_FUNCTION_PF && pf->net.exists ? pf : NULL;
}

static int
fake_get_vf(NpSys *sys, const NpBdf *bdf, unsigned index, NpVfAttrs *ret_attrs)
{
    FakeKernel *kernel = (FakeKernel *) sys;
    fake_lock(kernel);
    kernel->state->queries++;
    const FakeDevice *pf = pf_of(kernel->state, bdf);
    int result = !pf ? -ENODEV : index >= pf->count ? -EINVAL : 0;
    if (result == 0) {
        const FakeDriver *driver = fake_driver(pf->native);
        *ret_attrs = pf->vf[index];
        ret_attrs->has = driver->reports;
        if (driver->none_is_4095 && ret_attrs->vlan == 0)
            ret_attrs->vlan = 4095;
    }
    fake_unlock(kernel);
    return result;
}

static int
set_mac(const FakeDriver *driver, NpVfAttrs *vf, const NpVfAttrs *attrs)
{
    static const NpMac zero;
    if (attrs->mac.byte[0] & 1)
        return -EINVAL; /* L18 */
    if (driver->refuses_zero_mac && np_mac_equal(&attrs->mac, &zero))
        return -EINVAL;
    vf->mac = attrs->mac; /* L15: the VF's driver takes it at its next bind */
    return 0;
}

static int
set_vlan(const FakeDriver *driver, NpVfAttrs *vf, const NpVfAttrs *attrs)
{
    if (attrs->vlan > 4095 || attrs->qos > 7)
        return -EINVAL;
    if (attrs->proto == NP_PROTO_8021AD && !driver->takes_8021ad)
        return -EPROTONOSUPPORT; /* L17 */
    vf->vlan = attrs->vlan;
    vf->qos = attrs->qos;
    vf->proto = attrs->proto;
    return 0;
}

static int
set_rate(const FakeDriver *driver, const FakeDevice *pf, NpVfAttrs *vf, const NpVfAttrs *attrs)
{
    if (attrs->min_mbps && !driver->takes_min_rate)
        return -EINVAL; /* L17 */
    if (driver->rate_needs_link && !pf->net.carrier)
        return -EINVAL;             /* L17 */
    vf->min_mbps = attrs->min_mbps; /* both at once: what is not sent is cleared */
    vf->max_mbps = attrs->max_mbps;
    return 0;
}

static int
set_link(const FakeDriver *driver, NpVfAttrs *vf, const NpVfAttrs *attrs)
{
    if (!driver->ignores_link_up || attrs->link != NP_LINK_UP)
        vf->link = attrs->link;
    return 0;
}

static int
set_field(const FakeDevice *pf, NpVfAttrs *vf, const NpVfAttrs *attrs, NpVfFields field)
{
    const FakeDriver *driver = fake_driver(pf->native);
    if (driver->refuses & field)
        return -EOPNOTSUPP; /* L17 */
    switch (field) {
    case NP_VF_MAC:
        return set_mac(driver, vf, attrs);
    case NP_VF_VLAN:
        return set_vlan(driver, vf, attrs);
    case NP_VF_RATE:
        return set_rate(driver, pf, vf, attrs);
    case NP_VF_LINK:
        return set_link(driver, vf, attrs);
    case NP_VF_SPOOFCHK:
        vf->spoofchk = attrs->spoofchk;
        return 0;
    case NP_VF_RSS_QUERY:
        vf->rss_query = attrs->rss_query;
        return 0;
    case NP_VF_TRUST:
        vf->trust = attrs->trust;
        return 0;
    }
    g_assert_not_reached();
}

/* In the kernel's order, stopping at the first that fails: those before stay set. */
static int
set_fields(FakeState *state, const NpBdf *bdf, unsigned index, const NpVfAttrs *attrs)
{
    FakeDevice *pf = pf_of(state, bdf);
    if (!pf)
        return -ENODEV;
    if (index >= pf->count)
        return -EINVAL; /* L18 */
    if (state->faults.again > 0) {
        state->faults.again--;
        return -EAGAIN;
    }
    if (state->faults.lose_writes && strstr("vf", state->faults.lose_only))
        return 0;
    for (unsigned i = 0; i < NP_VF_FIELD_COUNT; i++) {
        NpVfFields field = (NpVfFields) (1 << i);
        int result = attrs->has & field ? set_field(pf, &pf->vf[index], attrs, field) : 0;
        if (result < 0)
            return result;
    }
    return 0;
}

static int
fake_set_vf(NpSys *sys, const NpBdf *bdf, unsigned index, const NpVfAttrs *attrs,
            int64_t timeout_ms)
{
    FakeKernel *kernel = (FakeKernel *) sys;
    g_autoptr(GString) what = g_string_new(NULL);
    for (unsigned i = 0; i < NP_VF_FIELD_COUNT; i++) {
        g_autofree char *value = np_vf_format(attrs, (NpVfFields) (1 << i));
        if (value)
            g_string_append_printf(what, " %s=%s", np_vf_name((NpVfFields) (1 << i)), value);
    }
    int result = fake_begin(kernel, "vf %u%s", index, what->str);
    return result ? result : fake_end(kernel, set_fields(kernel->state, bdf, index, attrs));
}

static FakeDevice *
with_netdev(FakeState *state, const NpBdf *bdf)
{
    FakeDevice *device = fake_find_bdf(state, bdf);
    return device && device->net.exists ? device : NULL;
}

static int
fake_get_net(NpSys *sys, const NpBdf *bdf, NpNetState *ret_state)
{
    FakeKernel *kernel = (FakeKernel *) sys;
    fake_lock(kernel);
    const FakeDevice *device = with_netdev(kernel->state, bdf);
    if (device) {
        const FakeNet *net = &device->net;
        g_autoptr(GPtrArray) addresses = g_ptr_array_new();
        for (size_t i = 0; i < FAKE_ADDRESSES; i++)
            if (*net->addresses[i])
                g_ptr_array_add(addresses, g_strdup(net->addresses[i]));
        g_ptr_array_add(addresses, NULL);
        *ret_state = (NpNetState){
            .has = NP_NET_UP | NP_NET_MTU | NP_NET_MASTER | NP_NET_ADDRESSES,
            .up = net->up,
            .mtu = net->mtu,
            .master = *net->master ? g_strdup(net->master) : NULL,
            .addresses = (char **) g_ptr_array_free(g_steal_pointer(&addresses), FALSE),
        };
    }
    fake_unlock(kernel);
    return device ? 0 : -ENODEV;
}

static int
set_state(FakeState *state, const NpBdf *bdf, const NpNetState *wanted)
{
    FakeDevice *device = with_netdev(state, bdf);
    if (!device)
        return -ENODEV;
    if (wanted->has & NP_NET_MTU && wanted->mtu > FAKE_MAX_MTU)
        return -EINVAL;
    if (wanted->has & NP_NET_MTU)
        device->net.mtu = wanted->mtu;
    if (wanted->has & NP_NET_MASTER)
        g_strlcpy(device->net.master, wanted->master ? wanted->master : "",
                  sizeof(device->net.master));
    if (wanted->has & NP_NET_UP)
        device->net.up = wanted->up;
    if (wanted->has & NP_NET_ADDRESSES) {
        memset(device->net.addresses, 0, sizeof(device->net.addresses));
        for (size_t i = 0; wanted->addresses[i] && i < FAKE_ADDRESSES; i++)
            g_strlcpy(device->net.addresses[i], wanted->addresses[i],
                      sizeof(device->net.addresses[i]));
    }
    return 0;
}

static int
fake_set_net(NpSys *sys, const NpBdf *bdf, const NpNetState *wanted, int64_t timeout_ms)
{
    FakeKernel *kernel = (FakeKernel *) sys;
    char text[NP_BDF_TEXT_SIZE];
    int result = fake_begin(kernel, "net %s has=%u up=%d mtu=%u", np_bdf_format(bdf, text),
                            wanted->has, wanted->up, wanted->mtu);
    return result ? result : fake_end(kernel, set_state(kernel->state, bdf, wanted));
}

static int
fake_get_mac(NpSys *sys, const NpBdf *bdf, NpMac *ret_mac)
{
    FakeKernel *kernel = (FakeKernel *) sys;
    fake_lock(kernel);
    const FakeDevice *device = with_netdev(kernel->state, bdf);
    if (device)
        *ret_mac = device->net.mac;
    fake_unlock(kernel);
    return device ? 0 : -ENODEV;
}

void
fake_net_install(NpSys *sys)
{
    sys->get_vf = fake_get_vf;
    sys->set_vf = fake_set_vf;
    sys->get_net = fake_get_net;
    sys->set_net = fake_set_net;
    sys->get_mac = fake_get_mac;
}
