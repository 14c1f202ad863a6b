/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * NIC: see nic.h.
 */
#include "agent/nic.h"

#include "agent/nicset.h"
#include "agent/nicstate.h"
#include "lib/base/error.h"
#include "lib/base/log.h"

/* One changed NIC. */
typedef struct {
    NpLink link;
    NpNicState *saved;
} Nic;

/* One request, waiting or being carried out. */
typedef struct {
    NpNics *nics;
    bool set;
    json_t *fields;
    NpAnswer answer; /* NULL once it was answered ahead of its end */
    gpointer data;
    Nic *nic;      /* set: what it works on (in nics->changed) */
    bool fresh;    /* set: this request was the NIC's first */
    guint next;    /* restore: place in nics->changed to look at */
    guint count;   /* restore: NICs put back */
    GError *error; /* what it will be answered with */
} Request;

struct NpNics {
    NpManagers *managers; /* NULL: none are kept off */
    GPtrArray *changed;   /* Nic */
    GQueue waiting;       /* Request */
    Request *running;
    GPtrArray *orphans; /* Request: answered already, a manager's helper still comes back to it */
};

static void run_next(NpNics *nics);

static void
nic_free(gpointer data)
{
    Nic *nic = data;
    np_nic_state_free(nic->saved);
    g_free(nic);
}

static void
request_free(gpointer data)
{
    Request *request = data;
    json_decref(request->fields);
    g_clear_error(&request->error);
    g_free(request);
}

NpNics *
np_nics_new_with(NpManagers *managers)
{
    NpNics *nics = g_new0(NpNics, 1);
    nics->managers = managers;
    nics->changed = g_ptr_array_new_with_free_func(nic_free);
    nics->orphans = g_ptr_array_new_with_free_func(request_free);
    g_queue_init(&nics->waiting);
    return nics;
}

NpNics *
np_nics_new(bool managers)
{
    return np_nics_new_with(managers ? np_managers_new(NULL) : NULL);
}

/* Answers everything that waits or runs. */
static void
requests_abort(NpNics *nics)
{
    g_autoptr(GError) error = NULL;
    np_throw(&error, NP_ERROR_INTERRUPTED, "the session ended");
    if (nics->running) {
        Request *running = g_steal_pointer(&nics->running);
        NpAnswer answer = g_steal_pointer(&running->answer);
        g_ptr_array_add(nics->orphans, running);
        answer(NULL, error, running->data);
    }
    Request *request;
    while ((request = g_queue_pop_head(&nics->waiting))) {
        request->answer(NULL, error, request->data);
        request_free(request);
    }
}

void
np_nics_free(NpNics *nics)
{
    if (!nics)
        return;
    requests_abort(nics);
    np_managers_free(nics->managers);
    g_ptr_array_unref(nics->orphans);
    g_ptr_array_unref(nics->changed);
    g_free(nics);
}

/* Ends the running request: answers with its error, or else with ok (transfer full). */
static void
request_end(Request *request, json_t *ok)
{
    NpNics *nics = request->nics;
    if (request->error)
        g_clear_pointer(&ok, json_decref);
    nics->running = NULL;
    request->answer(ok, request->error, request->data);
    request_free(request);
    run_next(nics);
}

/* Whether the request was answered while a helper ran; it is then freed. */
static bool
request_is_orphan(Request *request)
{
    return g_ptr_array_remove_fast(request->nics->orphans, request);
}

/* Takes over a helper's error unless there is one already. */
static void
request_note(Request *request, const GError *error)
{
    if (error && !request->error)
        request->error = g_error_copy(error);
}

static void
set_given_back(const GError *error, gpointer data)
{
    Request *request = data;
    if (request_is_orphan(request))
        return;
    request_note(request, error);
    request_end(request, NULL);
}

/* Ends a nic-set that failed. A NIC that was not changed before is given back to its managers. */
static void
set_fail(Request *request)
{
    NpNics *nics = request->nics;
    bool forget =
        request->fresh && !g_error_matches(request->error, NP_ERROR, NP_ERROR_ROLLBACK_FAILED);
    if (!forget) {
        request_end(request, NULL);
        return;
    }
    const NpLink link = request->nic->link;
    g_ptr_array_remove(nics->changed, request->nic);
    request->nic = NULL;
    if (nics->managers)
        np_managers_release(nics->managers, &link, set_given_back, request);
    else
        request_end(request, NULL);
}

static void
set_held(const GError *error, gpointer data)
{
    Request *request = data;
    if (request_is_orphan(request))
        return;
    request_note(request, error);
    if (request->error || !np_nic_apply(&request->nic->link, request->fields, &request->error))
        set_fail(request);
    else
        request_end(request, json_pack("{s:s}", "name", request->nic->link.name));
}

static Nic *
changed_find(const NpNics *nics, int ifindex)
{
    for (guint i = 0; i < nics->changed->len; i++) {
        Nic *nic = nics->changed->pdata[i];
        if (nic->link.ifindex == ifindex)
            return nic;
    }
    return NULL;
}

/* Finds the request's NIC and remembers its state if it was not changed before. */
static bool
set_prepare(Request *request, GError **error)
{
    NpNics *nics = request->nics;
    g_autoptr(NpNetlink) netlink = np_netlink_open(error);
    NpLink link;
    if (!netlink ||
        !np_nic_find(netlink, np_json_string(request->fields, "mac", ""), &link, error) ||
        !np_nic_check_free(netlink, &link, error))
        return false;
    request->nic = changed_find(nics, link.ifindex);
    if (request->nic) {
        request->nic->link = link; /* the name may have changed */
        return true;
    }
    g_autoptr(NpNicState) saved = np_nic_state_read(netlink, link.ifindex, error);
    if (!saved)
        return false;
    request->fresh = true;
    request->nic = g_new0(Nic, 1);
    request->nic->link = link;
    request->nic->saved = g_steal_pointer(&saved);
    g_ptr_array_add(nics->changed, request->nic);
    return true;
}

static void
set_run(Request *request)
{
    const char *cidr = np_json_string(request->fields, "address", NULL);
    g_autofree char *address = NULL;
    unsigned prefix;
    if ((cidr && !np_parse_cidr(cidr, &address, &prefix, &request->error)) ||
        !set_prepare(request, &request->error))
        request_end(request, NULL);
    else if (request->nics->managers && request->fresh)
        np_managers_hold(request->nics->managers, &request->nic->link, set_held, request);
    else
        set_held(NULL, request);
}

/* Puts one NIC back; one that fails stays remembered. */
static bool
nic_restore(Nic *nic, GError **error)
{
    g_autoptr(NpNetlink) netlink = np_netlink_open(error);
    g_autoptr(GError) problem = NULL;
    if (!netlink)
        return false;
    if (!np_nic_state_restore(netlink, nic->saved, &problem))
        return np_throw(error, NP_ERROR_ROLLBACK_FAILED, "%s", problem->message);
    /* The managers know it by its name of today. */
    (void) np_link_read(netlink, nic->link.ifindex, &nic->link, NULL); /* gone: any name will do */
    return true;
}

static void restore_continue(Request *request);

static void
restore_given_back(const GError *error, gpointer data)
{
    Request *request = data;
    if (request_is_orphan(request))
        return;
    request_note(request, error);
    restore_continue(request);
}

/* Whether the request means this NIC: by the MAC it has or had, or all. */
static bool
restore_wants(const Request *request, const Nic *nic)
{
    const char *text = np_json_string(request->fields, "mac", NULL);
    NpMac mac;
    if (!text)
        return true;
    return np_parse_mac(text, &mac, NULL) &&
           ((nic->link.has_permanent_mac && np_mac_equal(&nic->link.permanent_mac, &mac)) ||
            (nic->link.has_mac && np_mac_equal(&nic->link.mac, &mac)));
}

static void
restore_continue(Request *request)
{
    NpNics *nics = request->nics;
    while (request->next < nics->changed->len) {
        Nic *nic = nics->changed->pdata[request->next];
        g_autoptr(GError) error = NULL;
        if (!restore_wants(request, nic) || !nic_restore(nic, &error)) {
            request_note(request, error);
            request->next++;
            continue;
        }
        const NpLink link = nic->link;
        g_ptr_array_remove_index(nics->changed, request->next);
        request->count++;
        if (nics->managers) {
            np_managers_release(nics->managers, &link, restore_given_back, request);
            return;
        }
    }
    request_end(request, json_pack("{s:i}", "restored", (int) request->count));
}

static void
run_next(NpNics *nics)
{
    if (nics->running)
        return;
    nics->running = g_queue_pop_head(&nics->waiting);
    if (!nics->running)
        return;
    if (nics->running->set)
        set_run(nics->running);
    else
        restore_continue(nics->running);
}

static void
request_add(NpNics *nics, bool set, const json_t *fields, NpAnswer answer, gpointer data)
{
    Request *request = g_new0(Request, 1);
    request->nics = nics;
    request->set = set;
    request->fields = json_incref((json_t *) (uintptr_t) fields);
    request->answer = answer;
    request->data = data;
    g_queue_push_tail(&nics->waiting, request);
    run_next(nics);
}

void
np_nics_set(NpNics *nics, const json_t *fields, NpAnswer answer, gpointer data)
{
    request_add(nics, true, fields, answer, data);
}

void
np_nics_restore(NpNics *nics, const json_t *fields, NpAnswer answer, gpointer data)
{
    request_add(nics, false, fields, answer, data);
}

static void
log_given_back(const GError *error, gpointer data)
{
    if (error)
        np_log(G_LOG_LEVEL_WARNING, "%s", error->message);
}

void
np_nics_restore_all(NpNics *nics)
{
    requests_abort(nics);
    for (guint i = 0; i < nics->changed->len; i++) {
        Nic *nic = nics->changed->pdata[i];
        g_autoptr(GError) error = NULL;
        if (!nic_restore(nic, &error))
            np_log(G_LOG_LEVEL_WARNING, "%s", error->message);
        if (nics->managers)
            np_managers_release(nics->managers, &nic->link, log_given_back, NULL);
    }
    g_ptr_array_set_size(nics->changed, 0);
}

void
np_nics_settle(NpNics *nics)
{
    while (nics->managers && np_managers_busy(nics->managers))
        g_main_context_iteration(NULL, TRUE);
}
