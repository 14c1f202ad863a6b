/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Plan, first part: which PF a NIC comes from, and what is done to PFs. See build.h.
 */
#include "lib/base/error.h"
#include "lib/plan/build.h"
#include "lib/plan/guard.h"

#define DEFAULT_DRIVER "vfio-pci"

/* The VF of pf at an address, whether or not it exists. */
static bool
index_of(const NpInventory *inventory, const NpFunction *pf, const NpBdf *bdf, unsigned *ret_index)
{
    const NpFunction *there = np_inventory_find(inventory, bdf);
    if (there && (there->kind != NP_FUNCTION_VF || !np_bdf_equal(&there->physfn, &pf->bdf)))
        return false;
    for (unsigned i = 0; i < pf->sriov->total; i++) {
        NpBdf at;
        if (np_inventory_vf_bdf(inventory, pf, i, &at) && np_bdf_equal(&at, bdf)) {
            *ret_index = i;
            return true;
        }
    }
    return false;
}

/* The PF whose VF is or would be at the address. */
static const NpFunction *
pf_of_vf(const NpInventory *inventory, const NpBdf *bdf)
{
    unsigned index;
    for (guint i = 0; i < inventory->functions->len; i++) {
        const NpFunction *pf = g_ptr_array_index(inventory->functions, i);
        if (pf->sriov && index_of(inventory, pf, bdf, &index))
            return pf;
    }
    return NULL;
}

/* The pool that says how a PF is to be treated, for a NIC that names its VF itself. */
static const NpPool *
pool_of_pf(const NpWorld *world, const NpFunction *pf)
{
    for (guint i = 0; i < world->config->pools->len; i++) {
        const NpPool *pool = g_ptr_array_index(world->config->pools, i);
        if (np_plan_resolve(world->inventory, &pool->pf, NULL) == pf)
            return pool;
    }
    return NULL;
}

static bool
fix_vf(NpBuild *build, NpTarget *target, const NpBdf *bdf, GError **error)
{
    char text[NP_BDF_TEXT_SIZE];
    g_autofree char *what = np_function_describe(target->pf);
    if (!index_of(build->world->inventory, target->pf, bdf, &target->choice.vf_index))
        return np_throw(error, NP_ERROR_CONFIG, "%s is no VF of %s", np_bdf_format(bdf, text),
                        what);
    target->wants_index = true;
    target->choice.bdf = *bdf;
    target->function = np_inventory_find(build->world->inventory, bdf);
    return true;
}

/* The VF that a NIC has to get, if anything says so. */
static bool
fix_function(NpBuild *build, NpTarget *target, GError **error)
{
    const NpBdf *pin = np_vm_pin(build->vm, target->nic->nic);
    const NpLease *own = np_build_own_lease(build, target->nic->nic);
    const NpBdf *named = target->nic->source == NP_SOURCE_VF ? &target->nic->vf : NULL;
    char a[NP_BDF_TEXT_SIZE], b[NP_BDF_TEXT_SIZE];
    if (pin && named && !np_bdf_equal(pin, named))
        return np_throw(error, NP_ERROR_CONFIG, "the VM's definition says %s, the configuration %s",
                        np_bdf_format(pin, a), np_bdf_format(named, b));
    if (named || pin)
        return fix_vf(build, target, named ? named : pin, error);
    if (own && np_bdf_equal(&own->pf, &target->pf->bdf))
        return fix_vf(build, target, &own->bdf, error);
    return true;
}

static bool
set_port(NpBuild *build, NpTarget *target, GError **error)
{
    const NpBdf *pin = np_vm_pin(build->vm, target->nic->nic);
    char text[NP_BDF_TEXT_SIZE];
    const NpLease *own = np_build_own_lease(build, target->nic->nic);
    /* A port that was given away has neither name nor MAC to be found by. */
    if (own && own->whole_port)
        target->pf = np_inventory_find(build->world->inventory, &own->bdf);
    if (!target->pf || target->pf->net)
        target->pf = np_plan_resolve(build->world->inventory, &target->nic->pf, error);
    if (!target->pf)
        return false;
    g_autofree char *what = np_function_describe(target->pf);
    if (pin && !np_bdf_equal(pin, &target->pf->bdf))
        return np_throw(error, NP_ERROR_CONFIG, "the VM's definition says %s, not %s",
                        np_bdf_format(pin, text), what);
    target->function = target->pf;
    target->wants_index = true;
    target->choice.whole_port = true;
    target->choice.bdf = target->pf->bdf;
    target->driver = target->nic->driver;
    return true;
}

static bool
set_vf(NpBuild *build, NpTarget *target, GError **error)
{
    const NpInventory *inventory = build->world->inventory;
    char text[NP_BDF_TEXT_SIZE];
    if (target->nic->source == NP_SOURCE_POOL) {
        target->pool = np_config_pool(build->world->config, target->nic->pool);
        target->pf = np_plan_resolve(inventory, &target->pool->pf, error);
    } else {
        target->pf = pf_of_vf(inventory, &target->nic->vf);
        if (!target->pf)
            return np_throw(error, NP_ERROR_CONFIG, "no port has or could have a VF at %s",
                            np_bdf_format(&target->nic->vf, text));
        target->pool = pool_of_pf(build->world, target->pf);
    }
    if (!target->pf)
        return false;
    g_autofree char *what = np_function_describe(target->pf);
    if (!target->pf->sriov)
        return np_throw(error, NP_ERROR_CONFIG,
                        "%s cannot do SR-IOV; give the VM the whole port (pf = ...)", what);
    target->driver =
        target->nic->source == NP_SOURCE_POOL ? target->pool->driver : target->nic->driver;
    return fix_function(build, target, error);
}

bool
np_build_targets(NpBuild *build, GError **error)
{
    g_autoptr(GPtrArray) nics = np_config_nics(build->world->config, build->vm);
    for (guint i = 0; i < nics->len; i++) {
        NpTarget target = {.nic = g_ptr_array_index(nics, i)};
        bool port = target.nic->source == NP_SOURCE_PF;
        if (!(port ? set_port : set_vf)(build, &target, error)) {
            g_prefix_error(error, "nic %u (%s): ", target.nic->nic, target.nic->origin);
            return false;
        }
        if (!target.driver)
            target.driver = DEFAULT_DRIVER;
        target.choice.nic = target.nic;
        target.choice.pf = target.pf->bdf;
        target.choice.exists = target.function != NULL;
        g_array_append_val(build->targets, target);
    }
    return true;
}

/* What all NICs from one PF ask of it. */
typedef struct {
    const NpFunction *pf;
    const NpPool *pool; /* nullable */
    bool whole_port;
    unsigned nics;     /* so many VFs for the VM at hand */
    unsigned at_least; /* VFs there must be for that: those named may be high ones */
} Need;

static bool
add_need(GArray *needs, const NpTarget *target, GError **error)
{
    Need *need = NULL;
    for (guint i = 0; i < needs->len && !need; i++)
        if (g_array_index(needs, Need, i).pf == target->pf)
            need = &g_array_index(needs, Need, i);
    if (!need) {
        Need fresh = {target->pf, target->pool, target->choice.whole_port, 0, 0};
        guint at = 0;
        while (at < needs->len &&
               np_bdf_compare(&g_array_index(needs, Need, at).pf->bdf, &target->pf->bdf) < 0)
            at++;
        g_array_insert_val(needs, at, fresh);
        need = &g_array_index(needs, Need, at);
    } else if (need->whole_port || target->choice.whole_port) {
        g_autofree char *what = np_function_describe(target->pf);
        return np_throw(error, NP_ERROR_CONFIG,
                        "nic %u: %s cannot be given away whole and in part, or twice",
                        target->nic->nic, what);
    }
    if (target->pool && need->pool && target->pool->vfs != need->pool->vfs)
        return np_throw(error, NP_ERROR_CONFIG, "%s and %s disagree about the PF's number of VFs",
                        need->pool->origin, target->pool->origin);
    need->pool = need->pool ? need->pool : target->pool;
    need->nics++;
    need->at_least = MAX(need->at_least, need->nics);
    if (target->wants_index)
        need->at_least = MAX(need->at_least, target->choice.vf_index + 1);
    return true;
}

static bool
check_pf(const Need *need, GError **error)
{
    const NpFunction *pf = need->pf;
    g_autofree char *what = np_function_describe(pf);
    if (!pf->driver || pf->vfio != NP_VFIO_NONE)
        return np_throw(error, NP_ERROR_BUSY,
                        "%s has no network driver of the host, so it cannot have VFs; was the "
                        "whole port given to a VM?",
                        what);
    if (pf->sriov->total == 0)
        return np_throw(error, NP_ERROR_CONFIG,
                        "%s has SR-IOV switched off in the card's firmware (0 VFs at most); "
                        "ConnectX: mstconfig set SRIOV_EN=1 NUM_OF_VFS=N, then reboot",
                        what);
    if (!pf->net)
        return np_throw(error, NP_ERROR_UNSUPPORTED,
                        "%s has no interface, through which its VFs could be configured", what);
    return true;
}

static bool
plan_up(NpBuild *build, const Need *need, GError **error)
{
    const NpFunction *pf = need->pf;
    if (!pf->net->up) {
        g_autofree char *what = np_function_describe(pf);
        if (!need->pool || need->pool->pf_up == NP_PF_UP_REQUIRE)
            return np_throw(error, NP_ERROR_CONFIG,
                            "%s is down; set it up, or let nicpass do it with 'pf-up = set' in its "
                            "[pool]",
                            what);
        NpOp *op = np_build_op(build, NP_OP_PF_UP, NP_ROLE_PF, &pf->bdf,
                               "VFs need their PF up; back down with the last lease");
        op->change.old_value = g_strdup("0");
        op->change.new_value = g_strdup("1");
    }
    if (need->pool && need->pool->mtu > pf->net->mtu) {
        NpOp *op = np_build_op(build, NP_OP_PF_MTU, NP_ROLE_PF, &pf->bdf, "asked for by the pool");
        op->change.old_value = g_strdup_printf("%u", pf->net->mtu);
        op->change.new_value = g_strdup_printf("%u", need->pool->mtu);
    }
    return true;
}

/* A number that is neither 0 nor right: to change it is to destroy all VFs, so a person decides. */
static bool
refuse_count(NpBuild *build, const NpFunction *pf, unsigned wanted, GError **error)
{
    char bdf[NP_BDF_TEXT_SIZE];
    g_autofree char *what = np_function_describe(pf);
    g_autofree char *holders = np_build_holders(build->world, pf);
    return np_throw(error, NP_ERROR_BUSY,
                    "%s has %u VFs, not %u, and changing the number would remove them all; in use: "
                    "%s. When nothing is: nicpass vfs %s %u",
                    what, pf->sriov->count, wanted, holders ? holders : "none",
                    np_bdf_format(&pf->bdf, bdf), wanted);
}

/* VFs that all VMs of the configuration together take from a PF: their number cannot grow later
 * without taking those away that are in use. */
static unsigned
count_configured(const NpWorld *world, const NpFunction *pf)
{
    unsigned nics = 0, highest = 0, index;
    for (guint i = 0; i < world->config->nics->len; i++) {
        const NpNic *nic = g_ptr_array_index(world->config->nics, i);
        const NpPool *pool =
            nic->source == NP_SOURCE_POOL ? np_config_pool(world->config, nic->pool) : NULL;
        if (pool && np_plan_resolve(world->inventory, &pool->pf, NULL) == pf)
            nics++;
        if (nic->source == NP_SOURCE_VF && index_of(world->inventory, pf, &nic->vf, &index)) {
            nics++;
            highest = MAX(highest, index + 1);
        }
    }
    return MAX(nics, highest);
}

static bool
plan_vfs(NpBuild *build, const Need *need, GError **error)
{
    const NpFunction *pf = need->pf;
    unsigned exactly = need->pool ? need->pool->vfs : 0, now = pf->sriov->count;
    unsigned configured = MIN(count_configured(build->world, pf), pf->sriov->total);
    unsigned wanted = exactly ? exactly : MAX(need->at_least, now ? 0 : configured);
    g_autofree char *what = np_function_describe(pf);
    if (exactly && need->at_least > exactly)
        return np_throw(error, NP_ERROR_CONFIG,
                        "%s: the VM needs %u VFs of %s, the pool is to have %u", need->pool->origin,
                        need->at_least, what, exactly);
    if (wanted > pf->sriov->total)
        return np_throw(error, NP_ERROR_CONFIG, "%s can have %u VFs at most, not %u", what,
                        pf->sriov->total, wanted);
    if (now == wanted || (!exactly && now > wanted))
        return true;
    if (now > 0)
        return refuse_count(build, pf, wanted, error);
    if (!np_guard_future_group(build->world->inventory, pf, error))
        return false;
    NpOp *op = np_build_op(build, NP_OP_MAKE_VFS, NP_ROLE_PF, &pf->bdf,
                           exactly ? "the pool's number; they stay"
                                   : "as many as the configuration needs, for each costs speed; "
                                     "they stay");
    op->change.old_value = g_strdup("0");
    op->change.new_value = g_strdup_printf("%u", wanted);
    np_build_op(build, NP_OP_WAIT_VFS, NP_ROLE_PF, &pf->bdf, "until all are there");
    return true;
}

/* Leases on the PF that stand in the way but that nobody holds any more. */
static void
plan_reclaims(NpBuild *build, const Need *need)
{
    const GPtrArray *leases = build->world->leases;
    for (guint i = 0; i < leases->len && !build->keep; i++) {
        const NpLease *lease = g_ptr_array_index(leases, i);
        bool own = np_vm_same(lease->vm, build->vm);
        if (!np_bdf_equal(&lease->pf, &need->pf->bdf) || (!own && lease->life != NP_LIFE_DEAD))
            continue;
        g_autofree char *whose = np_lease_describe(lease);
        g_autofree char *reason = g_strdup_printf(
            own ? "%s has it from before, not as it should be" : "%s is gone", whose);
        NpOp *op = np_build_op(build, NP_OP_RECLAIM, lease->whole_port ? NP_ROLE_PORT : NP_ROLE_VF,
                               &lease->bdf, reason);
        op->change.pf = lease->pf;
        op->change.vf_index = lease->vf_index;
    }
}

bool
np_build_pfs(NpBuild *build, GError **error)
{
    g_autoptr(GArray) needs = g_array_new(FALSE, FALSE, sizeof(Need));
    for (guint i = 0; i < build->targets->len; i++)
        if (!add_need(needs, &g_array_index(build->targets, NpTarget, i), error))
            return false;
    for (guint i = 0; i < needs->len; i++) {
        const Need *need = &g_array_index(needs, Need, i);
        if (!build->keep)
            np_build_op(build, NP_OP_LOCK, need->whole_port ? NP_ROLE_PORT : NP_ROLE_PF,
                        &need->pf->bdf, "until all is done");
        plan_reclaims(build, need);
        if (!need->whole_port && (!check_pf(need, error) || !plan_up(build, need, error) ||
                                  !plan_vfs(build, need, error)))
            return false;
    }
    return true;
}
