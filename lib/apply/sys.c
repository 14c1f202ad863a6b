/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * System: what all implementations share. See sys.h.
 */
#include "lib/apply/sys.h"

void
np_net_state_clear(NpNetState *state)
{
    g_clear_pointer(&state->master, g_free);
    g_clear_pointer(&state->addresses, g_strfreev);
}
