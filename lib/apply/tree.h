/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Trees: files below a root descriptor, such as /sys or a copy of it in a folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "lib/base/parse.h"

/* All functions take a path relative to root, walk it one component at a time, and return 0 (or a
 * descriptor) or a negative errno. A path that is empty, absolute, or has an empty, "." or ".."
 * component gives EINVAL: what sysfs says becomes part of paths, and must not lead out of it. Links
 * inside the tree are followed, as sysfs is made of them. */

/* A tree's root, close-on-exec. Throws what opening gives. */
int np_tree_open(const char *folder, GError **error);

/* flags as open(2); O_CLOEXEC and O_NOCTTY are added. */
int np_tree_openat(int root, const char *path, int flags);

/* A whole file of at most max bytes (transfer full, NUL-terminated; ret_size may be NULL). More
 * gives EFBIG. */
int np_tree_read(int root, const char *path, size_t max, char **ret_data, size_t *ret_size);

#define NP_TREE_ATTR_MAX 4096

/* One attribute: at most 4096 bytes, without its trailing line end; a NUL inside gives EBADMSG. */
int np_tree_read_attr(int root, const char *path, char **ret_text);

/* A link's target as it stands there, and its last component (transfer full). */
int np_tree_read_target(int root, const char *path, char **ret_target);
int np_tree_readlink(int root, const char *path, char **ret_name);

/* Names in a folder, sorted, without "." and ".." (of char *, transfer full). NULL: the root's. */
int np_tree_list(int root, const char *path, GPtrArray **ret_names);

bool np_tree_exists(int root, const char *path);

/* Values of attributes for which absence and nonsense both mean "not known": the fallback then.
 * Numbers are decimal with an optional sign, or hexadecimal with 0x. */
int64_t np_tree_number(int root, const char *path, int64_t fallback);

/* The number a sysfs text stands for; false when it is none. Pure. */
bool np_tree_parse_number(const char *text, int64_t *ret_value);

/* The address a link points to, such as physfn. False when there is none. */
bool np_tree_link_bdf(int root, const char *path, NpBdf *ret_bdf);

/* "bus/pci/devices/BDF/rest" (transfer full); rest may be NULL. Pure. */
char *np_tree_pci_path(const NpBdf *bdf, const char *rest);
