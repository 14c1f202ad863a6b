/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Fuzzer: journals, and the leases in their headers. Input: one file's bytes.
 */
#include <stddef.h>
#include <stdint.h>

#include "lib/apply/journal.h"
#include "lib/model/lease.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(NpJournal) journal = np_journal_parse("fuzz", (const char *) data, size, &error);
    g_assert_true(!journal == !!error);
    if (!journal)
        return 0;
    g_autoptr(GPtrArray) open = np_journal_open_changes(journal, NULL);
    g_autoptr(GPtrArray) all = np_journal_all_changes(journal);
    g_assert_cmpuint(open->len, <=, all->len);
    for (guint i = 0; i < all->len; i++) {
        const NpChange *change = g_ptr_array_index(all, i);
        g_assert_nonnull(change->old_value);
        g_assert_cmpint(change->kind, <, NP_OP_COUNT);
        g_assert_cmpint(change->attr, <, NP_ATTR_COUNT);
    }
    g_autoptr(NpLease) lease = np_lease_from_json(np_journal_header(journal), NULL);
    if (lease) {
        g_autoptr(json_t) again = np_lease_to_json(lease);
        g_autoptr(NpLease) copy = np_lease_from_json(again, NULL);
        g_assert_nonnull(copy);
    }
    return 0;
}
