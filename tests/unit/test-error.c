/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Errors: names, codes from errno, messages.
 */
#include <errno.h>

#include "lib/base/error.h"

static void
test_every_code_has_a_name_that_leads_back(void)
{
    for (int code = 0; code <= NP_ERROR_ROLLBACK_FAILED; code++) {
        const char *name = np_error_name((NpError) code);
        g_assert_nonnull(name);
        g_assert_cmpint(np_error_from_name(name), ==, code);
    }
    g_assert_cmpstr(np_error_name(NP_ERROR_NOT_FOUND), ==, "not-found");
}

static void
test_what_is_no_code_or_name_is_failed(void)
{
    g_assert_cmpstr(np_error_name((NpError) (NP_ERROR_ROLLBACK_FAILED + 1)), ==, "failed");
    g_assert_cmpstr(np_error_name((NpError) -1), ==, "failed");
    static const char *const names[] = {NULL, "", "BUSY", "busy ", "not found"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        g_assert_cmpint(np_error_from_name(names[i]), ==, NP_ERROR_FAILED);
}

static void
test_throw_sets_and_is_false(void)
{
    g_autoptr(GError) error = NULL;
    g_assert_false(np_throw(&error, NP_ERROR_BUSY, "port %d", 7));
    g_assert_error(error, NP_ERROR, NP_ERROR_BUSY);
    g_assert_cmpstr(error->message, ==, "port 7");
    g_assert_cmpstr(g_quark_to_string(error->domain), ==, "nicpass-error-quark");
    g_assert_false(np_throw(NULL, NP_ERROR_BUSY, "for nobody"));
    g_assert_false(np_throw_errno(NULL, EIO, "for nobody"));
}

static void
test_errno_chooses_the_code(void)
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
        {EINVAL, NP_ERROR_IO},          {123456, NP_ERROR_IO},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *message = g_strdup_printf("bind 'x': %s", g_strerror(rows[i].errno_value));
        g_assert_false(np_throw_errno(&error, rows[i].errno_value, "bind '%s'", "x"));
        g_assert_error(error, NP_ERROR, (int) rows[i].code);
        g_assert_cmpstr(error->message, ==, message);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/error/every-code-has-a-name-that-leads-back",
                    test_every_code_has_a_name_that_leads_back);
    g_test_add_func("/error/what-is-no-code-or-name-is-failed",
                    test_what_is_no_code_or_name_is_failed);
    g_test_add_func("/error/throw-sets-and-is-false", test_throw_sets_and_is_false);
    g_test_add_func("/error/errno-chooses-the-code", test_errno_chooses_the_code);
    return g_test_run();
}
