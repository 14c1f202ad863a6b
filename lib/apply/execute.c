/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Operations carried out: journal, write, read back. See run.h.
 */
#include <string.h>

#include "lib/apply/attr.h"
#include "lib/apply/run.h"
#include "lib/base/error.h"

#define POLL_MS 50

static NpJournal *
lease_journal(const NpRun *run, unsigned nic)
{
    for (guint i = 0; i < run->nics->len; i++)
        if (g_array_index(run->nics, unsigned, i) == nic)
            return g_ptr_array_index(run->journals, i);
    return NULL;
}

/* Compares what is with what the plan took for granted, and writes it to the journal as the old
 * value. */
static bool
note(NpRun *run, const NpOp *const *ops, guint count, NpJournal *journal, GError **error)
{
    g_autoptr(GPtrArray) changes = g_ptr_array_new();
    NpChange *copies = g_newa0(NpChange, count);
    for (guint i = 0; i < count; i++) {
        copies[i] = ops[i]->change;
        g_ptr_array_add(changes, &copies[i]);
    }
    g_ptr_array_add(changes, NULL);
    g_autoptr(GPtrArray) now =
        np_attr_read_all(run->apply->sys, (const NpChange *const *) changes->pdata, error);
    for (guint i = 0; now && i < count; i++) {
        const char *planned = copies[i].old_value;
        copies[i].old_value = g_ptr_array_index(now, i);
        if (planned && strcmp(planned, copies[i].old_value) != 0)
            return np_throw(error, NP_ERROR_BUSY,
                            "%s became '%s' meanwhile, it was '%s' when this was planned",
                            np_attr_name(copies[i].attr), copies[i].old_value, planned);
    }
    return now && np_journal_append(journal, (const NpChange *const *) changes->pdata, error);
}

/* Operations that go out together: consecutive required ones on attributes of one VF. What may fail
 * goes alone, so that it takes nothing along. */
static guint
batch_length(const NpPlan *plan, guint from, guint to)
{
    const NpOp *first = g_ptr_array_index(plan->ops, from);
    guint count = 1;
    if (!np_attr_vf_field(first->change.attr) || !first->required)
        return 1;
    while (from + count < to) {
        const NpOp *next = g_ptr_array_index(plan->ops, from + count);
        if (!np_attr_vf_field(next->change.attr) || !next->required ||
            next->change.kind == NP_OP_HOLD_MAC ||
            !np_bdf_equal(&next->change.object, &first->change.object))
            break;
        count++;
    }
    return count;
}

static bool
get_vf(NpSys *sys, const NpChange *change, NpVfAttrs *ret_attrs, GError **error)
{
    int result = sys->get_vf(sys, &change->pf, change->vf_index, ret_attrs);
    if (result < 0)
        return np_throw_errno(error, -result, "ask for its attributes");
    np_vf_clean(ret_attrs);
    return true;
}

/* Resets a VF. With igb it keeps what its PF has set (L20); where it does not, that is put back at
 * once, so that the rest of the plan finds what it was made for. */
static bool
reset_vf(NpRun *run, const NpChange *change, GError **error)
{
    NpSys *sys = run->apply->sys;
    NpVfAttrs before, after;
    if (!get_vf(sys, change, &before, error) ||
        !np_attr_write(sys, change, change->new_value, error) ||
        !get_vf(sys, change, &after, error))
        return false;
    for (int i = 0; i < NP_VF_FIELD_COUNT; i++) {
        NpChange one = *change;
        one.attr = (NpAttr) (NP_ATTR_VF_MAC + i);
        g_autofree char *old_value = np_vf_format(&before, np_attr_vf_field(one.attr));
        g_autofree char *now = np_vf_format(&after, np_attr_vf_field(one.attr));
        if (!old_value || g_strcmp0(old_value, now) == 0)
            continue;
        np_run_warn(run->apply, "the reset changed %s of VF %u; it is put back",
                    np_attr_name(one.attr), change->vf_index);
        if (!np_attr_write(sys, &one, old_value, error))
            return false;
    }
    return true;
}

static bool
write_batch(NpRun *run, const NpOp *const *ops, guint count, GError **error)
{
    NpSys *sys = run->apply->sys;
    if (ops[0]->change.kind == NP_OP_RESET && ops[0]->change.role == NP_ROLE_VF)
        return reset_vf(run, &ops[0]->change, error);
    if (count == 1)
        return np_attr_write(sys, &ops[0]->change, ops[0]->change.new_value, error);
    g_autoptr(GPtrArray) changes = g_ptr_array_new();
    g_autoptr(GPtrArray) values = g_ptr_array_new();
    for (guint i = 0; i < count; i++) {
        g_ptr_array_add(changes, (gpointer) (uintptr_t) &ops[i]->change);
        g_ptr_array_add(values, ops[i]->change.new_value);
    }
    g_ptr_array_add(changes, NULL);
    return np_attr_write_vf(sys, (const NpChange *const *) changes->pdata,
                            (const char *const *) values->pdata, error);
}

/* The newest open change of a journal, if it made no difference, is closed again. */
static bool
forget_if_unchanged(NpRun *run, NpJournal *journal, GError **error)
{
    g_autoptr(GArray) numbers = NULL;
    g_autoptr(GPtrArray) changes = np_journal_open_changes(journal, &numbers);
    const NpChange *last = g_ptr_array_index(changes, changes->len - 1);
    g_autofree char *now = np_attr_read(run->apply->sys, last, NULL);
    if (g_strcmp0(now, last->old_value) != 0)
        return true;
    return np_journal_undone(journal, g_array_index(numbers, unsigned, numbers->len - 1), error);
}

/* Journal, write, read back: every effect on the host goes through here. */
static bool
change(NpRun *run, const NpOp *const *ops, guint count, GError **error)
{
    const NpOp *first = ops[0];
    g_autoptr(NpJournal) pf_journal = NULL;
    g_autoptr(GError) problem = NULL;
    NpJournal *journal = lease_journal(run, first->nic);
    if (np_op_info(first->change.kind)->of_pf) {
        pf_journal = np_leases_open_pf(run->apply->run_dir, &first->change.object, true, error);
        if (!pf_journal)
            return false;
        journal = pf_journal;
    }
    g_return_val_if_fail(journal, false); /* plans record the lease first */
    if (!note(run, ops, count, journal, &problem)) {
        /* An attribute that cannot even be read is one that was not noted either. */
        if (first->required) {
            g_propagate_error(error, g_steal_pointer(&problem));
            return false;
        }
        np_run_warn(run->apply, "nic %u: going without %s: %s", first->nic,
                    np_op_info(first->change.kind)->name, problem->message);
        return true;
    }
    if (first->change.kind == NP_OP_SAVE || write_batch(run, ops, count, &problem))
        return true;
    if (first->required) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    np_run_warn(run->apply, "nic %u: going without %s: %s", first->nic,
                np_op_info(first->change.kind)->name, problem->message);
    return forget_if_unchanged(run, journal, error);
}

static bool
record_lease(NpRun *run, const NpOp *op, GError **error)
{
    g_autoptr(NpLease) lease = np_lease_new(run->vm, op->nic, &op->change.object);
    lease->pf = op->change.pf;
    lease->vf_index = op->change.vf_index;
    lease->whole_port = op->change.role == NP_ROLE_PORT;
    NpJournal *journal = np_leases_create(run->apply->sys, run->apply->run_dir, lease, error);
    if (!journal)
        return false;
    g_ptr_array_add(run->journals, journal);
    g_array_append_val(run->nics, op->nic);
    return true;
}

/* Whether VF index of a PF has both its links. */
static bool
has_links(NpSys *sys, const char *pf, unsigned index)
{
    g_autofree char *path = g_strdup_printf("bus/pci/devices/%s/virtfn%u", pf, index);
    g_autofree char *vf = NULL, *back = NULL;
    if (sys->readlink(sys, path, &vf) < 0)
        return false;
    g_autofree char *physfn = g_strdup_printf("bus/pci/devices/%s/physfn", vf);
    return sys->readlink(sys, physfn, &back) == 0 && strcmp(back, pf) == 0;
}

static bool
wait_vfs(NpSys *sys, const NpOp *op, GError **error)
{
    char pf[NP_BDF_TEXT_SIZE];
    NpChange count_of = {.object = op->change.object, .attr = NP_ATTR_NUMVFS};
    int64_t deadline_ms = sys->now_ms(sys) + np_op_info(op->change.kind)->timeout_ms;
    g_autofree char *text = np_attr_read(sys, &count_of, error);
    uint64_t count;
    if (!text || !np_parse_uint(text, 0, UINT16_MAX, &count, error))
        return false;
    np_bdf_format(&op->change.object, pf);
    for (unsigned i = 0; i < count;) {
        if (has_links(sys, pf, i)) {
            i++;
            continue;
        }
        if (sys->now_ms(sys) >= deadline_ms)
            return np_throw(error, NP_ERROR_TIMEOUT, "VF %u of %u did not appear", i,
                            (unsigned) count);
        sys->sleep_ms(sys, POLL_MS);
    }
    return true;
}

/* The dead-man's switch: failing here puts the port back. */
static bool
check_path(NpSys *sys, const NpOp *op, GError **error)
{
    int64_t deadline_ms = sys->now_ms(sys) + np_op_info(op->change.kind)->timeout_ms;
    for (;;) {
        g_autofree char *problem = NULL;
        int result = sys->check_path(sys, &problem);
        if (result < 0)
            return np_throw_errno(error, -result, "look at the host's routes");
        if (!problem)
            return true;
        if (sys->now_ms(sys) >= deadline_ms)
            return np_throw(error, NP_ERROR_DENIED, "the host is not reachable without it: %s",
                            problem);
        sys->sleep_ms(sys, POLL_MS);
    }
}

/* The last value the journal has for each attribute must be the present one, and the function must
 * be there for a VM to open. */
static bool
verify(NpRun *run, const NpOp *op, GError **error)
{
    NpSys *sys = run->apply->sys;
    const NpJournal *journal = lease_journal(run, op->nic);
    g_autoptr(GPtrArray) changes = np_journal_open_changes(journal, NULL);
    g_autoptr(GPtrArray) last = g_ptr_array_new();
    unsigned seen = 0;
    for (guint i = changes->len; i-- > 0;) {
        const NpChange *made = g_ptr_array_index(changes, i);
        if (seen & 1u << made->attr || made->kind == NP_OP_RESET || !made->new_value)
            continue;
        seen |= 1u << made->attr;
        g_ptr_array_add(last, g_ptr_array_index(changes, i));
    }
    g_ptr_array_add(last, NULL);
    g_autoptr(GPtrArray) now = np_attr_read_all(sys, (const NpChange *const *) last->pdata, error);
    for (guint i = 0; now && i < now->len; i++) {
        const NpChange *made = g_ptr_array_index(last, i);
        const char *value = g_ptr_array_index(now, i);
        if (strcmp(value, made->new_value) != 0)
            return np_throw(error, NP_ERROR_FAILED, "%s is '%s' again, after it was '%s'",
                            np_attr_name(made->attr), value, made->new_value);
    }
    if (!now)
        return false;
    NpVfioState state;
    bool viable;
    int result = sys->probe_vfio(sys, &op->change.object, &state, &viable);
    if (result < 0)
        return np_throw_errno(error, -result, "open its VFIO group");
    if (state == NP_VFIO_BUSY)
        return np_throw(error, NP_ERROR_BUSY, "another process has opened it");
    if (!viable)
        return np_throw(error, NP_ERROR_DENIED,
                        "its IOMMU group is not viable: another device in it has a host driver");
    return true;
}

static bool
run_step(NpRun *run, const NpOp *op, GError **error)
{
    NpSys *sys = run->apply->sys;
    switch ((int) op->change.kind) {
    case NP_OP_LEASE:
        return record_lease(run, op, error);
    case NP_OP_WAIT_VFS:
        return wait_vfs(sys, op, error);
    case NP_OP_CHECK_PATH:
        return check_path(sys, op, error);
    case NP_OP_VERIFY:
        return verify(run, op, error);
    default: /* lock and unlock are the run's; choose and guard were the plan's */
        return true;
    }
}

bool
np_run_ops(NpRun *run, const NpPlan *plan, guint from, guint to, GError **error)
{
    while (from < to) {
        const NpOp *op = g_ptr_array_index(plan->ops, from);
        const NpOpInfo *info = np_op_info(op->change.kind);
        guint count = info->writes ? batch_length(plan, from, to) : 1;
        bool done = info->writes
                        ? change(run, (const NpOp *const *) &plan->ops->pdata[from], count, error)
                        : run_step(run, op, error);
        if (!done) {
            char bdf[NP_BDF_TEXT_SIZE];
            g_prefix_error(error, "%s %s: ", info->name, np_bdf_format(&op->change.object, bdf));
            return false;
        }
        from += count;
    }
    return true;
}
