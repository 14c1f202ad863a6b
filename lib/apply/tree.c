/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Trees: see tree.h.
 */
#include "lib/apply/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "lib/base/fd.h"

int
np_tree_open(const char *folder, GError **error)
{
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        np_throw_errno(error, errno, "%s", folder);
    return fd;
}

static bool
component_is_fine(const char *name)
{
    return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strlen(name) <= NAME_MAX;
}

static int
open_component(int folder, const char *name, int flags)
{
    int fd = openat(folder, name, flags | O_CLOEXEC | O_NOCTTY);
    return fd < 0 ? -errno : fd;
}

int
np_tree_openat(int root, const char *path, int flags)
{
    g_auto(GStrv) names = g_strsplit(path, "/", -1);
    if (!names[0])
        return -EINVAL;
    for (char **name = names; *name; name++)
        if (!component_is_fine(*name))
            return -EINVAL;
    np_autofd int folder = -1;
    for (char **name = names;; name++) {
        int parent = folder < 0 ? root : folder;
        if (!name[1])
            return open_component(parent, *name, flags);
        int next = open_component(parent, *name, O_PATH | O_DIRECTORY);
        if (next < 0)
            return next;
        np_fd_clear(&folder);
        folder = next;
    }
}

int
np_tree_read(int root, const char *path, size_t max, char **ret_data, size_t *ret_size)
{
    np_autofd int fd = np_tree_openat(root, path, O_RDONLY);
    if (fd < 0)
        return fd;
    g_autofree char *data = g_malloc(max + 2);
    size_t size = 0;
    for (;;) {
        ssize_t got = read(fd, data + size, max + 1 - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        size += (size_t) got;
        if (size > max)
            return -EFBIG;
    }
    data[size] = '\0';
    if (ret_size)
        *ret_size = size;
    *ret_data = g_realloc(g_steal_pointer(&data), size + 1);
    return 0;
}

int
np_tree_read_attr(int root, const char *path, char **ret_text)
{
    g_autofree char *text = NULL;
    size_t size;
    int result = np_tree_read(root, path, NP_TREE_ATTR_MAX, &text, &size);
    if (result < 0)
        return result;
    if (memchr(text, '\0', size))
        return -EBADMSG;
    if (size && text[size - 1] == '\n')
        text[size - 1] = '\0';
    *ret_text = g_steal_pointer(&text);
    return 0;
}

int
np_tree_read_target(int root, const char *path, char **ret_target)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *name = g_path_get_basename(path);
    if (!component_is_fine(name))
        return -EINVAL;
    np_autofd int fd = -1;
    if (strcmp(folder, ".") != 0) {
        fd = np_tree_openat(root, folder, O_PATH | O_DIRECTORY);
        if (fd < 0)
            return fd;
    }
    char target[PATH_MAX];
    ssize_t size = readlinkat(fd < 0 ? root : fd, name, target, sizeof(target) - 1);
    if (size < 0)
        return -errno;
    target[size] = '\0';
    *ret_target = g_strdup(target);
    return 0;
}

int
np_tree_readlink(int root, const char *path, char **ret_name)
{
    g_autofree char *target = NULL;
    int result = np_tree_read_target(root, path, &target);
    if (result == 0)
        *ret_name = g_path_get_basename(target);
    return result;
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

int
np_tree_list(int root, const char *path, GPtrArray **ret_names)
{
    int fd = path ? np_tree_openat(root, path, O_RDONLY | O_DIRECTORY)
                  : open_component(root, ".", O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fd;
    DIR *folder = fdopendir(fd);
    if (!folder) {
        int result = -errno;
        close(fd);
        return result;
    }
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const struct dirent *entry;
    errno = 0;
    while ((entry = readdir(folder)))
        if (component_is_fine(entry->d_name))
            g_ptr_array_add(names, g_strdup(entry->d_name));
    int result = -errno;
    closedir(folder);
    if (result < 0)
        return result;
    g_ptr_array_sort(names, compare_names);
    *ret_names = g_steal_pointer(&names);
    return 0;
}

bool
np_tree_exists(int root, const char *path)
{
    np_autofd int fd = np_tree_openat(root, path, O_PATH);
    return fd >= 0;
}

bool
np_tree_parse_number(const char *text, int64_t *ret_value)
{
    bool negative = *text == '-';
    if (negative)
        text++;
    unsigned base = strncmp(text, "0x", 2) == 0 ? 16 : 10;
    if (base == 16)
        text += 2;
    int64_t value = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        int digit = g_ascii_xdigit_value(*text);
        if (digit < 0 || (unsigned) digit >= base ||
            __builtin_mul_overflow(value, (int64_t) base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *ret_value = negative ? -value : value;
    return true;
}

int64_t
np_tree_number(int root, const char *path, int64_t fallback)
{
    g_autofree char *text = NULL;
    int64_t value;
    if (np_tree_read_attr(root, path, &text) < 0 || !np_tree_parse_number(text, &value))
        return fallback;
    return value;
}

bool
np_tree_link_bdf(int root, const char *path, NpBdf *ret_bdf)
{
    g_autofree char *name = NULL;
    return np_tree_readlink(root, path, &name) == 0 && np_parse_bdf(name, ret_bdf, NULL);
}

char *
np_tree_pci_path(const NpBdf *bdf, const char *rest)
{
    char text[NP_BDF_TEXT_SIZE];
    np_bdf_format(bdf, text);
    return rest ? g_strdup_printf("bus/pci/devices/%s/%s", text, rest)
                : g_strdup_printf("bus/pci/devices/%s", text);
}
