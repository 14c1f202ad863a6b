/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Info: what the machine the agent runs on is.
 */
#pragma once

#include "lib/base/json.h"

/* The info verb's answer (transfer full), at most NP_PROTO_LINE_MAX once in a line. Reads /proc,
 * /etc/os-release, rtnetlink and ethtool, never /sys/class/net, which shows another network
 * namespace's devices to an agent started in one of its own. */
json_t *np_info_collect(GError **error);
