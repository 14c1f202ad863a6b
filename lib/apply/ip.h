/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * IP addresses as values: text, prefixes, comparison. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

typedef struct {
    uint8_t family; /* AF_INET, AF_INET6; 0: none */
    uint8_t byte[16];
} NpIp;

#define NP_IP_TEXT_SIZE 46 /* INET6_ADDRSTRLEN */

/* A numeric address; a zone ("%eth0") is passed over, an IPv4 address mapped into IPv6 is IPv4. */
bool np_ip_parse(const char *text, NpIp *ret_ip);

/* From bytes in network order: size 4 or 16, else false. Mapped addresses as above. */
bool np_ip_from_bytes(const void *data, size_t size, NpIp *ret_ip);

const char *np_ip_format(const NpIp *ip, char buffer[static NP_IP_TEXT_SIZE]);
bool np_ip_equal(const NpIp *a, const NpIp *b);
unsigned np_ip_bits(const NpIp *ip);

/* Whether ip is within net/prefix; false for another family. */
bool np_ip_within(const NpIp *ip, const NpIp *net, unsigned prefix);

bool np_ip_is_loopback(const NpIp *ip);
bool np_ip_is_link_local(const NpIp *ip); /* fe80::/10 and 169.254.0.0/16 */
bool np_ip_is_any(const NpIp *ip);        /* all zero */
