/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Run data: tests/data/run.json as an NpResult, for tests that spoil parts of it.
 *
 * Its run: two processes of 8 and 6 Gbit/s, the second one 200 ms late, window from 1 s to 6 s on
 * the host's clock, 1.5 of 2 CPUs busy.
 */
#pragma once

#include <string.h>

#include "lib/bench/record.h"

static inline json_t *
run_data(void)
{
    json_error_t problem;
    json_t *data = json_load_file("tests/data/run.json", JSON_REJECT_DUPLICATES, &problem);
    if (!data)
        g_error("tests/data/run.json:%d: %s", problem.line, problem.text);
    return data;
}

/* The member at a path such as "sender/processes/0/ok" (borrowed), NULL when it is not there. */
static inline json_t *
run_data_at(json_t *data, const char *path)
{
    g_auto(GStrv) parts = g_strsplit(path, "/", -1);
    for (unsigned i = 0; data && parts[i]; i++)
        data = json_is_array(data)
                   ? json_array_get(data, (size_t) g_ascii_strtoull(parts[i], NULL, 10))
                   : json_object_get(data, parts[i]);
    return data;
}

/* Puts JSON text at a path, or removes what is there when text is NULL. */
static inline void
run_data_set(json_t *data, const char *path, const char *text)
{
    g_autofree char *folder = g_path_get_dirname(path), *name = g_path_get_basename(path);
    json_t *where = strchr(path, '/') ? run_data_at(data, folder) : data;
    json_t *value = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    size_t index = (size_t) g_ascii_strtoull(name, NULL, 10);
    g_assert_nonnull(where);
    g_assert_true((value != NULL) == (text != NULL));
    if (json_is_array(where))
        g_assert_cmpint(value ? json_array_set_new(where, index, value)
                              : json_array_remove(where, index),
                        ==, 0);
    else
        g_assert_cmpint(
            value ? json_object_set_new(where, name, value) : json_object_del(where, name), ==, 0);
}

static inline NpSide
run_data_side(json_t *data, const char *name)
{
    const json_t *side = json_object_get(data, name);
    return (NpSide){
        .endpoint = np_json_string(side, "endpoint", NULL),
        .mac = np_json_string(side, "mac", NULL),
        .hello = json_object_get(side, "hello"),
        .info = json_object_get(side, "info"),
        .idle = json_object_get(side, "idle"),
        .samples = json_object_get(side, "samples"),
        .processes = json_object_get(side, "processes"),
        .offset_ns = np_json_int(side, "offset_ns", 0),
        .offset_error_ns = np_json_int(side, "offset_error_ns", 0),
    };
}

static inline NpScenario *
run_data_scenario(const char *direction, const char *protocol)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *directions = g_strconcat("directions=", direction, NULL);
    g_autofree char *protocols = g_strconcat("protocol=", protocol, NULL);
    const char *const overrides[] = {
        directions, protocols, strcmp(protocol, "tcp") == 0 ? "congestion=cubic" : NULL, NULL};
    NpScenario *scenario = np_scenario_parse(
        "data.ini",
        "[scenario]\ntitle = Example\nprocesses = 2\nomit = 1\nwindow = 5\ntail = 1\nidle = 2\n"
        "rate = 8G\nblocks = 1\nruns = 1\nseed = 42\n[topology direct]\nlink = direct\nmtu=1500\n",
        overrides, &error);
    g_assert_no_error(error);
    return scenario;
}

/* The record of data (transfer full). failure: nullable. */
static inline json_t *
run_data_record(json_t *data, const char *direction, const char *protocol, bool shared_kernel,
                const GError *failure)
{
    g_autoptr(NpScenario) scenario = run_data_scenario(direction, protocol);
    g_autoptr(GPtrArray) runs = np_matrix_expand(scenario, 42);
    const json_t *window = json_object_get(data, "window");
    const NpResult result = {
        .scenario = scenario,
        .run = runs->pdata[0],
        .seed = 42,
        .started = "2026-01-02T03:04:05Z",
        .sender = run_data_side(data, "sender"),
        .receiver = run_data_side(data, "receiver"),
        .shared_kernel = shared_kernel,
        .from_ns = np_json_int(window, "from_ns", 0),
        .to_ns = np_json_int(window, "to_ns", 0),
        .failure = failure,
    };
    return np_record_new(&result);
}
