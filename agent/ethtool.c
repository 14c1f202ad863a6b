/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Ethtool: see ethtool.h.
 */
#include "agent/ethtool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "lib/base/error.h"

/* The kernel has some sixty features; what claims to have more is not believed. */
#define FEATURES_MAX 1024

int
np_ethtool_open(GError **error)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        np_throw_errno(error, errno, "open a socket for ethtool");
    return fd;
}

/* One call; argument starts with the command word. */
static bool
call(int fd, const char *ifname, void *argument)
{
    struct ifreq request = {.ifr_data = argument};
    g_strlcpy(request.ifr_name, ifname, sizeof(request.ifr_name));
    return ioctl(fd, SIOCETHTOOL, &request) == 0;
}

/* A fixed-size field as text (transfer full); NULL when empty or "N/A", as some drivers say. */
static char *
field_text(const char *field, size_t size)
{
    g_autofree char *text = g_strstrip(g_strndup(field, size));
    if (text[0] == '\0' || strcmp(text, "N/A") == 0)
        return NULL;
    return g_utf8_make_valid(text, -1);
}

static void
read_driver(int fd, const char *ifname, NpEthtool *info)
{
    struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
    if (!call(fd, ifname, &driver))
        return;
    info->driver = field_text(driver.driver, sizeof(driver.driver));
    info->firmware = field_text(driver.fw_version, sizeof(driver.fw_version));
    g_autofree char *bus = field_text(driver.bus_info, sizeof(driver.bus_info));
    NpBdf bdf;
    char buffer[NP_BDF_TEXT_SIZE];
    if (bus && np_parse_bdf(bus, &bdf, NULL))
        info->pci = g_strdup(np_bdf_format(&bdf, buffer));
}

static void
read_speed(int fd, const char *ifname, NpEthtool *info)
{
    /* Asked with no room for the three link mode masks, the kernel answers with minus the words
     * it needs for each; asked again with that number, it answers. */
    union {
        struct ethtool_link_settings settings;
        uint32_t words[sizeof(struct ethtool_link_settings) / 4 + 3 * INT8_MAX];
    } link = {.settings = {.cmd = ETHTOOL_GLINKSETTINGS}};
    if (!call(fd, ifname, &link) || link.settings.link_mode_masks_nwords >= 0)
        return;
    int8_t words = (int8_t) -link.settings.link_mode_masks_nwords;
    if (words <= 0)
        return;
    memset(&link, 0, sizeof(link));
    link.settings.cmd = ETHTOOL_GLINKSETTINGS;
    link.settings.link_mode_masks_nwords = words;
    if (call(fd, ifname, &link) && link.settings.speed != (uint32_t) SPEED_UNKNOWN &&
        link.settings.speed != 0)
        info->speed_mbps = link.settings.speed;
}

static void
read_queues(int fd, const char *ifname, NpEthtool *info)
{
    struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
    if (call(fd, ifname, &channels)) {
        int64_t rx = (int64_t) channels.rx_count + channels.combined_count;
        int64_t tx = (int64_t) channels.tx_count + channels.combined_count;
        info->queues_rx = rx > 0 ? rx : -1;
        info->queues_tx = tx > 0 ? tx : -1;
    }
    struct ethtool_ringparam rings = {.cmd = ETHTOOL_GRINGPARAM};
    if (call(fd, ifname, &rings)) {
        info->ring_rx = rings.rx_pending;
        info->ring_tx = rings.tx_pending;
    }
}

static void
read_coalesce(int fd, const char *ifname, NpEthtool *info)
{
    struct ethtool_coalesce coalesce = {.cmd = ETHTOOL_GCOALESCE};
    info->has_coalesce = call(fd, ifname, &coalesce);
    info->rx_usecs = coalesce.rx_coalesce_usecs;
    info->tx_usecs = coalesce.tx_coalesce_usecs;
    info->adaptive_rx = coalesce.use_adaptive_rx_coalesce;
    info->adaptive_tx = coalesce.use_adaptive_tx_coalesce;
}

static uint32_t
count_features(int fd, const char *ifname)
{
    union {
        struct ethtool_sset_info info;
        uint32_t words[sizeof(struct ethtool_sset_info) / 4 + 1];
    } set = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_FEATURES}};
    if (!call(fd, ifname, &set) || set.info.sset_mask == 0)
        return 0;
    uint32_t count = set.words[sizeof(struct ethtool_sset_info) / 4];
    return count <= FEATURES_MAX ? count : 0;
}

static void
read_offloads(int fd, const char *ifname, NpEthtool *info)
{
    uint32_t count = count_features(fd, ifname);
    if (count == 0)
        return;
    uint32_t blocks = (count + 31) / 32;
    g_autofree struct ethtool_gstrings *names =
        g_malloc0(sizeof(*names) + (size_t) count * ETH_GSTRING_LEN);
    g_autofree struct ethtool_gfeatures *features =
        g_malloc0(sizeof(*features) + blocks * sizeof(features->features[0]));
    names->cmd = ETHTOOL_GSTRINGS;
    names->string_set = ETH_SS_FEATURES;
    names->len = count;
    features->cmd = ETHTOOL_GFEATURES;
    features->size = blocks;
    if (!call(fd, ifname, names) || !call(fd, ifname, features))
        return;
    g_autoptr(GPtrArray) on = g_ptr_array_new();
    for (uint32_t i = 0; i < count; i++) {
        if (!(features->features[i / 32].active & (UINT32_C(1) << (i % 32))))
            continue;
        const char *name = (const char *) names->data + (size_t) i * ETH_GSTRING_LEN;
        char *text = field_text(name, ETH_GSTRING_LEN);
        if (text)
            g_ptr_array_add(on, text);
    }
    g_ptr_array_add(on, NULL);
    info->offloads = (char **) g_ptr_array_free(g_steal_pointer(&on), FALSE);
}

void
np_ethtool_read(int fd, const char *ifname, NpEthtool *ret_info)
{
    NpEthtool info = {
        .speed_mbps = -1, .queues_rx = -1, .queues_tx = -1, .ring_rx = -1, .ring_tx = -1};
    read_driver(fd, ifname, &info);
    read_speed(fd, ifname, &info);
    read_queues(fd, ifname, &info);
    read_coalesce(fd, ifname, &info);
    read_offloads(fd, ifname, &info);
    *ret_info = info;
}

void
np_ethtool_clear(NpEthtool *info)
{
    g_free(info->driver);
    g_free(info->firmware);
    g_free(info->pci);
    g_strfreev(info->offloads);
    *info = (NpEthtool){0};
}

bool
np_ethtool_permanent_mac(int fd, const char *ifname, NpMac *ret_mac)
{
    static const NpMac zero;
    union {
        struct ethtool_perm_addr address;
        uint32_t words[sizeof(struct ethtool_perm_addr) / 4 + 8]; /* an address has 32 bytes */
    } permanent = {.address = {.cmd = ETHTOOL_GPERMADDR, .size = 32}};
    if (!call(fd, ifname, &permanent) || permanent.address.size != sizeof(NpMac))
        return false;
    NpMac mac;
    memcpy(&mac, &permanent.words[sizeof(struct ethtool_perm_addr) / 4], sizeof(mac));
    if (np_mac_equal(&mac, &zero))
        return false;
    *ret_mac = mac;
    return true;
}
