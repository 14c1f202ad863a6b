/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Machine: settings of kernel, CPUs and memory that decide what a packet costs.
 */
#pragma once

#include "lib/base/json.h"

/* The members "command_line" to "iommu" of the info verb's answer (lib/proto/proto.h), as far as
 * they can be read below root ("" for this machine), in an object (transfer full). release: the
 * running kernel's, nullable. No text is longer than 1024 bytes, and all are valid UTF-8. */
json_t *np_machine_collect(const char *root, const char *release);
