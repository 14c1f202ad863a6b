/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * JSON: strict objects on top of jansson, checked against a table of fields before use.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>
#include <jansson.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(json_t, json_decref)

/* One field of an object. For NP_JSON_INT min and max bound the value; for strings, arrays and
 * objects they bound the length in bytes or elements; for the others they are ignored. */
typedef enum {
    NP_JSON_INT,
    NP_JSON_REAL, /* an integer is accepted too */
    NP_JSON_BOOL,
    NP_JSON_STRING,
    NP_JSON_ARRAY,
    NP_JSON_OBJECT,
} NpJsonType;

typedef struct {
    const char *name; /* NULL ends a table */
    NpJsonType type;
    bool required;
    int64_t min, max;
} NpJsonField;

/* Parses exactly one JSON object in text (transfer full); duplicate keys and anything behind the
 * object are refused. Throws PROTOCOL with the position. */
json_t *np_json_parse_object(const char *text, size_t size, GError **error);

/* Checks that object has every required field and no field outside the table, each of its type and
 * within its bounds. Throws PROTOCOL; the message names the field and what is allowed, and for an
 * unknown field the nearest known one. Pure. */
bool np_json_check(const json_t *object, const NpJsonField *fields, GError **error);

/* Checks each element of an array against field's type and bounds; NULL is fine. The same errors.
 * Pure. */
bool np_json_check_elements(const json_t *array, const NpJsonField *field, GError **error);

/* Values of an object that has been checked: the fallback when absent. */
int64_t np_json_int(const json_t *object, const char *key, int64_t fallback);
double np_json_real(const json_t *object, const char *key, double fallback);
bool np_json_bool(const json_t *object, const char *key, bool fallback);
const char *np_json_string(const json_t *object, const char *key, const char *fallback);

/* One line of compact JSON without a line end (transfer full; free with g_free). Keys stay in
 * insertion order. */
char *np_json_line(const json_t *object);
