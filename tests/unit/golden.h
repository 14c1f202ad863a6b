/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Golden files: what a pure function gave when a person last looked at it.
 */
#pragma once

#include <glib.h>

#include "lib/base/fd.h"

/* Compares text with tests/data/NAME (from the source folder, where the tests run). After looking
 * at the difference, NP_GOLDEN_UPDATE=1 in the environment takes the new text. */
static inline void
golden_check(const char *name, const char *text)
{
    g_autofree char *path = g_build_filename("tests", "data", name, NULL);
    g_autofree char *wanted = NULL;
    g_autoptr(GError) error = NULL;
    if (g_getenv("NP_GOLDEN_UPDATE")) {
        g_assert_true(g_file_set_contents(path, text, -1, &error));
        return;
    }
    np_file_read(path, 1024 * 1024, &wanted, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(text, ==, wanted);
}
