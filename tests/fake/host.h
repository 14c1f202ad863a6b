/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Fake host: a fake kernel with a configuration and a run folder, ready for claims; for tests.
 */
#pragma once

#include "lib/apply/apply.h"
#include "lib/base/error.h"
#include "tests/fake/kernel.h"

typedef struct {
    FakeKernel *kernel;
    FakeState *state; /* the kernel's */
    NpConfig *config;
    char *run_dir;
    NpApply apply;
} FakeHost;

/* driver: as fake_kernel_new_with; text: the configuration. */
FakeHost *fake_host_new(const char *driver, const char *text);
void fake_host_free(FakeHost *host); /* the run folder, too */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FakeHost, fake_host_free)

/* Claims for a Proxmox VM and asserts success, or an error with this code whose message contains
 * part. */
void fake_host_claim(FakeHost *host, uint32_t vmid);
void fake_host_refuse(FakeHost *host, uint32_t vmid, NpError code, const char *part);
void fake_host_release(FakeHost *host, uint32_t vmid);

/* Number of leases, of files below pf/, of warnings that contain part. */
guint fake_host_leases(FakeHost *host);
guint fake_host_pf_journals(FakeHost *host);
guint fake_host_warnings(FakeHost *host, const char *part);

/* How many lines of the kernel's log begin with prefix. */
guint fake_host_logged(FakeHost *host, const char *prefix);

/* A reboot: run folder empty, VFs and overrides gone, PFs up. */
void fake_host_reboot(FakeHost *host);

/* Runs function in a child that shares the kernel and the run folder; its wait status. */
int fake_host_fork(FakeHost *host, bool (*function)(FakeHost *host, gpointer data), gpointer data);

/* Removes a folder with all that is in it. */
void fake_remove_tree(const char *path);
