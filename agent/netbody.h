/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Netlink bodies: a message's header and attributes as bytes that can be kept, compared and sent.
 *
 * Addresses and routes are kept as the messages in which the kernel told them, less what cannot be
 * sent back: putting back needs no knowledge of the attributes, and two are equal when their bytes
 * are.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agent/netlink.h"

/* Appends bytes and the padding that netlink wants behind them. */
void np_body_append(GByteArray *body, const void *data, size_t size);

/* Appends an attribute as it stands in another message, or a new one. */
void np_body_append_attribute(GByteArray *body, const struct nlattr *attribute);
void np_body_append_new(GByteArray *body, uint16_t type, const void *data, size_t size);

/* Sends a request of this type and waits for the verdict: 0 or a positive errno. */
int np_body_send(NpNetlink *netlink, int type, int flags, const GByteArray *body);

bool np_body_equal(const GByteArray *a, const GByteArray *b);

/* g_byte_array_unref for containers. */
void np_body_unref(gpointer body);
