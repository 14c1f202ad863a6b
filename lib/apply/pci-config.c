/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * PCI configuration space and link: see pci-config.h.
 */
#include "lib/apply/pci-config.h"

#include <linux/pci_regs.h>
#include <string.h>

#define CAPABILITIES_MAX 48 /* a list with more is a circle */
#define EXTENDED_MAX     1024
#define ACS_NEEDED       (PCI_ACS_SV | PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_UF)

static uint16_t
get16(const uint8_t *config, size_t size, size_t at)
{
    return at + 2 <= size ? (uint16_t) (config[at] | config[at + 1] << 8) : 0;
}

bool
np_pci_is_port(const uint8_t *config, size_t size)
{
    return size > PCI_HEADER_TYPE &&
           (config[PCI_HEADER_TYPE] & PCI_HEADER_TYPE_MASK) == PCI_HEADER_TYPE_BRIDGE;
}

/* Offset of a capability, 0 when there is none. */
static size_t
find_capability(const uint8_t *config, size_t size, uint8_t id)
{
    if (!(get16(config, size, PCI_STATUS) & PCI_STATUS_CAP_LIST) || size <= PCI_CAPABILITY_LIST)
        return 0;
    size_t at = config[PCI_CAPABILITY_LIST] & ~3u;
    for (unsigned i = 0; i < CAPABILITIES_MAX && at >= PCI_STD_HEADER_SIZEOF; i++) {
        if (at + 2 > size)
            return 0;
        if (config[at] == id)
            return at;
        at = config[at + 1] & ~3u;
    }
    return 0;
}

static size_t
find_extended(const uint8_t *config, size_t size, uint16_t id)
{
    size_t at = PCI_CFG_SPACE_SIZE;
    for (unsigned i = 0; i < EXTENDED_MAX && at >= PCI_CFG_SPACE_SIZE && at + 4 <= size; i++) {
        if (get16(config, size, at) == id)
            return at;
        at = get16(config, size, at + 2) >> 4 & ~3u;
    }
    return 0;
}

NpAcs
np_pci_acs(const uint8_t *config, size_t size)
{
    if (size < PCI_CFG_SPACE_SIZE)
        return NP_ACS_UNKNOWN;
    size_t express = find_capability(config, size, PCI_CAP_ID_EXP);
    unsigned type = get16(config, size, express + PCI_EXP_FLAGS) >> 4 & 0xf;
    if (!express)
        return NP_ACS_ABSENT;
    if (type == PCI_EXP_TYPE_UPSTREAM && !(config[PCI_HEADER_TYPE] & 0x80))
        return NP_ACS_ON;
    size_t acs = find_extended(config, size, PCI_EXT_CAP_ID_ACS);
    uint16_t control = acs ? get16(config, size, acs + PCI_ACS_CTRL) : 0;
    return (control & ACS_NEEDED) == ACS_NEEDED ? NP_ACS_ON : NP_ACS_ABSENT;
}

unsigned
np_pci_parse_speed(const char *text)
{
    unsigned mts = 0, unit = 1000;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 3)
        return 0;
    for (size_t i = 0; i < digits; i++)
        mts = mts * 10 + (unsigned) (text[i] - '0') * 1000;
    const char *rest = text + digits;
    if (*rest == '.')
        for (rest++; g_ascii_isdigit(*rest); rest++)
            mts += (unsigned) (*rest - '0') * (unit /= 10);
    return g_str_has_prefix(rest, " GT/s") ? mts : 0;
}

unsigned
np_pci_link_mbps(unsigned speed_mts, unsigned width)
{
    uint64_t coded = (uint64_t) speed_mts * width;
    uint64_t data = speed_mts <= 5000 ? coded * 8 / 10 : coded * 128 / 130;
    return (unsigned) (data * 95 / 100);
}
