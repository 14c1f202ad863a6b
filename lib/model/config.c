/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Configuration: see config.h. Files, trust and look-up; groups are read in config-pool.c and
 * -nic.c.
 */
#include "lib/model/config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/model/config-parse.h"

#define FILE_MAX  (1024 * 1024)
#define FILES_MAX 1024

const char *const np_config_places[] = {
    "/etc/nicpass/nicpass.conf",
    "/etc/nicpass/conf.d",
    "/etc/pve/nicpass",
    NULL,
};

bool
np_config_trusted(const char *path, const struct stat *status, GError **error)
{
    if (status->st_uid != 0)
        return np_throw(error, NP_ERROR_DENIED,
                        "%s: belongs to user %u, must belong to root (chown root)", path,
                        (unsigned) status->st_uid);
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return np_throw(error, NP_ERROR_DENIED,
                        "%s: others than root may write it (chmod go-w), mode is %04o", path,
                        (unsigned) (status->st_mode & 07777));
    return true;
}

static void
pool_free(gpointer data)
{
    np_pool_free(data);
}

static void
nic_free(gpointer data)
{
    np_nic_free(data);
}

static NpConfig *
config_new(void)
{
    NpConfig *config = g_new0(NpConfig, 1);
    config->pools = g_ptr_array_new_with_free_func(pool_free);
    config->nics = g_ptr_array_new_with_free_func(nic_free);
    config->sources = g_ptr_array_new_with_free_func(g_free);
    return config;
}

void
np_config_free(NpConfig *config)
{
    if (!config)
        return;
    g_ptr_array_unref(config->pools);
    g_ptr_array_unref(config->nics);
    g_ptr_array_unref(config->sources);
    g_free(config);
}

const NpPool *
np_config_pool(const NpConfig *config, const char *name)
{
    for (guint i = 0; i < config->pools->len; i++) {
        const NpPool *pool = g_ptr_array_index(config->pools, i);
        if (strcmp(pool->name, name) == 0)
            return pool;
    }
    return NULL;
}

static bool
add_pool(NpConfig *config, const NpKeyfile *file, const char *group, GError **error)
{
    g_autoptr(NpPool) pool = np_pool_parse(file, group, error);
    if (!pool)
        return false;
    const NpPool *other = np_config_pool(config, pool->name);
    if (other)
        return np_keyfile_throw(file, group, NULL, error, "pool '%s' is given already in %s",
                                pool->name, other->origin);
    g_ptr_array_add(config->pools, g_steal_pointer(&pool));
    return true;
}

static bool
add_nic(NpConfig *config, const NpKeyfile *file, const char *group, GError **error)
{
    g_autoptr(NpNic) nic = np_nic_parse(file, group, error);
    if (!nic)
        return false;
    for (guint i = 0; i < config->nics->len; i++) {
        const NpNic *other = g_ptr_array_index(config->nics, i);
        if (nic->nic == other->nic && g_ascii_strcasecmp(nic->vm_id, other->vm_id) == 0)
            return np_keyfile_throw(file, group, NULL, error,
                                    "nic %u of vm %s is given already in %s", nic->nic, nic->vm_id,
                                    other->origin);
    }
    g_ptr_array_add(config->nics, g_steal_pointer(&nic));
    return true;
}

static bool
add_text(NpConfig *config, const char *name, const char *text, GError **error)
{
    g_autoptr(NpKeyfile) file = np_keyfile_parse(name, text, error);
    if (!file)
        return false;
    for (const char *const *group = np_keyfile_groups(file); *group; group++) {
        bool done;
        if (g_str_has_prefix(*group, "pool "))
            done = add_pool(config, file, *group, error);
        else if (g_str_has_prefix(*group, "vm "))
            done = add_nic(config, file, *group, error);
        else
            done = np_keyfile_throw(file, *group, NULL, error,
                                    "unknown group; it must be [pool NAME], [vm ID] or "
                                    "[vm ID nic N]");
        if (!done)
            return false;
    }
    g_ptr_array_add(config->sources, g_strdup(name));
    return true;
}

/* A pool named by a NIC may stand in any file, so this comes last. */
static bool
check_pools(const NpConfig *config, GError **error)
{
    for (guint i = 0; i < config->nics->len; i++) {
        const NpNic *nic = g_ptr_array_index(config->nics, i);
        if (nic->source == NP_SOURCE_POOL && !np_config_pool(config, nic->pool))
            return np_throw(error, NP_ERROR_CONFIG, "%s: there is no [pool %s]", nic->origin,
                            nic->pool);
    }
    return true;
}

NpConfig *
np_config_parse(const char *name, const char *text, GError **error)
{
    g_autoptr(NpConfig) config = config_new();
    if (!add_text(config, name, text, error) || !check_pools(config, error))
        return NULL;
    return g_steal_pointer(&config);
}

/* Trust is judged on the opened file, so that what was judged is what is read. */
static bool
add_file(NpConfig *config, const char *path, NpConfigTrust trust, GError **error)
{
    np_autofd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        return np_throw_errno(error, errno, "%s", path);
    if (!S_ISREG(status.st_mode))
        return np_throw(error, NP_ERROR_CONFIG, "%s: not a file", path);
    if (!trust(path, &status, error))
        return false;
    g_autofree char *text = NULL;
    size_t size;
    if (!np_fd_read_all(fd, FILE_MAX, &text, &size, error)) {
        g_prefix_error(error, "%s: ", path);
        return false;
    }
    if (strlen(text) != size || !g_utf8_validate(text, (gssize) size, NULL))
        return np_throw(error, NP_ERROR_CONFIG, "%s: not a text file in UTF-8", path);
    return add_text(config, path, text, error);
}

static gint
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static bool
add_folder(NpConfig *config, const char *path, NpConfigTrust trust, GError **error)
{
    DIR *folder = opendir(path);
    if (!folder)
        return np_throw_errno(error, errno, "%s", path);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const struct dirent *entry; (entry = readdir(folder)) && names->len <= FILES_MAX;)
        if (entry->d_name[0] != '.' && g_str_has_suffix(entry->d_name, ".conf"))
            g_ptr_array_add(names, g_strdup(entry->d_name));
    (void) closedir(folder); /* only read */
    if (names->len > FILES_MAX)
        return np_throw(error, NP_ERROR_CONFIG, "%s: more than %d files", path, FILES_MAX);
    g_ptr_array_sort(names, compare_names);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *file = g_build_filename(path, g_ptr_array_index(names, i), NULL);
        if (!add_file(config, file, trust, error))
            return false;
    }
    return true;
}

NpConfig *
np_config_load(const char *const *places, NpConfigTrust trust, GError **error)
{
    g_autoptr(NpConfig) config = config_new();
    for (; *places; places++) {
        struct stat status;
        if (stat(*places, &status) < 0) {
            if (errno == ENOENT || errno == ENOTDIR)
                continue;
            np_throw_errno(error, errno, "%s", *places);
            return NULL;
        }
        if (!(S_ISDIR(status.st_mode) ? add_folder : add_file)(config, *places, trust, error))
            return NULL;
    }
    if (!check_pools(config, error))
        return NULL;
    return g_steal_pointer(&config);
}

static gint
compare_nics(gconstpointer a, gconstpointer b)
{
    const NpNic *left = *(const NpNic *const *) a, *right = *(const NpNic *const *) b;
    return left->nic < right->nic ? -1 : left->nic > right->nic;
}

GPtrArray *
np_config_nics(const NpConfig *config, const NpVm *vm)
{
    GPtrArray *nics = g_ptr_array_new();
    for (guint i = 0; i < config->nics->len; i++) {
        NpNic *nic = g_ptr_array_index(config->nics, i);
        if (np_vm_matches(vm, nic->vm_id))
            g_ptr_array_add(nics, nic);
    }
    g_ptr_array_sort(nics, compare_nics);
    return nics;
}
