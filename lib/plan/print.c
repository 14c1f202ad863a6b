/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Plans in words and as JSON: see plan.h.
 */
#include "lib/plan/plan.h"

#include <string.h>

#define COLUMNS    80
#define OBJECT_COL 18 /* where a line's object begins */

static void
append_change(GString *text, const NpChange *change)
{
    char bdf[NP_BDF_TEXT_SIZE];
    g_string_append_printf(text, "%-12s %s", np_op_info(change->kind)->name,
                           np_bdf_format(&change->object, bdf));
    if (change->attr == NP_ATTR_NONE || change->attr == NP_ATTR_RESET)
        return;
    const char *old_value = change->old_value ? change->old_value : "?";
    g_string_append_printf(text, " %s: %s", np_attr_name(change->attr),
                           *old_value ? old_value : "none");
    if (change->kind == NP_OP_SAVE)
        return;
    const char *new_value = change->new_value ? change->new_value : "?";
    g_string_append_printf(text, " -> %s", *new_value ? new_value : "none");
}

/* The reason stands behind the change, or below it where the line would be too long. */
static void
append_operation(GString *text, unsigned number, const NpOp *op)
{
    g_autoptr(GString) line = g_string_new(NULL);
    g_autofree char *reason =
        g_strdup_printf("(%s%s)", op->reason, op->required ? "" : "; going without is fine");
    g_string_append_printf(line, "%3u  ", number);
    append_change(line, &op->change);
    if (line->len + strlen("  ") + strlen(reason) > COLUMNS)
        g_string_append_printf(line, "\n%*s", OBJECT_COL, "");
    else
        g_string_append(line, "  ");
    g_string_append_printf(text, "%s%s\n", line->str, reason);
}

char *
np_plan_to_text(const NpPlan *plan, const NpVm *vm)
{
    GString *text = g_string_new(NULL);
    g_autofree char *who = vm ? np_vm_describe(vm) : NULL;
    if (plan->ops->len == 0)
        g_string_append_printf(text, "%s%snothing to do\n", who ? who : "", who ? ": " : "");
    else if (who)
        g_string_append_printf(text, "%s:\n", who);
    for (guint i = 0; i < plan->ops->len; i++)
        append_operation(text, i + 1, g_ptr_array_index(plan->ops, i));
    for (guint i = 0; i < plan->warnings->len; i++)
        g_string_append_printf(text, "warning: %s\n",
                               (const char *) g_ptr_array_index(plan->warnings, i));
    return g_string_free(text, FALSE);
}

static json_t *
choice_to_json(const NpChoice *choice)
{
    char bdf[NP_BDF_TEXT_SIZE], pf[NP_BDF_TEXT_SIZE];
    json_t *object =
        json_pack("{s:i, s:s, s:s, s:b, s:b}", "nic", (int) choice->nic->nic, "bdf",
                  np_bdf_format(&choice->bdf, bdf), "pf", np_bdf_format(&choice->pf, pf),
                  "whole-port", choice->whole_port, "exists", choice->exists);
    if (!choice->whole_port)
        json_object_set_new(object, "vf", json_integer(choice->vf_index));
    return object;
}

json_t *
np_plan_to_json(const NpPlan *plan, const NpVm *vm)
{
    json_t *object = json_object(), *nics = json_array(), *ops = json_array();
    json_t *warnings = json_array();
    g_autofree char *who = vm ? np_vm_describe(vm) : NULL;
    if (who)
        json_object_set_new(object, "vm", json_string(who));
    for (guint i = 0; i < plan->choices->len; i++)
        json_array_append_new(nics, choice_to_json(&g_array_index(plan->choices, NpChoice, i)));
    for (guint i = 0; i < plan->ops->len; i++) {
        const NpOp *op = g_ptr_array_index(plan->ops, i);
        json_t *entry = np_change_to_json(&op->change);
        if (op->change.role != NP_ROLE_PF)
            json_object_set_new(entry, "nic", json_integer(op->nic));
        json_object_set_new(entry, "required", json_boolean(op->required));
        json_object_set_new(entry, "reason", json_string(op->reason));
        json_array_append_new(ops, entry);
    }
    for (guint i = 0; i < plan->warnings->len; i++)
        json_array_append_new(warnings, json_string(g_ptr_array_index(plan->warnings, i)));
    json_object_set_new(object, "nics", nics);
    json_object_set_new(object, "operations", ops);
    json_object_set_new(object, "warnings", warnings);
    return object;
}
