/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Fake host: see host.h.
 */
#include "tests/fake/host.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "lib/base/error.h"

FakeHost *
fake_host_new(const char *driver, const char *text)
{
    g_autoptr(GError) error = NULL;
    FakeHost *host = g_new0(FakeHost, 1);
    host->kernel = fake_kernel_new_with(driver);
    host->state = host->kernel->state;
    host->config = np_config_parse("test.conf", text, &error);
    g_assert_no_error(error);
    /* Every journal entry is fsynced: on a disk, thousands of them take their time. */
    bool memory = g_file_test("/dev/shm", G_FILE_TEST_IS_DIR) && g_access("/dev/shm", W_OK) == 0;
    host->run_dir =
        g_build_filename(memory ? "/dev/shm" : g_get_tmp_dir(), "nicpass-test-XXXXXX", NULL);
    g_assert_nonnull(g_mkdtemp(host->run_dir));
    host->apply = (NpApply){.sys = &host->kernel->sys,
                            .config = host->config,
                            .run_dir = host->run_dir,
                            .lock_timeout_ms = 60000,
                            .warnings = g_ptr_array_new_with_free_func(g_free)};
    return host;
}

void
fake_remove_tree(const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *child = g_build_filename(path, name, NULL);
        fake_remove_tree(child);
    }
    (void) g_remove(path); /* the test's folder below /tmp: what stays does no harm */
}

void
fake_host_free(FakeHost *host)
{
    if (!host)
        return;
    fake_remove_tree(host->run_dir);
    np_sys_free(&host->kernel->sys);
    np_config_free(host->config);
    g_ptr_array_unref(host->apply.warnings);
    g_free(host->run_dir);
    g_free(host);
}

void
fake_host_claim(FakeHost *host, uint32_t vmid)
{
    g_autoptr(NpVm) vm = np_vm_new_proxmox(vmid);
    g_autoptr(GError) error = NULL;
    bool done = np_claim(&host->apply, vm, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(done);
}

void
fake_host_refuse(FakeHost *host, uint32_t vmid, NpError code, const char *part)
{
    g_autoptr(NpVm) vm = np_vm_new_proxmox(vmid);
    g_autoptr(GError) error = NULL;
    g_assert_false(np_claim(&host->apply, vm, NULL, &error));
    if (!strstr(error->message, part))
        g_error("'%s' is not in: %s", part, error->message);
    g_assert_error(error, NP_ERROR, (gint) code);
}

void
fake_host_release(FakeHost *host, uint32_t vmid)
{
    g_autoptr(NpVm) vm = np_vm_new_proxmox(vmid);
    g_autoptr(GError) error = NULL;
    bool done = np_release(&host->apply, vm, &error);
    g_assert_no_error(error);
    g_assert_true(done);
}

static guint
count_files(FakeHost *host, const char *folder)
{
    g_autofree char *path = g_build_filename(host->run_dir, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    guint count = 0;
    while (dir && g_dir_read_name(dir))
        count++;
    return count;
}

guint
fake_host_leases(FakeHost *host)
{
    return count_files(host, "leases");
}

guint
fake_host_pf_journals(FakeHost *host)
{
    return count_files(host, "pf");
}

guint
fake_host_warnings(FakeHost *host, const char *part)
{
    guint count = 0;
    for (guint i = 0; i < host->apply.warnings->len; i++)
        count += strstr(g_ptr_array_index(host->apply.warnings, i), part) != NULL;
    return count;
}

guint
fake_host_logged(FakeHost *host, const char *prefix)
{
    guint count = 0;
    for (unsigned i = 0; i < host->state->log_count; i++)
        count += g_str_has_prefix(host->state->log[i], prefix);
    return count;
}

void
fake_host_reboot(FakeHost *host)
{
    fake_remove_tree(host->run_dir);
    g_assert_no_errno(g_mkdir(host->run_dir, 0700));
    for (size_t i = 0; i < FAKE_DEVICES; i++) {
        FakeDevice *device = &host->state->devices[i];
        device->held = false;
        if (!device->exists || device->kind == NP_FUNCTION_VF)
            continue;
        fake_unbind(host->state, device);
        device->override[0] = '\0';
        fake_bind(host->state, device, device->native);
        device->net.up = true;
    }
}

int
fake_host_fork(FakeHost *host, bool (*function)(FakeHost *host, gpointer data), gpointer data)
{
    pid_t child = fork();
    int status = 0;
    g_assert_cmpint(child, >=, 0);
    if (child == 0)
        _exit(function(host, data) ? 0 : 1);
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    return status;
}
