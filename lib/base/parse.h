/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Parsers of values: one per kind, whole string, with range; the only way from text to a value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/* Every parser takes the whole string (no leading or trailing blanks), leaves its result untouched
 * on failure, and throws NP_ERROR_CONFIG with a message that quotes the text and says what is
 * allowed. Pure. The text may be hostile: it is quoted through np_quote. */

typedef struct {
    uint8_t byte[6];
} NpMac;

/* A PCI function's address: domain (32 bits on some machines), bus, device (0-31), function (0-7).
 */
typedef struct {
    uint32_t domain;
    uint8_t bus, device, function;
} NpBdf;

#define NP_MAC_TEXT_SIZE 18 /* "52:54:00:00:00:01" and NUL */
#define NP_BDF_TEXT_SIZE 17 /* "ffffffff:00:1f.7" and NUL */

/* The text in single ticks, control and non-ASCII bytes escaped, at most 80 bytes of it (transfer
 * full). */
char *np_quote(const char *text);

/* Decimal digits only; min <= value <= max. */
bool
np_parse_uint(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value, GError **error);

/* "yes|no|on|off|true|false|1|0". */
bool np_parse_bool(const char *text, bool *ret_value, GError **error);

/* Seconds with at most three decimals, such as "5" or "0.25", in ms; min_ms <= value <= max_ms. */
bool
np_parse_seconds(const char *text, int64_t min_ms, int64_t max_ms, int64_t *ret_ms, GError **error);

/* Decimal digits and an optional suffix K, M, G (powers of 1024), in bytes. */
bool
np_parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *ret_bytes, GError **error);

/* Decimal digits and an optional suffix K, M, G (powers of 1000), in bit/s. */
bool np_parse_rate(const char *text, uint64_t min, uint64_t max, uint64_t *ret_bps, GError **error);

/* Six pairs of hex digits separated by colons, upper or lower case. Multicast and zero are
 * accepted: whether they make sense depends on the use. */
bool np_parse_mac(const char *text, NpMac *ret_mac, GError **error);

/* "0000:3b:02.1" or "3b:02.1" (domain 0). */
bool np_parse_bdf(const char *text, NpBdf *ret_bdf, GError **error);

/* A VLAN id, 1 to 4094. */
bool np_parse_vlan(const char *text, uint16_t *ret_vlan, GError **error);

/* A Proxmox VMID, 100 to 999999999. */
bool np_parse_vmid(const char *text, uint32_t *ret_vmid, GError **error);

/* A network interface's name as the kernel accepts it: 1 to 15 bytes, no slash, colon, blank or
 * control byte, not "." or "..". */
bool np_parse_ifname(const char *text, GError **error);

/* One path component: 1 to 64 of [A-Za-z0-9._-], not starting with a dot or dash. */
bool np_parse_name(const char *text, GError **error);

/* A numeric IPv4 or IPv6 address without prefix, zone or port. */
bool np_parse_address(const char *text, GError **error);

/* A numeric address with prefix length, such as "198.18.0.1/24" or "fd00::1/64". The address part
 * (transfer full) and the prefix in bits. */
bool np_parse_cidr(const char *text, char **ret_address, unsigned *ret_prefix, GError **error);

/* Lower case, into a buffer of the size named above; returns the buffer. */
const char *np_mac_format(const NpMac *mac, char buffer[static NP_MAC_TEXT_SIZE]);
const char *np_bdf_format(const NpBdf *bdf, char buffer[static NP_BDF_TEXT_SIZE]);

bool np_mac_equal(const NpMac *a, const NpMac *b);
bool np_bdf_equal(const NpBdf *a, const NpBdf *b);

/* Negative, 0 or positive, as a stands before, at or behind b: by domain, bus, device, function. */
int np_bdf_compare(const NpBdf *a, const NpBdf *b);

/* The candidate nearest to word by edit distance, or NULL when none is near enough to be a
 * misspelling: at most one edit in a word below four letters, two below nine, then a third of its
 * length. candidates: NULL-terminated. */
const char *np_nearest(const char *word, const char *const *candidates);
