/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * VF attributes over rtnetlink: building requests and reading answers, without sending. Pure.
 */
#pragma once

#include "lib/apply/rtnl.h"
#include "lib/model/vf.h"

/* Bits of NpVfFields that a request can carry. */
#define NP_VF_ALL ((NpVfFields) ((1 << NP_VF_FIELD_COUNT) - 1))

/* RTM_SETLINK with one IFLA_VF_INFO holding all attributes of attrs->has, in their order. */
NpRtnlMessage *np_vf_build_set(int ifindex, unsigned vf_index, const NpVfAttrs *attrs);

/* RTM_GETLINK for one link with its VFs and without their statistics, which make some drivers ask
 * their firmware. */
NpRtnlMessage *np_vf_build_get(int ifindex);

/* The VFs in an answer to that, as the driver reported them: array of NpVfAttrs by VF index, with a
 * hole's has being 0. A value the kernel fills with ones (spoof check, RSS query, trust) or leaves
 * out is one that the driver does not report. Returns 0, ENODATA (no link in the answer), or
 * EBADMSG when lengths or indices do not fit. */
int np_vf_parse_link(const void *answer, size_t size, GArray **ret_attrs);
