/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Life of VMs: see vm-life.h.
 */
#include "lib/apply/vm-life.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/apply/tree.h"

#define COMMAND_LINE_MAX (1u << 20)

bool
np_vm_owns_command_line(const NpVm *vm, const char *data, size_t size)
{
    g_autofree char *vmid = g_strdup_printf("%" PRIu32, vm->vmid);
    const char *option = vm->kind == NP_VM_PROXMOX ? "-id" : "-uuid";
    const char *value = vm->kind == NP_VM_PROXMOX ? vmid : vm->uuid;
    const char *before = NULL;
    for (size_t at = 0; value && at < size;) {
        size_t length = strnlen(data + at, size - at);
        if (at + length == size)
            return false; /* cut off */
        if (before && strcmp(before, option) == 0 && g_ascii_strcasecmp(data + at, value) == 0)
            return true;
        before = data + at;
        at += length + 1;
    }
    return false;
}

static NpLife
process_life(int proc, int64_t pid, const NpVm *vm)
{
    g_autofree char *path = g_strdup_printf("%" PRId64 "/cmdline", pid);
    g_autofree char *data = NULL;
    size_t size;
    int result = np_tree_read(proc, path, COMMAND_LINE_MAX, &data, &size);
    if (result == -ENOENT || result == -ESRCH)
        return NP_LIFE_DEAD;
    if (result < 0)
        return NP_LIFE_UNKNOWN;
    return np_vm_owns_command_line(vm, data, size) ? NP_LIFE_ALIVE : NP_LIFE_DEAD;
}

NpLife
np_vm_life(int proc, int run, const NpLease *lease)
{
    const NpVm *vm = lease->vm;
    g_autofree char *path = NULL, *text = NULL;
    int64_t pid;
    if (lease->qemu_pid > 0) {
        NpLife life = process_life(proc, lease->qemu_pid, vm);
        if (life != NP_LIFE_DEAD)
            return life;
    }
    if (vm->kind == NP_VM_PROXMOX)
        path = g_strdup_printf("qemu-server/%" PRIu32 ".pid", vm->vmid);
    else if (vm->name && !strchr(vm->name, '/'))
        path = g_strdup_printf("libvirt/qemu/%s.pid", vm->name);
    if (!path)
        return NP_LIFE_UNKNOWN;
    int result = np_tree_read_attr(run, path, &text);
    if (result == -ENOENT || result == -ENOTDIR)
        return NP_LIFE_DEAD;
    if (result < 0 || !np_tree_parse_number(g_strstrip(text), &pid) || pid <= 0)
        return NP_LIFE_UNKNOWN;
    return process_life(proc, pid, vm);
}

static bool
reservation_holds(const char *until, uint32_t vmid, int64_t now_s, int proc)
{
    int64_t value;
    const char *colon = strchr(until, ':');
    if (!colon || !np_tree_parse_number(colon + 1, &value))
        return true; /* not understood: believed */
    if (g_str_has_prefix(until, "time:"))
        return value > now_s;
    if (!g_str_has_prefix(until, "pid:"))
        return true;
    g_autoptr(NpVm) vm = np_vm_new_proxmox(vmid);
    return process_life(proc, value, vm) != NP_LIFE_DEAD;
}

static NpFunction *
find_function(NpInventory *inventory, const char *address)
{
    NpBdf bdf;
    return np_parse_bdf(address, &bdf, NULL) ? np_inventory_find(inventory, &bdf) : NULL;
}

void
np_reservations_add(const char *text, int64_t now_s, int proc, NpInventory *inventory)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        g_auto(GStrv) word = g_strsplit(g_strstrip(*line), " ", 3); /* address, VMID, until */
        uint64_t vmid;
        if (g_strv_length(word) != 3 || !np_parse_uint(word[1], 1, UINT32_MAX, &vmid, NULL))
            continue;
        NpFunction *function = find_function(inventory, word[0]);
        if (!function || !reservation_holds(word[2], (uint32_t) vmid, now_s, proc))
            continue;
        g_autofree char *use = g_strdup_printf("VM %" PRIu64 " reserved it", vmid);
        np_function_add_use(function, NP_USE_RESERVED, use, (uint32_t) vmid, NULL);
    }
}

/* State of the walk through a domain's status file. */
typedef struct {
    GString *name, *uuid;
    GString *into; /* which of them takes text now, or NULL */
    bool found, in_host_device, in_source;
    GArray *functions; /* of NpBdf */
} DomainWalk;

static const char *
attribute_of(const char **names, const char **values, const char *name)
{
    for (size_t i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return values[i];
    return NULL;
}

static void
take_address(DomainWalk *walk, const char **names, const char **values)
{
    static const char *const parts[] = {"domain", "bus", "slot", "function"};
    static const int64_t max[] = {UINT32_MAX, 255, 31, 7};
    int64_t number[G_N_ELEMENTS(parts)];
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        const char *text = attribute_of(names, values, parts[i]);
        if (!text || !np_tree_parse_number(text, &number[i]) || number[i] < 0 || number[i] > max[i])
            return;
    }
    const NpBdf bdf = {.domain = (uint32_t) number[0],
                       .bus = (uint8_t) number[1],
                       .device = (uint8_t) number[2],
                       .function = (uint8_t) number[3]};
    g_array_append_val(walk->functions, bdf);
}

static void
on_start(GMarkupParseContext *context, const char *name, const char **names, const char **values,
         gpointer data, GError **error)
{
    DomainWalk *walk = data;
    const GSList *stack = g_markup_parse_context_get_element_stack(context);
    const char *parent = stack && stack->next ? stack->next->data : "";
    bool of_domain = strcmp(parent, "domain") == 0;
    walk->into = NULL;
    if (strcmp(name, "domain") == 0)
        walk->found = true;
    else if (of_domain && strcmp(name, "name") == 0)
        walk->into = walk->name;
    else if (of_domain && strcmp(name, "uuid") == 0)
        walk->into = walk->uuid;
    else if (strcmp(name, "hostdev") == 0 || strcmp(name, "interface") == 0)
        walk->in_host_device = true;
    else if (strcmp(name, "source") == 0)
        walk->in_source = true;
    else if (strcmp(name, "address") == 0 && walk->in_host_device && walk->in_source)
        take_address(walk, names, values);
}

static void
on_end(GMarkupParseContext *context, const char *name, gpointer data, GError **error)
{
    DomainWalk *walk = data;
    walk->into = NULL;
    if (strcmp(name, "hostdev") == 0 || strcmp(name, "interface") == 0)
        walk->in_host_device = false;
    else if (strcmp(name, "source") == 0)
        walk->in_source = false;
}

static void
on_text(GMarkupParseContext *context, const char *text, size_t size, gpointer data, GError **error)
{
    DomainWalk *walk = data;
    if (walk->into)
        g_string_append_len(walk->into, text, (gssize) size);
}

static void
walk_clear(DomainWalk *walk)
{
    g_string_free(walk->name, TRUE);
    g_string_free(walk->uuid, TRUE);
    g_array_unref(walk->functions);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DomainWalk, walk_clear)

static bool
walk_domain(DomainWalk *walk, const char *text, size_t size)
{
    static const GMarkupParser parser = {
        .start_element = on_start, .end_element = on_end, .text = on_text};
    g_autoptr(GMarkupParseContext) context =
        g_markup_parse_context_new(&parser, G_MARKUP_DEFAULT_FLAGS, walk, NULL);
    walk->name = g_string_new(NULL);
    walk->uuid = g_string_new(NULL);
    walk->functions = g_array_new(FALSE, FALSE, sizeof(NpBdf));
    bool fine = g_markup_parse_context_parse(context, text, (gssize) size, NULL) &&
                g_markup_parse_context_end_parse(context, NULL) && walk->found;
    g_string_ascii_down(walk->uuid);
    return fine;
}

bool
np_domain_identity(const char *text, size_t size, char **ret_name, char **ret_uuid)
{
    g_auto(DomainWalk) walk = {NULL};
    if (!walk_domain(&walk, text, size) || !walk.name->len || !walk.uuid->len)
        return false;
    *ret_name = g_strdup(walk.name->str);
    *ret_uuid = g_strdup(walk.uuid->str);
    return true;
}

bool
np_domain_add(const char *text, size_t size, NpInventory *inventory)
{
    g_auto(DomainWalk) walk = {NULL};
    if (!walk_domain(&walk, text, size))
        return false;
    g_autofree char *quoted = np_quote(walk.name->str);
    g_autofree char *use = g_strdup_printf("domain %s, which runs, has it", quoted);
    for (guint i = 0; i < walk.functions->len; i++) {
        NpFunction *function =
            np_inventory_find(inventory, &g_array_index(walk.functions, NpBdf, i));
        if (function)
            np_function_add_use(function, NP_USE_DOMAIN, use, 0,
                                walk.uuid->len ? walk.uuid->str : NULL);
    }
    return true;
}
