/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Parsers of values: valid, at the bounds, hostile; and the nearest word.
 */
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/parse.h"

/* Asserts the outcome; a failure is CONFIG and quotes the text harmlessly. */
static void
check(const char *text, bool passed, bool wanted, const GError *error)
{
    g_autofree char *quoted = np_quote(text);
    g_test_message("%s", quoted);
    g_assert_true(passed == wanted);
    if (wanted) {
        g_assert_no_error(error);
        return;
    }
    g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
    g_assert_true(g_str_has_prefix(error->message, quoted));
    for (const char *byte = error->message; *byte; byte++)
        g_assert_true(g_ascii_isprint(*byte));
}

static void
test_quotes_are_short_and_printable(void)
{
    g_autofree char *eighty = g_strnfill(80, 'a'), *more = g_strnfill(81, 'a');
    g_autofree char *quoted_eighty = g_strdup_printf("'%s'", eighty);
    g_autofree char *quoted_more = g_strdup_printf("'%s...'", eighty);
    const struct {
        const char *text, *quoted;
    } rows[] = {
        {"", "''"},
        {"eth0", "'eth0'"},
        {"a\nb\x1b[31m\x7f\xc3\xa4", "'a\\x0ab\\x1b[31m\\x7f\\xc3\\xa4'"},
        {eighty, quoted_eighty},
        {more, quoted_more},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *quoted = np_quote(rows[i].text);
        g_assert_cmpstr(quoted, ==, rows[i].quoted);
    }
}

static void
test_whole_numbers(void)
{
    static const struct {
        const char *text;
        uint64_t min, max;
        bool valid;
        uint64_t value;
    } rows[] = {
        {"0", 0, 10, true, 0},
        {"10", 0, 10, true, 10},
        {"007", 0, 10, true, 7},
        {"18446744073709551615", 0, UINT64_MAX, true, UINT64_MAX},
        {"11", 0, 10, false},
        {"1", 2, 10, false},
        {"18446744073709551616", 0, UINT64_MAX, false},
        {"99999999999999999999999999", 0, UINT64_MAX, false},
        {"", 0, 10, false},
        {" 1", 0, 10, false},
        {"1 ", 0, 10, false},
        {"1\n", 0, 10, false},
        {"+1", 0, 10, false},
        {"-1", 0, UINT64_MAX, false},
        {"0x1", 0, 10, false},
        {"1.0", 0, 10, false},
        {"1e1", 0, 10, false},
        {"\xd9\xa1", 0, 10, false}, /* a digit, but not of ours */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        uint64_t value = 4711;
        bool passed = np_parse_uint(rows[i].text, rows[i].min, rows[i].max, &value, &error);
        check(rows[i].text, passed, rows[i].valid, error);
        g_assert_cmpuint(value, ==, rows[i].valid ? rows[i].value : 4711);
    }
}

static void
test_booleans(void)
{
    static const char *const yes[] = {"yes", "on", "true", "1"}, *const no[] = {"no", "off",
                                                                                "false", "0"};
    static const char *const bad[] = {"", "y", "YES", "yes ", "2", "01", "\n"};
    for (size_t i = 0; i < G_N_ELEMENTS(yes); i++) {
        bool value = false;
        g_assert_true(np_parse_bool(yes[i], &value, NULL) && value);
        g_assert_true(np_parse_bool(no[i], &value, NULL) && !value);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        bool value = true, passed = np_parse_bool(bad[i], &value, &error);
        check(bad[i], passed, false, error);
        g_assert_true(value);
    }
}

static void
test_seconds(void)
{
    static const struct {
        const char *text;
        bool valid;
        int64_t ms;
    } rows[] = {
        {"0.25", true, 250},
        {"5", true, 5000},
        {"5.0", true, 5000},
        {"0.001", true, 1},
        {"1.05", true, 1050},
        {"60", true, 60000},
        {"60.000", true, 60000},
        {"60.001", false},
        {"0", false},
        {"0.0005", false},
        {"5.", false},
        {".5", false},
        {".", false},
        {"", false},
        {"-1", false},
        {"1.-5", false},
        {"1.2.3", false},
        {"5s", false},
        {"1,5", false},
        {" 5", false},
        {"nan", false},
        {"inf", false},
        {"1e1", false},
        {"9223372036854775807", false},
        {"18446744073709551617", false},
        {"9223372036854775.999", false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        int64_t ms = -7;
        bool passed = np_parse_seconds(rows[i].text, 1, 60000, &ms, &error);
        check(rows[i].text, passed, rows[i].valid, error);
        g_assert_cmpint(ms, ==, rows[i].valid ? rows[i].ms : -7);
    }
}

static void
test_sizes_and_rates(void)
{
    static const struct {
        const char *text;
        bool valid;
        uint64_t bytes, bps;
    } rows[] = {
        {"0", true, 0, 0},
        {"123", true, 123, 123},
        {"2K", true, 2048, 2000},
        {"3M", true, 3 << 20, 3000000},
        {"16G", true, UINT64_C(16) << 30, UINT64_C(16000000000)},
        {"17G", false}, /* below */
        {"K", false},
        {"", false},
        {"1k", false},
        {"1KK", false},
        {"1Ki", false},
        {"1T", false},
        {"1 K", false},
        {"-1K", false},
        {"1.5G", false},
        {"18446744073709551615K", false},
        {"18446744073709551616", false},
        {"17179869184G", false}, /* 2^34 * 2^30 is 0 in 64 bits */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) size_error = NULL, rate_error = NULL;
        uint64_t bytes = 7, bps = 7;
        bool size = np_parse_size(rows[i].text, 0, UINT64_C(16) << 30, &bytes, &size_error);
        bool rate = np_parse_rate(rows[i].text, 0, UINT64_C(16000000000), &bps, &rate_error);
        check(rows[i].text, size, rows[i].valid, size_error);
        check(rows[i].text, rate, rows[i].valid, rate_error);
        g_assert_cmpuint(bytes, ==, rows[i].valid ? rows[i].bytes : 7);
        g_assert_cmpuint(bps, ==, rows[i].valid ? rows[i].bps : 7);
    }
    uint64_t value;
    g_assert_false(np_parse_size("1K", 0, 1023, &value, NULL));
    g_assert_false(np_parse_rate("1K", 1001, 5000, &value, NULL));
}

static void
test_macs(void)
{
    static const struct {
        const char *text, *canonical;
    } rows[] = {
        {"52:54:00:12:34:56", "52:54:00:12:34:56"},
        {"AA:bb:CC:dd:EE:0f", "aa:bb:cc:dd:ee:0f"},
        {"00:00:00:00:00:00", "00:00:00:00:00:00"},
        {"ff:ff:ff:ff:ff:ff", "ff:ff:ff:ff:ff:ff"},
        {"52:54:00:12:34", NULL},
        {"52:54:00:12:34:56:78", NULL},
        {"52-54-00-12-34-56", NULL},
        {"52:54:00:12:34:5g", NULL},
        {"525:4:00:12:34:56", NULL},
        {"52:54:00:12:34:56 ", NULL},
        {" 2:54:00:12:34:56", NULL},
        {"+2:54:00:12:34:56", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        NpMac mac = {{1, 2, 3, 4, 5, 6}};
        char text[NP_MAC_TEXT_SIZE];
        bool passed = np_parse_mac(rows[i].text, &mac, &error);
        check(rows[i].text, passed, rows[i].canonical != NULL, error);
        g_assert_cmpstr(np_mac_format(&mac, text), ==,
                        rows[i].canonical ? rows[i].canonical : "01:02:03:04:05:06");
    }
    const NpMac a = {{1, 2, 3, 4, 5, 6}}, b = {{1, 2, 3, 4, 5, 7}};
    g_assert_true(np_mac_equal(&a, &a));
    g_assert_false(np_mac_equal(&a, &b));
}

static void
test_pci_addresses(void)
{
    static const struct {
        const char *text, *canonical;
    } rows[] = {
        {"3b:02.1", "0000:3b:02.1"},
        {"0000:3b:02.1", "0000:3b:02.1"},
        {"FFFF:FF:1F.7", "ffff:ff:1f.7"},
        {"10000:e1:00.0", "10000:e1:00.0"},
        {"ffffffff:00:1f.7", "ffffffff:00:1f.7"},
        {"0000:3b:20.0", NULL},
        {"0000:3b:1f.8", NULL},
        {"000:3b:02.1", NULL},
        {"1ffffffff:3b:02.1", NULL},
        {":3b:02.1", NULL},
        {"3b:02", NULL},
        {"3b:02:1", NULL},
        {"3b.02.1", NULL},
        {"3g:02.1", NULL},
        {"0000-3b:02.1", NULL},
        {"0000:3b:02.1\n", NULL},
        {"0000:3b:02.10", NULL},
        {" 3b:02.1", NULL},
        {"../../etc/pw", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        NpBdf bdf = {1, 2, 3, 4};
        char text[NP_BDF_TEXT_SIZE];
        bool passed = np_parse_bdf(rows[i].text, &bdf, &error);
        check(rows[i].text, passed, rows[i].canonical != NULL, error);
        g_assert_cmpstr(np_bdf_format(&bdf, text), ==,
                        rows[i].canonical ? rows[i].canonical : "0001:02:03.4");
    }
    const NpBdf base = {1, 2, 3, 4};
    const NpBdf others[] = {{0, 2, 3, 4}, {1, 0, 3, 4}, {1, 2, 0, 4}, {1, 2, 3, 0}};
    g_assert_true(np_bdf_equal(&base, &base));
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        g_assert_false(np_bdf_equal(&base, &others[i]));
}

static void
test_vlans_and_vmids(void)
{
    static const struct {
        const char *text;
        bool vlan, vmid;
        unsigned value;
    } rows[] = {
        {"1", true, false, 1},        {"4094", true, true, 4094},
        {"100", true, true, 100},     {"99", true, false, 99},
        {"4095", false, true, 4095},  {"999999999", false, true, 999999999},
        {"0", false, false},          {"1000000000", false, false},
        {"0100x", false, false},      {"65537", false, true, 65537}, /* 1 in 16 bits */
        {"4294967396", false, false},                                /* 100 in 32 bits */
        {"-1", false, false},         {"", false, false},
        {"101/../102", false, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) vlan_error = NULL, vmid_error = NULL;
        uint16_t vlan = 7;
        uint32_t vmid = 7;
        bool is_vlan = np_parse_vlan(rows[i].text, &vlan, &vlan_error);
        bool is_vmid = np_parse_vmid(rows[i].text, &vmid, &vmid_error);
        check(rows[i].text, is_vlan, rows[i].vlan, vlan_error);
        check(rows[i].text, is_vmid, rows[i].vmid, vmid_error);
        g_assert_cmpuint(vlan, ==, rows[i].vlan ? rows[i].value : 7);
        g_assert_cmpuint(vmid, ==, rows[i].vmid ? rows[i].value : 7);
    }
    uint32_t vmid;
    g_assert_false(np_parse_vmid("0100", &vmid, NULL)); /* not how Proxmox writes it */
}

static void
test_names(void)
{
    g_autofree char *longest = g_strnfill(64, 'a'), *too_long = g_strnfill(65, 'a');
    const struct {
        const char *text;
        bool ifname, name;
    } rows[] = {
        {"eth0", true, true},
        {"enp59s0f1np1", true, true},
        {"a", true, true},
        {"123456789012345", true, true},
        {"1234567890123456", false, true},
        {"br-lan.100", true, true},
        {"_x", true, true},
        {"eth0@if2", true, false},
        {"-rf", true, false},
        {".hidden", true, false},
        {".", false, false},
        {"..", false, false},
        {"...", true, false},
        {"a/b", false, false},
        {"eth0:1", false, false},
        {"a b", false, false},
        {"a\n", false, false},
        {"a\x7f", false, false},
        {"", false, false},
        {longest, false, true},
        {too_long, false, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) ifname_error = NULL, name_error = NULL;
        bool is_ifname = np_parse_ifname(rows[i].text, &ifname_error);
        bool is_name = np_parse_name(rows[i].text, &name_error);
        check(rows[i].text, is_ifname, rows[i].ifname, ifname_error);
        check(rows[i].text, is_name, rows[i].name, name_error);
    }
}

static void
test_addresses(void)
{
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {
        {"198.18.0.1", true},      {"0.0.0.0", true},
        {"255.255.255.255", true}, {"::", true},
        {"fd00::1", true},         {"::ffff:10.0.0.1", true},
        {"198.18.0", false},       {"198.18.0.256", false},
        {"198.18.0.1.1", false},   {"198.18.0.1 ", false},
        {"0x7f.1", false},         {"2130706433", false},
        {"fd00::1%eth0", false},   {"[fd00::1]", false},
        {"fd00:::1", false},       {"198.18.0.1:80", false},
        {"localhost", false},      {"", false},
        {"-c 1.1.1.1", false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        bool passed = np_parse_address(rows[i].text, &error);
        check(rows[i].text, passed, rows[i].valid, error);
    }
}

static void
test_addresses_with_prefix(void)
{
    static const struct {
        const char *text, *address;
        unsigned prefix;
    } rows[] = {
        {"198.18.0.1/24", "198.18.0.1", 24},
        {"198.18.0.1/0", "198.18.0.1", 0},
        {"198.18.0.1/32", "198.18.0.1", 32},
        {"fd00::1/64", "fd00::1", 64},
        {"fd00::1/128", "fd00::1", 128},
        {"198.18.0.1/33", NULL},
        {"fd00::1/129", NULL},
        {"198.18.0.1", NULL},
        {"198.18.0.1/", NULL},
        {"/24", NULL},
        {"198.18.0.1/24/24", NULL},
        {"198.18.0.1/-1", NULL},
        {"198.18.0.1/255.255.255.0", NULL},
        {"198.18.0.1 /24", NULL},
        {"198.18.0.1/18446744073709551640", NULL}, /* 24 in 64 bits */
        {"", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *address = NULL;
        unsigned prefix = 7;
        bool passed = np_parse_cidr(rows[i].text, &address, &prefix, &error);
        check(rows[i].text, passed, rows[i].address != NULL, error);
        g_assert_cmpstr(address, ==, rows[i].address);
        g_assert_cmpuint(prefix, ==, rows[i].address ? rows[i].prefix : 7);
    }
}

static void
test_the_nearest_word_is_a_misspelling_or_none(void)
{
    static const char *const words[] = {"up", "mtu", "window", "watchdog_ms", "interval_ms", NULL};
    g_autofree char *endless = g_strnfill(100000, 'w');
    const struct {
        const char *word, *nearest;
    } rows[] = {
        {"window", "window"},
        {"windw", "window"},   /* one left out */
        {"wimdow", "window"},  /* one replaced */
        {"windoow", "window"}, /* one too many */
        {"widnow", "window"},  /* two swapped: two edits */
        {"widnwo", NULL},      /* four */
        {"ut", "up"},          /* one in a short word, the first of equals */
        {"mut", NULL},         /* two in a short word */
        {"watchdogms", "watchdog_ms"},
        {"watch_dogms", "watchdog_ms"},
        {"colour", NULL},
        {"WINDOW", NULL},
        {"", NULL},
        {endless, NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        g_assert_cmpstr(np_nearest(rows[i].word, words), ==, rows[i].nearest);
    static const char *const none[] = {NULL};
    g_assert_null(np_nearest("window", none));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/parse/quotes-are-short-and-printable", test_quotes_are_short_and_printable);
    g_test_add_func("/parse/whole-numbers", test_whole_numbers);
    g_test_add_func("/parse/booleans", test_booleans);
    g_test_add_func("/parse/seconds", test_seconds);
    g_test_add_func("/parse/sizes-and-rates", test_sizes_and_rates);
    g_test_add_func("/parse/macs", test_macs);
    g_test_add_func("/parse/pci-addresses", test_pci_addresses);
    g_test_add_func("/parse/vlans-and-vmids", test_vlans_and_vmids);
    g_test_add_func("/parse/names", test_names);
    g_test_add_func("/parse/addresses", test_addresses);
    g_test_add_func("/parse/addresses-with-prefix", test_addresses_with_prefix);
    g_test_add_func("/parse/the-nearest-word-is-a-misspelling-or-none",
                    test_the_nearest_word_is_a_misspelling_or_none);
    return g_test_run();
}
