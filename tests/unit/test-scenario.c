/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of scenarios.
 */
#include "lib/bench/scenario.h"

#include <string.h>

#include "lib/base/error.h"

#define TOPOLOGIES "[topology direct]\nlink = direct\n[topology bridge]\nlink=bridge\nmtu = 9000\n"
#define SMALL      "[scenario]\nprocesses = 1, 2 ,4\n" TOPOLOGIES

static NpScenario *
parse(const char *text, const char *const *overrides)
{
    g_autoptr(GError) error = NULL;
    NpScenario *scenario = np_scenario_parse("dir/small.ini", text, overrides, &error);
    g_assert_no_error(error);
    return scenario;
}

static void
test_defaults(void)
{
    g_autoptr(NpScenario) s = parse(SMALL, NULL);
    g_assert_cmpstr(s->name, ==, "small");
    g_assert_cmpstr(s->title, ==, "small");
    g_assert_cmpuint(s->processes->len, ==, 3);
    g_assert_cmpuint(g_array_index(s->processes, unsigned, 2), ==, 4);
    g_assert_cmpuint(s->directions->len, ==, 1);
    g_assert_cmpint(g_array_index(s->directions, NpDirection, 0), ==, NP_DIRECTION_FORWARD);
    g_assert_cmpint(s->omit_ms, ==, 3000);
    g_assert_cmpint(s->window_ms, ==, 30000);
    g_assert_cmpint(s->tail_ms, ==, 1000);
    g_assert_cmpuint(s->blocks, ==, 6);
    g_assert_cmpuint(s->runs, ==, 2);
    g_assert_cmpuint(s->streams, ==, 1);
    g_assert_false(s->udp || s->zerocopy || s->pin);
    g_assert_null(s->congestion);
    g_assert_cmpuint(s->topologies->len, ==, 2);
    const NpTopology *first = s->topologies->pdata[0], *second = s->topologies->pdata[1];
    g_assert_cmpstr(first->name, ==, "direct");
    g_assert_cmpint(first->link, ==, NP_LINK_DIRECT);
    g_assert_cmpuint(first->mtu, ==, 0);
    g_assert_cmpint(second->link, ==, NP_LINK_BRIDGE);
    g_assert_cmpuint(second->mtu, ==, 9000);
}

static void
test_every_key(void)
{
    g_autoptr(NpScenario) s = parse(
        "[scenario]\ntitle = Ein Titel\nprocesses = 3\ndirections = reverse, forward\n"
        "protocol = udp\nstreams = 2\nomit = 0.5\nwindow = 5.25\ntail = 1.25\nidle = 0\n"
        "blocks = 3\nruns = 4\nseed = 77\nrate = 2G\nsocket-buffer = 4M\npin = yes\n" TOPOLOGIES,
        NULL);
    g_assert_cmpstr(s->title, ==, "Ein Titel");
    g_assert_cmpint(g_array_index(s->directions, NpDirection, 0), ==, NP_DIRECTION_REVERSE);
    g_assert_true(s->udp && s->pin);
    g_assert_cmpuint(s->streams, ==, 2);
    g_assert_cmpint(s->omit_ms, ==, 500);
    g_assert_cmpint(s->window_ms, ==, 5250);
    g_assert_cmpint(s->tail_ms, ==, 1250);
    g_assert_cmpint(s->idle_ms, ==, 0);
    g_assert_cmpuint(s->blocks * s->runs, ==, 12);
    g_assert_cmpuint(s->seed, ==, 77);
    g_assert_cmpuint(s->rate_bps, ==, 2000000000);
    g_assert_cmpuint(s->window_bytes, ==, 4 << 20);
}

static void
test_overrides(void)
{
    const char *const overrides[] = {"window=5", "omit = 1", "bridge.mtu=1500", "window=6", NULL};
    g_autoptr(NpScenario) s = parse(SMALL, overrides);
    g_assert_cmpint(s->window_ms, ==, 6000);
    g_assert_cmpint(s->omit_ms, ==, 1000);
    g_assert_cmpuint(((const NpTopology *) s->topologies->pdata[1])->mtu, ==, 1500);
}

static void
test_digest_is_of_what_is_measured(void)
{
    g_autoptr(NpScenario) s = parse(SMALL, NULL);
    const struct {
        const char *override;
        bool same;
    } rows[] = {
        {"seed=5", true},           {"title=Other", true},     {"blocks=12", true},
        {"window=30", true},        {"window=31", false},      {"runs=3", false},
        {"bridge.mtu=9001", false}, {"congestion=bbr", false}, {"directions=reverse", false},
        {"processes=1,2", false},   {"pin=yes", false},        {"idle=1", false},
    };
    g_assert_cmpuint(strlen(s->digest), ==, 64);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *const overrides[] = {rows[i].override, NULL};
        g_autoptr(NpScenario) other = parse(SMALL, overrides);
        g_test_message("%s", rows[i].override);
        g_assert_true((strcmp(s->digest, other->digest) == 0) == rows[i].same);
    }
}

static void
test_refused(void)
{
    const struct {
        const char *text, *override, *message;
    } rows[] = {
        {TOPOLOGIES, NULL, "the group [scenario] is missing"},
        {"[scenario]\nprocesses=1\n", NULL, "no topology"},
        {"[scenario]\n" TOPOLOGIES, NULL, "needs processes"},
        {"[scenario]\nprocesses=\n" TOPOLOGIES, NULL, "bad.ini:2: key 'processes': the list"},
        {"[scenario]\nprocesses=1,,2\n" TOPOLOGIES, NULL, "'' is not a whole number from 1 to 64"},
        {"[scenario]\nprocesses=0\n" TOPOLOGIES, NULL, "'0' is not a whole number"},
        {"[scenario]\nprocesses=1, 2, 1\n" TOPOLOGIES, NULL, "'1' is given twice"},
        {"[scenario]\nprocesses=1\ndirections=up\n" TOPOLOGIES, NULL,
         "bad.ini:3: key 'directions': 'up' is not forward or reverse"},
        {"[scenario]\nproceses=1\n" TOPOLOGIES, NULL, "did you mean 'processes'?"},
        {SMALL "[topolgy x]\nlink=direct\n", NULL, "unknown group [topolgy x]"},
        {SMALL "[topology x]\nmtu=1500\n", NULL, "needs 'link = direct'"},
        {SMALL "[topology x]\nlink=wire\n", NULL, "'wire' is not direct or bridge"},
        {SMALL "[topology a/b]\nlink=direct\n", NULL, "'a/b' is not a name"},
        {SMALL "[topology x]\nlink=direct\nmtu=12\n", NULL, "from 68 to 65535"},
        {SMALL "[topology x]\nlink=direct\nmtuu=1500\n", NULL, "did you mean 'mtu'?"},
        {SMALL, "window", "--set window: expected KEY=VALUE"},
        {SMALL, "windw=5", "--set windw=5: key 'windw': unknown key; did you mean 'window'?"},
        {SMALL, "brige.mtu=1500", "no topology 'brige' in the scenario; it has direct, bridge"},
        {SMALL, "bridge.mut=1500", "--set bridge.mut=1500: key 'mut'"},
        {SMALL, "window=0.05",
         "--set window=0.05: key 'window': '0.05' is not a number of seconds"},
        {SMALL, "window=5.5", "omit + window + tail is 9.5 s, but iperf takes whole seconds"},
        {SMALL, "protocol=udp", "udp needs a rate"},
        {SMALL, "protocol=sctp", "'sctp' is not tcp or udp"},
        {SMALL, "congestion=../bbr", "key 'congestion'"},
        {SMALL, "congestion=a_very_long_name_", "longer than the 15"},
        {SMALL, "blocks=0", "from 1 to 1000"},
        {SMALL, "seed=9007199254740992", "key 'seed'"},
        {SMALL, "streams=33", "from 1 to 32"},
        {SMALL, "zerocopy=maybe", "'maybe' is not yes or no"},
        {SMALL, "rate=10T", "key 'rate'"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *const overrides[] = {rows[i].override, NULL};
        g_autoptr(GError) error = NULL;
        g_test_message("%s", rows[i].message);
        g_assert_null(np_scenario_parse("bad.ini", rows[i].text, overrides, &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, rows[i].message));
    }
}

static void
test_limits_of_the_whole(void)
{
    const struct {
        const char *const overrides[5];
        const char *message;
    } rows[] = {
        {{"blocks=1000", "runs=2"}, "12000 runs; at most 10000"},
        {{"blocks=1000", "runs=1", "window=3600"}, "days; at most 7"},
        {{"protocol=udp", "rate=1G", "congestion=bbr"}, "udp has none"},
        {{"protocol=udp", "rate=1G", "zerocopy=yes"}, "for tcp only"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(np_scenario_parse("bad.ini", SMALL, rows[i].overrides, &error));
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, rows[i].message));
    }
}

static void
test_names_of_files(void)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(np_scenario_parse("dir/a b.ini", SMALL, NULL, &error));
    g_assert_nonnull(strstr(error->message, "the file's name"));
    g_clear_error(&error);
    g_assert_null(np_scenario_load("/nonexistent/x.ini", NULL, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_NOT_FOUND);
}

static void
test_shipped_scenarios_load(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(NpScenario) s = np_scenario_load("templates/scenarios/local.ini", NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(s->name, ==, "local");
    g_assert_cmpstr(((const NpTopology *) s->topologies->pdata[0])->name, ==, "direct");
    g_assert_cmpuint(s->processes->len, ==, 3);
    g_assert_cmpuint(s->blocks, ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/scenario/defaults", test_defaults);
    g_test_add_func("/scenario/every-key", test_every_key);
    g_test_add_func("/scenario/overrides", test_overrides);
    g_test_add_func("/scenario/digest-is-of-what-is-measured", test_digest_is_of_what_is_measured);
    g_test_add_func("/scenario/refused", test_refused);
    g_test_add_func("/scenario/limits-of-the-whole", test_limits_of_the_whole);
    g_test_add_func("/scenario/names-of-files", test_names_of_files);
    g_test_add_func("/scenario/shipped-scenarios-load", test_shipped_scenarios_load);
    return g_test_run();
}
