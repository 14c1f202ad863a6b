/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Peers: with whom the host talks, from /proc and from the files of Proxmox and corosync.
 */
#pragma once

#include "lib/apply/host.h"

/* Reads PROC/net/tcp and tcp6, PROC/mounts, and of ETC: hosts, corosync/corosync.conf,
 * pve/corosync.conf, pve/storage.cfg. What does not exist is passed over. ssh_connection: the value
 * of SSH_CONNECTION, nullable. Descriptors are roots of trees, -1: none. */
void np_peers_collect(int proc, int etc, const char *ssh_connection, NpHost *host);

/* The parts, each from one file's text: hostile lines are passed over. Pure. */
void np_peers_parse_tcp(const char *text, NpHost *host);
void np_peers_parse_ssh(const char *ssh_connection, NpHost *host);
void np_peers_parse_mounts(const char *text, NpHost *host);

/* hosts: text of /etc/hosts, for names in place of addresses (nullable). */
void np_peers_parse_corosync(const char *text, const char *hosts, NpHost *host);
void np_peers_parse_storage(const char *text, const char *hosts, NpHost *host);

/* The cluster's name in corosync.conf (transfer full), NULL: none. */
char *np_peers_cluster_name(int etc);
