/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test helper: see netns.h.
 */
#include "tests/agent/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t) strlen(text);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool
enter(void)
{
    if (geteuid() == 0)
        return unshare(CLONE_NEWNET) == 0;
    g_autofree char *uids = g_strdup_printf("0 %u 1", geteuid());
    g_autofree char *gids = g_strdup_printf("0 %u 1", getegid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
           write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/uid_map", uids) &&
           write_text("/proc/self/gid_map", gids);
}

bool
np_test_netns_enter(void)
{
    bool ok = enter();
    if (!ok && g_strcmp0(g_getenv("NP_MUST_RUN"), "1") == 0)
        g_error("no network namespace: %s", g_strerror(errno));
    if (ok)
        np_test_ip("link set lo up");
    return ok;
}

char *
np_test_ip_output(const char *words)
{
    g_autofree char *command = g_strconcat("ip ", words, NULL);
    g_auto(GStrv) argv = g_strsplit(command, " ", -1);
    char *out = NULL;
    g_autofree char *problems = NULL;
    g_autoptr(GError) error = NULL;
    int status;
    g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &problems, &status,
                 &error);
    g_assert_no_error(error);
    if (!g_spawn_check_wait_status(status, NULL))
        g_error("ip %s: %s", words, problems);
    return out;
}

void
np_test_ip(const char *words)
{
    g_free(np_test_ip_output(words));
}

static int
compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Routes have no order of their own. */
static char *
sorted(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    qsort(lines, g_strv_length(lines), sizeof(lines[0]), compare_lines);
    return g_strjoinv("\n", lines);
}

static char *
read_state(void)
{
    g_autofree char *addresses = np_test_ip_output("-d addr show");
    g_autofree char *routes4 = np_test_ip_output("-d -4 route show table all");
    g_autofree char *routes6 = np_test_ip_output("-d -6 route show table all");
    g_autofree char *sorted4 = sorted(routes4), *sorted6 = sorted(routes6);
    return g_strconcat(addresses, sorted4, "\n", sorted6, NULL);
}

/* Link states and routes follow a change later, by the kernel's own workers, with no event that
 * says "done": a state counts once it has been the same for STABLE readings. */
#define STABLE   8
#define PAUSE_US 50000
#define PATIENCE 400

char *
np_test_net_state(void)
{
    char *state = read_state();
    for (int same = 0, left = PATIENCE; same < STABLE && left > 0; left--) {
        g_usleep(PAUSE_US);
        char *next = read_state();
        same = strcmp(state, next) == 0 ? same + 1 : 0;
        g_free(state);
        state = next;
    }
    return state;
}

void
np_test_wait_for_state(const char *part)
{
    for (int left = PATIENCE; left > 0; left--) {
        g_autofree char *state = read_state();
        if (strstr(state, part))
            return;
        g_usleep(PAUSE_US);
    }
    g_error("'%s' never came", part);
}

static void
print_missing(const char *label, char **lines, char **others)
{
    for (; *lines; lines++)
        if (!g_strv_contains((const char *const *) others, *lines))
            g_printerr("# %s: %s\n", label, *lines);
}

void
np_test_assert_net_state(const char *wanted)
{
    g_autofree char *now = read_state();
    for (int left = PATIENCE; strcmp(now, wanted) != 0 && left > 0; left--) {
        g_usleep(PAUSE_US);
        g_free(now);
        now = read_state();
    }
    if (strcmp(now, wanted) == 0)
        return;
    g_auto(GStrv) have = g_strsplit(now, "\n", -1), want = g_strsplit(wanted, "\n", -1);
    print_missing("lost", want, have);
    print_missing("new", have, want);
    g_error("the state is not what it was (without lines above: another order)");
}

void
np_test_sysctl(const char *path, const char *value)
{
    g_autofree char *full = g_strconcat("/proc/sys/net/", path, NULL);
    if (!write_text(full, value))
        g_error("%s: %s", full, g_strerror(errno));
}

void
np_test_veth_make(void)
{
    g_autofree char *links = np_test_ip_output("-o link show");
    if (strstr(links, "left"))
        np_test_ip("link del left");
    np_test_ip("link add left address 02:00:00:00:00:01 type veth peer name right address "
               "02:00:00:00:00:02");
    np_test_ip("link set left addrgenmode none");
    np_test_ip("link set right addrgenmode none");
}
