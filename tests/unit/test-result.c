/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Result: an iperf worker's output becomes a verdict and intervals.
 */
#include "agent/result.h"

#include <string.h>

#include "lib/base/error.h"
#include "lib/proto/proto.h"

#define ARMED "{\"worker\":\"armed\"}\n"
#define END   "{\"worker\":\"end\",\"cause\":\"none\"}\n"
#define GOOD                                                                                       \
    "{\n\t\"start\":\t{},\n\t\"intervals\":\t[{\"sum\": {\"start\": 0, \"end\": 1.000216, "        \
    "\"bytes\": 1000, \"retransmits\": 3}}, {\"sum\": {\"start\": 1.000216, \"end\": 2, "          \
    "\"bytes\": 500, \"retransmits\": 4}}],\n\t\"end\":\t{}\n}\n"
#define OMITTED                                                                                    \
    "{\"intervals\": [{\"sum\": {\"start\": 0, \"end\": 1, \"bytes\": 9, \"omitted\": true}}]}\n"
#define FAILED(text) "{\"intervals\": [], \"error\": \"" text "\"}\n"

static const NpResultContext client = {
    .target = "10.0.0.1", .port = 5201, .start_ns = 5000, .reset_ns = -1, .cause = "none"};

static json_t *
judge(const char *out, const NpResultContext *context, bool *ret_again)
{
    NpChildResult child = {.out = out, .out_size = strlen(out), .err = ""};
    return np_result_new(&child, context, ret_again);
}

static const char *
code_of(const json_t *fields)
{
    return np_json_string(json_object_get(fields, "error"), "code", NULL);
}

static const char *
text_of(const json_t *fields)
{
    return np_json_string(json_object_get(fields, "error"), "text", "");
}

static int64_t
cell(const json_t *fields, const char *column, size_t row)
{
    const json_t *intervals = json_object_get(fields, "intervals");
    return json_integer_value(json_array_get(json_object_get(intervals, column), row));
}

static size_t
row_count(const json_t *fields)
{
    return json_array_size(json_object_get(json_object_get(fields, "intervals"), "bytes"));
}

static void
a_good_result_is_reduced_to_intervals_and_sums(void)
{
    bool again;
    g_autoptr(json_t) fields = judge(ARMED GOOD END, &client, &again);
    g_assert_true(np_json_bool(fields, "ok", false));
    g_assert_null(json_object_get(fields, "error"));
    g_assert_null(json_object_get(fields, "stderr"));
    g_assert_cmpint(np_json_int(fields, "start_ns", 0), ==, 5000);
    g_assert_cmpint(np_json_int(fields, "bytes", 0), ==, 1500);
    g_assert_cmpint(np_json_int(fields, "retransmits", 0), ==, 7);
    g_assert_cmpuint(row_count(fields), ==, 2);
    g_assert_cmpint(cell(fields, "start_us", 1), ==, 1000216);
    g_assert_cmpint(cell(fields, "end_us", 1), ==, 2000000);
    g_assert_cmpint(cell(fields, "retransmits", 0), ==, 3);
    g_assert_null(json_object_get(json_object_get(fields, "intervals"), "packets"));
}

static void
what_surrounds_the_json_does_not_matter(void)
{
    static const char *const rows[] = {
        GOOD,
        ARMED GOOD "iperf3: exiting\n" END,
        "warning: something\n" ARMED GOOD END,
        ARMED GOOD GOOD END,
        ARMED GOOD "{\"half\":",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        bool again;
        g_autoptr(json_t) fields = judge(rows[i], &client, &again);
        g_assert_true(np_json_bool(fields, "ok", false));
        g_assert_cmpint(np_json_int(fields, "bytes", 0), ==, 1500);
    }
}

static void
what_is_no_result_is_unreadable(void)
{
    static const char *const rows[] = {
        "", "\n", "text\n", ARMED, ARMED END, ARMED "{\n\t\"start\":\t{},\n", ARMED "{nan}\n",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        bool again;
        g_autoptr(json_t) fields = judge(rows[i], &client, &again);
        g_assert_cmpstr(code_of(fields), ==, "failed");
        g_assert_nonnull(strstr(text_of(fields), "no readable result"));
        g_assert_cmpuint(row_count(fields), ==, 0);
        g_assert_false(again);
    }
}

static void
nothing_moved_is_no_success(void)
{
    static const char *const rows[] = {
        "{}\n",
        "{\"intervals\": []}\n",
        "{\"intervals\": 7}\n",
        "{\"intervals\": [1, {}]}\n",
        "{\"intervals\": [{\"sum\": {\"start\": 0, \"end\": 1, \"bytes\": 0}}]}\n",
        "{\"intervals\": [{\"sum\": {\"start\": 0, \"end\": 1, \"bytes\": -5}}]}\n",
        OMITTED,
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        bool again;
        g_autoptr(json_t) fields = judge(rows[i], &client, &again);
        g_assert_false(np_json_bool(fields, "ok", true));
        g_assert_cmpstr(code_of(fields), ==, "failed");
    }
}

static void
causes_choose_code_text_and_another_try(void)
{
    static const struct {
        const char *cause, *out, *code, *part;
        bool again;
    } rows[] = {
        {"connect", FAILED("unable to connect: Connection refused"), "not-found", "port 5201",
         true},
        {"connect", FAILED("unable to connect: No route to host"), "timeout", "10.0.0.1", false},
        {"busy", FAILED("the server is busy"), "busy", "busy", true},
        {"peer", FAILED("control socket has closed unexpectedly"), "protocol", "went away", false},
        {"listen", FAILED("unable to listen: Address already in use"), "busy", "port 5201", false},
        {"listen", FAILED("unable to listen: Permission denied"), "io", "port 5201", false},
        {"other", FAILED("bad luck"), "failed", "bad luck", false},
        {"other", FAILED("bind: Address already in use"), "busy", "in use", false},
        {"none", "{\"error\": 7}\n", "failed", "unknown", false},
        {NULL, FAILED("bad luck"), "failed", "bad luck", false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        NpResultContext context = client;
        bool again;
        context.cause = rows[i].cause;
        g_autoptr(json_t) fields = judge(rows[i].out, &context, &again);
        g_test_message("%s", text_of(fields));
        g_assert_cmpstr(code_of(fields), ==, rows[i].code);
        g_assert_nonnull(strstr(text_of(fields), rows[i].part));
        g_assert_cmpint(again, ==, rows[i].again);
        context.server = true;
        json_decref(judge(rows[i].out, &context, &again));
        g_assert_false(again);
    }
}

static void
how_a_process_ended_outweighs_what_it_wrote(void)
{
    const struct {
        NpChildResult child;
        const char *code, *part;
    } rows[] = {
        {{.out = GOOD, .err = "", .wait_status = 9}, "failed", "signal 9"},
        {{.out = GOOD, .err = "", .wait_status = 9, .killed = true}, "interrupted", "request"},
        {{.out = GOOD, .err = "", .wait_status = 9, .timed_out = true}, "timeout", "watchdog"},
        {{.out = "", .err = "", .wait_status = 11}, "failed", "signal 11"},
        {{.out = "", .err = "no go came\n", .err_size = 11, .wait_status = 2 << 8},
         "failed",
         "status 2"},
        {{.out = "", .err = "", .out_cut = true}, "failed", "too many intervals"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        bool again;
        g_autoptr(json_t) fields = np_result_new(&rows[i].child, &client, &again);
        g_test_message("%s", text_of(fields));
        g_assert_cmpstr(code_of(fields), ==, rows[i].code);
        g_assert_nonnull(strstr(text_of(fields), rows[i].part));
        g_assert_false(again);
    }
}

static void
omitted_seconds_shift_the_times_and_are_left_out(void)
{
    static const char out[] =
        "{\"intervals\": ["
        "{\"sum\": {\"start\": 0, \"end\": 1, \"bytes\": 9, \"omitted\": true}},"
        "{\"sum\": {\"start\": 1e-5, \"end\": 1, \"bytes\": 5, \"omitted\": false}},"
        "{\"sum\": {\"start\": 1, \"end\": 2, \"bytes\": 6, \"omitted\": false}}]}\n";
    NpResultContext context = client;
    bool again;
    context.start_ns = 5000000000;
    context.reset_ns = 6000250000;
    g_autoptr(json_t) fields = judge(out, &context, &again);
    g_assert_cmpuint(row_count(fields), ==, 2);
    g_assert_cmpint(cell(fields, "start_us", 0), ==, 1000250);
    g_assert_cmpint(cell(fields, "end_us", 0), ==, 2000250);
    g_assert_cmpint(cell(fields, "start_us", 1), ==, 2000250);
    g_assert_cmpint(np_json_int(fields, "bytes", 0), ==, 11);
}

static void
numbers_beyond_reason_do_no_harm(void)
{
    static const char out[] = "{\"intervals\": [{\"sum\": {\"start\": 0, \"end\": 1, \"bytes\": 5, "
                              "\"packets\": 18446744073709551310, \"lost_packets\": -1e300}},"
                              "{\"sum\": {\"start\": 1, \"end\": 1e300, \"bytes\": 1e300}},"
                              "{\"sum\": {\"start\": 1, \"end\": 0.5, \"bytes\": 7}}]}\n";
    bool again;
    g_autoptr(json_t) fields = judge(out, &client, &again);
    g_assert_true(np_json_bool(fields, "ok", false));
    g_assert_cmpuint(row_count(fields), ==, 1);
    g_assert_cmpint(np_json_int(fields, "bytes", 0), ==, 5);
}

static void
many_intervals_are_joined_to_fit_a_line(void)
{
    static const unsigned counts[] = {NP_PROTO_INTERVALS_MAX, NP_PROTO_INTERVALS_MAX + 1, 20000};
    for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
        g_autoptr(GString) out = g_string_new("{\"intervals\": [");
        for (unsigned k = 0; k < counts[i]; k++)
            g_string_append_printf(out,
                                   "%s{\"sum\": {\"start\": %u, \"end\": %u, \"bytes\": "
                                   "123456789012, \"lost_packets\": 1234567890, \"packets\": "
                                   "1234567890, \"retransmits\": 1234567890}}",
                                   k ? "," : "", k, k + 1);
        g_string_append(out, "]}\n");
        bool again;
        g_autoptr(json_t) fields = judge(out->str, &client, &again);
        g_autofree char *line = np_json_line(fields);
        size_t rows = row_count(fields);
        g_assert_cmpuint(rows, >, 0);
        g_assert_cmpuint(rows, <=, NP_PROTO_INTERVALS_MAX);
        g_assert_cmpuint(strlen(line), <, NP_PROTO_LINE_MAX - 1024);
        g_assert_cmpint(cell(fields, "start_us", 0), ==, 0);
        g_assert_cmpint(cell(fields, "end_us", rows - 1), ==, INT64_C(1000000) * counts[i]);
        int64_t bytes = 0;
        for (size_t k = 0; k < rows; k++) {
            bytes += cell(fields, "bytes", k);
            if (k > 0)
                g_assert_cmpint(cell(fields, "start_us", k), ==, cell(fields, "end_us", k - 1));
        }
        g_assert_cmpint(bytes, ==, INT64_C(123456789012) * counts[i]);
        g_assert_cmpint(np_json_int(fields, "bytes", 0), ==, bytes);
    }
}

static void
what_was_said_on_stderr_is_kept_short_and_valid(void)
{
    g_autofree char *err = g_strnfill(4096, '\xff');
    NpChildResult child = {.out = GOOD, .out_size = strlen(GOOD), .err = err, .err_size = 4096};
    bool again;
    g_autoptr(json_t) fields = np_result_new(&child, &client, &again);
    g_assert_true(np_json_bool(fields, "ok", false));
    const char *said = np_json_string(fields, "stderr", NULL);
    g_assert_nonnull(said);
    g_assert_cmpuint(strlen(said), <, 4096);
    g_assert_true(g_utf8_validate(said, -1, NULL));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/result/a-good-result-is-reduced-to-intervals-and-sums",
                    a_good_result_is_reduced_to_intervals_and_sums);
    g_test_add_func("/result/what-surrounds-the-json-does-not-matter",
                    what_surrounds_the_json_does_not_matter);
    g_test_add_func("/result/what-is-no-result-is-unreadable", what_is_no_result_is_unreadable);
    g_test_add_func("/result/nothing-moved-is-no-success", nothing_moved_is_no_success);
    g_test_add_func("/result/causes-choose-code-text-and-another-try",
                    causes_choose_code_text_and_another_try);
    g_test_add_func("/result/how-a-process-ended-outweighs-what-it-wrote",
                    how_a_process_ended_outweighs_what_it_wrote);
    g_test_add_func("/result/omitted-seconds-shift-the-times-and-are-left-out",
                    omitted_seconds_shift_the_times_and_are_left_out);
    g_test_add_func("/result/numbers-beyond-reason-do-no-harm", numbers_beyond_reason_do_no_harm);
    g_test_add_func("/result/many-intervals-are-joined-to-fit-a-line",
                    many_intervals_are_joined_to_fit_a_line);
    g_test_add_func("/result/what-was-said-on-stderr-is-kept-short-and-valid",
                    what_was_said_on_stderr_is_kept_short_and_valid);
    return g_test_run();
}
