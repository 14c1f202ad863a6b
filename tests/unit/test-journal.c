/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: journals, locks and the store of leases, on disk.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/apply/leases.h"
#include "lib/apply/lock.h"
#include "lib/base/error.h"
#include "tests/fake/host.h"

static const char *const lines[] = {
    "{\"id\":1}\n",
    "{\"change\":1,\"op\":\"override\",\"role\":\"vf\",\"object\":\"0000:01:10.0\",\"pf\":"
    "\"0000:01:00.0\",\"vf\":0,\"attribute\":\"driver_override\",\"old\":\"\",\"new\":\"vfio-pci\"}"
    "\n",
    "{\"mark\":\"ready\"}\n",
    "{\"undone\":1}\n",
};

static char *
join(unsigned count)
{
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; i < count; i++)
        g_string_append(text, lines[i]);
    return g_string_free(text, FALSE);
}

static void
test_a_file_cut_at_any_byte_holds_what_was_complete(void)
{
    g_autofree char *whole = join(G_N_ELEMENTS(lines));
    for (size_t size = 0; size <= strlen(whole); size++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(NpJournal) journal = np_journal_parse("j", whole, size, &error);
        unsigned complete = 0;
        for (size_t i = 0; i < size; i++)
            complete += whole[i] == '\n';
        if (complete == 0) {
            g_assert_error(error, NP_ERROR, NP_ERROR_NOT_FOUND);
            continue;
        }
        g_assert_no_error(error);
        g_autoptr(GPtrArray) open = np_journal_open_changes(journal, NULL);
        g_assert_cmpuint(open->len, ==, complete == 2 || complete == 3);
        g_assert_cmpuint(json_array_size(np_journal_marks(journal)), ==, complete >= 3);
    }
}

typedef struct {
    const char *name, *line;
} Bad;

static const Bad bad[] = {
    {"not-json", "nonsense\n"},
    {"array", "[]\n"},
    {"empty-line", "\n"},
    {"nothing-known", "{\"a\":1}\n"},
    {"undone-unknown", "{\"undone\":7}\n"},
    {"undone-twice", "{\"undone\":1}\n{\"undone\":1}\n"},
    {"number-skipped",
     "{\"change\":3,\"op\":\"unbind\",\"role\":\"vf\",\"object\":\"0000:01:10.0\",\"pf\":"
     "\"0000:01:00.0\",\"attribute\":\"driver\",\"old\":\"x\"}\n"},
    {"op-unknown", "{\"change\":2,\"op\":\"rm\",\"role\":\"vf\",\"object\":\"0000:01:10.0\",\"pf\":"
                   "\"0000:01:00.0\",\"attribute\":\"driver\",\"old\":\"x\"}\n"},
    {"no-old", "{\"change\":2,\"op\":\"unbind\",\"role\":\"port\",\"object\":\"0000:01:00.0\","
               "\"attribute\":\"driver\"}\n"},
    {"path-for-object",
     "{\"change\":2,\"op\":\"unbind\",\"role\":\"port\",\"object\":\"../../../x\","
     "\"attribute\":\"driver\",\"old\":\"x\"}\n"},
};

static void
test_damage_is_an_error_with_its_line(gconstpointer data)
{
    const Bad *row = data;
    g_autofree char *start = join(3);
    g_autofree char *text = g_strconcat(start, row->line, NULL);
    g_autoptr(GError) error = NULL;
    g_assert_null(np_journal_parse("j", text, strlen(text), &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_PROTOCOL);
    g_assert_true(g_str_has_prefix(error->message, "j:4:") ||
                  g_str_has_prefix(error->message, "j:5:"));
}

static FakeHost *
new_host(void)
{
    return fake_host_new("igb", "[pool fast]\npf = 0000:01:00.0\n[vm 101]\npool = fast\n");
}

static NpChange
make_change(void)
{
    static char old_value[] = "", new_value[] = "vfio-pci";
    return (NpChange){.kind = NP_OP_OVERRIDE,
                      .role = NP_ROLE_PORT,
                      .object = {0, 1, 0, 0},
                      .pf = {0, 1, 0, 0},
                      .attr = NP_ATTR_OVERRIDE,
                      .old_value = old_value,
                      .new_value = new_value};
}

static void
test_appends_go_behind_what_is_complete(void)
{
    g_autoptr(FakeHost) host = new_host();
    g_autofree char *path = g_build_filename(host->run_dir, "x", "j.jsonl", NULL);
    g_autoptr(json_t) header = json_pack("{s:i}", "id", 1);
    g_autoptr(NpJournal) journal = np_journal_create(path, header, NULL);
    g_autoptr(GError) error = NULL;
    NpChange change = make_change();
    const NpChange *changes[] = {&change, &change, NULL};
    g_assert_nonnull(journal);
    g_assert_null(np_journal_create(path, header, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_BUSY);
    g_assert_true(np_journal_append(journal, changes, NULL));
    g_clear_pointer(&journal, np_journal_free);

    g_autofree char *text = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(path, &text, &size, NULL));
    g_assert_true(g_file_set_contents(path, text, (gssize) size - 5, NULL)); /* a torn line */
    journal = np_journal_open(path, NULL);
    g_assert_true(np_journal_undone(journal, 1, NULL));
    g_clear_pointer(&journal, np_journal_free);
    journal = np_journal_open(path, NULL); /* nothing of the torn line is left */
    g_assert_nonnull(journal);
    g_assert_true(np_journal_append(journal, changes, NULL));
    g_clear_pointer(&journal, np_journal_free);

    journal = np_journal_open(path, NULL);
    g_assert_nonnull(journal);
    g_autoptr(GPtrArray) open = np_journal_open_changes(journal, NULL);
    g_autoptr(GPtrArray) all = np_journal_all_changes(journal);
    g_assert_cmpuint(open->len, ==, 2);
    g_assert_cmpuint(all->len, ==, 3);
    g_assert_true(np_journal_remove(journal, NULL));
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
}

static void
test_a_lock_that_is_held_names_its_holder(void)
{
    g_autoptr(FakeHost) host = new_host();
    g_autoptr(GError) error = NULL;
    NpBdf pf = {0, 1, 0, 0}, other = {0, 1, 0, 1};
    g_autofree char *pid = g_strdup_printf("process %d", (int) getpid());
    int first = np_lock_pf(host->run_dir, &pf, 0, NULL);
    int second = np_lock_pf(host->run_dir, &other, 0, NULL);
    g_assert_cmpint(first, >=, 0);
    g_assert_cmpint(second, >=, 0);
    g_assert_cmpint(np_lock_pf(host->run_dir, &pf, 0, &error), ==, -1);
    g_assert_error(error, NP_ERROR, NP_ERROR_BUSY);
    g_assert_nonnull(strstr(error->message, pid));
    close(first);
    first = np_lock_pf(host->run_dir, &pf, 0, NULL);
    g_assert_cmpint(first, >=, 0);
    close(first);
    close(second);
}

static bool
take_lock_and_die(FakeHost *host, gpointer data)
{
    NpBdf pf = {0, 1, 0, 0};
    return np_lock_pf(host->run_dir, &pf, 0, NULL) >= 0;
}

static void
test_a_lock_ends_with_its_process(void)
{
    g_autoptr(FakeHost) host = new_host();
    g_assert_cmpint(fake_host_fork(host, take_lock_and_die, NULL), ==, 0);
    g_assert_cmpint(fake_host_fork(host, take_lock_and_die, NULL), ==, 0);
}

static void
test_a_function_is_leased_once(void)
{
    g_autoptr(FakeHost) host = new_host();
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101), other = np_vm_new_proxmox(102);
    g_autoptr(GError) error = NULL;
    NpBdf bdf = {0, 1, 0, 0};
    g_autoptr(NpLease) lease = np_lease_new(vm, 0, &bdf), second = np_lease_new(other, 0, &bdf);
    NpSys *sys = &host->kernel->sys;
    g_autoptr(NpJournal) journal = np_leases_create(sys, host->run_dir, lease, NULL);
    g_assert_nonnull(journal);
    g_assert_null(np_leases_create(sys, host->run_dir, second, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_BUSY);
    g_assert_nonnull(strstr(error->message, "VM 101 nic 0"));
}

static NpLife
life_of(FakeHost *host)
{
    g_autoptr(GPtrArray) leases = np_leases_list(&host->kernel->sys, host->run_dir, NULL);
    g_assert_cmpuint(leases->len, ==, 1);
    return ((const NpLease *) g_ptr_array_index(leases, 0))->life;
}

static void
test_life_of_a_lease(void)
{
    g_autoptr(FakeHost) host = new_host();
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    FakeDevice *port = fake_find(host->kernel, "0000:01:00.0");
    g_autoptr(NpLease) lease = np_lease_new(vm, 0, &port->bdf);
    g_autoptr(NpJournal) journal = np_leases_create(&host->kernel->sys, host->run_dir, lease, NULL);
    g_assert_cmpint(life_of(host), ==, NP_LIFE_DEAD); /* its hook died before the end */
    fake_unbind(host->state, port);
    fake_bind(host->state, port, "vfio-pci");
    port->held = true;
    g_assert_cmpint(life_of(host), ==, NP_LIFE_ALIVE); /* somebody has it open all the same */
    port->held = false;
    g_assert_true(np_leases_mark_ready(journal, NULL));
    g_assert_cmpint(life_of(host), ==, NP_LIFE_ALIVE); /* QEMU is about to come */
    host->state->now_ms += NP_LEASE_GRACE_MS;
    g_assert_cmpint(life_of(host), ==, NP_LIFE_DEAD);
    host->state->alive_vmids[0] = 101;
    g_assert_cmpint(life_of(host), ==, NP_LIFE_ALIVE);
    g_assert_true(np_leases_mark_running(journal, 4711, NULL));
    host->state->alive_vmids[0] = 0;
    host->state->now_ms = 0;
    g_assert_cmpint(life_of(host), ==, NP_LIFE_DEAD); /* it ran once: no grace */
}

static void
test_foreign_files_are_passed_over(void)
{
    g_autoptr(FakeHost) host = new_host();
    g_autoptr(NpVm) vm = np_vm_new_proxmox(101);
    NpBdf bdf = {0, 1, 0, 0};
    g_autoptr(NpLease) lease = np_lease_new(vm, 0, &bdf);
    g_autoptr(NpJournal) journal = np_leases_create(&host->kernel->sys, host->run_dir, lease, NULL);
    g_assert_nonnull(journal);
    static const char *const names[] = {"0123456789abcdef.jsonl", "x.jsonl", "README"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(host->run_dir, "leases", names[i], NULL);
        g_assert_true(g_file_set_contents(path, "{\"half", -1, NULL));
    }
    g_assert_cmpint(life_of(host), ==, NP_LIFE_DEAD); /* asserts that there is one */
}

static void
test_ids_that_are_no_names_are_refused(void)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(np_leases_open("/run", "../x", &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/journal/a-file-cut-at-any-byte-holds-what-was-complete",
                    test_a_file_cut_at_any_byte_holds_what_was_complete);
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *path = g_strdup_printf("/journal/damage/%s", bad[i].name);
        g_test_add_data_func(path, &bad[i], test_damage_is_an_error_with_its_line);
    }
    g_test_add_func("/journal/appends-go-behind-what-is-complete",
                    test_appends_go_behind_what_is_complete);
    g_test_add_func("/lock/that-is-held-names-its-holder",
                    test_a_lock_that_is_held_names_its_holder);
    g_test_add_func("/lock/ends-with-its-process", test_a_lock_ends_with_its_process);
    g_test_add_func("/leases/a-function-is-leased-once", test_a_function_is_leased_once);
    g_test_add_func("/leases/life", test_life_of_a_lease);
    g_test_add_func("/leases/foreign-files-are-passed-over", test_foreign_files_are_passed_over);
    g_test_add_func("/leases/ids-that-are-no-names-are-refused",
                    test_ids_that_are_no_names_are_refused);
    return g_test_run();
}
