/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Scenario: tables of keys, their ranges and what they may not be combined with. See scenario.h.
 */
#include "lib/bench/scenario.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/keyfile.h"
#include "lib/base/parse.h"

#define MAIN_GROUP       "scenario"
#define TOPOLOGY_PREFIX  "topology "
#define TOPOLOGIES_MAX   16
#define TOPOLOGY_NAME    24 /* bytes: longer names do not fit a table */
#define PROCESSES_MAX    64
#define RATE_MAX         UINT64_C(10000000000000)
#define SOCKET_BYTES_MAX UINT64_C(536870912)
#define MS               INT64_C(1000)

const char *const np_scenario_keys[] = {
    "title",  "processes",  "directions",    "protocol", "streams", "omit",
    "window", "tail",       "idle",          "blocks",   "runs",    "seed",
    "rate",   "congestion", "socket-buffer", "zerocopy", "pin",     NULL,
};

const char *const np_topology_keys[] = {"link", "mtu", NULL};

static const char *const link_words[] = {
    [NP_LINK_DIRECT] = "direct", [NP_LINK_BRIDGE] = "bridge", NULL};
static const char *const direction_words[] = {
    [NP_DIRECTION_FORWARD] = "forward", [NP_DIRECTION_REVERSE] = "reverse", NULL};
static const char *const protocol_words[] = {"tcp", "udp", NULL};

/* Keys of [scenario] that hold one number. */
typedef enum { KIND_UINT, KIND_SEED, KIND_SECONDS, KIND_RATE, KIND_SIZE, KIND_BOOL } Kind;

static const struct {
    const char *key;
    Kind kind;
    size_t offset;
    uint64_t min, max; /* seconds: in ms */
} numbers[] = {
    {"streams", KIND_UINT, offsetof(NpScenario, streams), 1, 32},
    {"omit", KIND_SECONDS, offsetof(NpScenario, omit_ms), 0, 60 * MS},
    {"window", KIND_SECONDS, offsetof(NpScenario, window_ms), 100, 3600 * MS},
    {"tail", KIND_SECONDS, offsetof(NpScenario, tail_ms), 100, 60 * MS},
    {"idle", KIND_SECONDS, offsetof(NpScenario, idle_ms), 0, 600 * MS},
    {"blocks", KIND_UINT, offsetof(NpScenario, blocks), 1, 1000},
    {"runs", KIND_UINT, offsetof(NpScenario, runs), 1, 100},
    {"seed", KIND_SEED, offsetof(NpScenario, seed), 0, NP_SEED_MAX},
    {"rate", KIND_RATE, offsetof(NpScenario, rate_bps), 0, RATE_MAX},
    {"socket-buffer", KIND_SIZE, offsetof(NpScenario, window_bytes), 0, SOCKET_BYTES_MAX},
    {"zerocopy", KIND_BOOL, offsetof(NpScenario, zerocopy), 0, 1},
    {"pin", KIND_BOOL, offsetof(NpScenario, pin), 0, 1},
};

const char *
np_link_name(NpLink link)
{
    return link_words[link];
}

const char *
np_direction_name(NpDirection direction)
{
    return direction_words[direction];
}

static void
topology_free(gpointer data)
{
    NpTopology *topology = data;
    g_free(topology->name);
    g_free(topology);
}

void
np_scenario_free(NpScenario *scenario)
{
    if (!scenario)
        return;
    g_free(scenario->name);
    g_free(scenario->title);
    g_free(scenario->digest);
    g_ptr_array_unref(scenario->topologies);
    g_array_unref(scenario->processes);
    g_array_unref(scenario->directions);
    g_free(scenario->congestion);
    g_free(scenario);
}

/* Defaults of everything that may be left out: the standard measurement of nicpass-scenario(5). */
static NpScenario *
scenario_new(void)
{
    NpScenario *scenario = g_new0(NpScenario, 1);
    scenario->topologies = g_ptr_array_new_with_free_func(topology_free);
    scenario->processes = g_array_new(FALSE, FALSE, sizeof(unsigned));
    scenario->directions = g_array_new(FALSE, FALSE, sizeof(NpDirection));
    scenario->streams = 1;
    scenario->omit_ms = 3 * MS;
    scenario->window_ms = 30 * MS;
    scenario->tail_ms = 1 * MS;
    scenario->idle_ms = 5 * MS;
    scenario->blocks = 6;
    scenario->runs = 2;
    return scenario;
}

static bool
read_number(NpScenario *scenario, const NpKeyfile *file, size_t row, GError **error)
{
    const char *key = numbers[row].key, *text = np_keyfile_get(file, MAIN_GROUP, key);
    uint64_t min = numbers[row].min, max = numbers[row].max, number = 0;
    void *field = (char *) scenario + numbers[row].offset;
    bool ok = false;
    if (!text)
        return true;
    switch (numbers[row].kind) {
    case KIND_UINT:
        ok = np_parse_uint(text, min, max, &number, error);
        if (ok)
            *(unsigned *) field = (unsigned) number;
        break;
    case KIND_SEED:
        ok = np_parse_uint(text, min, max, field, error);
        break;
    case KIND_SECONDS:
        ok = np_parse_seconds(text, (int64_t) min, (int64_t) max, field, error);
        break;
    case KIND_RATE:
        ok = np_parse_rate(text, min, max, field, error);
        break;
    case KIND_SIZE:
        ok = np_parse_size(text, min, max, field, error);
        break;
    case KIND_BOOL:
        ok = np_parse_bool(text, field, error);
        break;
    }
    return ok || np_keyfile_prefix(file, MAIN_GROUP, key, error);
}

/* The position of text among words, or -1 with the error set. */
static int
find_word(const char *text, const char *const *words, GError **error)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    g_autofree char *all = g_strjoinv(" or ", (char **) (uintptr_t) words);
    g_autofree char *quoted = np_quote(text);
    np_throw(error, NP_ERROR_CONFIG, "%s is not %s", quoted, all);
    return -1;
}

/* One element of a list: a process count, or a word of words when they are given. */
static bool
read_element(GArray *list, const char *text, const char *const *words, GError **error)
{
    uint64_t number = 0;
    if (words) {
        int found = find_word(text, words, error);
        if (found < 0)
            return false;
        number = (uint64_t) found;
    } else if (!np_parse_uint(text, 1, PROCESSES_MAX, &number, error)) {
        return false;
    }
    unsigned value = (unsigned) number;
    for (unsigned i = 0; i < list->len; i++)
        if (g_array_index(list, unsigned, i) == value)
            return np_throw(error, NP_ERROR_CONFIG, "'%s' is given twice", text);
    g_array_append_val(list, value);
    return true;
}

G_STATIC_ASSERT(sizeof(NpDirection) == sizeof(unsigned));

static bool
read_list(GArray *list, const NpKeyfile *file, const char *key, const char *const *words,
          GError **error)
{
    const char *text = np_keyfile_get(file, MAIN_GROUP, key);
    if (!text)
        return true;
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    if (!parts[0])
        return np_keyfile_throw(file, MAIN_GROUP, key, error, "the list is empty");
    for (unsigned i = 0; parts[i]; i++)
        if (!read_element(list, g_strstrip(parts[i]), words, error))
            return np_keyfile_prefix(file, MAIN_GROUP, key, error);
    return true;
}

static bool
read_words(NpScenario *scenario, const NpKeyfile *file, GError **error)
{
    const char *title = np_keyfile_get(file, MAIN_GROUP, "title");
    scenario->title = g_strdup(title && *title ? title : scenario->name);
    if (g_utf8_strlen(scenario->title, -1) > 200)
        return np_keyfile_throw(file, MAIN_GROUP, "title", error, "longer than 200 characters");

    const char *protocol = np_keyfile_get(file, MAIN_GROUP, "protocol");
    int found = protocol ? find_word(protocol, protocol_words, error) : 0;
    if (found < 0)
        return np_keyfile_prefix(file, MAIN_GROUP, "protocol", error);
    scenario->udp = found == 1;

    const char *congestion = np_keyfile_get(file, MAIN_GROUP, "congestion");
    if (congestion && !np_parse_name(congestion, error))
        return np_keyfile_prefix(file, MAIN_GROUP, "congestion", error);
    if (congestion && strlen(congestion) > 15)
        return np_keyfile_throw(file, MAIN_GROUP, "congestion", error,
                                "'%s' is longer than the 15 characters the kernel takes",
                                congestion);
    scenario->congestion = g_strdup(congestion);
    return true;
}

static bool
read_topology(NpScenario *scenario, const NpKeyfile *file, const char *group, GError **error)
{
    const char *name = group + strlen(TOPOLOGY_PREFIX);
    if (!np_parse_name(name, error))
        return np_keyfile_prefix(file, group, NULL, error);
    if (strlen(name) > TOPOLOGY_NAME)
        return np_keyfile_throw(file, group, NULL, error,
                                "topology name '%s' is longer than %d characters", name,
                                TOPOLOGY_NAME);
    if (scenario->topologies->len == TOPOLOGIES_MAX)
        return np_keyfile_throw(file, group, NULL, error, "more than %d topologies",
                                TOPOLOGIES_MAX);
    if (!np_keyfile_check_keys(file, group, np_topology_keys, error))
        return false;
    const char *link = np_keyfile_get(file, group, "link"), *mtu;
    if (!link)
        return np_keyfile_throw(file, group, NULL, error,
                                "[%s] needs 'link = direct' or 'link = bridge'", group);
    int found = find_word(link, link_words, error);
    if (found < 0)
        return np_keyfile_prefix(file, group, "link", error);
    uint64_t bytes = 0;
    mtu = np_keyfile_get(file, group, "mtu");
    if (mtu && !np_parse_uint(mtu, 68, 65535, &bytes, error))
        return np_keyfile_prefix(file, group, "mtu", error);

    NpTopology *topology = g_new0(NpTopology, 1);
    *topology = (NpTopology){g_strdup(name), (NpLink) found, (unsigned) bytes};
    g_ptr_array_add(scenario->topologies, topology);
    return true;
}

static bool
read_groups(NpScenario *scenario, const NpKeyfile *file, GError **error)
{
    if (!np_keyfile_has_group(file, MAIN_GROUP))
        return np_keyfile_throw(file, MAIN_GROUP, NULL, error, "the group [scenario] is missing");
    if (!np_keyfile_check_keys(file, MAIN_GROUP, np_scenario_keys, error))
        return false;
    for (const char *const *group = np_keyfile_groups(file); *group; group++) {
        if (g_str_has_prefix(*group, TOPOLOGY_PREFIX)) {
            if (!read_topology(scenario, file, *group, error))
                return false;
        } else if (strcmp(*group, MAIN_GROUP) != 0) {
            return np_keyfile_throw(
                file, *group, NULL, error,
                "unknown group [%s]; a scenario has [scenario] and [topology NAME]", *group);
        }
    }
    if (scenario->topologies->len == 0)
        return np_keyfile_throw(
            file, "", NULL, error,
            "no topology; add a group such as [topology direct] with 'link = direct'");
    return true;
}

/* iperf takes whole seconds, and a measurement must end within a person's patience. */
static bool
check_times(const NpScenario *s, const NpKeyfile *file, GError **error)
{
    int64_t run_ms = s->omit_ms + s->window_ms + s->tail_ms;
    if (run_ms % MS != 0)
        return np_keyfile_throw(file, MAIN_GROUP, "window", error,
                                "omit + window + tail is %g s, but iperf takes whole seconds; "
                                "change one of the three",
                                (double) run_ms / MS);
    uint64_t boots = (uint64_t) s->blocks * s->topologies->len;
    uint64_t runs = boots * s->processes->len * s->directions->len * s->runs;
    if (runs > NP_SCENARIO_RUNS_MAX)
        return np_keyfile_throw(file, MAIN_GROUP, "blocks", error,
                                "blocks x topologies x processes x directions x runs is %" PRIu64
                                " runs; at most %d are allowed",
                                runs, NP_SCENARIO_RUNS_MAX);
    int64_t total_ms = (int64_t) runs * run_ms + (int64_t) boots * s->idle_ms;
    if (total_ms > NP_SCENARIO_DURATION_MAX)
        return np_keyfile_throw(file, MAIN_GROUP, "window", error,
                                "the %" PRIu64 " runs would take %.1f days; at most 7 are allowed",
                                runs, (double) total_ms / (24 * 3600 * MS));
    return true;
}

static bool
check_together(const NpScenario *s, const NpKeyfile *file, GError **error)
{
    if (s->processes->len == 0)
        return np_keyfile_throw(file, MAIN_GROUP, NULL, error,
                                "[scenario] needs processes, such as 'processes = 1, 2, 4'");
    if (s->udp && s->rate_bps == 0)
        return np_keyfile_throw(file, MAIN_GROUP, "protocol", error,
                                "udp needs a rate for each process, such as 'rate = 1G'");
    if (s->udp && s->congestion)
        return np_keyfile_throw(file, MAIN_GROUP, "congestion", error, "udp has none; remove it");
    if (s->udp && s->zerocopy)
        return np_keyfile_throw(file, MAIN_GROUP, "zerocopy", error,
                                "iperf has it for tcp only; remove it");
    return check_times(s, file, error);
}

static char *
digest_of(const NpScenario *s)
{
    g_autoptr(GString) text = g_string_new("nicpass scenario 1\nprocesses");
    for (unsigned i = 0; i < s->processes->len; i++)
        g_string_append_printf(text, " %u", g_array_index(s->processes, unsigned, i));
    g_string_append(text, "\ndirections");
    for (unsigned i = 0; i < s->directions->len; i++)
        g_string_append_printf(text, " %u", g_array_index(s->directions, NpDirection, i));
    g_string_append_printf(
        text,
        "\nudp %d\nstreams %u\ntimes %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
        "\nruns %u\nrate %" PRIu64 "\ncongestion %s\nbuffer %" PRIu64 "\nzerocopy %d\npin %d\n",
        s->udp, s->streams, s->omit_ms, s->window_ms, s->tail_ms, s->idle_ms, s->runs, s->rate_bps,
        s->congestion ? s->congestion : "", s->window_bytes, s->zerocopy, s->pin);
    for (unsigned i = 0; i < s->topologies->len; i++) {
        const NpTopology *topology = s->topologies->pdata[i];
        g_string_append_printf(text, "topology %s %s %u\n", topology->name,
                               link_words[topology->link], topology->mtu);
    }
    return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, (gssize) text->len);
}

/* Throws for an override that meets nothing in the file's format. */
static bool
apply_override(NpKeyfile *file, const char *override, GError **error)
{
    const char *equals = strchr(override, '=');
    g_autofree char *origin = g_strdup_printf("--set %s", override);
    if (!equals)
        return np_throw(error, NP_ERROR_CONFIG,
                        "%s: expected KEY=VALUE, or NAME.KEY=VALUE for [topology NAME]", origin);
    g_autofree char *left = g_strstrip(g_strndup(override, (size_t) (equals - override)));
    g_autofree char *value = g_strstrip(g_strdup(equals + 1));
    char *dot = strrchr(left, '.');
    if (!dot) {
        np_keyfile_override(file, MAIN_GROUP, left, value, origin);
        return true;
    }
    *dot = '\0';
    g_autofree char *group = g_strconcat(TOPOLOGY_PREFIX, left, NULL);
    if (np_keyfile_has_group(file, group)) {
        np_keyfile_override(file, group, dot + 1, value, origin);
        return true;
    }
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const char *const *g = np_keyfile_groups(file); *g; g++)
        if (g_str_has_prefix(*g, TOPOLOGY_PREFIX))
            g_ptr_array_add(names, (gpointer) (uintptr_t) (*g + strlen(TOPOLOGY_PREFIX)));
    g_ptr_array_add(names, NULL);
    g_autofree char *all = g_strjoinv(", ", (char **) names->pdata);
    return np_throw(error, NP_ERROR_CONFIG, "%s: no topology '%s' in the scenario; it has %s",
                    origin, left, all);
}

/* "templates/scenarios/local.ini" is "local". */
static bool
take_name(NpScenario *scenario, const char *path, GError **error)
{
    g_autofree char *base = g_path_get_basename(path);
    if (g_str_has_suffix(base, ".ini"))
        base[strlen(base) - strlen(".ini")] = '\0';
    if (!np_parse_name(base, error)) {
        g_prefix_error(error, "%s: the file's name: ", path);
        return false;
    }
    scenario->name = g_steal_pointer(&base);
    return true;
}

static NpScenario *
scenario_from(NpKeyfile *file, const char *path, const char *const *overrides, GError **error)
{
    g_autoptr(NpScenario) scenario = scenario_new();
    if (!take_name(scenario, path, error))
        return NULL;
    for (; overrides && *overrides; overrides++)
        if (!apply_override(file, *overrides, error))
            return NULL;
    if (!read_groups(scenario, file, error) || !read_words(scenario, file, error) ||
        !read_list(scenario->processes, file, "processes", NULL, error) ||
        !read_list(scenario->directions, file, "directions", direction_words, error))
        return NULL;
    for (size_t row = 0; row < G_N_ELEMENTS(numbers); row++)
        if (!read_number(scenario, file, row, error))
            return NULL;
    if (scenario->directions->len == 0) {
        const NpDirection forward = NP_DIRECTION_FORWARD;
        g_array_append_val(scenario->directions, forward);
    }
    if (!check_together(scenario, file, error))
        return NULL;
    scenario->digest = digest_of(scenario);
    return g_steal_pointer(&scenario);
}

NpScenario *
np_scenario_parse(const char *name, const char *text, const char *const *overrides, GError **error)
{
    g_autoptr(NpKeyfile) file = np_keyfile_parse(name, text, error);
    return file ? scenario_from(file, name, overrides, error) : NULL;
}

NpScenario *
np_scenario_load(const char *path, const char *const *overrides, GError **error)
{
    g_autoptr(NpKeyfile) file = np_keyfile_load(path, error);
    return file ? scenario_from(file, path, overrides, error) : NULL;
}
