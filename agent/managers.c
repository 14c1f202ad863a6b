/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Managers: see managers.h.
 */
#include "agent/managers.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/child.h"
#include "agent/networkfile.h"
#include "lib/base/error.h"
#include "lib/base/parse.h"

#define HELPER_WATCHDOG_MS 10000
#define HELPER_OUTPUT_MAX  4096
#define SET_TRIES_MAX      10
#define AGAIN_MS           500

/* nmcli(1), exit status. */
#define NMCLI_NOT_RUNNING 8
#define NMCLI_NO_DEVICE   10

/* NMDeviceState's NM_DEVICE_STATE_UNMANAGED. */
#define NM_STATE_UNMANAGED "10 "

typedef struct {
    NpLink link;
    bool nm;      /* NetworkManager managed it before */
    bool leaving; /* being given back: not in the .network file any more */
} Held;

typedef struct Operation Operation;

struct NpManagers {
    NpManagersPaths paths;
    GArray *held;   /* Held */
    GQueue waiting; /* Operation */
    Operation *running;
};

typedef enum {
    STEP_NETWORKD_ASK,
    STEP_NETWORKD_RELOAD,
    STEP_NM_ASK,
    STEP_NM_SET,
    STEP_NM_LOOK, /* nmcli exits with 0 also when polkit refuses while its daemon is starting */
    STEP_END,
} Step;

struct Operation {
    NpManagers *managers; /* NULL once they are gone */
    NpLink link;
    bool hold;
    Step step;
    unsigned tries; /* of STEP_NM_SET */
    guint timer;    /* until the next try, or 0 */
    NpManagersDone done;
    gpointer data;
};

static const NpManagersPaths system_paths = {
    .nmcli = "/usr/bin/nmcli",
    .networkctl = "/usr/bin/networkctl",
    .systemctl = "/usr/bin/systemctl",
    .nm_run_dir = "/run/NetworkManager",
    .networkd_run_dir = "/run/systemd/netif",
    .network_file = "/run/systemd/network/05-nicpass-agent.network",
    .again_ms = AGAIN_MS,
};

static void operation_continue(Operation *operation);
static void run_next(NpManagers *managers);

NpManagers *
np_managers_new(const NpManagersPaths *paths)
{
    NpManagers *managers = g_new0(NpManagers, 1);
    managers->paths = paths ? *paths : system_paths;
    managers->held = g_array_new(FALSE, TRUE, sizeof(Held));
    g_queue_init(&managers->waiting);
    return managers;
}

void
np_managers_free(NpManagers *managers)
{
    if (!managers)
        return;
    if (managers->running && managers->running->timer) {
        g_source_remove(managers->running->timer);
        g_free(managers->running);
    } else if (managers->running) {
        managers->running->managers = NULL;
    }
    g_queue_clear_full(&managers->waiting, g_free);
    g_array_unref(managers->held);
    g_free(managers);
}

bool
np_managers_busy(const NpManagers *managers)
{
    return managers->running != NULL;
}

/* The held NIC's place, or -1. */
static int
held_find(const NpManagers *managers, int ifindex)
{
    for (guint i = 0; i < managers->held->len; i++)
        if (g_array_index(managers->held, Held, i).link.ifindex == ifindex)
            return (int) i;
    return -1;
}

static bool
is_there(const char *program, const char *run_dir)
{
    struct stat info;
    return program && run_dir && access(program, X_OK) == 0 && stat(run_dir, &info) == 0 &&
           S_ISDIR(info.st_mode);
}

static bool
network_file_write(const NpManagers *managers, GError **error)
{
    g_autoptr(GPtrArray) links = g_ptr_array_new();
    for (guint i = 0; i < managers->held->len; i++) {
        Held *held = &g_array_index(managers->held, Held, i);
        if (!held->leaving)
            g_ptr_array_add(links, &held->link);
    }
    return np_networkfile_write(managers->paths.network_file, links, error);
}

/* Ends the operation with this verdict (transfer full, nullable). */
static void
operation_end(Operation *operation, GError *error)
{
    if (error)
        g_prefix_error(&error,
                       "%s '%s': ", operation->hold ? "keep network managers off" : "give back",
                       operation->link.name);
    int held = held_find(operation->managers, operation->link.ifindex);
    if (!operation->hold && !error && held >= 0)
        g_array_remove_index(operation->managers->held, (guint) held);
    NpManagers *managers = operation->managers;
    managers->running = NULL;
    run_next(managers);
    operation->done(error, operation->data);
    g_clear_error(&error);
    g_free(operation);
}

/* A helper's failure in words; NULL when it went well. */
static GError *
helper_problem(const NpChildResult *result, const char *name)
{
    GError *error = NULL;
    g_autofree char *said = g_strstrip(g_strdup(result->err ? result->err : ""));
    g_autofree char *quoted = np_quote(said);
    if (result->timed_out)
        np_throw(&error, NP_ERROR_TIMEOUT, "%s: no end after %d s", name,
                 HELPER_WATCHDOG_MS / 1000);
    else if (!WIFEXITED(result->wait_status))
        np_throw(&error, NP_ERROR_FAILED, "%s: killed by signal %d", name,
                 WTERMSIG(result->wait_status));
    else if (WEXITSTATUS(result->wait_status) != 0)
        np_throw(&error, NP_ERROR_FAILED, "%s: exit status %d: %s", name,
                 WEXITSTATUS(result->wait_status), quoted);
    return error;
}

static bool
exited_with(const NpChildResult *result, int status)
{
    return !result->timed_out && WIFEXITED(result->wait_status) &&
           WEXITSTATUS(result->wait_status) == status;
}

/* Takes what NetworkManager's state is after a set. */
static GError *
take_look(Operation *operation, const NpChildResult *result)
{
    GError *error = NULL;
    operation->step = STEP_END;
    if (exited_with(result, NMCLI_NOT_RUNNING) || exited_with(result, NMCLI_NO_DEVICE))
        return NULL;
    error = helper_problem(result, "nmcli device show");
    if (error || g_str_has_prefix(result->out, NM_STATE_UNMANAGED) == operation->hold)
        return error;
    operation->step = STEP_NM_SET;
    if (operation->tries < SET_TRIES_MAX)
        return NULL;
    g_autofree char *state = g_strstrip(g_strdup(result->out));
    g_autofree char *quoted = np_quote(state);
    np_throw(&error, NP_ERROR_DENIED,
             "NetworkManager %s it (state %s) although nmcli reported success %d times: polkit may "
             "not let this user do so (check 'systemctl status polkit', the agent's polkit rule, "
             "and 'Not authorized' in NetworkManager's journal)",
             operation->hold ? "still manages" : "does not manage", quoted, SET_TRIES_MAX);
    return error;
}

/* Takes a helper's result; operation->step is the step it ran for and becomes the next one. */
static GError *
operation_take(Operation *operation, const NpChildResult *result)
{
    NpManagers *managers = operation->managers;
    int held = held_find(managers, operation->link.ifindex);
    switch (operation->step) {
    case STEP_NETWORKD_ASK: {
        /* systemctl(1): 0 is active; anything else that it says means that no networkd listens. */
        if (result->timed_out)
            return helper_problem(result, "systemctl is-active");
        operation->step = STEP_NM_ASK;
        if (!exited_with(result, 0))
            return NULL;
        operation->step = STEP_NETWORKD_RELOAD;
        return NULL;
    }
    case STEP_NETWORKD_RELOAD:
        operation->step = STEP_NM_ASK;
        return helper_problem(result, "networkctl reload");
    case STEP_NM_ASK:
        operation->step = STEP_END;
        if (exited_with(result, NMCLI_NOT_RUNNING) || exited_with(result, NMCLI_NO_DEVICE))
            return NULL;
        if (exited_with(result, 0) && g_str_has_prefix(result->out, NM_STATE_UNMANAGED))
            return NULL;
        operation->step = STEP_NM_SET;
        return helper_problem(result, "nmcli device show");
    case STEP_NM_SET:
        operation->step = STEP_END;
        if (exited_with(result, NMCLI_NOT_RUNNING) ||
            (!operation->hold && exited_with(result, NMCLI_NO_DEVICE)))
            return NULL;
        operation->step = STEP_NM_LOOK;
        operation->tries++;
        if (exited_with(result, 0) && operation->hold && held >= 0)
            g_array_index(managers->held, Held, held).nm = true;
        return helper_problem(result, "nmcli device set");
    case STEP_NM_LOOK:
        return take_look(operation, result);
    case STEP_END:
        break;
    }
    return NULL;
}

static gboolean
try_again(gpointer data)
{
    Operation *operation = data;
    operation->timer = 0;
    operation_continue(operation);
    return G_SOURCE_REMOVE;
}

static void
helper_done(NpChild *child, const NpChildResult *result, gpointer data)
{
    Operation *operation = data;
    if (!operation->managers) {
        g_free(operation);
        return;
    }
    GError *error = operation_take(operation, result);
    if (error)
        operation_end(operation, error);
    else if (operation->step == STEP_NM_SET && operation->tries > 0)
        operation->timer = g_timeout_add(operation->managers->paths.again_ms, try_again, operation);
    else
        operation_continue(operation);
}

static void
operation_spawn(Operation *operation, const char *const *argv)
{
    GError *error = NULL;
    if (!np_child_spawn(argv, -1, HELPER_WATCHDOG_MS, HELPER_OUTPUT_MAX, NULL, helper_done,
                        operation, &error))
        operation_end(operation, error);
}

/* nmcli takes "-a" and the like for options of its own wherever they stand. */
static void
run_nmcli(Operation *operation)
{
    const char *nmcli = operation->managers->paths.nmcli, *name = operation->link.name;
    GError *error = NULL;
    if (name[0] == '-') {
        np_throw(&error, NP_ERROR_UNSUPPORTED,
                 "nmcli would take its name for an option: give it another ('ip link set dev %s "
                 "name ..')",
                 name);
        operation_end(operation, error);
    } else if (operation->step == STEP_NM_SET) {
        operation_spawn(operation, (const char *const[]){nmcli, "device", "set", name, "managed",
                                                         operation->hold ? "no" : "yes", NULL});
    } else {
        operation_spawn(operation, (const char *const[]){nmcli, "--get-values", "GENERAL.STATE",
                                                         "device", "show", name, NULL});
    }
}

/* Runs on from operation->step to the next helper, or to the end. */
static void
operation_continue(Operation *operation)
{
    NpManagers *managers = operation->managers;
    const NpManagersPaths *paths = &managers->paths;
    int held = held_find(managers, operation->link.ifindex);
    if (operation->step == STEP_NETWORKD_ASK) {
        if (is_there(paths->networkctl, paths->networkd_run_dir) && paths->systemctl) {
            operation_spawn(operation,
                            (const char *const[]){paths->systemctl, "is-active", "--quiet",
                                                  "systemd-networkd.service", NULL});
            return;
        }
        operation->step = STEP_NM_ASK;
    }
    if (operation->step == STEP_NETWORKD_RELOAD) {
        GError *error = NULL;
        if (!network_file_write(managers, &error))
            operation_end(operation, error);
        else
            operation_spawn(operation, (const char *const[]){paths->networkctl, "reload", NULL});
        return;
    }
    if (operation->step == STEP_NM_ASK && !operation->hold)
        operation->step =
            held >= 0 && g_array_index(managers->held, Held, held).nm ? STEP_NM_SET : STEP_END;
    if (operation->step == STEP_END || !is_there(paths->nmcli, paths->nm_run_dir))
        operation_end(operation, NULL);
    else
        run_nmcli(operation);
}

static void
operation_begin(Operation *operation)
{
    GArray *all = operation->managers->held;
    int place = held_find(operation->managers, operation->link.ifindex);
    if (place < 0 && !operation->hold) {
        operation_end(operation, NULL);
        return;
    }
    if (place < 0) {
        const Held held = {.link = operation->link};
        g_array_append_val(all, held);
        place = (int) all->len - 1;
    }
    g_array_index(all, Held, place).leaving = !operation->hold;
    operation_continue(operation);
}

/* One after the other, so that giving a NIC back cannot overtake taking it. */
static void
run_next(NpManagers *managers)
{
    if (managers->running)
        return;
    managers->running = g_queue_pop_head(&managers->waiting);
    if (managers->running)
        operation_begin(managers->running);
}

static void
operation_add(NpManagers *managers, const NpLink *link, bool hold, NpManagersDone done,
              gpointer data)
{
    Operation *operation = g_new0(Operation, 1);
    operation->managers = managers;
    operation->link = *link;
    operation->hold = hold;
    operation->done = done;
    operation->data = data;
    g_queue_push_tail(&managers->waiting, operation);
    run_next(managers);
}

void
np_managers_hold(NpManagers *managers, const NpLink *link, NpManagersDone done, gpointer data)
{
    operation_add(managers, link, true, done, data);
}

void
np_managers_release(NpManagers *managers, const NpLink *link, NpManagersDone done, gpointer data)
{
    operation_add(managers, link, false, done, data);
}
