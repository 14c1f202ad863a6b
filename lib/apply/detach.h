/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Detached writes: a write() that may block inside the kernel for ever must not block us.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Writes data to fd (a sysfs attribute or a netlink socket) in one write(), from a child process
 * that is nobody's child afterwards: it has no descriptor of ours but fd and no terminal, so that
 * neither a lock nor a caller waiting for the end of our output depends on it. (A thread would not
 * do: a process with a thread stuck in the kernel cannot end.) Returns 0; the write's negative
 * errno; EIO when it was short; ETIMEDOUT when it has not come back after timeout_ms: it may still
 * take effect at any later time. */
int np_detached_write(int fd, const void *data, size_t size, int64_t timeout_ms);
