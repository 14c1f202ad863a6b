/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Folder: a made-up tree of files below /tmp.
 */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>

/* An empty folder of its own (transfer full). */
static inline char *
folder_make(void)
{
    char *path = g_dir_make_tmp("nicpass-XXXXXX", NULL);
    g_assert_nonnull(path);
    return path;
}

/* Writes a file, making the folders above it; text NULL: a folder. */
static inline void
folder_put(const char *folder, const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(text ? parent : path, 0700), ==, 0);
    if (text)
        g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

/* Removes a file, or a folder with all that is in it. */
static inline void
folder_remove(const char *path)
{
    GDir *dir = g_dir_open(path, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *child = g_build_filename(path, name, NULL);
        folder_remove(child);
    }
    if (dir)
        g_dir_close(dir);
    g_assert_cmpint(g_remove(path), ==, 0);
}
