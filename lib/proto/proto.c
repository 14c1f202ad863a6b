/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * The protocol: tables of verbs and fields, and messages built and parsed by them. See proto.h.
 */
#include "lib/proto/proto.h"

#include <string.h>

#include "lib/base/error.h"
#include "lib/base/parse.h"

#define TEXT_MAX        128
#define TIME_MAX_NS     INT64_MAX
#define WATCHDOG_MAX_MS (100000 * INT64_C(1000))

/* Fields that every request has. */
#define COMMON                                                                                     \
    {"id", NP_JSON_INT, true, 1, INT64_MAX},                                                       \
    {                                                                                              \
        "verb", NP_JSON_STRING, true, 1, TEXT_MAX                                                  \
    }

static const NpJsonField hello_fields[] = {
    COMMON,
    {"protocol", NP_JSON_INT, true, 0, INT32_MAX},
    {"session", NP_JSON_STRING, true, 8, 64},
    {NULL},
};

static const NpJsonField plain_fields[] = {COMMON, {NULL}};

static const NpJsonField nic_set_fields[] = {
    COMMON,
    {"mac", NP_JSON_STRING, true, 17, 17},
    {"address", NP_JSON_STRING, false, 3, TEXT_MAX},
    {"mtu", NP_JSON_INT, false, 68, 65535},
    {"up", NP_JSON_BOOL, false},
    {NULL},
};

static const NpJsonField nic_restore_fields[] = {
    COMMON, {"mac", NP_JSON_STRING, false, 17, 17}, {NULL}};

static const NpJsonField serve_fields[] = {
    COMMON,
    {"ports", NP_JSON_ARRAY, true, 1, NP_PROTO_PORTS_MAX},
    {"watchdog_ms", NP_JSON_INT, true, 1, WATCHDOG_MAX_MS},
    {"interval_ms", NP_JSON_INT, false, 100, 60000},
    {NULL},
};

static const NpJsonField load_arm_fields[] = {
    COMMON,
    {"action", NP_JSON_STRING, true, 1, TEXT_MAX},
    {"target", NP_JSON_STRING, true, 2, TEXT_MAX},
    {"ports", NP_JSON_ARRAY, true, 1, NP_PROTO_PORTS_MAX},
    {"seconds", NP_JSON_INT, true, 1, 86400},
    {"interval_ms", NP_JSON_INT, true, 100, 60000},
    {"watchdog_ms", NP_JSON_INT, true, 1, WATCHDOG_MAX_MS},
    {"streams", NP_JSON_INT, false, 1, 64},
    {"omit", NP_JSON_INT, false, 0, 60},
    {"reverse", NP_JSON_BOOL, false},
    {"protocol", NP_JSON_STRING, false, 3, 3},
    {"rate_bps", NP_JSON_INT, false, 0, INT64_C(10000000000000)},
    {"congestion", NP_JSON_STRING, false, 1, 15},
    {"window_bytes", NP_JSON_INT, false, 0, INT64_C(536870912)},
    {"zerocopy", NP_JSON_BOOL, false},
    {"cpus", NP_JSON_ARRAY, false, 1, 1024},
    {"source_port", NP_JSON_INT, false, 1, 65535},
    {NULL},
};

static const NpJsonField load_go_fields[] = {
    COMMON,
    {"action", NP_JSON_STRING, true, 1, TEXT_MAX},
    {"job", NP_JSON_INT, true, 1, INT64_MAX},
    {"at_ns", NP_JSON_INT, true, 0, TIME_MAX_NS},
    {NULL},
};

static const NpJsonField cpu_start_fields[] = {
    COMMON,
    {"action", NP_JSON_STRING, true, 1, TEXT_MAX},
    {"period_ms", NP_JSON_INT, true, 100, 3600000},
    {"at_ns", NP_JSON_ARRAY, false, 0, 16},
    {"macs", NP_JSON_ARRAY, false, 0, NP_PROTO_NICS_MAX},
    {"qemu", NP_JSON_ARRAY, false, 0, NP_PROTO_QEMU_MAX},
    {NULL},
};

static const NpJsonField cpu_stop_fields[] = {
    COMMON, {"action", NP_JSON_STRING, true, 1, TEXT_MAX}, {NULL}};

static const NpJsonField cancel_fields[] = {
    COMMON, {"job", NP_JSON_INT, true, 1, INT64_MAX}, {NULL}};

/* One row a verb and action. The first row of a verb with actions is its default for error
 * messages. */
static const struct {
    NpVerb verb;
    const char *name, *action;
    const NpJsonField *fields;
} verbs[] = {
    {NP_VERB_HELLO, "hello", NULL, hello_fields},
    {NP_VERB_INFO, "info", NULL, plain_fields},
    {NP_VERB_NIC_SET, "nic-set", NULL, nic_set_fields},
    {NP_VERB_NIC_RESTORE, "nic-restore", NULL, nic_restore_fields},
    {NP_VERB_SERVE, "serve", NULL, serve_fields},
    {NP_VERB_LOAD, "load", "arm", load_arm_fields},
    {NP_VERB_LOAD, "load", "go", load_go_fields},
    {NP_VERB_CPU, "cpu", "start", cpu_start_fields},
    {NP_VERB_CPU, "cpu", "stop", cpu_stop_fields},
    {NP_VERB_CANCEL, "cancel", NULL, cancel_fields},
    {NP_VERB_BYE, "bye", NULL, plain_fields},
};

/* Elements of arrays in requests: all are whole numbers but the MACs. */
static const struct {
    const char *field;
    int64_t min, max;
} elements[] = {
    {"ports", 1, 65535},
    {"cpus", 0, 8191},
    {"at_ns", 0, TIME_MAX_NS},
    {"qemu", 1, 4194304}, /* PID_MAX_LIMIT of a 64-bit kernel */
};

void
np_request_clear(NpRequest *request)
{
    json_decref(request->fields);
    request->fields = NULL;
}

const char *
np_verb_name(NpVerb verb)
{
    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
        if (verbs[i].verb == verb)
            return verbs[i].name;
    return "?";
}

static bool
check_elements(const json_t *object, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(elements); i++) {
        const NpJsonField element = {elements[i].field, NP_JSON_INT, true, elements[i].min,
                                     elements[i].max};
        if (!np_json_check_elements(json_object_get(object, element.name), &element, error))
            return false;
    }
    const NpJsonField mac = {"macs", NP_JSON_STRING, true, 17, 17};
    return np_json_check_elements(json_object_get(object, mac.name), &mac, error);
}

/* The row for the object's verb and action, or -1 with the error set. */
static int
find_row(const json_t *object, GError **error)
{
    const char *name = np_json_string(object, "verb", NULL);
    if (!name) {
        np_throw(error, NP_ERROR_PROTOCOL, "field 'verb' is missing or not a string");
        return -1;
    }
    const char *action = np_json_string(object, "action", "");
    bool known = false;
    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++) {
        if (strcmp(verbs[i].name, name) != 0)
            continue;
        known = true;
        if (!verbs[i].action || strcmp(verbs[i].action, action) == 0)
            return (int) i;
    }
    g_autofree char *quoted = np_quote(known ? action : name);
    if (known)
        np_throw(error, NP_ERROR_PROTOCOL, "verb '%s' has no action %s", name, quoted);
    else
        np_throw(
            error, NP_ERROR_UNSUPPORTED,
            "unknown verb %s; this agent knows hello, info, nic-set, nic-restore, serve, load, "
            "cpu, cancel and bye",
            quoted);
    return -1;
}

bool
np_request_parse(const char *line, size_t size, NpRequest *ret_request, int64_t *ret_id,
                 GError **error)
{
    *ret_id = 0;
    g_autoptr(json_t) object = np_json_parse_object(line, size, error);
    if (!object)
        return false;
    *ret_id = MAX(np_json_int(object, "id", 0), 0);
    int row = find_row(object, error);
    if (row < 0)
        return false;
    if (!np_json_check(object, verbs[row].fields, error) || !check_elements(object, error)) {
        g_prefix_error(error, "%s: ", verbs[row].name);
        return false;
    }
    *ret_request = (NpRequest){*ret_id, verbs[row].verb, g_steal_pointer(&object)};
    return true;
}

json_t *
np_request_new(int64_t id, NpVerb verb, json_t *fields)
{
    json_t *request = json_pack("{s:I, s:s}", "id", (json_int_t) id, "verb", np_verb_name(verb));
    if (fields)
        json_object_update(request, fields);
    json_decref(fields);
    return request;
}

static json_t *
agent_message(const char *session)
{
    return json_pack("{s:s?}", "session", session);
}

json_t *
np_reply_ok(const char *session, int64_t id, json_t *ok)
{
    json_t *reply = agent_message(session);
    json_object_set_new(reply, "id", json_integer(id));
    json_object_set_new(reply, "ok", ok ? ok : json_object());
    return reply;
}

json_t *
np_error_to_json(const GError *error)
{
    NpError code = error->domain == NP_ERROR ? (NpError) error->code : NP_ERROR_FAILED;
    g_autofree char *text = g_utf8_make_valid(error->message, -1);
    return json_pack("{s:s, s:s}", "code", np_error_name(code), "text", text);
}

json_t *
np_reply_error(const char *session, int64_t id, const GError *error)
{
    json_t *reply = agent_message(session);
    json_object_set_new(reply, "id", json_integer(id));
    json_object_set_new(reply, "error", np_error_to_json(error));
    return reply;
}

json_t *
np_event_new(const char *session, const char *event, json_t *fields)
{
    json_t *message = agent_message(session);
    json_object_set_new(message, "event", json_string(event));
    if (fields)
        json_object_update(message, fields);
    json_decref(fields);
    return message;
}

void
np_error_from_json(const json_t *object, GError **error)
{
    np_throw(error, np_error_from_name(np_json_string(object, "code", NULL)), "%s",
             np_json_string(object, "text", "error without a text"));
}
