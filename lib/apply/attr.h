/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Attributes: how each (function, attribute) of the table of operations is read and written.
 */
#pragma once

#include "lib/apply/sys.h"
#include "lib/plan/op.h"

/* Reads the attribute that change names (transfer full): a text as lib/plan/op.h describes. An
 * attribute the driver does not report throws UNSUPPORTED; a function, VF or netdev that is not
 * there, NOT_FOUND. */
char *np_attr_read(NpSys *sys, const NpChange *change, GError **error);

/* The values of several, in order (changes NULL-terminated; of char *, transfer full): asks a PF
 * once for neighbours that are attributes of one VF, because a query makes some drivers ask their
 * firmware. Throws as np_attr_read. */
GPtrArray *np_attr_read_all(NpSys *sys, const NpChange *const *changes, GError **error);

/* Writes value and reads back until it shows, or the operation's deadline (np_op_info) has passed.
 * EAGAIN is tried again till then. NP_ATTR_RESET has no read-back. Throws the kernel's reason with
 * what to do about it (ENOSPC, ENOMEM, EBUSY, ENOENT of sriov_numvfs), TIMEOUT, or FAILED when the
 * kernel reported success and the value is another. Refuses to unbind what does not have the role
 * change says (DENIED). */
bool np_attr_write(NpSys *sys, const NpChange *change, const char *value, GError **error);

/* The same for several attributes of one VF in as few requests as the kernel's order allows:
 * changes is an array of const NpChange * with values (NULL-terminated, parallel). On failure the
 * message names the first attribute that did not take. */
bool np_attr_write_vf(NpSys *sys, const NpChange *const *changes, const char *const *values,
                      GError **error);
