/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: files below a root, and writes that block.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "lib/apply/detach.h"
#include "lib/apply/tree.h"
#include "lib/base/fd.h"

/* A new folder, its descriptor in *ret_fd. */
static char *
make_root(int *ret_fd)
{
    char *folder = g_dir_make_tmp("np-XXXXXX", NULL);
    g_assert_nonnull(folder);
    *ret_fd = np_tree_open(folder, NULL);
    g_assert_cmpint(*ret_fd, >=, 0);
    return folder;
}

static void
put(const char *folder, const char *name, const char *data, gssize size)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(parent, 0755), ==, 0);
    g_assert_true(g_file_set_contents(path, data, size, NULL));
}

static void
test_paths_never_leave_the_root(void)
{
    static const char *const bad[] = {"",    "/etc/passwd", "..", "../x", "a/../b", "a//b",
                                      "a/.", "./a",         "a/", "/",    "a/..",   "."};
    np_autofd int root = -1;
    g_autofree char *folder = make_root(&root);
    put(folder, "a/b", "x", -1);
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        g_assert_cmpint(np_tree_openat(root, bad[i], O_RDONLY), ==, -EINVAL);
    np_autofd int fd = np_tree_openat(root, "a/b", O_RDONLY);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(fcntl(fd, F_GETFD) & FD_CLOEXEC, ==, FD_CLOEXEC);
    g_assert_cmpint(np_tree_openat(root, "a/c/d", O_RDONLY), ==, -ENOENT);
    g_assert_cmpint(np_tree_openat(root, "a/b/c", O_RDONLY), ==, -ENOTDIR);
}

static void
test_attributes_lose_one_line_end(void)
{
    np_autofd int root = -1;
    g_autofree char *folder = make_root(&root);
    g_autofree char *big = g_strnfill(NP_TREE_ATTR_MAX + 1, 'x');
    char *text = NULL;
    put(folder, "plain", "7\n", -1);
    put(folder, "bare", "7", -1);
    put(folder, "two", "7\n\n", -1);
    put(folder, "empty", "", -1);
    put(folder, "nul", "7\0x", 3);
    put(folder, "big", big, -1);
    g_assert_cmpint(np_tree_read_attr(root, "plain", &text), ==, 0);
    g_assert_cmpstr(text, ==, "7");
    g_clear_pointer(&text, g_free);
    g_assert_cmpint(np_tree_read_attr(root, "two", &text), ==, 0);
    g_assert_cmpstr(text, ==, "7\n");
    g_clear_pointer(&text, g_free);
    g_assert_cmpint(np_tree_read_attr(root, "empty", &text), ==, 0);
    g_assert_cmpstr(text, ==, "");
    g_clear_pointer(&text, g_free);
    g_assert_cmpint(np_tree_read_attr(root, "nul", &text), ==, -EBADMSG);
    g_assert_cmpint(np_tree_read_attr(root, "big", &text), ==, -EFBIG);
    g_assert_cmpint(np_tree_read_attr(root, "none", &text), ==, -ENOENT);
    g_assert_cmpint(np_tree_number(root, "bare", -1), ==, 7);
    g_assert_cmpint(np_tree_number(root, "two", -1), ==, -1);
    g_assert_cmpint(np_tree_number(root, "none", -1), ==, -1);
}

static void
test_numbers(void)
{
    static const struct {
        const char *text;
        bool fine;
        int64_t value;
    } rows[] = {
        {"0", true, 0},
        {"-1", true, -1},
        {"0x020000", true, 0x020000},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"0x8000000000000000", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"0x", false, 0},
        {"1 ", false, 0},
        {" 1", false, 0},
        {"1a", false, 0},
        {"--1", false, 0},
        {"+1", false, 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        int64_t value = 0;
        g_assert_cmpint(np_tree_parse_number(rows[i].text, &value), ==, rows[i].fine);
        g_assert_cmpint(value, ==, rows[i].value);
    }
}

static void
test_links_and_folders(void)
{
    np_autofd int root = -1;
    g_autofree char *folder = make_root(&root);
    g_autofree char *link = g_build_filename(folder, "d/driver", NULL);
    g_autoptr(GPtrArray) names = NULL;
    char *text = NULL;
    NpBdf bdf;
    put(folder, "d/b", "", -1);
    put(folder, "d/a", "", -1);
    g_assert_cmpint(symlink("../../../bus/pci/drivers/igb", link), ==, 0);
    g_assert_cmpint(np_tree_readlink(root, "d/driver", &text), ==, 0);
    g_assert_cmpstr(text, ==, "igb");
    g_clear_pointer(&text, g_free);
    g_assert_cmpint(np_tree_readlink(root, "d/none", &text), ==, -ENOENT);
    g_assert_cmpint(np_tree_readlink(root, "d/..", &text), ==, -EINVAL);
    g_assert_false(np_tree_link_bdf(root, "d/driver", &bdf));
    g_assert_cmpint(np_tree_list(root, "d", &names), ==, 0);
    g_assert_cmpuint(names->len, ==, 3);
    g_assert_cmpstr(g_ptr_array_index(names, 0), ==, "a");
    g_assert_cmpstr(g_ptr_array_index(names, 2), ==, "driver");
    g_assert_cmpint(np_tree_list(root, "x", &names), ==, -ENOENT);
}

static void
test_a_write_arrives_whole(void)
{
    np_autofd int root = -1;
    g_autofree char *folder = make_root(&root);
    char *text = NULL;
    put(folder, "attribute", "longer than that", -1);
    np_autofd int fd = np_tree_openat(root, "attribute", O_WRONLY | O_TRUNC);
    g_assert_cmpint(np_detached_write(fd, "igb\n", 4, 60000), ==, 0);
    g_assert_cmpint(np_tree_read_attr(root, "attribute", &text), ==, 0);
    g_assert_cmpstr(text, ==, "igb");
    g_free(text);
}

static void
test_the_errno_of_a_write_comes_back(void)
{
    np_autofd int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    np_autofd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    g_assert_cmpint(np_detached_write(full, "1\n", 2, 60000), ==, -ENOSPC);
    g_assert_cmpint(np_detached_write(null, "1\n", 2, 60000), ==, -EBADF);
}

/* A full pipe stands for an attribute whose driver does not come back. */
static void
test_a_write_that_blocks_does_not_block_us(void)
{
    int pipe_fd[2];
    char page[4096] = {0};
    g_assert_cmpint(pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK), ==, 0);
    while (write(pipe_fd[1], page, sizeof(page)) > 0)
        continue;
    g_assert_cmpint(fcntl(pipe_fd[1], F_SETFL, 0), ==, 0);
    g_assert_cmpint(np_detached_write(pipe_fd[1], "1\n", 2, 50), ==, -ETIMEDOUT);
    g_assert_cmpint(waitpid(-1, NULL, WNOHANG), ==, -1); /* nobody of ours */
    g_assert_cmpint(errno, ==, ECHILD);
    close(pipe_fd[0]); /* lets the writer end */
    close(pipe_fd[1]);
}

/* Otherwise a hypervisor that waits for the end of a hook's output, or a lock, would wait for it.
 */
static void
test_a_blocked_writer_keeps_no_descriptor_of_ours(void)
{
    int stuck[2], watched[2];
    char page[4096] = {0}, byte;
    g_assert_cmpint(pipe2(stuck, O_CLOEXEC | O_NONBLOCK), ==, 0);
    g_assert_cmpint(pipe2(watched, 0), ==, 0); /* would be inherited */
    while (write(stuck[1], page, sizeof(page)) > 0)
        continue;
    g_assert_cmpint(fcntl(stuck[1], F_SETFL, 0), ==, 0);
    g_assert_cmpint(np_detached_write(stuck[1], "1\n", 2, 50), ==, -ETIMEDOUT);
    close(watched[1]);
    struct pollfd wait = {.fd = watched[0], .events = POLLIN};
    g_assert_cmpint(poll(&wait, 1, 60000), ==, 1); /* the end: nobody else has it */
    g_assert_cmpint(read(watched[0], &byte, 1), ==, 0);
    close(watched[0]);
    close(stuck[0]);
    close(stuck[1]);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tree/paths-never-leave-the-root", test_paths_never_leave_the_root);
    g_test_add_func("/tree/attributes-lose-one-line-end", test_attributes_lose_one_line_end);
    g_test_add_func("/tree/numbers", test_numbers);
    g_test_add_func("/tree/links-and-folders", test_links_and_folders);
    g_test_add_func("/detach/a-write-arrives-whole", test_a_write_arrives_whole);
    g_test_add_func("/detach/the-errno-of-a-write-comes-back",
                    test_the_errno_of_a_write_comes_back);
    g_test_add_func("/detach/a-write-that-blocks-does-not-block-us",
                    test_a_write_that_blocks_does_not_block_us);
    g_test_add_func("/detach/a-blocked-writer-keeps-no-descriptor-of-ours",
                    test_a_blocked_writer_keeps_no_descriptor_of_ours);
    return g_test_run();
}
