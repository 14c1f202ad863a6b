/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * JSON: strict parsing, checks against tables, values and lines.
 */
#include "lib/base/json.h"

#include <string.h>

#include "lib/base/error.h"

static const NpJsonField fields[] = {
    {"count", NP_JSON_INT, true, 1, 10},
    {"share", NP_JSON_REAL, false},
    {"wanted", NP_JSON_BOOL, false},
    {"name", NP_JSON_STRING, false, 2, 4},
    {"list", NP_JSON_ARRAY, false, 1, 2},
    {"map", NP_JSON_OBJECT, false, 0, 1},
    {NULL},
};

static void
only_one_whole_object_is_taken(void)
{
    static const struct {
        const char *text, *part; /* part NULL: accepted */
    } rows[] = {
        {"{}", NULL},
        {" {\"a\": 1} \n", NULL},
        {"", "not JSON"},
        {"[]", "not an object"},
        {"1", "not"},
        {"{} {}", "not JSON"},
        {"{}x", "not JSON"},
        {"{\"a\":1,\"a\":2}", "duplicate"},
        {"{\"a\":1e999}", "not JSON"},
        {"{\"a\":99999999999999999999}", "not JSON"},
        {"{\"a\":NaN}", "not JSON"},
        {"{\"a\":\"\\u0000\"}", "not JSON"},
        {"{\"\xff\":1}", "not JSON"},
        {"{\"a\":1", "not JSON"},
        {"{'a':1}", "not JSON"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(json_t) object = np_json_parse_object(rows[i].text, strlen(rows[i].text), &error);
        if (!rows[i].part) {
            g_assert_no_error(error);
            g_assert_nonnull(object);
            continue;
        }
        g_assert_null(object);
        g_assert_error(error, NP_ERROR, NP_ERROR_PROTOCOL);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, rows[i].part));
    }
}

static void
zero_bytes_and_deep_nesting_are_refused(void)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(np_json_parse_object("{\0}", 3, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_PROTOCOL);
    g_autofree char *open = g_strnfill(100000, '[');
    g_autofree char *deep = g_strconcat("{\"a\":", open, NULL);
    g_assert_null(np_json_parse_object(deep, strlen(deep), NULL));
}

static void
a_table_says_what_is_allowed(void)
{
    static const struct {
        const char *text, *part; /* part NULL: accepted */
    } rows[] = {
        {"{\"count\":1}", NULL},
        {"{\"count\":10,\"share\":1,\"wanted\":false,\"name\":\"abcd\",\"list\":[1],\"map\":{}}",
         NULL},
        {"{\"count\":1,\"share\":0.5}", NULL},
        {"{}", "'count' is missing"},
        {"{\"count\":0}", "0 is not from 1 to 10"},
        {"{\"count\":11}", "11 is not from 1 to 10"},
        {"{\"count\":1.0}", "whole number"},
        {"{\"count\":\"1\"}", "whole number"},
        {"{\"count\":null}", "whole number"},
        {"{\"count\":1,\"share\":\"x\"}", "'share' is not a number"},
        {"{\"count\":1,\"wanted\":1}", "true or false"},
        {"{\"count\":1,\"name\":\"a\"}", "length 1"},
        {"{\"count\":1,\"name\":\"abcde\"}", "length 5"},
        {"{\"count\":1,\"name\":[]}", "a string"},
        {"{\"count\":1,\"list\":[]}", "length 0"},
        {"{\"count\":1,\"list\":[1,2,3]}", "length 3"},
        {"{\"count\":1,\"list\":{}}", "an array"},
        {"{\"count\":1,\"map\":[]}", "an object"},
        {"{\"count\":1,\"map\":{\"a\":1,\"b\":2}}", "length 2"},
        {"{\"count\":1,\"conut\":2}", "did you mean 'count'"},
        {"{\"count\":1,\"colour\":2}", "'colour'"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(json_t) object = np_json_parse_object(rows[i].text, strlen(rows[i].text), NULL);
        bool valid = np_json_check(object, fields, &error);
        if (!rows[i].part) {
            g_assert_no_error(error);
            g_assert_true(valid);
            continue;
        }
        g_assert_false(valid);
        g_assert_error(error, NP_ERROR, NP_ERROR_PROTOCOL);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, rows[i].part));
    }
}

static void
elements_are_checked_one_by_one(void)
{
    static const NpJsonField port = {"ports", NP_JSON_INT, true, 1, 65535};
    g_autoptr(json_t) good = json_pack("[i, i]", 1, 65535);
    g_autoptr(json_t) bad = json_pack("[i, i]", 1, 65536);
    g_autoptr(GError) error = NULL;
    g_assert_true(np_json_check_elements(good, &port, NULL));
    g_assert_true(np_json_check_elements(NULL, &port, NULL));
    g_assert_false(np_json_check_elements(bad, &port, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_PROTOCOL);
    g_assert_nonnull(strstr(error->message, "element 1"));
    g_assert_nonnull(strstr(error->message, "65536"));
}

static void
absent_values_are_the_fallback(void)
{
    g_autoptr(json_t) object = json_pack("{s:i, s:f, s:b, s:s, s:n}", "int", 7, "real", 0.5, "bool",
                                         1, "string", "x", "null");
    g_assert_cmpint(np_json_int(object, "int", -1), ==, 7);
    g_assert_cmpint(np_json_int(object, "none", -1), ==, -1);
    g_assert_cmpint(np_json_int(object, "real", -1), ==, -1);
    g_assert_cmpfloat(np_json_real(object, "real", -1), ==, 0.5);
    g_assert_cmpfloat(np_json_real(object, "int", -1), ==, 7);
    g_assert_cmpfloat(np_json_real(object, "null", -1), ==, -1);
    g_assert_true(np_json_bool(object, "bool", false));
    g_assert_true(np_json_bool(object, "int", true));
    g_assert_cmpstr(np_json_string(object, "string", NULL), ==, "x");
    g_assert_cmpstr(np_json_string(object, "bool", "y"), ==, "y");
    g_assert_cmpint(np_json_int(NULL, "int", -1), ==, -1);
}

static void
a_line_is_compact_ordered_and_one(void)
{
    g_autoptr(json_t) object =
        json_pack("{s:i, s:s, s:[i, i]}", "z", 1, "a", "one\ntwo", "m", 1, 2);
    g_autofree char *line = np_json_line(object);
    g_assert_cmpstr(line, ==, "{\"z\":1,\"a\":\"one\\ntwo\",\"m\":[1,2]}");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/json/only-one-whole-object-is-taken", only_one_whole_object_is_taken);
    g_test_add_func("/json/zero-bytes-and-deep-nesting-are-refused",
                    zero_bytes_and_deep_nesting_are_refused);
    g_test_add_func("/json/a-table-says-what-is-allowed", a_table_says_what_is_allowed);
    g_test_add_func("/json/elements-are-checked-one-by-one", elements_are_checked_one_by_one);
    g_test_add_func("/json/absent-values-are-the-fallback", absent_values_are_the_fallback);
    g_test_add_func("/json/a-line-is-compact-ordered-and-one", a_line_is_compact_ordered_and_one);
    return g_test_run();
}
