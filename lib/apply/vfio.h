/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * VFIO: whether a function given to a VM is in use, and by whom.
 */
#pragma once

#include "lib/model/inventory.h"

/* "vfio-pci" or a variant driver such as mlx5_vfio_pci. Pure. */
bool np_vfio_is_driver(const char *driver);

/* Opens and closes the function's group node below dev. A function on another driver is NONE; a
 * node we may not open counts as BUSY, for nothing else is safe. Where the kernel has no group
 * nodes (only devices/vfioN), BUSY is what a process has open. viable: the kernel's word, true
 * unless it was asked. Descriptors are roots of trees. Returns 0 or a negative errno. */
int np_vfio_probe(int sys, int dev, int proc, const NpBdf *bdf, NpVfioState *ret_state,
                  bool *ret_viable);

/* "process 1234 (kvm) has it open" (transfer full), or NULL: none that we may see. */
char *np_vfio_holder(int sys, int proc, const NpBdf *bdf);
