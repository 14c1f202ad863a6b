/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * NICs: [vm ID nic N]. See config-parse.h.
 */
#include <string.h>

#include "lib/model/config-group.h"
#include "lib/model/config-parse.h"

#define NIC_MAX      15  /* hostpci0 to hostpci15 */
#define VM_ID_MAX    255 /* bytes */
#define MBPS         1000000
#define RATE_MAX_BPS (UINT64_C(10000000) * MBPS)

void
np_nic_free(NpNic *nic)
{
    if (!nic)
        return;
    g_free(nic->vm_id);
    g_free(nic->pool);
    g_free(nic->pf.name);
    g_free(nic->driver);
    g_free(nic->origin);
    g_free(nic);
}

/* "vm ID nic N" or "vm ID". A domain's name may hold blanks, and " nic " only at its own risk. */
static bool
take_title(NpNic *nic, const NpGroup *group, GError **error)
{
    const char *id = group->group + strlen("vm ");
    const char *split = g_strrstr(id, " nic ");
    uint64_t number = 0;
    if (split && !np_parse_uint(split + strlen(" nic "), 0, NIC_MAX, &number, error)) {
        g_prefix_error(error, "number of the nic: ");
        return np_group_bad(group, NULL, error);
    }
    size_t length = split ? (size_t) (split - id) : strlen(id);
    if (length == 0 || length > VM_ID_MAX)
        return np_keyfile_throw(group->file, group->group, NULL, error,
                                "[vm ID nic N] needs a VMID, a domain's name or a UUID of at most "
                                "%d bytes",
                                VM_ID_MAX);
    nic->vm_id = g_strndup(id, length);
    nic->nic = (unsigned) number;
    return true;
}

static bool
take_source(NpNic *nic, const NpGroup *group, GError **error)
{
    const char *pool = np_group_get(group, "pool"), *vf = np_group_get(group, "vf"),
               *pf = np_group_get(group, "pf");
    if (!!pool + !!vf + !!pf != 1)
        return np_keyfile_throw(group->file, group->group, NULL, error,
                                "exactly one of 'pool', 'vf' and 'pf' says where the NIC comes "
                                "from");
    if (pool && !np_parse_name(pool, error))
        return np_group_bad(group, "pool", error);
    if (vf && !np_parse_bdf(vf, &nic->vf, error))
        return np_group_bad(group, "vf", error);
    if (pf && !np_group_pf(group, &nic->pf, error))
        return false;
    nic->pool = g_strdup(pool);
    nic->source = pool ? NP_SOURCE_POOL : vf ? NP_SOURCE_VF : NP_SOURCE_PF;
    if (pool && np_group_get(group, "driver"))
        return np_keyfile_throw(group->file, group->group, "driver", error,
                                "the driver of a pool's VFs stands in [pool %s]", pool);
    return np_group_driver(group, &nic->driver, error);
}

static bool
take_mac(NpNic *nic, const NpGroup *group, GError **error)
{
    const char *text = np_group_get(group, "mac");
    static const char *const words[] = {"derived", "keep", "guest"};
    static const NpMacMode modes[] = {NP_MAC_DERIVED, NP_MAC_KEEP, NP_MAC_GUEST};
    static const NpMac zero;
    nic->required |= NP_VF_MAC; /* a NIC with another MAC is another NIC, default or not */
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (!text || strcmp(text, words[i]) == 0) {
            nic->mac_mode = modes[i];
            return true;
        }
    }
    if (!np_parse_mac(text, &nic->attrs.mac, error)) {
        g_prefix_error(error, "neither derived, keep nor guest: ");
        return np_group_bad(group, "mac", error);
    }
    if (nic->attrs.mac.byte[0] & 1 || np_mac_equal(&nic->attrs.mac, &zero))
        return np_keyfile_throw(group->file, group->group, "mac", error,
                                "%s is not a unicast address", text);
    nic->mac_mode = NP_MAC_FIXED;
    nic->attrs.has |= NP_VF_MAC;
    return true;
}

static bool
take_vlan(NpNic *nic, const NpGroup *group, GError **error)
{
    static const char *const protos[] = {"802.1q", "802.1ad", NULL};
    const char *vlan = np_group_get(group, "vlan"), *qos = np_group_get(group, "vlan-qos");
    int proto;
    uint64_t number = 0;
    nic->trunk = g_strcmp0(vlan, "trunk") == 0;
    bool tagged = vlan && !nic->trunk && strcmp(vlan, "none") != 0;
    if (tagged && !np_parse_vlan(vlan, &nic->attrs.vlan, error)) {
        g_prefix_error(error, "neither none nor trunk: ");
        return np_group_bad(group, "vlan", error);
    }
    if (!np_group_word(group, "vlan-proto", protos, 0, &proto, error))
        return false;
    if (qos && !np_parse_uint(qos, 0, 7, &number, error))
        return np_group_bad(group, "vlan-qos", error);
    if (!tagged && (number > 0 || proto > 0))
        return np_keyfile_throw(group->file, group->group, qos ? "vlan-qos" : "vlan-proto", error,
                                "needs a 'vlan' of 1 to 4094");
    nic->attrs.qos = (uint8_t) number;
    nic->attrs.proto = proto ? NP_PROTO_8021AD : NP_PROTO_8021Q;
    nic->attrs.has |= NP_VF_VLAN; /* a VLAN left by a former user must go */
    if (vlan)
        nic->required |= NP_VF_VLAN;
    return true;
}

static bool
take_mbps(const NpGroup *group, const char *key, uint32_t *ret_mbps, GError **error)
{
    const char *text = np_group_get(group, key);
    uint64_t bps = 0;
    if (text && !np_parse_rate(text, 0, RATE_MAX_BPS, &bps, error))
        return np_group_bad(group, key, error);
    if (bps % MBPS)
        return np_keyfile_throw(group->file, group->group, key, error,
                                "'%s' is not a multiple of 1M: NICs count in Mbit/s", text);
    *ret_mbps = (uint32_t) (bps / MBPS);
    return true;
}

static bool
take_rates(NpNic *nic, const NpGroup *group, GError **error)
{
    if (!take_mbps(group, "rate-min", &nic->attrs.min_mbps, error) ||
        !take_mbps(group, "rate-max", &nic->attrs.max_mbps, error))
        return false;
    if (nic->attrs.max_mbps && nic->attrs.min_mbps > nic->attrs.max_mbps)
        return np_keyfile_throw(group->file, group->group, "rate-min", error,
                                "is above 'rate-max'");
    if (np_group_get(group, "rate-min") || np_group_get(group, "rate-max")) {
        nic->attrs.has |= NP_VF_RATE;
        nic->required |= NP_VF_RATE;
    }
    return true;
}

/* on or off: given, it is required; absent, by_default says whether a value is wanted all the same.
 */
static bool
take_switch(NpNic *nic, const NpGroup *group, NpVfFields field, bool by_default, bool *value,
            GError **error)
{
    const char *key = np_vf_name(field), *text = np_group_get(group, key);
    if (text && !np_parse_bool(text, value, error))
        return np_group_bad(group, key, error);
    if (text || by_default)
        nic->attrs.has |= field;
    if (text)
        nic->required |= field;
    return true;
}

static bool
take_best_effort(NpNic *nic, const NpGroup *group, GError **error)
{
    const char *names[NP_VF_FIELD_COUNT + 1] = {NULL};
    for (int i = 0; i < NP_VF_FIELD_COUNT; i++)
        names[i] = np_vf_name((NpVfFields) (1 << i));
    const char *text = np_group_get(group, "best-effort");
    g_auto(GStrv) words = g_strsplit(text ? text : "", ",", NP_VF_FIELD_COUNT + 1);
    for (char **word = words; *word; word++) {
        int i = 0;
        g_strstrip(*word);
        while (names[i] && strcmp(names[i], *word) != 0)
            i++;
        if (!names[i]) {
            g_autofree char *quoted = np_quote(*word);
            g_autofree char *all = g_strjoinv(", ", (char **) (uintptr_t) names);
            return np_keyfile_throw(group->file, group->group, "best-effort", error,
                                    "%s is none of %s", quoted, all);
        }
        nic->required &= ~(unsigned) (1 << i);
    }
    return true;
}

static bool
take_attrs(NpNic *nic, const NpGroup *group, GError **error)
{
    static const char *const links[] = {"auto", "up", "down", NULL};
    int link;
    nic->attrs.spoofchk = true;
    if (!take_mac(nic, group, error) || !take_vlan(nic, group, error) ||
        !take_rates(nic, group, error) ||
        !take_switch(nic, group, NP_VF_SPOOFCHK, true, &nic->attrs.spoofchk, error) ||
        !take_switch(nic, group, NP_VF_TRUST, true, &nic->attrs.trust, error) ||
        !take_switch(nic, group, NP_VF_RSS_QUERY, false, &nic->attrs.rss_query, error) ||
        !np_group_word(group, "link", links, NP_LINK_AUTO, &link, error))
        return false;
    nic->attrs.link = (NpLinkState) link;
    if (np_group_get(group, "link")) {
        nic->attrs.has |= NP_VF_LINK;
        nic->required |= NP_VF_LINK;
    }
    return take_best_effort(nic, group, error);
}

/* A whole port has nobody above it that could set its MAC or VLAN. */
static bool
refuse_attrs(NpNic *nic, const NpGroup *group, GError **error)
{
    static const char *const keys[] = {"mac",      "vlan",      "vlan-qos",    "vlan-proto",
                                       "trust",    "spoofchk",  "link",        "rate-min",
                                       "rate-max", "rss-query", "best-effort", NULL};
    for (const char *const *key = keys; *key; key++)
        if (np_group_get(group, *key))
            return np_keyfile_throw(group->file, group->group, *key, error,
                                    "goes with a VF only: the guest owns a whole port");
    nic->mac_mode = NP_MAC_KEEP;
    return true;
}

NpNic *
np_nic_parse(const NpKeyfile *file, const char *name, GError **error)
{
    static const char *const keys[] = {
        "pool",      "vf",          "pf",     "pf-mac",       "pf-name", "mac",      "vlan",
        "vlan-qos",  "vlan-proto",  "trust",  "spoofchk",     "link",    "rate-min", "rate-max",
        "rss-query", "best-effort", "driver", "even-if-used", NULL};
    const NpGroup group = {file, name};
    if (!np_keyfile_check_keys(file, name, keys, error))
        return NULL;
    g_autoptr(NpNic) nic = g_new0(NpNic, 1);
    nic->origin = g_strdup(np_keyfile_origin(file, name, NULL));
    if (!take_title(nic, &group, error) || !take_source(nic, &group, error))
        return NULL;
    bool port = nic->source == NP_SOURCE_PF;
    if (!(port ? refuse_attrs : take_attrs)(nic, &group, error))
        return NULL;
    const char *used = np_group_get(&group, "even-if-used");
    if (used && !port) {
        (void) np_keyfile_throw(file, name, "even-if-used", error, "goes with 'pf' only");
        return NULL;
    }
    if (used && !np_parse_bool(used, &nic->even_if_used, error)) {
        (void) np_group_bad(&group, "even-if-used", error); /* always false */
        return NULL;
    }
    return g_steal_pointer(&nic);
}
