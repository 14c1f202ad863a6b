/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Errors: names, codes from errno, messages.
 */
#include "lib/base/error.h"

#include <errno.h>
#include <string.h>

static void
every_code_has_a_name_that_leads_back_to_it(void)
{
    for (int code = NP_ERROR_FAILED; code <= NP_ERROR_ROLLBACK_FAILED; code++) {
        const char *name = np_error_name((NpError) code);
        g_assert_cmpint(np_error_from_name(name), ==, code);
        for (int other = 0; other < code; other++)
            g_assert_cmpstr(name, !=, np_error_name((NpError) other));
    }
}

static void
unknown_codes_and_names_are_failed(void)
{
    g_assert_cmpstr(np_error_name((NpError) 4711), ==, "failed");
    g_assert_cmpstr(np_error_name((NpError) -1), ==, "failed");
    g_assert_cmpint(np_error_from_name("no-such"), ==, NP_ERROR_FAILED);
    g_assert_cmpint(np_error_from_name(""), ==, NP_ERROR_FAILED);
    g_assert_cmpint(np_error_from_name(NULL), ==, NP_ERROR_FAILED);
}

static void
throwing_sets_domain_code_and_text_and_returns_false(void)
{
    g_autoptr(GError) error = NULL;
    g_assert_false(np_throw(&error, NP_ERROR_DENIED, "port %d", 7));
    g_assert_error(error, NP_ERROR, NP_ERROR_DENIED);
    g_assert_cmpstr(error->message, ==, "port 7");
    g_assert_cmpstr(g_quark_to_string(error->domain), ==, "np_error_quark");
}

static void
throwing_to_nobody_returns_false(void)
{
    g_assert_false(np_throw(NULL, NP_ERROR_IO, "x"));
    g_assert_false(np_throw_errno(NULL, EIO, "x"));
}

static void
errno_chooses_the_code_and_ends_the_text(void)
{
    static const struct {
        int errno_value;
        NpError code;
    } rows[] = {
        {ENOENT, NP_ERROR_NOT_FOUND},   {ENODEV, NP_ERROR_NOT_FOUND},
        {ENXIO, NP_ERROR_NOT_FOUND},    {EBUSY, NP_ERROR_BUSY},
        {EADDRINUSE, NP_ERROR_BUSY},    {EOPNOTSUPP, NP_ERROR_UNSUPPORTED},
        {ENOSYS, NP_ERROR_UNSUPPORTED}, {EPROTONOSUPPORT, NP_ERROR_UNSUPPORTED},
        {EACCES, NP_ERROR_DENIED},      {EPERM, NP_ERROR_DENIED},
        {ETIMEDOUT, NP_ERROR_TIMEOUT},  {EIO, NP_ERROR_IO},
        {EINVAL, NP_ERROR_IO},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *wanted = g_strdup_printf("a: %s", strerror(rows[i].errno_value));
        g_assert_false(np_throw_errno(&error, rows[i].errno_value, "%s", "a"));
        g_assert_error(error, NP_ERROR, (int) rows[i].code);
        g_assert_cmpstr(error->message, ==, wanted);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/error/every-code-has-a-name-that-leads-back-to-it",
                    every_code_has_a_name_that_leads_back_to_it);
    g_test_add_func("/error/unknown-codes-and-names-are-failed",
                    unknown_codes_and_names_are_failed);
    g_test_add_func("/error/throwing-sets-domain-code-and-text-and-returns-false",
                    throwing_sets_domain_code_and_text_and_returns_false);
    g_test_add_func("/error/throwing-to-nobody-returns-false", throwing_to_nobody_returns_false);
    g_test_add_func("/error/errno-chooses-the-code-and-ends-the-text",
                    errno_chooses_the_code_and_ends_the_text);
    return g_test_run();
}
