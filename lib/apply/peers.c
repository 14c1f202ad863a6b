/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Peers: see peers.h.
 */
#include "lib/apply/peers.h"

#include <string.h>

#include "lib/apply/tree.h"

#define FILE_MAX (8u << 20)
#define PORT_SSH 22

typedef struct {
    uint16_t first, last;
    const char *name;
    bool either_side; /* the service may run on this host as well */
} Service;

static const Service services[] = {
    {2049, 2049, "NFS", false},
    {3260, 3260, "iSCSI", false},
    {4420, 4420, "NVMe/TCP", false},
    {3300, 3300, "Ceph", true},
    {6789, 6789, "Ceph", true},
    {6800, 7300, "Ceph", true},
    {8007, 8007, "the Proxmox Backup Server", false},
};

static const Service *
find_service(uint16_t local, uint16_t remote)
{
    for (size_t i = 0; i < G_N_ELEMENTS(services); i++) {
        const Service *service = &services[i];
        if ((remote >= service->first && remote <= service->last) ||
            (service->either_side && local >= service->first && local <= service->last))
            return service;
    }
    return NULL;
}

/* "0100007F:0016": the address as 32-bit words in the machine's byte order, the port in hex. */
static bool
parse_end(const char *text, NpIp *ret_ip, uint16_t *ret_port)
{
    const char *colon = strchr(text, ':');
    size_t digits = colon ? (size_t) (colon - text) : 0;
    uint32_t word[4] = {0};
    if ((digits != 8 && digits != 32) || strlen(colon + 1) != 4)
        return false;
    for (size_t i = 0; i < digits; i++) {
        int digit = g_ascii_xdigit_value(text[i]);
        if (digit < 0)
            return false;
        word[i / 8] = word[i / 8] << 4 | (uint32_t) digit;
    }
    unsigned port = 0;
    for (size_t i = 1; i <= 4; i++) {
        int digit = g_ascii_xdigit_value(colon[i]);
        if (digit < 0)
            return false;
        port = port << 4 | (unsigned) digit;
    }
    *ret_port = (uint16_t) port;
    return np_ip_from_bytes(word, digits / 2, ret_ip);
}

static void
add_service(NpHost *host, const char *name, const NpIp *local, const NpIp *remote)
{
    char ip[NP_IP_TEXT_SIZE];
    if (np_ip_is_loopback(remote) || np_ip_is_any(remote))
        return;
    g_autofree char *text =
        g_strdup_printf("storage traffic (%s) with %s", name, np_ip_format(remote, ip));
    np_host_add_peer(host, NP_USE_STORAGE, local, remote, text);
}

static void
add_ssh(NpHost *host, const NpIp *local, const NpIp *remote)
{
    char ip[NP_IP_TEXT_SIZE];
    if (np_ip_is_loopback(remote))
        return;
    g_autofree char *text = g_strdup_printf("the ssh session from %s", np_ip_format(remote, ip));
    np_host_add_peer(host, NP_USE_SSH, local, remote, text);
}

static void
parse_connection(const char *line, NpHost *host)
{
    g_auto(GStrv) all = g_strsplit(line, " ", 32);
    const char *word[4] = {NULL};
    size_t count = 0;
    for (char **at = all; *at && count < G_N_ELEMENTS(word); at++)
        if (**at)
            word[count++] = *at;
    NpIp local, remote;
    uint16_t local_port, remote_port;
    if (count < G_N_ELEMENTS(word) || strcmp(word[3], "01") != 0 ||
        !parse_end(word[1], &local, &local_port) || !parse_end(word[2], &remote, &remote_port))
        return;
    const Service *service = find_service(local_port, remote_port);
    if (local_port == PORT_SSH)
        add_ssh(host, &local, &remote);
    else if (service)
        add_service(host, service->name, &local, &remote);
}

void
np_peers_parse_tcp(const char *text, NpHost *host)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        parse_connection(*line, host);
}

/* "CLIENT PORT SERVER PORT". A person could set it to anything: an address that is not the host's
 * and that no route leads to names no port. */
void
np_peers_parse_ssh(const char *ssh_connection, NpHost *host)
{
    g_auto(GStrv) word = g_strsplit(ssh_connection, " ", 5);
    NpIp local, remote;
    if (g_strv_length(word) == 4 && np_ip_parse(word[0], &remote) && np_ip_parse(word[2], &local))
        add_ssh(host, &local, &remote);
}

/* A numeric address or a name of /etc/hosts; with `port` behind it ("10.0.0.5:3260", "[fd00::1]")
 * or without. */
static bool
resolve(const char *text, const char *hosts, NpIp *ret_ip)
{
    if (np_ip_parse(text, ret_ip))
        return true;
    g_autofree char *name = g_strdup(*text == '[' ? text + 1 : text);
    name[strcspn(name, *text == '[' ? "]" : ":")] = '\0';
    if (np_ip_parse(name, ret_ip))
        return true;
    g_auto(GStrv) lines = g_strsplit(hosts ? hosts : "", "\n", -1);
    for (char **line = lines; *line; line++) {
        (*line)[strcspn(*line, "#")] = '\0';
        g_auto(GStrv) word = g_strsplit_set(g_strstrip(*line), " \t", -1);
        for (guint i = 1; word[0] && word[i]; i++)
            if (*name && g_ascii_strcasecmp(word[i], name) == 0 && np_ip_parse(word[0], ret_ip))
                return true;
    }
    return false;
}

static void
parse_mount(const char *line, NpHost *host)
{
    g_auto(GStrv) word = g_strsplit(line, " ", 5); /* source, place, type, options */
    if (g_strv_length(word) < 4)
        return;
    const char *type = word[2];
    bool nfs = strcmp(type, "nfs") == 0 || strcmp(type, "nfs4") == 0;
    if (!nfs && strcmp(type, "cifs") != 0 && strcmp(type, "smb3") != 0 && strcmp(type, "ceph") != 0)
        return;
    const char *name = nfs ? "NFS" : *type == 'c' && type[1] == 'e' ? "Ceph" : "SMB";
    g_auto(GStrv) option = g_strsplit(word[3], ",", -1);
    NpIp remote;
    for (char **at = option; *at; at++)
        if (g_str_has_prefix(*at, "addr=") && np_ip_parse(*at + strlen("addr="), &remote))
            add_service(host, name, NULL, &remote);
    if (strcmp(name, "Ceph") != 0)
        return;
    g_auto(GStrv) monitor = g_strsplit(word[0], ",", 64); /* "10.0.0.1,10.0.0.2:6789:/" */
    for (char **at = monitor; *at; at++)
        if (resolve(*at, NULL, &remote))
            add_service(host, name, NULL, &remote);
}

void
np_peers_parse_mounts(const char *text, NpHost *host)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        parse_mount(*line, host);
}

void
np_peers_parse_corosync(const char *text, const char *hosts, NpHost *host)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        const char *key = g_strstrip(*line);
        char *colon = strchr(key, ':');
        NpIp ip;
        if (!g_str_has_prefix(key, "ring") || !colon)
            continue;
        *colon = '\0';
        char *value = g_strstrip(colon + 1);
        if (!g_str_has_suffix(key, "_addr") || !resolve(value, hosts, &ip))
            continue;
        /* The node's own address names the link; another node's, the way to it. */
        char plain[NP_IP_TEXT_SIZE];
        bool own = false;
        for (guint i = 0; i < host->addresses->len; i++)
            own = own || np_ip_equal(&g_array_index(host->addresses, NpLinkAddress, i).ip, &ip);
        g_autofree char *what =
            g_strdup_printf(own ? "the cluster's corosync link %s" : "corosync traffic with %s",
                            np_ip_format(&ip, plain));
        np_host_add_peer(host, NP_USE_COROSYNC, own ? &ip : NULL, own ? NULL : &ip, what);
    }
}

void
np_peers_parse_storage(const char *text, const char *hosts, NpHost *host)
{
    static const char *const keys[] = {"server", "server2", "portal", "monhost"};
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        g_auto(GStrv) word = g_strsplit_set(g_strstrip(*line), " \t,;", -1);
        bool wanted = false;
        for (size_t i = 0; word[0] && i < G_N_ELEMENTS(keys); i++)
            wanted = wanted || strcmp(word[0], keys[i]) == 0;
        for (guint i = 1; wanted && word[i]; i++) {
            NpIp remote;
            if (*word[i] && resolve(word[i], hosts, &remote))
                add_service(host, "storage.cfg", NULL, &remote);
        }
    }
}

static char *
read_text(int root, const char *path)
{
    char *text = NULL;
    return root >= 0 && np_tree_read(root, path, FILE_MAX, &text, NULL) == 0 ? text : NULL;
}

void
np_peers_collect(int proc, int etc, const char *ssh_connection, NpHost *host)
{
    g_autofree char *tcp = read_text(proc, "net/tcp");
    g_autofree char *tcp6 = read_text(proc, "net/tcp6");
    g_autofree char *mounts = read_text(proc, "mounts");
    g_autofree char *hosts = read_text(etc, "hosts");
    g_autofree char *corosync = read_text(etc, "pve/corosync.conf");
    g_autofree char *storage = read_text(etc, "pve/storage.cfg");
    if (!corosync)
        corosync = read_text(etc, "corosync/corosync.conf");
    if (ssh_connection)
        np_peers_parse_ssh(ssh_connection, host);
    if (tcp)
        np_peers_parse_tcp(tcp, host);
    if (tcp6)
        np_peers_parse_tcp(tcp6, host);
    if (mounts)
        np_peers_parse_mounts(mounts, host);
    if (corosync)
        np_peers_parse_corosync(corosync, hosts, host);
    if (storage)
        np_peers_parse_storage(storage, hosts, host);
}

char *
np_peers_cluster_name(int etc)
{
    g_autofree char *text = read_text(etc, "pve/corosync.conf");
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
    for (char **line = lines; *line; line++)
        if (g_str_has_prefix(g_strstrip(*line), "cluster_name:"))
            return g_strdup(g_strstrip(*line + strlen("cluster_name:")));
    return NULL;
}
