/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Local stage: two agents on this machine, in network namespaces joined by veth pairs.
 */
#pragma once

#include "lib/bench/run.h"

/* Boots topologies out of nameless network namespaces; needs CAP_SYS_ADMIN and CAP_NET_ADMIN. The
 * host's own network is never touched: a bridge, too, has a namespace of its own. */
extern const NpStage np_local_stage;
