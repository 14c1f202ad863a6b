/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: with whom the host talks, from files that may hold anything.
 */
#include <string.h>

#include "lib/apply/peers.h"

typedef void (*Parse)(const char *text, NpHost *host);

static const char hosts[] = "127.0.0.1 localhost\n10.0.0.11\tnode1.lan  node1 # old\n"
                            "# 10.0.0.99 node2\n10.0.0.12 node2\n";

static void
parse_corosync(const char *text, NpHost *host)
{
    np_peers_parse_corosync(text, hosts, host);
}

static void
parse_storage(const char *text, NpHost *host)
{
    np_peers_parse_storage(text, hosts, host);
}

typedef struct {
    const char *name;
    Parse parse;
    const char *text;
    const char *peers; /* texts joined by "; " */
} Row;

#define TCP_HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n"

static const Row rows[] = {
    {"tcp-ssh", np_peers_parse_tcp,
     TCP_HEAD "   0: 0100000A:0016 0900000A:C350 01 00000000:00000000\n",
     "the ssh session from 10.0.0.9"},
    {"tcp-ssh-listening", np_peers_parse_tcp,
     TCP_HEAD "   0: 00000000:0016 00000000:0000 0A 00000000:00000000\n", ""},
    {"tcp-ssh-loopback", np_peers_parse_tcp,
     "   0: 0100007F:0016 0100007F:C350 01 00000000:00000000\n", ""},
    {"tcp-ssh-mapped", np_peers_parse_tcp,
     "   0: 0000000000000000FFFF00000100000A:0016 0000000000000000FFFF00000900000A:C350 01 x\n",
     "the ssh session from 10.0.0.9"},
    {"tcp-ssh-six", np_peers_parse_tcp,
     "   0: 000000FD000000000000000001000000:0016 000000FD000000000000000009000000:C350 01 x\n",
     "the ssh session from fd00::9"},
    {"tcp-storage", np_peers_parse_tcp,
     "0: 0100000A:C350 0500000A:0801 01 x\n1: 0100000A:C351 0500000A:0CBC 01 x\n"
     "2: 0100000A:C352 0600000A:0801 01 x\n3: 0100000A:C353 0500000A:0801 01 x\n"
     "4: 0100000A:1A90 0700000A:D000 01 x\n5: 0100000A:0801 0800000A:D000 01 x\n",
     "storage traffic (NFS) with 10.0.0.5; storage traffic (iSCSI) with 10.0.0.5; "
     "storage traffic (NFS) with 10.0.0.6; storage traffic (Ceph) with 10.0.0.7"},
    {"tcp-hostile", np_peers_parse_tcp,
     "0: 0100000A 0500000A:0801 01\n1: 0100000G:C350 0500000A:0801 01\n2: :::: :::: 01\n"
     "3: 0100000A:C350 0500000A:08011 01\n\n01\n   \n",
     ""},
    {"ssh-connection", np_peers_parse_ssh, "10.0.0.9 50000 10.0.0.1 22",
     "the ssh session from 10.0.0.9"},
    {"ssh-connection-with-zone", np_peers_parse_ssh, "fe80::9%eno1 50000 fe80::1%eno1 22",
     "the ssh session from fe80::9"},
    {"ssh-connection-hostile", np_peers_parse_ssh, "rm -rf / ;", ""},
    {"ssh-connection-empty", np_peers_parse_ssh, "", ""},
    {"mounts", np_peers_parse_mounts,
     "/dev/sda1 / ext4 rw,addr=1.2.3.4 0 0\n"
     "nas:/x /mnt nfs4 rw,vers=4.2,addr=10.0.0.5,local_lock=none 0 0\n"
     "//nas/y /mnt/y cifs rw,addr=10.0.0.6 0 0\n"
     "10.0.0.7:6789,10.0.0.8:/ /ceph ceph rw,name=admin 0 0\n"
     "nas:/z /mnt nfs rw,addr=nonsense 0 0\nshort nfs\n",
     "storage traffic (NFS) with 10.0.0.5; storage traffic (SMB) with 10.0.0.6; "
     "storage traffic (Ceph) with 10.0.0.7; storage traffic (Ceph) with 10.0.0.8"},
    {"corosync", parse_corosync,
     "nodelist {\n  node {\n    name: node1\n    ring0_addr: node1\n    ring1_addr: 10.1.0.11\n"
     "  }\n  node {\n    ring0_addr: node2\n    ring0_addr: nowhere\n    ring0: 10.3.3.3\n  }\n}\n",
     "the cluster's corosync link 10.0.0.11; corosync traffic with 10.1.0.11; "
     "corosync traffic with 10.0.0.12"},
    {"storage-cfg", parse_storage,
     "nfs: nas\n\tpath /mnt/pve/nas\n\tserver 10.0.0.5\n\texport /x\n\niscsi: san\n"
     "\tportal 10.0.0.6:3260\n\trbd: x\n\tmonhost 10.0.0.7,[fd00::7]:6789;node2\n\tserver "
     "gone.lan\n",
     "storage traffic (storage.cfg) with 10.0.0.5; storage traffic (storage.cfg) with 10.0.0.6; "
     "storage traffic (storage.cfg) with 10.0.0.7; storage traffic (storage.cfg) with fd00::7; "
     "storage traffic (storage.cfg) with 10.0.0.12"},
};

static void
test_row(gconstpointer data)
{
    const Row *row = data;
    g_autoptr(NpHost) host = np_host_new();
    g_autoptr(GString) texts = g_string_new(NULL);
    NpIp own;
    g_assert_true(np_ip_parse("10.0.0.11", &own));
    np_host_add_address(host, 1, &own, 24);
    row->parse(row->text, host);
    for (guint i = 0; i < host->peers->len; i++) {
        const NpPeer *peer = g_ptr_array_index(host->peers, i);
        g_string_append_printf(texts, "%s%s", i ? "; " : "", peer->text);
    }
    g_assert_cmpstr(texts->str, ==, row->peers);
}

static void
test_a_connection_keeps_its_own_address(void)
{
    g_autoptr(NpHost) host = np_host_new();
    NpIp own;
    np_peers_parse_tcp("0: 0100000A:0016 0900000A:C350 01 x\n", host);
    g_assert_true(np_ip_parse("10.0.0.1", &own));
    g_assert_true(np_ip_equal(&((const NpPeer *) g_ptr_array_index(host->peers, 0))->local, &own));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/peers/%s", rows[i].name);
        g_test_add_data_func(path, &rows[i], test_row);
    }
    g_test_add_func("/peers/a-connection-keeps-its-own-address",
                    test_a_connection_keeps_its_own_address);
    return g_test_run();
}
