/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * File descriptors and small files.
 */
#include "lib/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include <glib/gstdio.h>

#include "lib/base/error.h"

/* A temporary file with this content; its path (transfer full). */
static char *
file_with(const char *text, size_t size)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("nicpass-test-XXXXXX", &path, &error);
    g_assert_no_error(error);
    close(fd);
    g_assert_true(g_file_set_contents(path, text, (gssize) size, NULL));
    return g_steal_pointer(&path);
}

static int
open_null(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    g_assert_cmpint(fd, >=, 0);
    return fd;
}

static void
a_scope_closes_its_descriptor_and_keeps_errno(void)
{
    int number;
    {
        np_autofd int fd = open_null();
        number = fd;
        errno = E2BIG;
    }
    g_assert_cmpint(errno, ==, E2BIG);
    g_assert_cmpint(fcntl(number, F_GETFD), ==, -1);
}

static void
a_stolen_descriptor_stays_open(void)
{
    int kept;
    {
        np_autofd int fd = open_null();
        kept = np_fd_steal(&fd);
        g_assert_cmpint(fd, ==, -1);
    }
    g_assert_cmpint(fcntl(kept, F_GETFD), !=, -1);
    np_fd_clear(&kept);
    g_assert_cmpint(kept, ==, -1);
    np_fd_clear(&kept); /* nothing to do */
}

static void
non_blocking_is_set_or_told(void)
{
    g_autoptr(GError) error = NULL;
    np_autofd int fd = open_null();
    g_assert_true(np_fd_set_nonblocking(fd, NULL));
    g_assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    g_assert_false(np_fd_set_nonblocking(-1, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_IO);
}

static void
what_a_pipe_takes_in_pieces_arrives_whole(void)
{
    int fds[2];
    size_t size = 300000, got_size = 0; /* several times what a pipe holds */
    g_autofree char *sent = g_malloc(size), *got = NULL;
    for (size_t i = 0; i < size; i++)
        sent[i] = (char) (i * 7);
    g_assert_cmpint(pipe(fds), ==, 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[0]);
        _exit(!np_fd_write_all(fds[1], sent, size, NULL));
    }
    close(fds[1]);
    g_assert_true(np_fd_read_all(fds[0], size, &got, &got_size, NULL));
    close(fds[0]);
    g_assert_cmpmem(got, got_size, sent, size);
    g_assert_cmpint(got[got_size], ==, '\0');
}

static void
a_limit_is_a_limit(void)
{
    g_autofree char *path = file_with("12345678", 8), *text = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(np_file_read(path, 7, &text, NULL, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
    g_assert_true(g_str_has_prefix(error->message, path));
    g_assert_null(text);
    g_assert_true(np_file_read(path, 8, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, "12345678");
    g_unlink(path);
}

static void
files_without_a_size_are_read(void)
{
    g_autofree char *text = NULL;
    size_t size = 0;
    g_assert_true(np_file_read("/proc/self/status", 65536, &text, &size, NULL));
    g_assert_cmpuint(size, ==, strlen(text));
    g_assert_nonnull(strstr(text, "Pid:"));
}

static void
zero_bytes_are_content(void)
{
    g_autofree char *path = file_with("a\0b", 3), *text = NULL;
    size_t size = 0;
    g_assert_true(np_file_read(path, 100, &text, &size, NULL));
    g_assert_cmpmem(text, size, "a\0b", 3);
    g_unlink(path);
}

static void
a_file_that_cannot_be_read_is_named(void)
{
    static const struct {
        const char *path;
        NpError code;
    } rows[] = {{"/nonexistent/file", NP_ERROR_NOT_FOUND}, {"/proc", NP_ERROR_IO}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = NULL;
        g_autoptr(GError) error = NULL;
        g_assert_false(np_file_read(rows[i].path, 100, &text, NULL, &error));
        g_assert_error(error, NP_ERROR, (int) rows[i].code);
        g_assert_true(g_str_has_prefix(error->message, rows[i].path));
    }
}

static void
a_line_loses_its_end_and_a_missing_one_is_null(void)
{
    g_autofree char *path = file_with("ens16 \n", 7);
    g_autofree char *line = np_file_read_line(path);
    g_assert_cmpstr(line, ==, "ens16");
    g_unlink(path);
    g_assert_null(np_file_read_line(path));
}

static void
writing_to_a_closed_pipe_is_an_error(void)
{
    int fds[2];
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(pipe(fds), ==, 0);
    close(fds[0]);
    g_assert_false(np_fd_write_all(fds[1], "x", 1, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_IO);
    close(fds[1]);
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fd/a-scope-closes-its-descriptor-and-keeps-errno",
                    a_scope_closes_its_descriptor_and_keeps_errno);
    g_test_add_func("/fd/a-stolen-descriptor-stays-open", a_stolen_descriptor_stays_open);
    g_test_add_func("/fd/non-blocking-is-set-or-told", non_blocking_is_set_or_told);
    g_test_add_func("/fd/what-a-pipe-takes-in-pieces-arrives-whole",
                    what_a_pipe_takes_in_pieces_arrives_whole);
    g_test_add_func("/fd/a-limit-is-a-limit", a_limit_is_a_limit);
    g_test_add_func("/fd/files-without-a-size-are-read", files_without_a_size_are_read);
    g_test_add_func("/fd/zero-bytes-are-content", zero_bytes_are_content);
    g_test_add_func("/fd/a-file-that-cannot-be-read-is-named", a_file_that_cannot_be_read_is_named);
    g_test_add_func("/fd/a-line-loses-its-end-and-a-missing-one-is-null",
                    a_line_loses_its_end_and_a_missing_one_is_null);
    g_test_add_func("/fd/writing-to-a-closed-pipe-is-an-error",
                    writing_to_a_closed_pipe_is_an_error);
    return g_test_run();
}
