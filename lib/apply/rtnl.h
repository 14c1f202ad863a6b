/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * rtnetlink: one socket, dumps and changes as bytes; what they mean is known by the files that
 * build and parse them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>
#include <netlink/msg.h>

typedef struct nl_msg NpRtnlMessage;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpRtnlMessage, nlmsg_free)

typedef struct NpRtnl NpRtnl;

/* The kernel's rtnetlink. Returns 0 or a negative errno. */
int np_rtnl_open(NpRtnl **ret_rtnl);

/* Answers recorded in a folder instead: NAME.hex, hexadecimal text with comments behind '#'.
 * A missing file is an empty answer; changes give EOPNOTSUPP. root stays the caller's. */
NpRtnl *np_rtnl_open_recorded(int root, const char *folder);

void np_rtnl_free(NpRtnl *rtnl);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpRtnl, np_rtnl_free)

/* Sends a request (any reply but an acknowledgement) and collects the messages of the answer, one
 * behind the other, each aligned as netlink does. name: that of the recorded answer. The buffer is
 * sized by a look at each datagram before it is taken: 252 VFs do not fit any fixed one. A dump
 * that the kernel calls inconsistent is asked again. */
int np_rtnl_query(NpRtnl *rtnl, NpRtnlMessage *request, const char *name, GByteArray **ret_answer);

/* Sends a change and waits for its acknowledgement; the kernel's own words about a failure go to
 * *ret_hint (transfer full, NULL when it has none). ETIMEDOUT: see np_detached_write. */
int np_rtnl_change(NpRtnl *rtnl, NpRtnlMessage *request, int64_t timeout_ms, char **ret_hint);

/* A new message with room for a page of attributes. */
NpRtnlMessage *np_rtnl_message(int type, int flags);

/* Goes through the messages in data: calls with *at = 0 at first. NULL at the end or at a message
 * that does not fit (which ends the walk). data must be aligned as malloc does. Pure. */
const struct nlmsghdr *np_rtnl_next(const void *data, size_t size, size_t *at);

/* Whether message is an acknowledgement of request sequence: then *ret_result is 0 or the negative
 * errno, and *ret_hint (nullable) the text of the extended acknowledgement or NULL. Pure. */
bool np_rtnl_parse_ack(const struct nlmsghdr *message, uint32_t sequence, int *ret_result,
                       char **ret_hint);

/* Bytes of hexadecimal text with blanks, line ends and '#' comments; NULL when it is not that.
 * Pure. */
GByteArray *np_rtnl_parse_hex(const char *text);
