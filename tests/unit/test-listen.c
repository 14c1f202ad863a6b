/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Listen: the kernel's list of TCP sockets, and a real listener in it.
 */
#include "agent/listen.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "lib/base/fd.h"

static void
only_listening_sockets_count(void)
{
    static const struct {
        const char *line;
        bool taken;
        unsigned port; /* 0: none */
    } rows[] = {
        {"  sl  local_address rem_address   st tx_queue rx_queue", true, 0},
        {"   0: 00000000:1451 00000000:0000 0A 00000000:00000000 00:00000000", true, 5201},
        {"   1: 00000000000000000000000000000000:1452 00000000000000000000000000000000:0000 0A x",
         true, 5202},
        {"  12: 0100007F:FFFF 00000000:0000 0A 00000000:00000000", true, 65535},
        {"   2: 0100007F:1453 0100007F:A3B2 01 00000000:00000000", false, 0},
        {"   3: 0100007F:1454 0100007F:A3B2 06 00000000:00000000", false, 0},
        {"", false, 0},
        {"nonsense", false, 0},
        {"   4: 00000000:14", false, 0},
        {"   5: 00000000:1455 00000000:0000", false, 0},
        {"   6: 00000000:145G 00000000:0000 0A", false, 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        NpPorts ports = {{0}};
        g_assert_cmpint(np_listen_take_line(rows[i].line, &ports), ==, rows[i].taken);
        for (unsigned port = 0; port < 65536; port++)
            g_assert_cmpint(np_ports_has(&ports, port), ==, port && port == rows[i].port);
        g_assert_false(np_ports_has(&ports, 65536));
    }
}

static void
a_listener_appears_and_a_bound_socket_does_not(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    NpPorts ports;
    np_autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(bind(fd, (const struct sockaddr *) &address, sizeof(address)), ==, 0);
    g_assert_cmpint(getsockname(fd, (struct sockaddr *) &address, &size), ==, 0);
    g_assert_true(np_listen_scan(&ports, NULL));
    g_assert_false(np_ports_has(&ports, ntohs(address.sin_port)));
    g_assert_cmpint(listen(fd, 1), ==, 0);
    g_assert_true(np_listen_scan(&ports, NULL));
    g_assert_true(np_ports_has(&ports, ntohs(address.sin_port)));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/listen/only-listening-sockets-count", only_listening_sockets_count);
    g_test_add_func("/listen/a-listener-appears-and-a-bound-socket-does-not",
                    a_listener_appears_and_a_bound_socket_does_not);
    return g_test_run();
}
