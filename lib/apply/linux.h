/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Linux: the real system behind NpSys, and copies of one in a folder.
 */
#pragma once

#include "lib/apply/scan.h"
#include "lib/apply/sys.h"

/* The system whose root folder is `root`: "/" is this machine. Of any other folder the parts are
 * ROOT/sys, ROOT/dev, ROOT/proc, ROOT/etc and ROOT/run as far as they exist, and the kernel's
 * answers are ROOT/netlink/NAME.hex (links, addresses, routes4, routes6, qdiscs, vfs-IFINDEX), so
 * that another machine can be looked at; changes of links are not supported there, and modules are
 * not loaded. Throws NOT_FOUND, DENIED, IO. */
NpSys *np_sys_linux(const char *root, GError **error);

/* What its scans look at (owned by sys, which must be of this kind). */
const NpScanRoots *np_sys_linux_roots(NpSys *sys);
