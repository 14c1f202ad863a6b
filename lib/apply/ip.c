/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * IP addresses: see ip.h.
 */
#include "lib/apply/ip.h"

#include <arpa/inet.h>
#include <string.h>

bool
np_ip_from_bytes(const void *data, size_t size, NpIp *ret_ip)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    const uint8_t *byte = data;
    if (size != 4 && size != 16)
        return false;
    if (size == 16 && memcmp(byte, mapped, sizeof(mapped)) == 0) {
        byte += sizeof(mapped);
        size = 4;
    }
    *ret_ip = (NpIp){.family = size == 4 ? AF_INET : AF_INET6};
    memcpy(ret_ip->byte, byte, size);
    return true;
}

bool
np_ip_parse(const char *text, NpIp *ret_ip)
{
    char plain[NP_IP_TEXT_SIZE];
    uint8_t byte[16];
    size_t size = strcspn(text, "%");
    if (size >= sizeof(plain))
        return false;
    memcpy(plain, text, size);
    plain[size] = '\0';
    if (inet_pton(AF_INET, plain, byte) == 1)
        return np_ip_from_bytes(byte, 4, ret_ip);
    return inet_pton(AF_INET6, plain, byte) == 1 && np_ip_from_bytes(byte, 16, ret_ip);
}

const char *
np_ip_format(const NpIp *ip, char buffer[static NP_IP_TEXT_SIZE])
{
    if (ip->family == 0 || !inet_ntop(ip->family, ip->byte, buffer, NP_IP_TEXT_SIZE))
        strcpy(buffer, "-");
    return buffer;
}

bool
np_ip_equal(const NpIp *a, const NpIp *b)
{
    return a->family == b->family && memcmp(a->byte, b->byte, sizeof(a->byte)) == 0;
}

unsigned
np_ip_bits(const NpIp *ip)
{
    return ip->family == AF_INET ? 32 : 128;
}

bool
np_ip_within(const NpIp *ip, const NpIp *net, unsigned prefix)
{
    if (ip->family != net->family || prefix > np_ip_bits(ip))
        return false;
    unsigned whole = prefix / 8;
    if (memcmp(ip->byte, net->byte, whole) != 0)
        return false;
    if (prefix % 8 == 0)
        return true;
    uint8_t mask = (uint8_t) (0xff << (8 - prefix % 8));
    return ((ip->byte[whole] ^ net->byte[whole]) & mask) == 0;
}

bool
np_ip_is_loopback(const NpIp *ip)
{
    static const NpIp six = {.family = AF_INET6, .byte = {[15] = 1}};
    return ip->family == AF_INET ? ip->byte[0] == 127 : np_ip_equal(ip, &six);
}

bool
np_ip_is_link_local(const NpIp *ip)
{
    if (ip->family == AF_INET)
        return ip->byte[0] == 169 && ip->byte[1] == 254;
    return ip->family == AF_INET6 && ip->byte[0] == 0xfe && (ip->byte[1] & 0xc0) == 0x80;
}

bool
np_ip_is_any(const NpIp *ip)
{
    static const NpIp zero;
    return memcmp(ip->byte, zero.byte, sizeof(zero.byte)) == 0;
}
