/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Errors: one GError domain whose few codes each ask for a different reaction.
 */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* A code says what the caller can do about it; the message says what happened. */
typedef enum {
    NP_ERROR_FAILED,          /* nothing better fits */
    NP_ERROR_CONFIG,          /* the user's input is wrong: correct it */
    NP_ERROR_NOT_FOUND,       /* the thing named does not exist */
    NP_ERROR_BUSY,            /* somebody else holds it: try again later */
    NP_ERROR_UNSUPPORTED,     /* kernel, driver or peer cannot do this */
    NP_ERROR_DENIED,          /* privilege is missing */
    NP_ERROR_IO,              /* the system call failed */
    NP_ERROR_TIMEOUT,         /* a deadline passed */
    NP_ERROR_PROTOCOL,        /* the peer broke the protocol or went away */
    NP_ERROR_INTERRUPTED,     /* the user asked to stop */
    NP_ERROR_ROLLBACK_FAILED, /* putting back failed: the state needs a person */
} NpError;

#define NP_ERROR (np_error_quark())

GQuark np_error_quark(void);

/* The code's name as it travels in messages and records, such as "not-found". Never NULL. */
const char *np_error_name(NpError code);

/* The inverse of np_error_name; NP_ERROR_FAILED for a name that is not one of ours. */
NpError np_error_from_name(const char *name);

/* Sets *error (if error is not NULL) and returns false, so that `return np_throw(...)` reads well.
 */
bool np_throw(GError **error, NpError code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* The same from an errno value (positive), whose text is appended after a colon and whose kind
 * chooses the code: EBUSY is BUSY, EACCES and EPERM are DENIED, and so on; anything else is IO. */
bool np_throw_errno(GError **error, int errno_value, const char *format, ...) G_GNUC_PRINTF(3, 4);
