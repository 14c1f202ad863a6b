/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * The protocol's requests and messages: every verb's fields, their bounds, and what is no request.
 */
#include <string.h>

#include "lib/base/error.h"
#include "lib/proto/proto.h"

#define MAC "\"52:54:00:12:34:56\""
#define ARM                                                                                        \
    "\"verb\":\"load\",\"action\":\"arm\",\"target\":\"::1\",\"ports\":[1],\"seconds\":1,"         \
    "\"interval_ms\":100,\"watchdog_ms\":1"
#define SERVE "\"verb\":\"serve\",\"ports\":[1],\"watchdog_ms\":1"
#define HELLO "\"verb\":\"hello\",\"protocol\":1,\"session\":\"12345678\""
#define SET   "\"verb\":\"nic-set\",\"mac\":" MAC
#define START "\"verb\":\"cpu\",\"action\":\"start\",\"period_ms\":100"
#define GO    "\"verb\":\"load\",\"action\":\"go\",\"job\":1,\"at_ns\":0"

/* Each verb with no more than it must have. */
static const struct {
    const char *text;
    NpVerb verb;
    const char *required; /* fields, separated by blanks */
} verbs[] = {
    {HELLO, NP_VERB_HELLO, "protocol session"},
    {"\"verb\":\"info\"", NP_VERB_INFO, ""},
    {SET, NP_VERB_NIC_SET, "mac"},
    {"\"verb\":\"nic-restore\"", NP_VERB_NIC_RESTORE, ""},
    {SERVE, NP_VERB_SERVE, "ports watchdog_ms"},
    {ARM, NP_VERB_LOAD, "action target ports seconds interval_ms watchdog_ms"},
    {GO, NP_VERB_LOAD, "action job at_ns"},
    {START, NP_VERB_CPU, "action period_ms"},
    {"\"verb\":\"cpu\",\"action\":\"stop\"", NP_VERB_CPU, "action"},
    {"\"verb\":\"cancel\",\"job\":1", NP_VERB_CANCEL, "job"},
    {"\"verb\":\"bye\"", NP_VERB_BYE, ""},
};

static bool
parse(const char *line, NpRequest *request, int64_t *id, GError **error)
{
    g_test_message("%.300s", line);
    return np_request_parse(line, strlen(line), request, id, error);
}

static void
test_every_verb_is_parsed_with_its_least_fields(void)
{
    bool seen[NP_VERB_BYE + 1] = {false};
    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++) {
        g_auto(NpRequest) request = {0};
        g_autoptr(GError) error = NULL;
        int64_t id = 0;
        g_autofree char *line = g_strdup_printf("{\"id\":7,%s}", verbs[i].text);
        g_assert_true(parse(line, &request, &id, &error));
        g_assert_no_error(error);
        g_assert_cmpint(request.id, ==, 7);
        g_assert_cmpint(id, ==, 7);
        g_assert_cmpint(request.verb, ==, verbs[i].verb);
        g_assert_cmpstr(np_json_string(request.fields, "verb", ""), ==, np_verb_name(request.verb));
        seen[request.verb] = true;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(seen); i++)
        g_assert_true(seen[i]);
}

static void
test_a_missing_field_is_named(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++) {
        g_auto(GStrv) names = g_strsplit(verbs[i].required, " ", -1);
        for (char **name = names; *name && **name; name++) {
            g_autofree char *whole = g_strdup_printf("{\"id\":7,%s}", verbs[i].text);
            g_autoptr(json_t) object = json_loads(whole, 0, NULL);
            g_assert_cmpint(json_object_del(object, *name), ==, 0);
            g_autofree char *line = np_json_line(object);
            NpRequest request = {.id = 99};
            g_autoptr(GError) error = NULL;
            int64_t id = 0;
            g_assert_false(parse(line, &request, &id, &error));
            g_assert_error(error, NP_ERROR, NP_ERROR_PROTOCOL);
            g_assert_nonnull(strstr(error->message, *name));
            g_assert_cmpint(id, ==, 7);
            g_assert_cmpint(request.id, ==, 99); /* untouched */
        }
    }
}

/* What is added to the verb's least fields; a JSON member given twice is not JSON, so a member to
 * be replaced stands before the base. */
static const struct {
    const char *base, *more;
    const char *problem; /* a part of the message; NULL: passes */
} rows[] = {
    {HELLO, "\"colour\":1", "hello: unknown field 'colour'"},
    {"\"verb\":\"info\"", "\"x\":1", "info: unknown field 'x'"},
    {"\"verb\":\"bye\"", "\"x\":1", "bye: unknown field 'x'"},
    {SET, "\"address\":\"198.18.0.1/24\",\"mtu\":1500,\"up\":true", NULL},
    {SET, "\"mtu\":67", "'mtu': 67"},
    {SET, "\"mtu\":68", NULL},
    {SET, "\"mtu\":65535", NULL},
    {SET, "\"mtu\":65536", "'mtu': 65536"},
    {SET, "\"up\":1", "'up'"},
    {SET, "\"address\":1", "'address'"},
    {"\"verb\":\"nic-set\"", "\"mac\":\"52:54:00:12:34:5\"", "'mac': length 16"},
    {"\"verb\":\"nic-restore\"", "\"mac\":" MAC, NULL},
    {"\"verb\":\"nic-restore\"", "\"mac\":null", "'mac'"},
    {SERVE, "\"interval_ms\":100", NULL},
    {SERVE, "\"interval_ms\":99", "'interval_ms': 99"},
    {SERVE, "\"interval_ms\":60001", "'interval_ms': 60001"},
    {SERVE, "\"action\":\"arm\"", "serve: unknown field 'action'"},
    {ARM, "\"streams\":64,\"omit\":60,\"reverse\":true,\"protocol\":\"udp\",\"rate_bps\":0", NULL},
    {ARM, "\"congestion\":\"cubic\",\"window_bytes\":536870912,\"zerocopy\":false", NULL},
    {ARM, "\"cpus\":[0,8191],\"source_port\":65535", NULL},
    {ARM, "\"streams\":0", "'streams': 0"},
    {ARM, "\"streams\":65", "'streams': 65"},
    {ARM, "\"omit\":-1", "'omit': -1"},
    {ARM, "\"omit\":61", "'omit': 61"},
    {ARM, "\"reverse\":\"yes\"", "'reverse'"},
    {ARM, "\"protocol\":\"sctp\"", "'protocol': length 4"},
    {ARM, "\"rate_bps\":-1", "'rate_bps': -1"},
    {ARM, "\"rate_bps\":10000000000001", "'rate_bps'"},
    {ARM, "\"rate_bps\":1e9", "'rate_bps' is not a whole number"},
    {ARM, "\"congestion\":\"\"", "'congestion': length 0"},
    {ARM, "\"congestion\":\"1234567890123456\"", "'congestion': length 16"},
    {ARM, "\"window_bytes\":536870913", "'window_bytes'"},
    {ARM, "\"zerocopy\":0", "'zerocopy'"},
    {ARM, "\"cpus\":[]", "'cpus': length 0"},
    {ARM, "\"cpus\":[0,-1]", "element 1: field 'cpus': -1"},
    {ARM, "\"cpus\":[8192]", "element 0: field 'cpus': 8192"},
    {ARM, "\"cpus\":[\"0\"]", "element 0: field 'cpus' is not a whole number"},
    {ARM, "\"source_port\":0", "'source_port': 0"},
    {ARM, "\"job\":1", "load: unknown field 'job'"},
    {GO, "\"target\":\"::1\"", "load: unknown field 'target'"},
    {START, "\"at_ns\":[],\"macs\":[]", NULL},
    {START, "\"at_ns\":[0,9223372036854775807],\"macs\":[" MAC "]", NULL},
    {START, "\"at_ns\":[1,-1]", "element 1: field 'at_ns': -1"},
    {START, "\"at_ns\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]", "'at_ns': length 17"},
    {START, "\"qemu\":[],\"macs\":[]", NULL},
    {START, "\"qemu\":[1,4194304]", NULL},
    {START, "\"qemu\":[5,0]", "element 1: field 'qemu': 0"},
    {START, "\"qemu\":[4194305]", "element 0: field 'qemu': 4194305"},
    {START, "\"macs\":[1]", "element 0: field 'macs' is not a string"},
    {START, "\"macs\":[\"\"]", "element 0: field 'macs': length 0"},
    {"\"verb\":\"cpu\",\"action\":\"stop\"", "\"period_ms\":100", "cpu: unknown field 'period_ms'"},
    {"\"verb\":\"cancel\"", "\"job\":0", "'job': 0"},
    {"\"verb\":\"hello\",\"protocol\":1", "\"session\":\"1234567\"", "'session': length 7"},
    {"\"verb\":\"serve\",\"watchdog_ms\":1", "\"ports\":[]", "'ports': length 0"},
    {"\"verb\":\"serve\",\"watchdog_ms\":1", "\"ports\":[1,0]", "element 1: field 'ports': 0"},
    {"\"verb\":\"serve\",\"watchdog_ms\":1", "\"ports\":[65536]", "element 0: field 'ports'"},
    {"\"verb\":\"serve\",\"watchdog_ms\":1", "\"ports\":[1.5]", "element 0: field 'ports'"},
    {"\"verb\":\"serve\",\"watchdog_ms\":1", "\"ports\":7", "'ports' is not an array"},
    {"\"verb\":\"serve\",\"ports\":[1]", "\"watchdog_ms\":0", "'watchdog_ms': 0"},
    {"\"verb\":\"serve\",\"ports\":[1]", "\"watchdog_ms\":100000001", "'watchdog_ms'"},
    {"\"verb\":\"load\",\"action\":\"go\",\"job\":1", "\"at_ns\":-1", "'at_ns': -1"},
    {"\"verb\":\"load\",\"action\":\"go\",\"job\":1", "\"at_ns\":[0]", "'at_ns' is not a whole"},
    {"\"verb\":\"cpu\",\"action\":\"start\"", "\"period_ms\":99", "'period_ms': 99"},
    {"\"verb\":\"cpu\",\"action\":\"start\"", "\"period_ms\":3600001", "'period_ms'"},
    {"\"verb\":\"load\"", "\"action\":\"stop\"", "verb 'load' has no action 'stop'"},
    {"\"verb\":\"load\"", "\"action\":7", "verb 'load' has no action"},
    {"\"verb\":\"cpu\"", "\"action\":\"arm\"", "verb 'cpu' has no action 'arm'"},
    {"\"verb\":\"cpu\"", "\"period_ms\":100", "verb 'cpu' has no action"},
};

static void
test_fields_are_checked(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_auto(NpRequest) request = {0};
        g_autoptr(GError) error = NULL;
        int64_t id = 0;
        g_autofree char *line = g_strdup_printf("{\"id\":7,%s,%s}", rows[i].more, rows[i].base);
        g_assert_true(parse(line, &request, &id, &error) == !rows[i].problem);
        g_assert_cmpint(id, ==, 7);
        if (!rows[i].problem)
            continue;
        g_assert_error(error, NP_ERROR, NP_ERROR_PROTOCOL);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, rows[i].problem));
        g_assert_null(request.fields);
    }
}

static void
test_as_many_ports_as_the_header_says(void)
{
    for (unsigned more = 0; more < 2; more++) {
        g_auto(NpRequest) request = {0};
        g_autoptr(GString) line = g_string_new("{\"id\":7,\"verb\":\"serve\",\"watchdog_ms\":1,"
                                               "\"ports\":[1");
        int64_t id = 0;
        for (unsigned i = 1; i < NP_PROTO_PORTS_MAX + more; i++)
            g_string_append_printf(line, ",%u", i + 1);
        g_string_append(line, "]}");
        g_assert_true(parse(line->str, &request, &id, NULL) == !more);
    }
}

static void
test_the_id_to_answer_with(void)
{
    static const struct {
        const char *line;
        NpError code;
        int64_t id;
    } lines[] = {
        {"nonsense", NP_ERROR_PROTOCOL, 0},
        {"", NP_ERROR_PROTOCOL, 0},
        {"[]", NP_ERROR_PROTOCOL, 0},
        {"{\"id\":5,\"id\":6,\"verb\":\"info\"}", NP_ERROR_PROTOCOL, 0},
        {"{\"verb\":\"info\"}", NP_ERROR_PROTOCOL, 0},
        {"{\"id\":0,\"verb\":\"info\"}", NP_ERROR_PROTOCOL, 0},
        {"{\"id\":-9223372036854775808,\"verb\":\"info\"}", NP_ERROR_PROTOCOL, 0},
        {"{\"id\":\"7\",\"verb\":\"info\"}", NP_ERROR_PROTOCOL, 0},
        {"{\"id\":7.0,\"verb\":\"info\"}", NP_ERROR_PROTOCOL, 0},
        {"{\"id\":9223372036854775808,\"verb\":\"info\"}", NP_ERROR_PROTOCOL, 0},
        {"{\"id\":9223372036854775807}", NP_ERROR_PROTOCOL, INT64_MAX},
        {"{\"id\":7}", NP_ERROR_PROTOCOL, 7},
        {"{\"id\":7,\"verb\":3}", NP_ERROR_PROTOCOL, 7},
        {"{\"id\":7,\"verb\":\"\"}", NP_ERROR_UNSUPPORTED, 7},
        {"{\"id\":7,\"verb\":\"exec\"}", NP_ERROR_UNSUPPORTED, 7},
        {"{\"id\":7,\"verb\":\"HELLO\"}", NP_ERROR_UNSUPPORTED, 7},
        {"{\"verb\":\"exec\"}", NP_ERROR_UNSUPPORTED, 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
        NpRequest request = {0};
        g_autoptr(GError) error = NULL;
        int64_t id = 4711;
        g_assert_false(parse(lines[i].line, &request, &id, &error));
        g_assert_error(error, NP_ERROR, (int) lines[i].code);
        g_assert_cmpint(id, ==, lines[i].id);
    }
}

/* The message lists what there is, so a new verb must come into it. */
static void
test_an_unknown_verb_is_told_the_known_ones(void)
{
    NpRequest request = {0};
    g_autoptr(GError) error = NULL;
    int64_t id;
    g_assert_false(parse("{\"id\":1,\"verb\":\"x\\ny\"}", &request, &id, &error));
    g_assert_nonnull(strstr(error->message, "'x\\x0ay'"));
    for (int verb = 0; verb <= NP_VERB_BYE; verb++)
        g_assert_nonnull(strstr(error->message, np_verb_name((NpVerb) verb)));
}

static void
check_line(json_t *message, const char *wanted)
{
    g_autofree char *line = np_json_line(message);
    g_assert_cmpstr(line, ==, wanted);
    json_decref(message);
}

static void
test_messages_look_as_described(void)
{
    g_autoptr(GError) error = g_error_new(NP_ERROR, NP_ERROR_BUSY, "port 7");
    g_autoptr(GError) foreign = g_error_new(G_MARKUP_ERROR, 2, "bad \xff");
    check_line(np_request_new(7, NP_VERB_CANCEL, json_pack("{s:i}", "job", 3)),
               "{\"id\":7,\"verb\":\"cancel\",\"job\":3}");
    check_line(np_request_new(7, NP_VERB_INFO, NULL), "{\"id\":7,\"verb\":\"info\"}");
    check_line(np_reply_ok("s", 7, NULL), "{\"session\":\"s\",\"id\":7,\"ok\":{}}");
    check_line(np_reply_ok(NULL, 7, json_pack("{s:i}", "x", 1)),
               "{\"session\":null,\"id\":7,\"ok\":{\"x\":1}}");
    check_line(np_reply_error("s", 0, error),
               "{\"session\":\"s\",\"id\":0,\"error\":{\"code\":\"busy\",\"text\":\"port 7\"}}");
    check_line(np_reply_error(NULL, 0, foreign),
               "{\"session\":null,\"id\":0,\"error\":{\"code\":\"failed\",\"text\":\"bad "
               "\xef\xbf\xbd\"}}");
    check_line(np_event_new("s", "end", json_pack("{s:i}", "job", 3)),
               "{\"session\":\"s\",\"event\":\"end\",\"job\":3}");
    check_line(np_event_new(NULL, "end", NULL), "{\"session\":null,\"event\":\"end\"}");
}

static void
test_errors_travel(void)
{
    for (int code = 0; code <= NP_ERROR_ROLLBACK_FAILED; code++) {
        g_autoptr(GError) sent = g_error_new_literal(NP_ERROR, code, "100%% %s");
        g_autoptr(json_t) object = np_error_to_json(sent);
        g_autoptr(GError) got = NULL;
        np_error_from_json(object, &got);
        g_assert_error(got, NP_ERROR, code);
        g_assert_cmpstr(got->message, ==, sent->message);
    }
    static const char *const texts[] = {"{}", "{\"code\":\"new-kind\"}", "{\"code\":1,\"text\":2}"};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(json_t) object = json_loads(texts[i], 0, NULL);
        g_autoptr(GError) got = NULL;
        np_error_from_json(object, &got);
        g_assert_error(got, NP_ERROR, NP_ERROR_FAILED);
        g_assert_cmpstr(got->message, !=, "");
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/proto/every-verb-is-parsed-with-its-least-fields",
                    test_every_verb_is_parsed_with_its_least_fields);
    g_test_add_func("/proto/a-missing-field-is-named", test_a_missing_field_is_named);
    g_test_add_func("/proto/fields-are-checked", test_fields_are_checked);
    g_test_add_func("/proto/as-many-ports-as-the-header-says",
                    test_as_many_ports_as_the_header_says);
    g_test_add_func("/proto/the-id-to-answer-with", test_the_id_to_answer_with);
    g_test_add_func("/proto/an-unknown-verb-is-told-the-known-ones",
                    test_an_unknown_verb_is_told_the_known_ones);
    g_test_add_func("/proto/messages-look-as-described", test_messages_look_as_described);
    g_test_add_func("/proto/errors-travel", test_errors_travel);
    return g_test_run();
}
