/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * VF attributes: see vf.h.
 */
#include "lib/model/vf.h"

#include <string.h>

#include "lib/base/error.h"

#define VLAN_NONE_MLX5 4095 /* what mlx5 of old kernels reports for "no VLAN" */
#define RATE_MAX_MBPS  10000000

static const NpMac zero;
static const NpMac zero_substitute = {{0x02, 0, 0, 0, 0, 0}};

static const char *const link_names[] = {
    [NP_LINK_AUTO] = "auto",
    [NP_LINK_UP] = "up",
    [NP_LINK_DOWN] = "down",
};

const char *
np_vf_name(NpVfFields field)
{
    switch (field) {
    case NP_VF_MAC:
        return "mac";
    case NP_VF_VLAN:
        return "vlan";
    case NP_VF_RATE:
        return "rate";
    case NP_VF_SPOOFCHK:
        return "spoofchk";
    case NP_VF_LINK:
        return "link";
    case NP_VF_RSS_QUERY:
        return "rss-query";
    case NP_VF_TRUST:
        return "trust";
    }
    g_return_val_if_reached("");
}

void
np_vf_clean(NpVfAttrs *attrs)
{
    if (np_mac_equal(&attrs->mac, &zero_substitute))
        attrs->mac = zero;
    if (attrs->vlan == VLAN_NONE_MLX5)
        attrs->vlan = 0;
    if (attrs->vlan == 0)
        attrs->qos = 0;
    if (attrs->vlan == 0 || attrs->proto == 0)
        attrs->proto = NP_PROTO_8021Q;
}

static char *
format_vlan(const NpVfAttrs *attrs)
{
    const char *proto = attrs->proto == NP_PROTO_8021AD ? " 802.1ad" : "";
    if (attrs->vlan == 0)
        return g_strdup("none");
    if (attrs->qos == 0 && !*proto)
        return g_strdup_printf("%u", attrs->vlan);
    return g_strdup_printf("%u qos %u%s", attrs->vlan, attrs->qos, proto);
}

char *
np_vf_format(const NpVfAttrs *attrs, NpVfFields field)
{
    char mac[NP_MAC_TEXT_SIZE];
    if (!(attrs->has & field))
        return NULL;
    switch (field) {
    case NP_VF_MAC:
        return g_strdup(np_mac_format(&attrs->mac, mac));
    case NP_VF_VLAN:
        return format_vlan(attrs);
    case NP_VF_RATE:
        return g_strdup_printf("min %u max %u", attrs->min_mbps, attrs->max_mbps);
    case NP_VF_SPOOFCHK:
        return g_strdup(attrs->spoofchk ? "on" : "off");
    case NP_VF_LINK:
        return g_strdup(link_names[attrs->link]);
    case NP_VF_RSS_QUERY:
        return g_strdup(attrs->rss_query ? "on" : "off");
    case NP_VF_TRUST:
        return g_strdup(attrs->trust ? "on" : "off");
    }
    g_return_val_if_reached(NULL);
}

static bool
parse_vlan(const char *text, NpVfAttrs *attrs, GError **error)
{
    g_auto(GStrv) word = g_strsplit(text, " ", 4);
    unsigned words = g_strv_length(word);
    uint16_t vlan = 0;
    uint64_t qos = 0;
    bool ad = words == 4 && strcmp(word[3], "802.1ad") == 0;
    if (strcmp(text, "none") != 0) {
        if ((words != 1 && words != 3 && !ad) || (words > 1 && strcmp(word[1], "qos") != 0))
            return np_throw(error, NP_ERROR_CONFIG,
                            "'%s' is not a VLAN such as '100 qos 3 802.1ad'", text);
        if (!np_parse_vlan(word[0], &vlan, error) ||
            (words > 1 && !np_parse_uint(word[2], 0, 7, &qos, error)))
            return false;
    }
    attrs->vlan = vlan;
    attrs->qos = (uint8_t) qos;
    attrs->proto = ad ? NP_PROTO_8021AD : NP_PROTO_8021Q;
    return true;
}

static bool
parse_rate(const char *text, NpVfAttrs *attrs, GError **error)
{
    g_auto(GStrv) word = g_strsplit(text, " ", 5);
    uint64_t min, max;
    if (g_strv_length(word) != 4 || strcmp(word[0], "min") != 0 || strcmp(word[2], "max") != 0)
        return np_throw(error, NP_ERROR_CONFIG, "'%s' is not rates such as 'min 0 max 1000'", text);
    if (!np_parse_uint(word[1], 0, RATE_MAX_MBPS, &min, error) ||
        !np_parse_uint(word[3], 0, RATE_MAX_MBPS, &max, error))
        return false;
    attrs->min_mbps = (uint32_t) min;
    attrs->max_mbps = (uint32_t) max;
    return true;
}

static bool
parse_link(const char *text, NpVfAttrs *attrs, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(link_names); i++) {
        if (strcmp(text, link_names[i]) == 0) {
            attrs->link = (NpLinkState) i;
            return true;
        }
    }
    return np_throw(error, NP_ERROR_CONFIG, "'%s' is not auto, up or down", text);
}

static bool
parse_field(NpVfFields field, const char *text, NpVfAttrs *attrs, GError **error)
{
    switch (field) {
    case NP_VF_MAC:
        return np_parse_mac(text, &attrs->mac, error);
    case NP_VF_VLAN:
        return parse_vlan(text, attrs, error);
    case NP_VF_RATE:
        return parse_rate(text, attrs, error);
    case NP_VF_SPOOFCHK:
        return np_parse_bool(text, &attrs->spoofchk, error);
    case NP_VF_LINK:
        return parse_link(text, attrs, error);
    case NP_VF_RSS_QUERY:
        return np_parse_bool(text, &attrs->rss_query, error);
    case NP_VF_TRUST:
        return np_parse_bool(text, &attrs->trust, error);
    }
    g_return_val_if_reached(false);
}

bool
np_vf_parse(NpVfFields field, const char *text, NpVfAttrs *attrs, GError **error)
{
    if (!parse_field(field, text, attrs, error))
        return false;
    attrs->has |= field;
    return true;
}
