/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * JSON: see json.h.
 */
#include "lib/base/json.h"

#include <stdlib.h>

#include "lib/base/error.h"
#include "lib/base/parse.h"

json_t *
np_json_parse_object(const char *text, size_t size, GError **error)
{
    json_error_t problem;
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
    if (!object) {
        g_autofree char *what = np_quote(problem.text);
        np_throw(error, NP_ERROR_PROTOCOL, "not JSON at byte %d: %s", problem.position, what);
        return NULL;
    }
    if (!json_is_object(object)) {
        json_decref(object);
        np_throw(error, NP_ERROR_PROTOCOL, "the JSON text is not an object");
        return NULL;
    }
    return object;
}

static const NpJsonField *
field_find(const NpJsonField *fields, const char *name)
{
    for (; fields->name; fields++)
        if (g_strcmp0(fields->name, name) == 0)
            return fields;
    return NULL;
}

static bool
throw_unknown(const char *name, const NpJsonField *fields, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const NpJsonField *field = fields; field->name; field++)
        g_ptr_array_add(names, (gpointer) (uintptr_t) field->name);
    g_ptr_array_add(names, NULL);
    const char *near = np_nearest(name, (const char *const *) names->pdata);
    g_autofree char *quoted = np_quote(name);
    if (near)
        return np_throw(error, NP_ERROR_PROTOCOL, "unknown field %s (did you mean '%s'?)", quoted,
                        near);
    return np_throw(error, NP_ERROR_PROTOCOL, "unknown field %s", quoted);
}

static bool
check_bounds(const NpJsonField *field, int64_t value, const char *of_what, GError **error)
{
    if (value >= field->min && value <= field->max)
        return true;
    return np_throw(error, NP_ERROR_PROTOCOL,
                    "field '%s': %s%" G_GINT64_FORMAT " is not from %" G_GINT64_FORMAT
                    " to %" G_GINT64_FORMAT,
                    field->name, of_what, value, field->min, field->max);
}

static bool
check_value(const NpJsonField *field, const json_t *value, GError **error)
{
    const char *wanted = NULL;
    switch (field->type) {
    case NP_JSON_INT:
        if (json_is_integer(value))
            return check_bounds(field, json_integer_value(value), "", error);
        wanted = "a whole number";
        break;
    case NP_JSON_REAL:
        if (json_is_number(value))
            return true;
        wanted = "a number";
        break;
    case NP_JSON_BOOL:
        if (json_is_boolean(value))
            return true;
        wanted = "true or false";
        break;
    case NP_JSON_STRING:
        if (json_is_string(value))
            return check_bounds(field, (int64_t) json_string_length(value), "length ", error);
        wanted = "a string";
        break;
    case NP_JSON_ARRAY:
        if (json_is_array(value))
            return check_bounds(field, (int64_t) json_array_size(value), "length ", error);
        wanted = "an array";
        break;
    case NP_JSON_OBJECT:
        if (json_is_object(value))
            return check_bounds(field, (int64_t) json_object_size(value), "length ", error);
        wanted = "an object";
        break;
    }
    return np_throw(error, NP_ERROR_PROTOCOL, "field '%s' is not %s", field->name, wanted);
}

bool
np_json_check(const json_t *object, const NpJsonField *fields, GError **error)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *) (uintptr_t) object, key, value)
    {
        const NpJsonField *field = field_find(fields, key);
        if (!field)
            return throw_unknown(key, fields, error);
        if (!check_value(field, value, error))
            return false;
    }
    for (; fields->name; fields++)
        if (fields->required && !json_object_get(object, fields->name))
            return np_throw(error, NP_ERROR_PROTOCOL, "field '%s' is missing", fields->name);
    return true;
}

bool
np_json_check_elements(const json_t *array, const NpJsonField *field, GError **error)
{
    size_t index;
    json_t *value;
    json_array_foreach(array, index, value)
    {
        if (!check_value(field, value, error)) {
            g_prefix_error(error, "element %zu: ", index);
            return false;
        }
    }
    return true;
}

int64_t
np_json_int(const json_t *object, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

double
np_json_real(const json_t *object, const char *key, double fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : fallback;
}

bool
np_json_bool(const json_t *object, const char *key, bool fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

const char *
np_json_string(const json_t *object, const char *key, const char *fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) ? json_string_value(value) : fallback;
}

char *
np_json_line(const json_t *object)
{
    char *dumped = json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER);
    char *line = g_strdup(dumped);
    free(dumped);
    return line;
}
