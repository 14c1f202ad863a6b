/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Descriptors and small files: closing, complete reads and writes, limits.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/fd.h"

typedef struct {
    int read, write;
} Ends;

static Ends
pipe_new(void)
{
    int fds[2];
    g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
    return (Ends){fds[0], fds[1]};
}

static bool
is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static void
test_a_scope_closes_and_keeps_errno(void)
{
    int inside;
    errno = EXDEV;
    {
        np_autofd int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        np_autofd int none = -1;
        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(none, ==, -1);
        inside = fd;
        errno = EXDEV;
    }
    g_assert_cmpint(errno, ==, EXDEV);
    g_assert_false(is_open(inside));
    int bad = 999999;
    errno = EXDEV;
    np_fd_clear(&bad);
    g_assert_cmpint(errno, ==, EXDEV);
    g_assert_cmpint(bad, ==, -1);
}

static void
test_a_stolen_descriptor_stays_open(void)
{
    int taken;
    {
        np_autofd int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        taken = np_fd_steal(&fd);
        g_assert_cmpint(fd, ==, -1);
    }
    g_assert_true(is_open(taken));
    np_fd_clear(&taken);
    g_assert_cmpint(taken, ==, -1);
}

static void
test_nonblocking_keeps_the_other_flags(void)
{
    np_autofd int fd = open("/dev/null", O_WRONLY | O_APPEND | O_CLOEXEC);
    g_autoptr(GError) error = NULL;
    g_assert_true(np_fd_set_nonblocking(fd, NULL));
    g_assert_cmpint(fcntl(fd, F_GETFL) & (O_NONBLOCK | O_APPEND), ==, O_NONBLOCK | O_APPEND);
    g_assert_false(np_fd_set_nonblocking(-1, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_IO);
}

typedef struct {
    int fd;
    const char *data;
    size_t size;
} Writing;

static gpointer
write_in_thread(gpointer data)
{
    Writing *writing = data;
    bool ok = np_fd_write_all(writing->fd, writing->data, writing->size, NULL);
    np_fd_clear(&writing->fd);
    return GINT_TO_POINTER(ok);
}

/* More than a pipe holds, so that both sides go in several steps. */
static void
test_much_is_written_and_read_in_pieces(void)
{
    size_t size = 1000000, got;
    g_autofree char *data = g_strnfill(size, 'x');
    g_autofree char *read = NULL;
    data[0] = '\0';
    Ends ends = pipe_new();
    Writing writing = {ends.write, data, size};
    GThread *thread = g_thread_new("writer", write_in_thread, &writing);
    g_assert_true(np_fd_read_all(ends.read, size, &read, &got, NULL));
    g_assert_true(GPOINTER_TO_INT(g_thread_join(thread)));
    g_assert_cmpmem(read, got, data, size);
    g_assert_cmpint(read[size], ==, '\0');
    np_fd_clear(&ends.read);
}

static void
test_the_limit_is_the_last_allowed_size(void)
{
    static const struct {
        const char *text;
        size_t max;
        bool fits;
    } rows[] = {{"", 0, true}, {"x", 0, false}, {"abc", 3, true}, {"abcd", 3, false}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        Ends ends = pipe_new();
        g_autoptr(GError) error = NULL;
        char *text = NULL;
        size_t size = 99;
        g_assert_true(np_fd_write_all(ends.write, rows[i].text, strlen(rows[i].text), NULL));
        np_fd_clear(&ends.write);
        g_assert_true(np_fd_read_all(ends.read, rows[i].max, &text, &size, &error) == rows[i].fits);
        np_fd_clear(&ends.read);
        if (rows[i].fits) {
            g_assert_cmpstr(text, ==, rows[i].text);
        } else {
            g_assert_error(error, NP_ERROR, NP_ERROR_CONFIG);
            g_assert_null(text); /* untouched */
            g_assert_cmpuint(size, ==, 99);
        }
        g_free(text);
    }
}

static void
test_a_broken_pipe_is_an_error(void)
{
    Ends ends = pipe_new();
    g_autoptr(GError) error = NULL;
    np_fd_clear(&ends.read);
    g_assert_false(np_fd_write_all(ends.write, "x", 1, &error));
    g_assert_error(error, NP_ERROR, NP_ERROR_IO);
    g_assert_true(np_fd_write_all(-1, "", 0, NULL)); /* nothing to write is no write */
    np_fd_clear(&ends.write);
}

static void
test_files_are_read_whole_and_errors_name_them(void)
{
    g_autofree char *text = NULL, *line = np_file_read_line("/proc/self/comm");
    g_autoptr(GError) missing = NULL, large = NULL, folder = NULL;
    size_t size;
    /* Its size reads 0. */
    g_assert_true(np_file_read("/proc/self/stat", 4096, &text, &size, NULL));
    g_assert_cmpuint(size, ==, strlen(text));
    g_assert_cmpuint(size, >, 0);
    g_assert_cmpstr(line, ==, "test-fd");
    g_assert_null(np_file_read_line("/nonexistent/file"));
    g_assert_null(np_file_read_line("/proc"));
    g_assert_false(np_file_read("/nonexistent/file", 10, &text, NULL, &missing));
    g_assert_error(missing, NP_ERROR, NP_ERROR_NOT_FOUND);
    g_assert_nonnull(strstr(missing->message, "/nonexistent/file"));
    g_assert_false(np_file_read("/proc/self/stat", 10, &text, NULL, &large));
    g_assert_error(large, NP_ERROR, NP_ERROR_CONFIG);
    g_assert_true(g_str_has_prefix(large->message, "/proc/self/stat: "));
    g_assert_false(np_file_read("/proc", 10, &text, NULL, &folder));
    g_assert_error(folder, NP_ERROR, NP_ERROR_IO);
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fd/a-scope-closes-and-keeps-errno", test_a_scope_closes_and_keeps_errno);
    g_test_add_func("/fd/a-stolen-descriptor-stays-open", test_a_stolen_descriptor_stays_open);
    g_test_add_func("/fd/nonblocking-keeps-the-other-flags",
                    test_nonblocking_keeps_the_other_flags);
    g_test_add_func("/fd/much-is-written-and-read-in-pieces",
                    test_much_is_written_and_read_in_pieces);
    g_test_add_func("/fd/the-limit-is-the-last-allowed-size",
                    test_the_limit_is_the_last_allowed_size);
    g_test_add_func("/fd/a-broken-pipe-is-an-error", test_a_broken_pipe_is_an_error);
    g_test_add_func("/fd/files-are-read-whole-and-errors-name-them",
                    test_files_are_read_whole_and_errors_name_them);
    return g_test_run();
}
