/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Host: see host.h.
 */
#include "lib/apply/host.h"

#include <string.h>
#include <sys/socket.h>

void
np_link_free(NpLink *link)
{
    if (!link)
        return;
    g_free(link->name);
    g_free(link->kind);
    g_free(link);
}

static void
link_free(gpointer data)
{
    np_link_free(data);
}

static void
peer_free(gpointer data)
{
    NpPeer *peer = data;
    g_free(peer->text);
    g_free(peer);
}

NpHost *
np_host_new(void)
{
    NpHost *host = g_new0(NpHost, 1);
    host->links = g_ptr_array_new_with_free_func(link_free);
    host->addresses = g_array_new(FALSE, TRUE, sizeof(NpLinkAddress));
    host->routes = g_array_new(FALSE, TRUE, sizeof(NpRoute));
    host->peers = g_ptr_array_new_with_free_func(peer_free);
    return host;
}

void
np_host_free(NpHost *host)
{
    if (!host)
        return;
    g_ptr_array_unref(host->links);
    g_array_unref(host->addresses);
    g_array_unref(host->routes);
    g_ptr_array_unref(host->peers);
    g_free(host);
}

NpLink *
np_host_add_link(NpHost *host, int ifindex, const char *name)
{
    NpLink *link = g_new0(NpLink, 1);
    link->ifindex = ifindex;
    bool plain = true;
    for (const char *at = name; *at; at++)
        plain = plain && g_ascii_isgraph(*at);
    link->name = plain && np_parse_ifname(name, NULL) ? g_strdup(name) : np_quote(name);
    g_ptr_array_add(host->links, link);
    return link;
}

void
np_host_add_address(NpHost *host, int ifindex, const NpIp *ip, unsigned prefix)
{
    const NpLinkAddress address = {.ifindex = ifindex, .ip = *ip, .prefix = prefix};
    g_array_append_val(host->addresses, address);
}

void
np_host_add_peer(NpHost *host, NpUseKind kind, const NpIp *local, const NpIp *remote,
                 const char *text)
{
    for (guint i = 0; i < host->peers->len; i++) {
        const NpPeer *peer = g_ptr_array_index(host->peers, i);
        if (peer->kind == kind && strcmp(peer->text, text) == 0)
            return;
    }
    NpPeer *peer = g_new0(NpPeer, 1);
    peer->kind = kind;
    if (local)
        peer->local = *local;
    if (remote)
        peer->remote = *remote;
    peer->text = g_strdup(text);
    g_ptr_array_add(host->peers, peer);
}

NpLink *
np_host_link(const NpHost *host, int ifindex)
{
    for (guint i = 0; i < host->links->len; i++) {
        NpLink *link = g_ptr_array_index(host->links, i);
        if (link->ifindex == ifindex)
            return link;
    }
    return NULL;
}

NpLink *
np_host_link_by_name(const NpHost *host, const char *name)
{
    for (guint i = 0; i < host->links->len; i++) {
        NpLink *link = g_ptr_array_index(host->links, i);
        if (strcmp(link->name, name) == 0)
            return link;
    }
    return NULL;
}

char **
np_host_addresses(const NpHost *host, int ifindex)
{
    g_autoptr(GStrvBuilder) texts = g_strv_builder_new();
    for (guint i = 0; i < host->addresses->len; i++) {
        const NpLinkAddress *address = &g_array_index(host->addresses, NpLinkAddress, i);
        char ip[NP_IP_TEXT_SIZE];
        if (address->ifindex != ifindex ||
            (address->ip.family == AF_INET6 && np_ip_is_link_local(&address->ip)))
            continue;
        g_autofree char *text =
            g_strdup_printf("%s/%u", np_ip_format(&address->ip, ip), address->prefix);
        g_strv_builder_add(texts, text);
    }
    return g_strv_builder_end(texts);
}
