/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Spec: see spec.h.
 */
#include "agent/spec.h"

#include <string.h>

#include "lib/base/error.h"
#include "lib/base/parse.h"

#define INTERVALS_MAX      20000 /* times streams: what a client's output may grow to */
#define SERVER_INTERVAL_MS 1000

bool
np_spec_check_ports(const json_t *fields, GError **error)
{
    const json_t *ports = json_object_get(fields, "ports");
    for (size_t i = 0; i < json_array_size(ports); i++)
        for (size_t j = 0; j < i; j++)
            if (json_equal(json_array_get(ports, i), json_array_get(ports, j)))
                return np_throw(error, NP_ERROR_CONFIG, "port %d is given twice",
                                (int) json_integer_value(json_array_get(ports, i)));
    return true;
}

bool
np_spec_check_load(const json_t *fields, GError **error)
{
    const char *protocol = np_json_string(fields, "protocol", "tcp");
    int64_t seconds = np_json_int(fields, "seconds", 0) + np_json_int(fields, "omit", 0);
    int64_t streams = np_json_int(fields, "streams", 1);
    int64_t intervals = seconds * 1000 / np_json_int(fields, "interval_ms", 1000);
    int64_t source = np_json_int(fields, "source_port", 0);
    int64_t sources = streams * (int64_t) json_array_size(json_object_get(fields, "ports"));
    if (!np_parse_address(np_json_string(fields, "target", ""), error)) {
        g_prefix_error(error, "target: ");
        return false;
    }
    if (strcmp(protocol, "tcp") != 0 && strcmp(protocol, "udp") != 0) {
        g_autofree char *quoted = np_quote(protocol);
        return np_throw(error, NP_ERROR_CONFIG, "protocol: %s is not 'tcp' or 'udp'", quoted);
    }
    if (strcmp(protocol, "udp") == 0 && np_json_int(fields, "rate_bps", 0) == 0)
        return np_throw(error, NP_ERROR_CONFIG, "rate_bps: UDP needs a rate above 0");
    if (source && source + sources - 1 > 65535)
        return np_throw(error, NP_ERROR_CONFIG,
                        "source_port: %d and the %d ports from there on exceed 65535", (int) source,
                        (int) sources);
    if (intervals * streams > INTERVALS_MAX)
        return np_throw(error, NP_ERROR_CONFIG,
                        "interval_ms: %d intervals of %d streams are more than %d in all; take a "
                        "longer interval",
                        (int) intervals, (int) streams, INTERVALS_MAX);
    return true;
}

json_t *
np_spec_worker(const json_t *fields, bool server, unsigned i)
{
    static const char *const copied[] = {"target",       "seconds",  "streams",  "omit",
                                         "reverse",      "protocol", "rate_bps", "congestion",
                                         "window_bytes", "zerocopy"};
    int64_t source = np_json_int(fields, "source_port", 0);
    json_t *object = json_pack(
        "{s:s, s:i, s:I}", "role", server ? "server" : "client", "port",
        (int) json_integer_value(json_array_get(json_object_get(fields, "ports"), i)),
        "interval_ms", (json_int_t) np_json_int(fields, "interval_ms", SERVER_INTERVAL_MS));
    for (size_t k = 0; k < G_N_ELEMENTS(copied); k++)
        if (json_object_get(fields, copied[k]))
            json_object_set(object, copied[k], json_object_get(fields, copied[k]));
    if (source)
        json_object_set_new(object, "source_port",
                            json_integer(source + i * np_json_int(fields, "streams", 1)));
    return object;
}
