/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * The protocol: requests are checked, messages are built and read back.
 */
#include "lib/proto/proto.h"

#include <string.h>

#include "lib/base/error.h"

#define ARM                                                                                        \
    "\"verb\":\"load\",\"action\":\"arm\",\"target\":\"10.0.0.1\",\"ports\":[5201],"               \
    "\"seconds\":10,\"interval_ms\":1000,\"watchdog_ms\":1000"

static bool
parse(const char *text, NpRequest *ret_request, int64_t *ret_id, GError **error)
{
    return np_request_parse(text, strlen(text), ret_request, ret_id, error);
}

static void
good_requests_are_taken(void)
{
    static const struct {
        const char *text;
        NpVerb verb;
    } rows[] = {
        {"{\"id\":1,\"verb\":\"hello\",\"protocol\":1,\"session\":\"12345678\"}", NP_VERB_HELLO},
        {"{\"id\":1,\"verb\":\"hello\",\"protocol\":99,\"session\":\"12345678\"}", NP_VERB_HELLO},
        {"{\"id\":1,\"verb\":\"info\"}", NP_VERB_INFO},
        {"{\"id\":1,\"verb\":\"nic-set\",\"mac\":\"52:54:00:00:00:01\"}", NP_VERB_NIC_SET},
        {"{\"id\":1,\"verb\":\"nic-set\",\"mac\":\"52:54:00:00:00:01\",\"address\":\"1.2.3.4/24\","
         "\"mtu\":9000,\"up\":true}",
         NP_VERB_NIC_SET},
        {"{\"id\":1,\"verb\":\"nic-restore\"}", NP_VERB_NIC_RESTORE},
        {"{\"id\":1,\"verb\":\"serve\",\"ports\":[5201,5202],\"watchdog_ms\":1}", NP_VERB_SERVE},
        {"{\"id\":1,\"verb\":\"serve\",\"ports\":[1],\"watchdog_ms\":1,\"interval_ms\":100}",
         NP_VERB_SERVE},
        {"{\"id\":1," ARM "}", NP_VERB_LOAD},
        {"{\"id\":1," ARM ",\"cpus\":[0,8191],\"source_port\":65535,\"zerocopy\":true}",
         NP_VERB_LOAD},
        {"{\"id\":1,\"verb\":\"load\",\"action\":\"go\",\"job\":7,\"at_ns\":0}", NP_VERB_LOAD},
        {"{\"id\":1,\"verb\":\"cpu\",\"action\":\"start\",\"period_ms\":100,\"at_ns\":[1,2],"
         "\"macs\":[\"52:54:00:00:00:01\"],\"qemu\":[1,4194304]}",
         NP_VERB_CPU},
        {"{\"id\":1,\"verb\":\"cpu\",\"action\":\"stop\"}", NP_VERB_CPU},
        {"{\"id\":1,\"verb\":\"cancel\",\"job\":7}", NP_VERB_CANCEL},
        {"{\"id\":9223372036854775807,\"verb\":\"bye\"}", NP_VERB_BYE},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_auto(NpRequest) request = {0};
        g_autoptr(GError) error = NULL;
        int64_t id = -1;
        g_assert_true(parse(rows[i].text, &request, &id, &error));
        g_assert_no_error(error);
        g_assert_cmpint(request.verb, ==, rows[i].verb);
        g_assert_cmpint(request.id, ==, id);
        g_assert_cmpstr(np_json_string(request.fields, "verb", ""), ==, np_verb_name(request.verb));
    }
}

static void
bad_requests_keep_their_id_and_name_what_is_wrong(void)
{
    static const struct {
        const char *text, *part;
        int64_t id;
        NpError code;
    } rows[] = {
        {"", "JSON", 0, NP_ERROR_PROTOCOL},
        {"7", "JSON", 0, NP_ERROR_PROTOCOL},
        {"{}", "verb", 0, NP_ERROR_PROTOCOL},
        {"{\"id\":7}", "verb", 7, NP_ERROR_PROTOCOL},
        {"{\"id\":7,\"verb\":3}", "verb", 7, NP_ERROR_PROTOCOL},
        {"{\"id\":7,\"verb\":\"fly\"}", "'fly'", 7, NP_ERROR_UNSUPPORTED},
        {"{\"id\":\"7\",\"verb\":\"info\"}", "id", 0, NP_ERROR_PROTOCOL},
        {"{\"id\":0,\"verb\":\"info\"}", "id", 0, NP_ERROR_PROTOCOL},
        {"{\"id\":-7,\"verb\":\"info\"}", "id", 0, NP_ERROR_PROTOCOL},
        {"{\"verb\":\"info\"}", "id", 0, NP_ERROR_PROTOCOL},
        {"{\"id\":7,\"verb\":\"info\",\"action\":\"x\"}", "action", 7, NP_ERROR_PROTOCOL},
        {"{\"id\":7,\"verb\":\"hello\",\"protocol\":1,\"session\":\"short\"}", "session", 7,
         NP_ERROR_PROTOCOL},
        {"{\"id\":7,\"verb\":\"hello\",\"session\":\"12345678\"}", "protocol", 7,
         NP_ERROR_PROTOCOL},
        {"{\"id\":7,\"verb\":\"load\"}", "action", 7, NP_ERROR_PROTOCOL},
        {"{\"id\":7,\"verb\":\"load\",\"action\":1}", "action", 7, NP_ERROR_PROTOCOL},
        {"{\"id\":7,\"verb\":\"load\",\"action\":\"fly\"}", "'fly'", 7, NP_ERROR_PROTOCOL},
        {"{\"id\":7,\"verb\":\"load\",\"action\":\"go\",\"job\":7}", "at_ns", 7, NP_ERROR_PROTOCOL},
        {"{\"id\":7," ARM ",\"job\":1}", "job", 7, NP_ERROR_PROTOCOL},
        {"{\"id\":7," ARM ",\"streams\":65}", "65", 7, NP_ERROR_PROTOCOL},
        {"{\"id\":7," ARM ",\"cpus\":[0,-1]}", "element 1", 7, NP_ERROR_PROTOCOL},
        {"{\"id\":7," ARM ",\"cpus\":[\"0\"]}", "element 0", 7, NP_ERROR_PROTOCOL},
        {"{\"id\":7," ARM ",\"strems\":2}", "did you mean 'streams'", 7, NP_ERROR_PROTOCOL},
        {"{\"id\":7,\"verb\":\"serve\",\"ports\":[65536],\"watchdog_ms\":1}", "65536", 7,
         NP_ERROR_PROTOCOL},
        {"{\"id\":7,\"verb\":\"serve\",\"ports\":5201,\"watchdog_ms\":1}", "array", 7,
         NP_ERROR_PROTOCOL},
        {"{\"id\":7,\"verb\":\"cpu\",\"action\":\"start\",\"period_ms\":100,\"qemu\":[5,0]}",
         "element 1", 7, NP_ERROR_PROTOCOL},
        {"{\"id\":7,\"verb\":\"cpu\",\"action\":\"start\",\"period_ms\":100,\"macs\":[1]}", "macs",
         7, NP_ERROR_PROTOCOL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_auto(NpRequest) request = {0};
        g_autoptr(GError) error = NULL;
        int64_t id = -1;
        g_assert_false(parse(rows[i].text, &request, &id, &error));
        g_test_message("%s", error->message);
        g_assert_error(error, NP_ERROR, (int) rows[i].code);
        g_assert_nonnull(strstr(error->message, rows[i].part));
        g_assert_cmpint(id, ==, rows[i].id);
        g_assert_null(request.fields);
    }
}

static void
arrays_have_limits(void)
{
    g_autoptr(json_t) ports = json_array();
    for (int i = 1; i <= NP_PROTO_PORTS_MAX + 1; i++) {
        json_array_append_new(ports, json_integer(i));
        g_autoptr(json_t) object = np_request_new(
            1, NP_VERB_SERVE, json_pack("{s:O, s:i}", "ports", ports, "watchdog_ms", 1));
        g_autofree char *line = np_json_line(object);
        g_auto(NpRequest) request = {0};
        int64_t id;
        g_assert_cmpint(parse(line, &request, &id, NULL), ==, i <= NP_PROTO_PORTS_MAX);
    }
}

static void
requests_read_back_as_they_were_built(void)
{
    g_autoptr(json_t) built = np_request_new(7, NP_VERB_CANCEL, json_pack("{s:i}", "job", 3));
    g_autofree char *line = np_json_line(built);
    g_auto(NpRequest) request = {0};
    int64_t id = 0;
    g_assert_cmpstr(line, ==, "{\"id\":7,\"verb\":\"cancel\",\"job\":3}");
    g_assert_true(parse(line, &request, &id, NULL));
    g_assert_cmpint(request.verb, ==, NP_VERB_CANCEL);
    g_assert_cmpint(np_json_int(request.fields, "job", 0), ==, 3);
    g_autoptr(json_t) bare = np_request_new(8, NP_VERB_INFO, NULL);
    g_autofree char *bare_line = np_json_line(bare);
    g_assert_cmpstr(bare_line, ==, "{\"id\":8,\"verb\":\"info\"}");
}

static void
answers_and_events_carry_their_session(void)
{
    g_autoptr(GError) error = NULL;
    np_throw(&error, NP_ERROR_BUSY, "port 5201");
    const struct {
        json_t *message;
        const char *line;
    } rows[] = {
        {np_reply_ok("s", 1, NULL), "{\"session\":\"s\",\"id\":1,\"ok\":{}}"},
        {np_reply_ok(NULL, 1, json_pack("{s:i}", "a", 2)),
         "{\"session\":null,\"id\":1,\"ok\":{\"a\":2}}"},
        {np_reply_error("s", 0, error), "{\"session\":\"s\",\"id\":0,\"error\":{\"code\":\"busy\","
                                        "\"text\":\"port 5201\"}}"},
        {np_event_new("s", "end", json_pack("{s:i}", "job", 2)),
         "{\"session\":\"s\",\"event\":\"end\",\"job\":2}"},
        {np_event_new("s", "end", NULL), "{\"session\":\"s\",\"event\":\"end\"}"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *line = np_json_line(rows[i].message);
        g_assert_cmpstr(line, ==, rows[i].line);
        json_decref(rows[i].message);
    }
}

static void
errors_cross_the_wire(void)
{
    g_autoptr(GError) sent = NULL, got = NULL, foreign = NULL, empty = NULL;
    np_throw(&sent, NP_ERROR_TIMEOUT, "too \xff late");
    g_autoptr(json_t) object = np_error_to_json(sent);
    g_assert_nonnull(object); /* the text became valid UTF-8 */
    np_error_from_json(object, &got);
    g_assert_error(got, NP_ERROR, NP_ERROR_TIMEOUT);
    g_assert_true(g_str_has_prefix(got->message, "too "));
    foreign = g_error_new(G_FILE_ERROR, G_FILE_ERROR_NOENT, "x");
    g_autoptr(json_t) other = np_error_to_json(foreign);
    g_assert_cmpstr(np_json_string(other, "code", ""), ==, "failed");
    np_error_from_json(NULL, &empty);
    g_assert_error(empty, NP_ERROR, NP_ERROR_FAILED);
}

static void
verbs_have_names(void)
{
    for (int verb = NP_VERB_HELLO; verb <= NP_VERB_BYE; verb++)
        g_assert_cmpstr(np_verb_name((NpVerb) verb), !=, "?");
    g_assert_cmpstr(np_verb_name((NpVerb) 4711), ==, "?");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/proto/good-requests-are-taken", good_requests_are_taken);
    g_test_add_func("/proto/bad-requests-keep-their-id-and-name-what-is-wrong",
                    bad_requests_keep_their_id_and_name_what_is_wrong);
    g_test_add_func("/proto/arrays-have-limits", arrays_have_limits);
    g_test_add_func("/proto/requests-read-back-as-they-were-built",
                    requests_read_back_as_they_were_built);
    g_test_add_func("/proto/answers-and-events-carry-their-session",
                    answers_and_events_carry_their_session);
    g_test_add_func("/proto/errors-cross-the-wire", errors_cross_the_wire);
    g_test_add_func("/proto/verbs-have-names", verbs_have_names);
    return g_test_run();
}
