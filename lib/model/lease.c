/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Leases: see lease.h.
 */
#include "lib/model/lease.h"

#include "lib/base/error.h"

NpLease *
np_lease_new(const NpVm *vm, unsigned nic, const NpBdf *bdf)
{
    NpLease *lease = g_new0(NpLease, 1);
    lease->vm = np_vm_copy(vm);
    g_array_set_size(lease->vm->pins, 0);
    lease->nic = nic;
    lease->bdf = lease->pf = *bdf;
    lease->whole_port = true;
    return lease;
}

void
np_lease_free(NpLease *lease)
{
    if (!lease)
        return;
    np_vm_free(lease->vm);
    g_free(lease);
}

char *
np_lease_describe(const NpLease *lease)
{
    g_autofree char *vm = np_vm_describe(lease->vm);
    return g_strdup_printf("%s nic %u (lease %s)", vm, lease->nic, lease->id);
}

json_t *
np_lease_to_json(const NpLease *lease)
{
    char bdf[NP_BDF_TEXT_SIZE], pf[NP_BDF_TEXT_SIZE];
    json_t *object =
        json_pack("{s:s, s:i, s:s, s:s, s:i, s:b, s:I}", "id", lease->id, "nic", (int) lease->nic,
                  "bdf", np_bdf_format(&lease->bdf, bdf), "pf", np_bdf_format(&lease->pf, pf), "vf",
                  (int) lease->vf_index, "whole-port", lease->whole_port, "claimed-ms",
                  (json_int_t) lease->claimed_ms);
    if (lease->vm->kind == NP_VM_PROXMOX)
        json_object_set_new(object, "vmid", json_integer(lease->vm->vmid));
    if (lease->vm->name)
        json_object_set_new(object, "name", json_string(lease->vm->name));
    if (lease->vm->uuid)
        json_object_set_new(object, "uuid", json_string(lease->vm->uuid));
    return object;
}

static bool
is_id(const char *text)
{
    for (size_t i = 0; i < NP_LEASE_ID_SIZE - 1; i++)
        if (!g_ascii_isxdigit(text[i]) || g_ascii_isupper(text[i]))
            return false;
    return text[NP_LEASE_ID_SIZE - 1] == '\0';
}

static NpVm *
vm_from_json(const json_t *object, GError **error)
{
    int64_t vmid = np_json_int(object, "vmid", 0);
    const char *name = np_json_string(object, "name", NULL);
    const char *uuid = np_json_string(object, "uuid", NULL);
    if ((vmid != 0) == (uuid != NULL) || (uuid && !name)) {
        np_throw(error, NP_ERROR_PROTOCOL, "a lease has either 'vmid', or 'uuid' and 'name'");
        return NULL;
    }
    if (uuid)
        return np_vm_new_libvirt(name, uuid);
    NpVm *vm = np_vm_new_proxmox((uint32_t) vmid);
    vm->name = g_strdup(name);
    return vm;
}

NpLease *
np_lease_from_json(const json_t *object, GError **error)
{
    static const NpJsonField fields[] = {
        {"id", NP_JSON_STRING, true, NP_LEASE_ID_SIZE - 1, NP_LEASE_ID_SIZE - 1},
        {"nic", NP_JSON_INT, true, 0, 255},
        {"bdf", NP_JSON_STRING, true, 7, NP_BDF_TEXT_SIZE},
        {"pf", NP_JSON_STRING, true, 7, NP_BDF_TEXT_SIZE},
        {"vf", NP_JSON_INT, true, 0, 65535},
        {"whole-port", NP_JSON_BOOL, true},
        {"claimed-ms", NP_JSON_INT, true, 0, INT64_MAX},
        {"vmid", NP_JSON_INT, false, 100, 999999999},
        {"name", NP_JSON_STRING, false, 1, 1024},
        {"uuid", NP_JSON_STRING, false, 36, 36},
        {NULL},
    };
    NpBdf bdf, pf;
    if (!np_json_check(object, fields, error) ||
        !np_parse_bdf(np_json_string(object, "bdf", ""), &bdf, error) ||
        !np_parse_bdf(np_json_string(object, "pf", ""), &pf, error))
        return NULL;
    const char *id = np_json_string(object, "id", "");
    if (!is_id(id)) {
        np_throw(error, NP_ERROR_PROTOCOL, "field 'id' is not 16 lower case hex digits");
        return NULL;
    }
    g_autoptr(NpVm) vm = vm_from_json(object, error);
    if (!vm)
        return NULL;
    NpLease *lease = np_lease_new(vm, (unsigned) np_json_int(object, "nic", 0), &bdf);
    g_strlcpy(lease->id, id, sizeof(lease->id));
    lease->pf = pf;
    lease->vf_index = (unsigned) np_json_int(object, "vf", 0);
    lease->whole_port = np_json_bool(object, "whole-port", false);
    lease->claimed_ms = np_json_int(object, "claimed-ms", 0);
    return lease;
}
