/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * JSON: strict objects, checks against a table, values with fallbacks.
 */
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/json.h"

static const NpJsonField fields[] = {
    {"count", NP_JSON_INT, true, -2, 10},
    {"ratio", NP_JSON_REAL, false},
    {"flag", NP_JSON_BOOL, false},
    {"name", NP_JSON_STRING, false, 2, 4},
    {"list", NP_JSON_ARRAY, false, 1, 2},
    {"table", NP_JSON_OBJECT, false, 0, 1},
    {NULL},
};

static json_t *
parse(const char *text)
{
    g_autoptr(GError) error = NULL;
    json_t *object = np_json_parse_object(text, strlen(text), &error);
    g_assert_no_error(error);
    return object;
}

static void
test_only_one_object_is_parsed(void)
{
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"", "not JSON"},
        {"   ", "not JSON"},
        {"{", "not JSON"},
        {"[]", "not an object"},
        {"1", "not "},
        {"null", "not "},
        {"{}{}", "not JSON at byte"},
        {"{} x", "not JSON at byte"},
        {"{\"a\":1,\"a\":2}", "duplicate"},
        {"{\"a\":{\"b\":1,\"b\":2}}", "duplicate"},
        {"{\"a\":\"\\u0000\"}", "not JSON"},
        {"{\"\\u0000\":1}", "not JSON"},
        {"{\"a\":\"\xff\"}", "not JSON"},
        {"{\"a\":99999999999999999999}", "not JSON"},
        {"{\"a\":1e999}", "not JSON"},
        {"{\"a\":NaN}", "not JSON"},
        {"{'a':1}", "not JSON"},
        {"{\"a\":1,}", "not JSON"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        g_test_message("%s", rows[i].text);
        g_assert_null(np_json_parse_object(rows[i].text, strlen(rows[i].text), &error));
        g_assert_error(error, NP_ERROR, NP_ERROR_PROTOCOL);
        g_assert_nonnull(strstr(error->message, rows[i].part));
    }
    json_decref(parse(" {\"a\":{}} \r\n"));
    g_assert_null(np_json_parse_object("{}\0{}", 5, NULL));
    /* Only so much is looked at. */
    g_autoptr(json_t) cut = np_json_parse_object("{}garbage", 2, NULL);
    g_assert_nonnull(cut);
}

/* Nesting without end must be an error and not an overflow. */
static void
test_deep_nesting_is_refused(void)
{
    g_autofree char *open = g_strnfill(100000, '[');
    g_autofree char *text = g_strconcat("{\"a\":", open, NULL);
    g_autoptr(GError) error = NULL;
    g_assert_null(np_json_parse_object(text, strlen(text), &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_PROTOCOL);
}

static void
test_a_table_decides(void)
{
    static const struct {
        const char *text, *message; /* NULL: passes */
    } rows[] = {
        {"{\"count\":-2}", NULL},
        {"{\"count\":10,\"ratio\":1,\"flag\":false,\"name\":\"abcd\",\"list\":[1,2],"
         "\"table\":{\"x\":1}}",
         NULL},
        {"{\"count\":1,\"name\":\"ab\",\"ratio\":0.5,\"list\":[null]}", NULL},
        {"{\"count\":-3}", "field 'count': -3 is not from -2 to 10"},
        {"{\"count\":11}", "field 'count': 11 is not from -2 to 10"},
        {"{\"count\":1.0}", "field 'count' is not a whole number"},
        {"{\"count\":\"1\"}", "field 'count' is not a whole number"},
        {"{\"count\":null}", "field 'count' is not a whole number"},
        {"{\"count\":1,\"ratio\":\"1\"}", "field 'ratio' is not a number"},
        {"{\"count\":1,\"flag\":1}", "field 'flag' is not true or false"},
        {"{\"count\":1,\"name\":\"a\"}", "field 'name': length 1 is not from 2 to 4"},
        {"{\"count\":1,\"name\":\"abcde\"}", "field 'name': length 5 is not from 2 to 4"},
        {"{\"count\":1,\"name\":[]}", "field 'name' is not a string"},
        {"{\"count\":1,\"list\":[]}", "field 'list': length 0 is not from 1 to 2"},
        {"{\"count\":1,\"list\":[1,2,3]}", "field 'list': length 3 is not from 1 to 2"},
        {"{\"count\":1,\"list\":{}}", "field 'list' is not an array"},
        {"{\"count\":1,\"table\":{\"x\":1,\"y\":1}}", "field 'table': length 2 is not from 0 to 1"},
        {"{\"count\":1,\"table\":[]}", "field 'table' is not an object"},
        {"{}", "field 'count' is missing"},
        {"{\"count\":1,\"coutn\":1}", "unknown field 'coutn' (did you mean 'count'?)"},
        {"{\"count\":1,\"elsewhere\":1}", "unknown field 'elsewhere'"},
        {"{\"count\":1,\"\\n'\":1}", "unknown field '\\x0a''"},
        {"{\"count\":1,\"\":1}", "unknown field ''"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(json_t) object = parse(rows[i].text);
        g_autoptr(GError) error = NULL;
        bool passed = np_json_check(object, fields, &error);
        g_assert_true(passed == !rows[i].message);
        g_assert_cmpstr(error ? error->message : NULL, ==, rows[i].message);
        if (error)
            g_assert_error(error, NP_ERROR, NP_ERROR_PROTOCOL);
    }
}

static void
test_elements_are_checked_one_by_one(void)
{
    static const NpJsonField port = {"ports", NP_JSON_INT, true, 1, 65535};
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"{\"ports\":[1,65535]}", NULL},
        {"{\"ports\":[]}", NULL},
        {"{}", NULL},
        {"{\"ports\":[1,0]}", "element 1: field 'ports': 0 is not from 1 to 65535"},
        {"{\"ports\":[65536]}", "element 0: field 'ports': 65536 is not from 1 to 65535"},
        {"{\"ports\":[1,2,[3]]}", "element 2: field 'ports' is not a whole number"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(json_t) object = parse(rows[i].text);
        g_autoptr(GError) error = NULL;
        bool passed = np_json_check_elements(json_object_get(object, "ports"), &port, &error);
        g_assert_true(passed == !rows[i].message);
        g_assert_cmpstr(error ? error->message : NULL, ==, rows[i].message);
    }
}

static void
test_values_fall_back_when_absent_or_of_another_type(void)
{
    g_autoptr(json_t) object =
        parse("{\"i\":7,\"r\":0.5,\"t\":true,\"f\":false,\"s\":\"x\",\"n\":null}");
    g_assert_cmpint(np_json_int(object, "i", 1), ==, 7);
    g_assert_cmpfloat(np_json_real(object, "r", 1), ==, 0.5);
    g_assert_cmpfloat(np_json_real(object, "i", 1), ==, 7);
    g_assert_true(np_json_bool(object, "t", false));
    g_assert_false(np_json_bool(object, "f", true));
    g_assert_cmpstr(np_json_string(object, "s", "y"), ==, "x");
    static const char *const others[] = {"n", "missing"};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        g_assert_cmpint(np_json_int(object, others[i], -1), ==, -1);
        g_assert_cmpfloat(np_json_real(object, others[i], -1), ==, -1);
        g_assert_true(np_json_bool(object, others[i], true));
        g_assert_cmpstr(np_json_string(object, others[i], "y"), ==, "y");
    }
    g_assert_cmpint(np_json_int(object, "r", -1), ==, -1); /* half of it is no whole number */
    g_assert_cmpint(np_json_int(NULL, "i", -1), ==, -1);
    g_assert_null(np_json_string(NULL, "s", NULL));
}

static void
test_a_line_is_compact_ordered_and_one(void)
{
    g_autoptr(json_t) object = parse("{ \"z\" : 1, \"a\" : [ 1, 2 ], \"s\" : \"a\\nb\" }");
    g_autofree char *line = np_json_line(object);
    g_assert_cmpstr(line, ==, "{\"z\":1,\"a\":[1,2],\"s\":\"a\\nb\"}");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/json/only-one-object-is-parsed", test_only_one_object_is_parsed);
    g_test_add_func("/json/deep-nesting-is-refused", test_deep_nesting_is_refused);
    g_test_add_func("/json/a-table-decides", test_a_table_decides);
    g_test_add_func("/json/elements-are-checked-one-by-one", test_elements_are_checked_one_by_one);
    g_test_add_func("/json/values-fall-back-when-absent-or-of-another-type",
                    test_values_fall_back_when_absent_or_of_another_type);
    g_test_add_func("/json/a-line-is-compact-ordered-and-one",
                    test_a_line_is_compact_ordered_and_one);
    return g_test_run();
}
