/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Errors: see error.h.
 */
#include "lib/base/error.h"

#include <errno.h>

static const char *const names[] = {
    [NP_ERROR_FAILED] = "failed",
    [NP_ERROR_CONFIG] = "config",
    [NP_ERROR_NOT_FOUND] = "not-found",
    [NP_ERROR_BUSY] = "busy",
    [NP_ERROR_UNSUPPORTED] = "unsupported",
    [NP_ERROR_DENIED] = "denied",
    [NP_ERROR_IO] = "io",
    [NP_ERROR_TIMEOUT] = "timeout",
    [NP_ERROR_PROTOCOL] = "protocol",
    [NP_ERROR_INTERRUPTED] = "interrupted",
    [NP_ERROR_ROLLBACK_FAILED] = "rollback-failed",
};

/* It would put blanks into the name. */
/* clang-format off */
G_DEFINE_QUARK(nicpass-error-quark, np_error)
/* clang-format on */

const char *
np_error_name(NpError code)
{
    return (size_t) code < G_N_ELEMENTS(names) ? names[code] : names[NP_ERROR_FAILED];
}

NpError
np_error_from_name(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_strcmp0(name, names[i]) == 0)
            return (NpError) i;
    return NP_ERROR_FAILED;
}

static NpError
code_from_errno(int errno_value)
{
    switch (errno_value) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
        return NP_ERROR_NOT_FOUND;
    case EBUSY:
    case EADDRINUSE:
        return NP_ERROR_BUSY;
    case EOPNOTSUPP:
    case ENOSYS:
    case EPROTONOSUPPORT:
        return NP_ERROR_UNSUPPORTED;
    case EACCES:
    case EPERM:
        return NP_ERROR_DENIED;
    case ETIMEDOUT:
        return NP_ERROR_TIMEOUT;
    default:
        return NP_ERROR_IO;
    }
}

bool
np_throw(GError **error, NpError code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (error)
        *error = g_error_new_valist(NP_ERROR, (int) code, format, args);
    va_end(args);
    return false;
}

bool
np_throw_errno(GError **error, int errno_value, const char *format, ...)
{
    if (!error)
        return false;
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    return np_throw(error, code_from_errno(errno_value), "%s: %s", what, g_strerror(errno_value));
}
