/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: 64 processes claim 7 VFs of one machine at once.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "tests/fake/host.h"

#define PROCESSES 64
#define VFS       7
#define FIRST_VM  200

/* What one process got, in memory that all share. */
typedef struct {
    bool won;
    int code;
    NpBdf bdf;
    char message[2048];
} Outcome;

static FakeHost *
new_host(void)
{
    g_autoptr(GString) text = g_string_new("[pool fast]\npf = 0000:01:00.0\nvfs = 7\n");
    for (unsigned i = 0; i < PROCESSES; i++)
        g_string_append_printf(text, "[vm %u]\npool = fast\n", FIRST_VM + i);
    FakeHost *host = fake_host_new("igb", text->str);
    host->state->all_vms_alive = true;
    return host;
}

static void
run_child(FakeHost *host, unsigned i, int gate, Outcome *outcome)
{
    g_autoptr(NpVm) vm = np_vm_new_proxmox(FIRST_VM + i);
    g_autoptr(NpPlan) plan = NULL;
    g_autoptr(GError) error = NULL;
    char byte;
    (void) !read(gate, &byte, 1); /* ends for all at once, when the parent closes its end */
    outcome->won = np_claim(&host->apply, vm, &plan, &error);
    if (outcome->won) {
        outcome->bdf = g_array_index(plan->choices, NpChoice, 0).bdf;
        return;
    }
    outcome->code = error->code;
    g_strlcpy(outcome->message, error->message, sizeof(outcome->message));
}

static Outcome *
run_all(FakeHost *host)
{
    Outcome *outcomes = mmap(NULL, sizeof(Outcome) * PROCESSES, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int gate[2];
    g_assert_true(outcomes != MAP_FAILED);
    g_assert_no_errno(pipe(gate));
    for (unsigned i = 0; i < PROCESSES; i++) {
        pid_t child = fork();
        g_assert_cmpint(child, >=, 0);
        if (child == 0) {
            close(gate[1]);
            run_child(host, i, gate[0], &outcomes[i]);
            _exit(0);
        }
    }
    close(gate[0]);
    close(gate[1]);
    for (unsigned i = 0; i < PROCESSES; i++) {
        int status;
        g_assert_cmpint(wait(&status), >, 0);
        g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    return outcomes;
}

static void
test_no_vf_is_given_twice(void)
{
    g_autoptr(FakeHost) host = new_host();
    Outcome *outcomes = run_all(host);
    g_autoptr(GHashTable) winners = g_hash_table_new(g_str_hash, g_str_equal);
    char texts[PROCESSES][NP_BDF_TEXT_SIZE];
    for (unsigned i = 0; i < PROCESSES; i++)
        if (outcomes[i].won)
            g_assert_true(g_hash_table_add(
                winners, (gpointer) (uintptr_t) np_bdf_format(&outcomes[i].bdf, texts[i])));
    g_assert_cmpuint(g_hash_table_size(winners), ==, VFS);
    g_assert_cmpuint(fake_host_leases(host), ==, VFS);
    for (unsigned i = 0; i < PROCESSES; i++) {
        if (outcomes[i].won)
            continue;
        g_assert_cmpint(outcomes[i].code, ==, NP_ERROR_BUSY);
        for (unsigned w = 0; w < PROCESSES; w++) { /* the loser is told each holder */
            g_autofree char *holder = g_strdup_printf("VM %u nic 0", FIRST_VM + w);
            g_assert_true(!outcomes[w].won || strstr(outcomes[i].message, holder));
        }
    }
    munmap(outcomes, sizeof(Outcome) * PROCESSES);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/race/no-vf-is-given-twice", test_no_vf_is_given_twice);
    return g_test_run();
}
