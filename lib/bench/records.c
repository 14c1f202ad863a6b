/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Records: the append-only file of them, one JSON object a line. See record.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/bench/record.h"

#define FILE_MAX       ((size_t) 1 << 30)
#define REAL_PRECISION 9 /* digits: more only prints the noise of binary fractions */

struct NpRecords {
    int fd;
    char *path;
    GHashTable *valid; /* char *, the keys of valid records */
    uint64_t seed;     /* of the first record */
    int64_t size;      /* bytes in complete lines */
};

void
np_records_free(NpRecords *records)
{
    if (!records)
        return;
    np_fd_clear(&records->fd);
    g_free(records->path);
    g_hash_table_unref(records->valid);
    g_free(records);
}

/* Every complete line of the text into an array; *ret_size is where the last one ends. */
static json_t *
parse_lines(const char *path, const char *text, size_t size, int64_t *ret_size, GError **error)
{
    g_autoptr(json_t) records = json_array();
    const char *line = text, *end;
    for (unsigned number = 1; (end = memchr(line, '\n', size - (size_t) (line - text)));
         number++, line = end + 1) {
        g_autoptr(json_t) record = np_json_parse_object(line, (size_t) (end - line), error);
        if (!record) {
            if (error)
                (*error)->code = NP_ERROR_CONFIG;
            g_prefix_error(error, "%s:%u: not a record: ", path, number);
            return NULL;
        }
        int64_t schema = np_json_int(record, "schema", 0);
        if (schema != NP_RECORD_SCHEMA || !np_json_string(record, "key", NULL)) {
            np_throw(error, NP_ERROR_CONFIG,
                     "%s:%u: not a record of schema %d, which is what this nicpass reads", path,
                     number, NP_RECORD_SCHEMA);
            return NULL;
        }
        json_array_append(records, record);
    }
    *ret_size = line - text;
    return g_steal_pointer(&records);
}

/* Reads a descriptor whose file is path. */
static json_t *
read_records(int fd, const char *path, int64_t *ret_size, GError **error)
{
    g_autofree char *text = NULL;
    size_t size;
    if (!np_fd_read_all(fd, FILE_MAX, &text, &size, error)) {
        g_prefix_error(error, "%s: ", path);
        return NULL;
    }
    return parse_lines(path, text, size, ret_size, error);
}

json_t *
np_records_read(const char *dir, GError **error)
{
    g_autofree char *path = g_build_filename(dir, NP_RECORDS_FILE, NULL);
    np_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
    int64_t size;
    if (fd < 0) {
        np_throw_errno(error, errno, "%s", path);
        return NULL;
    }
    return read_records(fd, path, &size, error);
}

/* A new name in a folder survives a power cut only once the folder is written too. */
static bool
sync_folder(const char *path, GError **error)
{
    np_autofd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
        return np_throw_errno(error, errno, "sync folder %s", path);
    return true;
}

/* Opens and locks the file. */
static bool
open_locked(NpRecords *records, const char *dir, GError **error)
{
    if (g_mkdir_with_parents(dir, 0777) < 0)
        return np_throw_errno(error, errno, "create folder %s", dir);
    records->fd = open(records->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (records->fd < 0)
        return np_throw_errno(error, errno, "%s", records->path);
    if (flock(records->fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno == EWOULDBLOCK)
            return np_throw(error, NP_ERROR_BUSY,
                            "%s: another nicpass is measuring into this folder", records->path);
        return np_throw_errno(error, errno, "lock %s", records->path);
    }
    g_autofree char *parent = g_path_get_dirname(dir);
    return sync_folder(dir, error) && sync_folder(parent, error);
}

/* Takes what has been measured already. */
static bool
take_records(NpRecords *records, const json_t *array, const char *digest, GError **error)
{
    size_t index;
    json_t *record;
    json_array_foreach(array, index, record)
    {
        const json_t *scenario = json_object_get(record, "scenario");
        const char *its = np_json_string(scenario, "digest", "");
        if (digest && strcmp(its, digest) != 0)
            return np_throw(error, NP_ERROR_CONFIG,
                            "%s:%zu: made by scenario '%s' with other settings than now; choose "
                            "another folder",
                            records->path, index + 1, np_json_string(scenario, "name", "?"));
        if (np_json_bool(record, "valid", false))
            g_hash_table_add(records->valid, g_strdup(np_json_string(record, "key", "")));
        if (records->seed == 0)
            records->seed = (uint64_t) MAX(np_json_int(record, "seed", 0), 0);
    }
    return true;
}

NpRecords *
np_records_open(const char *dir, const char *digest, GError **error)
{
    g_autoptr(NpRecords) records = g_new0(NpRecords, 1);
    records->fd = -1;
    records->path = g_build_filename(dir, NP_RECORDS_FILE, NULL);
    records->valid = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (!open_locked(records, dir, error))
        return NULL;
    g_autoptr(json_t) array = read_records(records->fd, records->path, &records->size, error);
    if (!array || !take_records(records, array, digest, error))
        return NULL;
    struct stat status;
    if (fstat(records->fd, &status) < 0 ||
        (status.st_size > records->size &&
         (ftruncate(records->fd, records->size) < 0 || fsync(records->fd) < 0))) {
        np_throw_errno(error, errno, "%s: cut off its half-written last line", records->path);
        return NULL;
    }
    return g_steal_pointer(&records);
}

bool
np_records_has_valid(const NpRecords *records, const char *key)
{
    return g_hash_table_contains(records->valid, key);
}

uint64_t
np_records_seed(const NpRecords *records)
{
    return records->seed;
}

static bool
write_line(NpRecords *records, const char *line, size_t size, GError **error)
{
    if (!np_fd_write_all(records->fd, line, size, error))
        return false;
    if (fsync(records->fd) < 0)
        return np_throw_errno(error, errno, "fsync");
    return true;
}

bool
np_records_append(NpRecords *records, const json_t *record, GError **error)
{
    char *dumped = json_dumps(record, JSON_COMPACT | JSON_PRESERVE_ORDER |
                                          JSON_REAL_PRECISION(REAL_PRECISION));
    g_autofree char *line = g_strconcat(dumped, "\n", NULL);
    free(dumped);
    size_t size = strlen(line);
    if (!write_line(records, line, size, error)) {
        g_prefix_error(error, "%s: ", records->path);
        /* A part of a line must not meet the next one; if this fails too, the next open cuts it. */
        (void) !ftruncate(records->fd, records->size);
        return false;
    }
    records->size += (int64_t) size;
    if (np_json_bool(record, "valid", false))
        g_hash_table_add(records->valid, g_strdup(np_json_string(record, "key", "")));
    if (records->seed == 0)
        records->seed = (uint64_t) MAX(np_json_int(record, "seed", 0), 0);
    return true;
}
