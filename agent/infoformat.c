/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Info format: see infoformat.h.
 */
#include "agent/infoformat.h"

#include <string.h>

#include "lib/proto/proto.h"

/* Room for what a reply puts around the answer: session, id, braces. */
#define ENVELOPE_SIZE 512

static void
nic_clear(gpointer data)
{
    NpInfoNic *nic = data;
    np_ethtool_clear(&nic->ethtool);
    np_pcie_clear(&nic->pcie);
}

void
np_info_init(NpInfo *info)
{
    *info = (NpInfo){.cpus = -1, .hz = -1};
    info->sysctls = json_object();
    info->nics = g_array_new(FALSE, TRUE, sizeof(NpInfoNic));
    g_array_set_clear_func(info->nics, nic_clear);
}

void
np_info_clear(NpInfo *info)
{
    g_free(info->kernel);
    g_free(info->distribution);
    g_free(info->virtualisation);
    g_free(info->clock_source);
    g_free(info->cpu_model);
    g_free(info->microcode);
    json_decref(info->machine);
    json_decref(info->sysctls);
    g_array_unref(info->nics);
    *info = (NpInfo){0};
}

static void
put_string(json_t *object, const char *key, const char *value)
{
    if (!value)
        return;
    g_autofree char *valid = g_utf8_make_valid(value, -1);
    json_object_set_new(object, key, json_string(valid));
}

static void
put_integer(json_t *object, const char *key, int64_t value)
{
    if (value >= 0)
        json_object_set_new(object, key, json_integer(value));
}

static void
put_mac(json_t *object, const char *key, bool has, const NpMac *mac)
{
    char buffer[NP_MAC_TEXT_SIZE];
    put_string(object, key, has ? np_mac_format(mac, buffer) : NULL);
}

/* What the driver tells is in use goes before what rtnetlink tells is the most. */
static int64_t
queues(int64_t in_use, uint32_t most)
{
    if (in_use >= 0)
        return in_use;
    return most > 0 ? (int64_t) most : -1;
}

static void
put_counters(json_t *nic, const NpLink *link)
{
    if (!link->has_counters)
        return;
    json_object_set_new(nic, "rx_bytes", json_integer((json_int_t) link->rx_bytes));
    json_object_set_new(nic, "tx_bytes", json_integer((json_int_t) link->tx_bytes));
    json_object_set_new(nic, "rx_packets", json_integer((json_int_t) link->rx_packets));
    json_object_set_new(nic, "tx_packets", json_integer((json_int_t) link->tx_packets));
}

static void
put_coalesce(json_t *nic, const NpEthtool *ethtool)
{
    if (ethtool->has_coalesce)
        json_object_set_new(nic, "coalesce",
                            json_pack("{s:I, s:I, s:b, s:b}", "rx_usecs",
                                      (json_int_t) ethtool->rx_usecs, "tx_usecs",
                                      (json_int_t) ethtool->tx_usecs, "adaptive_rx",
                                      ethtool->adaptive_rx, "adaptive_tx", ethtool->adaptive_tx));
}

static void
put_pcie(json_t *nic, const NpPcie *pcie)
{
    put_string(nic, "pcie_speed", pcie->speed);
    put_string(nic, "pcie_speed_max", pcie->speed_max);
    if (pcie->width)
        put_integer(nic, "pcie_width", pcie->width);
    if (pcie->width_max)
        put_integer(nic, "pcie_width_max", pcie->width_max);
    if (pcie->has_numa_node)
        put_integer(nic, "numa_node", pcie->numa_node);
}

static json_t *
nic_json(const NpInfoNic *info)
{
    const NpLink *link = &info->link;
    const NpEthtool *ethtool = &info->ethtool;
    json_t *nic = json_object();
    put_string(nic, "name", link->name);
    put_mac(nic, "mac", link->has_mac, &link->mac);
    put_mac(nic, "permanent_mac", link->has_permanent_mac, &link->permanent_mac);
    put_string(nic, "pci", ethtool->pci);
    put_string(nic, "driver", ethtool->driver);
    put_string(nic, "firmware", ethtool->firmware);
    put_integer(nic, "speed_mbps", ethtool->speed_mbps);
    put_integer(nic, "mtu", link->mtu);
    json_object_set_new(nic, "up", json_boolean(link->up));
    if (link->carrier >= 0)
        json_object_set_new(nic, "carrier", json_boolean(link->carrier));
    put_integer(nic, "queues_rx", queues(ethtool->queues_rx, link->queues_rx));
    put_integer(nic, "queues_tx", queues(ethtool->queues_tx, link->queues_tx));
    put_integer(nic, "ring_rx", ethtool->ring_rx);
    put_integer(nic, "ring_tx", ethtool->ring_tx);
    put_coalesce(nic, ethtool);
    put_string(nic, "qdisc", link->qdisc[0] ? link->qdisc : NULL);
    put_pcie(nic, &info->pcie);
    if (ethtool->offloads) {
        json_t *offloads = json_array();
        for (char **name = ethtool->offloads; *name; name++)
            json_array_append_new(offloads, json_string(*name));
        json_object_set_new(nic, "offloads", offloads);
    }
    put_counters(nic, link);
    return nic;
}

static bool
fits(const json_t *answer)
{
    g_autofree char *line = np_json_line(answer);
    return strlen(line) <= NP_PROTO_LINE_MAX - ENVELOPE_SIZE;
}

static void
say_left_out(json_t *answer, const char *what)
{
    json_t *list = json_object_get(answer, "left_out");
    if (!list) {
        list = json_array();
        json_object_set_new(answer, "left_out", list);
    }
    json_array_append_new(list, json_string(what));
}

static void
shrink(json_t *answer)
{
    json_t *nics = json_object_get(answer, "nics");
    size_t i;
    json_t *nic;
    if (fits(answer))
        return;
    json_array_foreach(nics, i, nic) json_object_del(nic, "offloads");
    say_left_out(answer, "offloads");
    if (fits(answer))
        return;
    say_left_out(answer, "nics");
    while (json_array_size(nics) > 0 && !fits(answer))
        json_array_remove(nics, json_array_size(nics) - 1);
}

json_t *
np_info_format(const NpInfo *info)
{
    json_t *answer = json_object();
    put_string(answer, "kernel", info->kernel);
    put_string(answer, "distribution", info->distribution);
    put_string(answer, "virtualisation", info->virtualisation);
    put_string(answer, "clock_source", info->clock_source);
    put_integer(answer, "cpus", info->cpus);
    put_string(answer, "cpu_model", info->cpu_model);
    put_string(answer, "microcode", info->microcode);
    put_integer(answer, "hz", info->hz);
    if (info->machine)
        json_object_update(answer, info->machine);
    json_object_set(answer, "sysctls", info->sysctls);
    json_t *nics = json_array();
    json_object_set_new(answer, "nics", nics);
    for (guint i = 0; i < MIN(info->nics->len, NP_PROTO_NICS_MAX); i++)
        json_array_append_new(nics, nic_json(&g_array_index(info->nics, NpInfoNic, i)));
    if (info->nics->len > NP_PROTO_NICS_MAX)
        say_left_out(answer, "nics");
    shrink(answer);
    return answer;
}

char *
np_info_os_release(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        if (!g_str_has_prefix(*line, "PRETTY_NAME="))
            continue;
        char *value = g_shell_unquote(g_strchomp(*line + strlen("PRETTY_NAME=")), NULL);
        if (value && value[0] != '\0')
            return value;
        g_free(value);
    }
    return NULL;
}

/* The first "key : value" of a /proc/cpuinfo text. */
static char *
cpuinfo_value(const char *text, const char *key)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        char *colon = strchr(*line, ':');
        if (!colon || !g_str_has_prefix(*line, key))
            continue;
        char *value = g_strstrip(g_strdup(colon + 1));
        if (value[0] != '\0')
            return value;
        g_free(value);
    }
    return NULL;
}

char *
np_info_cpu_model(const char *text)
{
    return cpuinfo_value(text, "model name");
}

char *
np_info_microcode(const char *text)
{
    return cpuinfo_value(text, "microcode");
}
