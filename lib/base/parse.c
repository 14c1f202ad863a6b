/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Parsers of values: see parse.h.
 */
#include "lib/base/parse.h"

#include <string.h>

#include <arpa/inet.h>

#include "lib/base/error.h"

#define QUOTE_MAX 80

char *
np_quote(const char *text)
{
    GString *out = g_string_new("'");
    size_t length = strlen(text);
    for (size_t i = 0; i < MIN(length, QUOTE_MAX); i++) {
        unsigned char byte = (unsigned char) text[i];
        if (byte < 0x20 || byte >= 0x7f)
            g_string_append_printf(out, "\\x%02x", byte);
        else
            g_string_append_c(out, (char) byte);
    }
    g_string_append(out, length > QUOTE_MAX ? "...'" : "'");
    return g_string_free(out, FALSE);
}

static bool G_GNUC_PRINTF(3, 4) bad_value(GError **error, const char *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *allowed = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *quoted = np_quote(text);
    return np_throw(error, NP_ERROR_CONFIG, "%s is not %s", quoted, allowed);
}

/* Digits only into value; false when empty, another byte is met or 64 bits do not hold it. */
static bool
digits(const char *text, size_t length, uint64_t *ret_value)
{
    uint64_t value = 0;
    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!g_ascii_isdigit(text[i]))
            return false;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t) (text[i] - '0'), &value))
            return false;
    }
    *ret_value = value;
    return true;
}

bool
np_parse_uint(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value, GError **error)
{
    uint64_t value;
    if (!digits(text, strlen(text), &value) || value < min || value > max)
        return bad_value(error, text,
                         "a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, min,
                         max);
    *ret_value = value;
    return true;
}

bool
np_parse_bool(const char *text, bool *ret_value, GError **error)
{
    static const char *const words[] = {"no", "yes", "off", "on", "false", "true", "0", "1"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (strcmp(text, words[i]) == 0) {
            *ret_value = i % 2;
            return true;
        }
    }
    return bad_value(error, text, "yes or no");
}

bool
np_parse_seconds(const char *text, int64_t min_ms, int64_t max_ms, int64_t *ret_ms, GError **error)
{
    const char *dot = strchr(text, '.');
    size_t decimals = dot ? strlen(dot + 1) : 0;
    uint64_t whole = 0, fraction = 0;
    bool valid = digits(text, dot ? (size_t) (dot - text) : strlen(text), &whole) &&
                 whole <= INT64_MAX / 1000 - 1;
    if (valid && dot)
        valid = decimals <= 3 && digits(dot + 1, decimals, &fraction);
    for (size_t i = decimals; i < 3; i++)
        fraction *= 10;
    int64_t value_ms = (int64_t) (whole * 1000 + fraction);
    if (!valid || value_ms < min_ms || value_ms > max_ms)
        return bad_value(error, text, "a number of seconds from %g to %g", (double) min_ms / 1000,
                         (double) max_ms / 1000);
    *ret_ms = value_ms;
    return true;
}

/* A number with an optional K, M or G that multiplies by step once, twice or three times. */
static bool
scaled(const char *text, uint64_t step, uint64_t *ret_value)
{
    static const char suffixes[] = "KMG";
    size_t length = strlen(text);
    const char *suffix = length ? strchr(suffixes, text[length - 1]) : NULL;
    uint64_t value;
    if (!digits(text, suffix ? length - 1 : length, &value))
        return false;
    for (const char *s = suffixes; suffix && s <= suffix; s++)
        if (__builtin_mul_overflow(value, step, &value))
            return false;
    *ret_value = value;
    return true;
}

bool
np_parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *ret_bytes, GError **error)
{
    uint64_t value;
    if (!scaled(text, 1024, &value) || value < min || value > max)
        return bad_value(error, text,
                         "a size in bytes from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                         " (suffix K, M or G for powers of 1024)",
                         min, max);
    *ret_bytes = value;
    return true;
}

bool
np_parse_rate(const char *text, uint64_t min, uint64_t max, uint64_t *ret_bps, GError **error)
{
    uint64_t value;
    if (!scaled(text, 1000, &value) || value < min || value > max)
        return bad_value(error, text,
                         "a rate in bit/s from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                         " (suffix K, M or G for powers of 1000)",
                         min, max);
    *ret_bps = value;
    return true;
}

/* Exactly count hex digits into value. */
static bool
hex(const char *text, size_t count, uint32_t *ret_value)
{
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++) {
        int digit = g_ascii_xdigit_value(text[i]);
        if (digit < 0)
            return false;
        value = value << 4 | (uint32_t) digit;
    }
    *ret_value = value;
    return true;
}

bool
np_parse_mac(const char *text, NpMac *ret_mac, GError **error)
{
    NpMac mac;
    bool valid = strlen(text) == NP_MAC_TEXT_SIZE - 1;
    for (size_t i = 0; valid && i < sizeof(mac.byte); i++) {
        uint32_t byte = 0;
        valid = hex(text + 3 * i, 2, &byte) && (i == 5 || text[3 * i + 2] == ':');
        mac.byte[i] = (uint8_t) byte;
    }
    if (!valid)
        return bad_value(error, text, "a MAC address such as 52:54:00:12:34:56");
    *ret_mac = mac;
    return true;
}

bool
np_parse_bdf(const char *text, NpBdf *ret_bdf, GError **error)
{
    const char *rest = text;
    size_t length = strlen(text), domain_digits = length > 8 ? length - 8 : 0;
    uint32_t domain = 0, bus = 0, device = 0, function = 0;
    bool valid = length == 7 || (domain_digits >= 4 && domain_digits <= 8);
    if (valid && domain_digits) {
        valid = hex(text, domain_digits, &domain) && text[domain_digits] == ':';
        rest = text + domain_digits + 1;
    }
    valid = valid && hex(rest, 2, &bus) && rest[2] == ':' && hex(rest + 3, 2, &device) &&
            rest[5] == '.' && hex(rest + 6, 1, &function) && device <= 0x1f && function <= 7;
    if (!valid)
        return bad_value(error, text,
                         "a PCI address such as 0000:3b:02.1 (device 00 to 1f, function 0 to 7)");
    *ret_bdf = (NpBdf){domain, (uint8_t) bus, (uint8_t) device, (uint8_t) function};
    return true;
}

bool
np_parse_vlan(const char *text, uint16_t *ret_vlan, GError **error)
{
    uint64_t value;
    if (!digits(text, strlen(text), &value) || value < 1 || value > 4094)
        return bad_value(error, text, "a VLAN id from 1 to 4094");
    *ret_vlan = (uint16_t) value;
    return true;
}

bool
np_parse_vmid(const char *text, uint32_t *ret_vmid, GError **error)
{
    uint64_t value;
    if (!digits(text, strlen(text), &value) || text[0] == '0' || value < 100 || value > 999999999)
        return bad_value(error, text, "a VMID from 100 to 999999999");
    *ret_vmid = (uint32_t) value;
    return true;
}

bool
np_parse_ifname(const char *text, GError **error)
{
    size_t length = strlen(text);
    bool valid = length >= 1 && length <= 15 && strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
    for (size_t i = 0; valid && i < length; i++)
        valid = g_ascii_isgraph(text[i]) && text[i] != '/' && text[i] != ':';
    if (!valid)
        return bad_value(error, text,
                         "an interface name (1 to 15 characters, no blank, slash or colon)");
    return true;
}

bool
np_parse_name(const char *text, GError **error)
{
    size_t length = strlen(text);
    bool valid = length >= 1 && length <= 64 && text[0] != '.' && text[0] != '-';
    for (size_t i = 0; valid && i < length; i++)
        valid = g_ascii_isalnum(text[i]) || strchr("._-", text[i]);
    if (!valid)
        return bad_value(error, text,
                         "a name of 1 to 64 letters, digits, '.', '_' or '-' that starts with a "
                         "letter, digit or '_'");
    return true;
}

bool
np_parse_address(const char *text, GError **error)
{
    struct in6_addr address;
    if (inet_pton(AF_INET, text, &address) != 1 && inet_pton(AF_INET6, text, &address) != 1)
        return bad_value(error, text, "a numeric IPv4 or IPv6 address");
    return true;
}

bool
np_parse_cidr(const char *text, char **ret_address, unsigned *ret_prefix, GError **error)
{
    const char *slash = strchr(text, '/');
    g_autofree char *address = g_strndup(text, slash ? (size_t) (slash - text) : strlen(text));
    uint64_t prefix, max = strchr(address, ':') ? 128 : 32;
    if (!slash || !np_parse_address(address, NULL) ||
        !digits(slash + 1, strlen(slash + 1), &prefix) || prefix > max)
        return bad_value(error, text,
                         "a numeric address with a prefix length, such as 198.18.0.1/24");
    *ret_address = g_steal_pointer(&address);
    *ret_prefix = (unsigned) prefix;
    return true;
}

const char *
np_mac_format(const NpMac *mac, char buffer[static NP_MAC_TEXT_SIZE])
{
    const uint8_t *b = mac->byte;
    g_snprintf(buffer, NP_MAC_TEXT_SIZE, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3],
               b[4], b[5]);
    return buffer;
}

const char *
np_bdf_format(const NpBdf *bdf, char buffer[static NP_BDF_TEXT_SIZE])
{
    g_snprintf(buffer, NP_BDF_TEXT_SIZE, "%04x:%02x:%02x.%x", bdf->domain, bdf->bus, bdf->device,
               bdf->function);
    return buffer;
}

bool
np_mac_equal(const NpMac *a, const NpMac *b)
{
    return memcmp(a->byte, b->byte, sizeof(a->byte)) == 0;
}

bool
np_bdf_equal(const NpBdf *a, const NpBdf *b)
{
    return a->domain == b->domain && a->bus == b->bus && a->device == b->device &&
           a->function == b->function;
}

int
np_bdf_compare(const NpBdf *a, const NpBdf *b)
{
    if (a->domain != b->domain)
        return a->domain < b->domain ? -1 : 1;
    int left = a->bus << 8 | a->device << 3 | a->function;
    int right = b->bus << 8 | b->device << 3 | b->function;
    return left - right;
}

/* Levenshtein distance with one row; words longer than 64 bytes are never near. */
static size_t
edit_distance(const char *a, const char *b)
{
    size_t row[65], length_a = strlen(a), length_b = strlen(b);
    if (length_a > 64 || length_b > 64)
        return SIZE_MAX;
    for (size_t j = 0; j <= length_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = MIN(replaced, MIN(row[j], row[j - 1]) + 1);
        }
    }
    return row[length_b];
}

const char *
np_nearest(const char *word, const char *const *candidates)
{
    const char *best = NULL;
    size_t length = strlen(word), limit = length < 4 ? 1 : MAX(length / 3, 2);
    size_t best_distance = limit + 1;
    for (; *candidates; candidates++) {
        size_t distance = edit_distance(word, *candidates);
        if (distance < best_distance) {
            best_distance = distance;
            best = *candidates;
        }
    }
    return best;
}
