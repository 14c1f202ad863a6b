/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * rtnetlink: see rtnl.h.
 */
#include "lib/apply/rtnl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "lib/apply/detach.h"
#include "lib/apply/tree.h"
#include "lib/base/clock.h"
#include "lib/base/fd.h"

#define ANSWER_MAX    (64u << 20)
#define RECORDED_MAX  (16u << 20)
#define QUERY_MS      10000 /* another process may hold the kernel's lock for seconds */
#define DUMP_ATTEMPTS 5

struct NpRtnl {
    struct nl_sock *socket; /* NULL: recorded */
    uint32_t sequence;
    int root;
    char *folder;
};

int
np_rtnl_open(NpRtnl **ret_rtnl)
{
    g_autoptr(NpRtnl) rtnl = g_new0(NpRtnl, 1);
    rtnl->root = -1;
    rtnl->socket = nl_socket_alloc();
    if (!rtnl->socket)
        return -ENOMEM;
    errno = 0;
    if (nl_connect(rtnl->socket, NETLINK_ROUTE) < 0)
        return errno ? -errno : -EIO;
    nl_socket_enable_msg_peek(rtnl->socket);
    int on = 1;
    int fd = nl_socket_get_fd(rtnl->socket);
    /* Older kernels know neither: then there are no hints, and acknowledgements are longer. */
    (void) setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
    (void) setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
    *ret_rtnl = g_steal_pointer(&rtnl);
    return 0;
}

NpRtnl *
np_rtnl_open_recorded(int root, const char *folder)
{
    NpRtnl *rtnl = g_new0(NpRtnl, 1);
    rtnl->root = fcntl(root, F_DUPFD_CLOEXEC, 3);
    rtnl->folder = g_strdup(folder);
    return rtnl;
}

void
np_rtnl_free(NpRtnl *rtnl)
{
    if (!rtnl)
        return;
    nl_socket_free(rtnl->socket);
    np_fd_clear(&rtnl->root);
    g_free(rtnl->folder);
    g_free(rtnl);
}

NpRtnlMessage *
np_rtnl_message(int type, int flags)
{
    NpRtnlMessage *message = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);
    if (!message)
        g_error("out of memory");
    return message;
}

const struct nlmsghdr *
np_rtnl_next(const void *data, size_t size, size_t *at)
{
    if (*at > size || size - *at < sizeof(struct nlmsghdr))
        return NULL;
    const struct nlmsghdr *header =
        (const struct nlmsghdr *) (const void *) ((const char *) data + *at);
    if (header->nlmsg_len < sizeof(*header) || header->nlmsg_len > size - *at)
        return NULL;
    *at += NLMSG_ALIGN((size_t) header->nlmsg_len);
    return header;
}

bool
np_rtnl_parse_ack(const struct nlmsghdr *message, uint32_t sequence, int *ret_result,
                  char **ret_hint)
{
    if (message->nlmsg_type != NLMSG_ERROR || message->nlmsg_seq != sequence ||
        message->nlmsg_len < NLMSG_LENGTH(sizeof(struct nlmsgerr)))
        return false;
    const struct nlmsgerr *ack = nlmsg_data(message);
    *ret_result = ack->error > 0 ? -EBADMSG : ack->error;
    *ret_hint = NULL;
    if (!(message->nlmsg_flags & NLM_F_ACK_TLVS))
        return true;
    /* The refused request follows its header unless the kernel was told (or chose) to leave it. */
    size_t skip = sizeof(*ack);
    if (!(message->nlmsg_flags & NLM_F_CAPPED) && ack->msg.nlmsg_len > sizeof(struct nlmsghdr))
        skip += NLMSG_ALIGN((size_t) ack->msg.nlmsg_len) - sizeof(struct nlmsghdr);
    size_t size = message->nlmsg_len - NLMSG_LENGTH(0);
    if (skip >= size)
        return true;
    const struct nlattr *text =
        nla_find((const struct nlattr *) (const void *) ((const char *) ack + skip),
                 (int) (size - skip), NLMSGERR_ATTR_MSG);
    if (text && nla_len(text) > 0)
        *ret_hint = g_strndup(nla_data(text), (gsize) nla_len(text));
    return true;
}

/* What a received buffer says about the answer to request `sequence`. */
typedef enum {
    ANSWER_MORE,
    ANSWER_DONE,
    ANSWER_FAILED,
    ANSWER_AGAIN, /* the dump was interrupted by a change */
} AnswerState;

static AnswerState
take_messages(const void *data, size_t size, uint32_t sequence, GByteArray *answer, int *ret_result,
              char **ret_hint)
{
    size_t at = 0;
    const struct nlmsghdr *header;
    while ((header = np_rtnl_next(data, size, &at))) {
        if (header->nlmsg_seq != sequence)
            continue; /* of a request that was given up */
        if (header->nlmsg_flags & NLM_F_DUMP_INTR)
            return ANSWER_AGAIN;
        if (np_rtnl_parse_ack(header, sequence, ret_result, ret_hint))
            return *ret_result ? ANSWER_FAILED : ANSWER_DONE;
        if (header->nlmsg_type == NLMSG_DONE)
            return ANSWER_DONE;
        static const guint8 padding[NLMSG_ALIGNTO];
        g_byte_array_append(answer, (const guint8 *) header, header->nlmsg_len);
        g_byte_array_append(answer, padding,
                            (guint) (NLMSG_ALIGN(header->nlmsg_len) - header->nlmsg_len));
        if (answer->len > ANSWER_MAX) {
            *ret_result = -EFBIG;
            return ANSWER_FAILED;
        }
        if (!(header->nlmsg_flags & NLM_F_MULTI))
            return ANSWER_DONE;
    }
    return ANSWER_MORE;
}

static int
receive(NpRtnl *rtnl, GByteArray *answer, int64_t timeout_ms, AnswerState *ret_state,
        char **ret_hint)
{
    int64_t end_ns = np_clock_ns() + timeout_ms * NP_NS_PER_MS;
    for (;;) {
        int64_t left_ms = MAX((end_ns - np_clock_ns()) / NP_NS_PER_MS, 0);
        struct pollfd wait = {.fd = nl_socket_get_fd(rtnl->socket), .events = POLLIN};
        int ready = poll(&wait, 1, (int) MIN(left_ms, 60000));
        if (ready < 0 && errno != EINTR)
            return -errno;
        if (ready <= 0) {
            if (left_ms == 0)
                return -ETIMEDOUT;
            continue;
        }
        struct sockaddr_nl from;
        unsigned char *data = NULL;
        errno = 0;
        int size = nl_recv(rtnl->socket, &from, &data, NULL);
        if (size < 0)
            return errno ? -errno : -EIO;
        int result = 0;
        AnswerState state = ANSWER_MORE;
        if (size > 0 && from.nl_pid == 0)
            state = take_messages(data, (size_t) size, rtnl->sequence, answer, &result, ret_hint);
        free(data);
        if (state == ANSWER_MORE)
            continue;
        *ret_state = state;
        return result;
    }
}

/* Gives the request its number and sends it from a child: the kernel carries a request out inside
 * the write. */
static int
send_request(NpRtnl *rtnl, NpRtnlMessage *request, int64_t timeout_ms)
{
    struct nlmsghdr *header = nlmsg_hdr(request);
    header->nlmsg_seq = ++rtnl->sequence;
    return np_detached_write(nl_socket_get_fd(rtnl->socket), header, header->nlmsg_len, timeout_ms);
}

GByteArray *
np_rtnl_parse_hex(const char *text)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    while (*text) {
        if (*text == '#') {
            text += strcspn(text, "\n");
        } else if (g_ascii_isspace(*text)) {
            text++;
        } else {
            int high = g_ascii_xdigit_value(text[0]);
            int low = high < 0 ? -1 : g_ascii_xdigit_value(text[1]);
            if (low < 0)
                return NULL;
            guint8 byte = (guint8) (high << 4 | low);
            g_byte_array_append(bytes, &byte, 1);
            text += 2;
        }
    }
    return g_steal_pointer(&bytes);
}

static int
read_recorded(const NpRtnl *rtnl, const char *name, GByteArray **ret_answer)
{
    g_autofree char *path = g_strdup_printf("%s/%s.hex", rtnl->folder, name);
    g_autofree char *text = NULL;
    int result = np_tree_read(rtnl->root, path, RECORDED_MAX, &text, NULL);
    if (result == -ENOENT || result == -ENOTDIR) {
        *ret_answer = g_byte_array_new();
        return 0;
    }
    if (result < 0)
        return result;
    GByteArray *bytes = np_rtnl_parse_hex(text);
    if (!bytes)
        return -EBADMSG;
    *ret_answer = bytes;
    return 0;
}

int
np_rtnl_query(NpRtnl *rtnl, NpRtnlMessage *request, const char *name, GByteArray **ret_answer)
{
    if (!rtnl->socket)
        return read_recorded(rtnl, name, ret_answer);
    for (unsigned i = 0; i < DUMP_ATTEMPTS; i++) {
        g_autoptr(GByteArray) answer = g_byte_array_new();
        g_autofree char *hint = NULL;
        AnswerState state = ANSWER_DONE;
        int result = send_request(rtnl, request, QUERY_MS);
        if (result == 0)
            result = receive(rtnl, answer, QUERY_MS, &state, &hint);
        if (result < 0)
            return result;
        if (state == ANSWER_AGAIN)
            continue;
        *ret_answer = g_steal_pointer(&answer);
        return 0;
    }
    return -EINTR;
}

int
np_rtnl_change(NpRtnl *rtnl, NpRtnlMessage *request, int64_t timeout_ms, char **ret_hint)
{
    *ret_hint = NULL;
    if (!rtnl->socket)
        return -EOPNOTSUPP;
    nlmsg_hdr(request)->nlmsg_flags |= NLM_F_ACK;
    int result = send_request(rtnl, request, timeout_ms);
    if (result < 0)
        return result;
    g_autoptr(GByteArray) answer = g_byte_array_new();
    AnswerState state;
    return receive(rtnl, answer, timeout_ms, &state, ret_hint);
}
