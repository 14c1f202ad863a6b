/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * VF attributes: several in few requests. See attr.h.
 */
#include <errno.h>

#include "lib/apply/attr-parts.h"
#include "lib/base/error.h"

/* Some drivers refuse a zero MAC: the substitute means the same to np_vf_clean. */
static int
set_vf(NpSys *sys, const NpChange *change, NpVfAttrs *attrs)
{
    static const NpMac zero, substitute = {{0x02, 0, 0, 0, 0, 0}};
    int64_t timeout_ms = np_op_info(change->kind)->timeout_ms;
    int64_t deadline_ms = sys->now_ms(sys) + timeout_ms;
    int result;
    do
        result = sys->set_vf(sys, &change->pf, change->vf_index, attrs, timeout_ms);
    while (np_attr_again(sys, result, deadline_ms));
    if (result != -EINVAL || !(attrs->has & NP_VF_MAC) || !np_mac_equal(&attrs->mac, &zero))
        return result;
    attrs->mac = substitute;
    return sys->set_vf(sys, &change->pf, change->vf_index, attrs, timeout_ms);
}

/* How many of the changes fit into one request: the kernel sets the MAC first, so a MAC that is to
 * come later starts a new one (Intel cards want the check of source MACs off before the MAC goes).
 */
static guint
batch_size(const NpChange *const *changes)
{
    unsigned seen = 0;
    guint count = 0;
    for (; changes[count]; count++) {
        unsigned field = np_attr_vf_field(changes[count]->attr);
        if (seen & field || (seen && field == NP_VF_MAC))
            break;
        seen |= field;
    }
    return count;
}

/* changes: those of one request, NULL-terminated. */
static bool
send_batch(NpSys *sys, const NpChange *const *changes, const char *const *values, GError **error)
{
    NpVfAttrs attrs = {0};
    for (guint i = 0; changes[i]; i++)
        if (!np_vf_parse(np_attr_vf_field(changes[i]->attr), values[i], &attrs, error))
            return false;
    int result = set_vf(sys, changes[0], &attrs);
    if (result == 0)
        return np_attr_read_back(sys, changes, values, error);
    /* The kernel does not say at which attribute of a request it stopped. */
    g_autofree char *hint = g_strdup(sys->hint(sys));
    g_autofree char *now = NULL;
    const NpChange *at = np_attr_first_missing(sys, changes, values, &now, NULL);
    char pf[NP_BDF_TEXT_SIZE];
    at = at ? at : changes[0];
    return np_throw_errno(error, -result, "%s of VF %u of %s%s%s", np_attr_name(at->attr),
                          at->vf_index, np_bdf_format(&at->pf, pf), hint ? ": " : "",
                          hint ? hint : "");
}

bool
np_attr_write_vf(NpSys *sys, const NpChange *const *changes, const char *const *values,
                 GError **error)
{
    while (*changes) {
        guint count = batch_size(changes);
        g_autoptr(GPtrArray) batch = g_ptr_array_new();
        for (guint i = 0; i < count; i++)
            g_ptr_array_add(batch, (gpointer) (uintptr_t) changes[i]);
        g_ptr_array_add(batch, NULL);
        if (!send_batch(sys, (const NpChange *const *) batch->pdata, values, error))
            return false;
        changes += count;
        values += count;
    }
    return true;
}
