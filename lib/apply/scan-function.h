/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Scan, inner part: one PCI function from sysfs.
 */
#pragma once

#include "lib/model/inventory.h"

/* What sysfs says of one function, without netdev, VF attributes, VFIO and uses. NULL when it is
 * not there (any more). */
NpFunction *np_scan_function(int sys, const NpBdf *bdf);

/* The netdevs' folder of a function and in it the name of its own netdev (transfer full, NULL when
 * there is none). */
char *np_scan_net_path(int sys, const NpBdf *bdf);
