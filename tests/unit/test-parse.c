/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Parsers of values: what is accepted, and what the message of a refusal names.
 */
#include "lib/base/parse.h"

#include <string.h>

#include "lib/base/error.h"

/* A refusal is a CONFIG error that quotes the text. */
static void
assert_refused(bool accepted, GError **error, const char *text)
{
    g_autoptr(GError) owned = g_steal_pointer(error);
    g_autofree char *quoted = np_quote(text);
    g_test_message("%s: %s", quoted, owned ? owned->message : "accepted");
    g_assert_false(accepted);
    g_assert_error(owned, NP_ERROR, NP_ERROR_CONFIG);
    g_assert_true(g_str_has_prefix(owned->message, quoted));
}

static void
quoting_escapes_and_cuts(void)
{
    static const struct {
        const char *text, *quoted;
    } rows[] = {
        {"", "''"},
        {"a b", "'a b'"},
        {"a\nb", "'a\\x0ab'"},
        {"\x1b[31m", "'\\x1b[31m'"},
        {"\xc3\xa4", "'\\xc3\\xa4'"},
        {"\x7f", "'\\x7f'"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *quoted = np_quote(rows[i].text);
        g_assert_cmpstr(quoted, ==, rows[i].quoted);
    }
    g_autofree char *eighty = g_strnfill(80, 'x'), *more = g_strnfill(100000, 'x');
    g_autofree char *whole = np_quote(eighty), *cut = np_quote(more);
    g_assert_cmpuint(strlen(whole), ==, 82);
    g_assert_cmpuint(strlen(cut), ==, 85);
    g_assert_true(g_str_has_suffix(cut, "x...'"));
}

static void
whole_numbers_keep_their_range(void)
{
    static const struct {
        const char *text;
        uint64_t min, max, value;
        bool valid;
    } rows[] = {
        {"0", 0, 9, 0, true},
        {"9", 0, 9, 9, true},
        {"10", 0, 9, 0, false},
        {"4", 5, 9, 0, false},
        {"007", 0, 9, 7, true},
        {"18446744073709551615", 0, UINT64_MAX, UINT64_MAX, true},
        {"18446744073709551616", 0, UINT64_MAX, 0, false},
        {"99999999999999999999999999", 0, UINT64_MAX, 0, false},
        {"", 0, 9, 0, false},
        {" 1", 0, 9, 0, false},
        {"1 ", 0, 9, 0, false},
        {"1\n", 0, 9, 0, false},
        {"+1", 0, 9, 0, false},
        {"-1", 0, 9, 0, false},
        {"0x1", 0, 9, 0, false},
        {"1.0", 0, 9, 0, false},
        {"\xd9\xa1", 0, 9, 0, false}, /* a digit, but not of ours */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        uint64_t value = 4711;
        GError *error = NULL;
        bool valid = np_parse_uint(rows[i].text, rows[i].min, rows[i].max, &value, &error);
        if (rows[i].valid) {
            g_assert_no_error(error);
            g_assert_true(valid);
            g_assert_cmpuint(value, ==, rows[i].value);
        } else {
            assert_refused(valid, &error, rows[i].text);
            g_assert_cmpuint(value, ==, 4711);
        }
    }
}

static void
booleans_have_eight_words(void)
{
    static const char *const no[] = {"no", "off", "false", "0"};
    static const char *const yes[] = {"yes", "on", "true", "1"};
    static const char *const neither[] = {"", "y", "Yes", "2", "on ", "nope"};
    for (size_t i = 0; i < G_N_ELEMENTS(no); i++) {
        bool value = true;
        g_assert_true(np_parse_bool(no[i], &value, NULL));
        g_assert_false(value);
        g_assert_true(np_parse_bool(yes[i], &value, NULL));
        g_assert_true(value);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(neither); i++) {
        bool value = true;
        GError *error = NULL;
        assert_refused(np_parse_bool(neither[i], &value, &error), &error, neither[i]);
        g_assert_true(value);
    }
}

static void
seconds_have_at_most_three_decimals(void)
{
    static const struct {
        const char *text;
        int64_t value_ms; /* -1: refused */
    } rows[] = {
        {"5", 5000},
        {"0.25", 250},
        {"0.001", 1},
        {"3600.000", 3600000},
        {"1.5", 1500},
        {"0", 0},
        {"", -1},
        {".", -1},
        {".5", -1},
        {"5.", -1},
        {"1.2345", -1},
        {"-1", -1},
        {"1e3", -1},
        {"3600.001", -1},
        {"1.-5", -1},
        {"1.5.5", -1},
        {"1,5", -1},
        {"5s", -1},
        {"9223372036854775807", -1},
        {"18446744073709551616.000", -1},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        int64_t value_ms = 4711;
        GError *error = NULL;
        bool valid = np_parse_seconds(rows[i].text, 0, 3600000, &value_ms, &error);
        if (rows[i].value_ms >= 0) {
            g_assert_no_error(error);
            g_assert_true(valid);
            g_assert_cmpint(value_ms, ==, rows[i].value_ms);
        } else {
            assert_refused(valid, &error, rows[i].text);
            g_assert_cmpint(value_ms, ==, 4711);
        }
    }
}

static void
sizes_scale_by_1024_and_rates_by_1000(void)
{
    static const struct {
        const char *text;
        uint64_t size, rate; /* 0: both refused */
    } rows[] = {
        {"1", 1, 1},
        {"1K", 1024, 1000},
        {"2M", 2097152, 2000000},
        {"10G", UINT64_C(10737418240), UINT64_C(10000000000)},
        {"", 0, 0},
        {"K", 0, 0},
        {"1k", 0, 0},
        {"1KK", 0, 0},
        {"1T", 0, 0},
        {"1.5G", 0, 0},
        {" 1K", 0, 0},
        {"1 K", 0, 0},
        {"-1K", 0, 0},
        {"18446744073709551615G", 0, 0},
        {"0", 0, 0}, /* below the least */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        uint64_t size = 4711, rate = 4711;
        GError *error = NULL, *rate_error = NULL;
        bool valid = np_parse_size(rows[i].text, 1, UINT64_MAX, &size, &error);
        bool rate_valid = np_parse_rate(rows[i].text, 1, UINT64_MAX, &rate, &rate_error);
        if (rows[i].size) {
            g_assert_true(valid && rate_valid);
            g_assert_cmpuint(size, ==, rows[i].size);
            g_assert_cmpuint(rate, ==, rows[i].rate);
        } else {
            assert_refused(valid, &error, rows[i].text);
            assert_refused(rate_valid, &rate_error, rows[i].text);
            g_assert_cmpuint(size, ==, 4711);
        }
    }
}

static void
macs_are_six_pairs(void)
{
    static const char *const wrong[] = {
        "",
        "52:54:00:12:34",
        "52:54:00:12:34:5",
        "52:54:00:12:34:567",
        "52-54-00-12-34-56",
        "525400123456",
        "52:54:00:12:34:5g",
        "52:54:00:12:34:56 ",
        " 52:54:00:12:34:5",
        "52:54:00:12:34:-6",
        "52:54:00:12:34:56:78",
        ":::::::::::::::::",
    };
    NpMac mac, zero = {{0}};
    char text[NP_MAC_TEXT_SIZE];
    g_assert_true(np_parse_mac("52:54:00:aB:Cd:EF", &mac, NULL));
    g_assert_cmpstr(np_mac_format(&mac, text), ==, "52:54:00:ab:cd:ef");
    NpMac same = mac;
    g_assert_true(np_mac_equal(&mac, &same));
    g_assert_true(np_parse_mac("00:00:00:00:00:00", &same, NULL));
    g_assert_true(np_mac_equal(&same, &zero));
    g_assert_false(np_mac_equal(&mac, &zero));
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        GError *error = NULL;
        assert_refused(np_parse_mac(wrong[i], &same, &error), &error, wrong[i]);
        g_assert_true(np_mac_equal(&same, &zero));
    }
}

static void
pci_addresses_may_leave_out_the_domain(void)
{
    static const struct {
        const char *text, *full; /* NULL: refused */
    } rows[] = {
        {"0000:3b:02.1", "0000:3b:02.1"},
        {"3B:1f.7", "0000:3b:1f.7"},
        {"10000:00:00.0", "10000:00:00.0"},
        {"ffffffff:ff:1f.7", "ffffffff:ff:1f.7"},
        {"", NULL},
        {"3b:02", NULL},
        {"3b:02.8", NULL},
        {"3b:20.0", NULL},
        {"0:3b:02.1", NULL},
        {"000:3b:02.1", NULL},
        {"1ffffffff:ff:1f.7", NULL},
        {"0000:3b:02.1 ", NULL},
        {"0000-3b:02.1", NULL},
        {"0000:3b.02.1", NULL},
        {"../../../../", NULL},
        {"gggg:3b:02.1", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        NpBdf bdf = {4711, 0, 0, 0}, untouched = bdf;
        char text[NP_BDF_TEXT_SIZE];
        GError *error = NULL;
        bool valid = np_parse_bdf(rows[i].text, &bdf, &error);
        if (rows[i].full) {
            g_assert_no_error(error);
            g_assert_cmpstr(np_bdf_format(&bdf, text), ==, rows[i].full);
            g_assert_false(np_bdf_equal(&bdf, &untouched));
        } else {
            assert_refused(valid, &error, rows[i].text);
            g_assert_true(np_bdf_equal(&bdf, &untouched));
        }
    }
}

static void
vlans_and_vmids_keep_their_ranges(void)
{
    static const char *const bad_vlans[] = {"0", "4095", "-1", "", "1 ", "65537"};
    static const char *const bad_vmids[] = {"99", "1000000000", "0100", "", "100.conf", "../100"};
    uint16_t vlan = 0;
    uint32_t vmid = 0;
    g_assert_true(np_parse_vlan("1", &vlan, NULL) && vlan == 1);
    g_assert_true(np_parse_vlan("4094", &vlan, NULL) && vlan == 4094);
    g_assert_true(np_parse_vmid("100", &vmid, NULL) && vmid == 100);
    g_assert_true(np_parse_vmid("999999999", &vmid, NULL) && vmid == 999999999);
    for (size_t i = 0; i < G_N_ELEMENTS(bad_vlans); i++) {
        GError *error = NULL;
        assert_refused(np_parse_vlan(bad_vlans[i], &vlan, &error), &error, bad_vlans[i]);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(bad_vmids); i++) {
        GError *error = NULL;
        assert_refused(np_parse_vmid(bad_vmids[i], &vmid, &error), &error, bad_vmids[i]);
    }
    g_assert_cmpuint(vlan, ==, 4094);
    g_assert_cmpuint(vmid, ==, 999999999);
}

static void
names_are_one_safe_path_component(void)
{
    static const struct {
        const char *text;
        bool ifname, name;
    } rows[] = {
        {"eth0", true, true},
        {"enp59s0f0np0", true, true},
        {"123456789012345", true, true},
        {"1234567890123456", false, true},
        {"br-lan.10", true, true},
        {"_x", true, true},
        {"a@b", true, false},
        {"", false, false},
        {".", false, false},
        {"..", false, false},
        {".x", true, false},
        {"-x", true, false},
        {"a/b", false, false},
        {"a:b", false, false},
        {"a b", false, false},
        {"a\nb", false, false},
        {"\xc3\xa4", false, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        GError *error = NULL, *name_error = NULL;
        bool ifname = np_parse_ifname(rows[i].text, &error);
        bool name = np_parse_name(rows[i].text, &name_error);
        g_test_message("%s", rows[i].text);
        if (rows[i].ifname)
            g_assert_true(ifname);
        else
            assert_refused(ifname, &error, rows[i].text);
        if (rows[i].name)
            g_assert_true(name);
        else
            assert_refused(name, &name_error, rows[i].text);
    }
    g_autofree char *longest = g_strnfill(64, 'x'), *longer = g_strnfill(65, 'x');
    g_assert_true(np_parse_name(longest, NULL));
    g_assert_false(np_parse_name(longer, NULL));
}

static void
addresses_are_numeric_and_bare(void)
{
    static const char *const right[] = {"198.18.0.1", "::1", "fd00::1", "::ffff:1.2.3.4"};
    static const char *const wrong[] = {"",           "localhost",    "1.2.3",      "1.2.3.4.5",
                                        "1.2.3.256",  "fe80::1%eth0", "1.2.3.4/24", "[::1]",
                                        "1.2.3.4:80", " 1.2.3.4",     "0x7f.1"};
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++)
        g_assert_true(np_parse_address(right[i], NULL));
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        GError *error = NULL;
        assert_refused(np_parse_address(wrong[i], &error), &error, wrong[i]);
    }
}

static void
prefixes_fit_their_family(void)
{
    static const struct {
        const char *text, *address; /* NULL: refused */
        unsigned prefix;
    } rows[] = {
        {"198.18.0.1/24", "198.18.0.1", 24},
        {"10.0.0.1/0", "10.0.0.1", 0},
        {"10.0.0.1/32", "10.0.0.1", 32},
        {"fd00::1/128", "fd00::1", 128},
        {"10.0.0.1/33", NULL, 0},
        {"fd00::1/129", NULL, 0},
        {"10.0.0.1", NULL, 0},
        {"10.0.0.1/", NULL, 0},
        {"/24", NULL, 0},
        {"10.0.0.1/2/4", NULL, 0},
        {"10.0.0.1/-1", NULL, 0},
        {"10.0.0.1/24 ", NULL, 0},
        {"", NULL, 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *address = NULL;
        unsigned prefix = 4711;
        GError *error = NULL;
        bool valid = np_parse_cidr(rows[i].text, &address, &prefix, &error);
        if (rows[i].address) {
            g_assert_true(valid);
            g_assert_cmpstr(address, ==, rows[i].address);
            g_assert_cmpuint(prefix, ==, rows[i].prefix);
        } else {
            assert_refused(valid, &error, rows[i].text);
            g_assert_null(address);
        }
    }
}

static void
the_nearest_word_is_a_misspelling_or_none(void)
{
    static const char *const words[] = {"processes", "protocol", "window", "tail", NULL};
    static const struct {
        const char *word, *nearest;
    } rows[] = {
        {"proceses", "processes"},
        {"protocoll", "protocol"},
        {"windwo", "window"},
        {"tial", "tail"},
        {"window", "window"},
        {"colour", NULL},
        {"", NULL},
        {"w", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        g_assert_cmpstr(np_nearest(rows[i].word, words), ==, rows[i].nearest);
    g_autofree char *endless = g_strnfill(100000, 'w');
    g_assert_null(np_nearest(endless, words));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/parse/quoting-escapes-and-cuts", quoting_escapes_and_cuts);
    g_test_add_func("/parse/whole-numbers-keep-their-range", whole_numbers_keep_their_range);
    g_test_add_func("/parse/booleans-have-eight-words", booleans_have_eight_words);
    g_test_add_func("/parse/seconds-have-at-most-three-decimals",
                    seconds_have_at_most_three_decimals);
    g_test_add_func("/parse/sizes-scale-by-1024-and-rates-by-1000",
                    sizes_scale_by_1024_and_rates_by_1000);
    g_test_add_func("/parse/macs-are-six-pairs", macs_are_six_pairs);
    g_test_add_func("/parse/pci-addresses-may-leave-out-the-domain",
                    pci_addresses_may_leave_out_the_domain);
    g_test_add_func("/parse/vlans-and-vmids-keep-their-ranges", vlans_and_vmids_keep_their_ranges);
    g_test_add_func("/parse/names-are-one-safe-path-component", names_are_one_safe_path_component);
    g_test_add_func("/parse/addresses-are-numeric-and-bare", addresses_are_numeric_and_bare);
    g_test_add_func("/parse/prefixes-fit-their-family", prefixes_fit_their_family);
    g_test_add_func("/parse/the-nearest-word-is-a-misspelling-or-none",
                    the_nearest_word_is_a_misspelling_or_none);
    return g_test_run();
}
