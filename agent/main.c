/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * nicpass-agent: carries out a host's requests inside a guest, over a virtio-serial port.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <glib-unix.h>

#include "agent/channel.h"
#include "agent/child.h"
#include "agent/iperf.h"
#include "agent/session.h"
#include "lib/base/error.h"
#include "lib/base/fd.h"
#include "lib/base/log.h"
#include "lib/proto/proto.h"

#define EXIT_USAGE 2
#define RETRY_MS   1000
#define DRAIN_MS   1000 /* for the last answers to go out */

static struct {
    char *port, *unix_path;
    gboolean stdio, leave_managers, debug, version;
    int gone_ms, retry_ms;
} arg = {.gone_ms = NP_PROTO_GONE_MS, .retry_ms = RETRY_MS};

/* The hidden ones are for tests, which should not wait as long as people can. */
static const GOptionEntry options[] = {
    {"port", 'p', 0, G_OPTION_ARG_FILENAME, &arg.port,
     "Virtio-serial port, or path of a serial line", "NAME"},
    {"unix", 'u', 0, G_OPTION_ARG_FILENAME, &arg.unix_path, "Listen on a unix socket instead",
     "PATH"},
    {"stdio", 's', 0, G_OPTION_ARG_NONE, &arg.stdio, "Use stdin and stdout instead", NULL},
    {"leave-managers", 0, 0, G_OPTION_ARG_NONE, &arg.leave_managers,
     "Do not talk to network managers", NULL},
    {"debug", 0, 0, G_OPTION_ARG_NONE, &arg.debug, "Log more", NULL},
    {"version", 'V', 0, G_OPTION_ARG_NONE, &arg.version, "Print the version and exit", NULL},
    {"gone-ms", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_INT, &arg.gone_ms, NULL, NULL},
    {"retry-ms", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_INT, &arg.retry_ms, NULL, NULL},
    {NULL},
};

typedef struct {
    GMainLoop *loop;
    NpSession *session;
} Agent;

static void
quit(gpointer data)
{
    g_main_loop_quit(((Agent *) data)->loop);
}

static void
shut_down(gpointer data)
{
    Agent *agent = data;
    np_session_shutdown(agent->session, quit, agent);
}

static gboolean
take_signal(gint fd, GIOCondition condition, gpointer data)
{
    struct signalfd_siginfo info;
    if (read(fd, &info, sizeof(info)) != sizeof(info))
        return G_SOURCE_CONTINUE;
    np_log(G_LOG_LEVEL_INFO, "stopped by signal %u (%s)", info.ssi_signo,
           strsignal((int) info.ssi_signo));
    shut_down(data);
    return G_SOURCE_CONTINUE;
}

/* Through a signalfd, not g_unix_signal_add(), which starts a thread. */
static bool
catch_signals(Agent *agent, GError **error)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return np_throw_errno(error, errno, "signalfd");
    g_unix_fd_add(fd, G_IO_IN, take_signal, agent);
    return true;
}

/* A closed standard descriptor would be reused by the next file opened. /dev/null is asked for only
 * then: there may be none. */
static bool
open_standard_fds(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            return false;
    return true;
}

static NpChannel *
open_channel(GError **error)
{
    if ((arg.port != NULL) + (arg.unix_path != NULL) + arg.stdio > 1) {
        np_throw(error, NP_ERROR_CONFIG, "--port, --unix and --stdio exclude each other");
        return NULL;
    }
    if (arg.stdio)
        return np_channel_new_stdio(error);
    if (arg.unix_path)
        return np_channel_new_unix(arg.unix_path, error);
    return np_channel_new_port(arg.port ? arg.port : NP_PROTO_PORT_NAME, (guint) arg.retry_ms,
                               error);
}

static bool
run(GError **error)
{
    Agent agent = {0};
    np_child_setup();
    if (!catch_signals(&agent, error))
        return false;
    g_autoptr(NpChannel) channel = open_channel(error);
    if (!channel)
        return false;
    g_autoptr(NpNics) nics = np_nics_new(!arg.leave_managers);
    g_autoptr(GMainLoop) loop = g_main_loop_new(NULL, FALSE);
    agent.loop = loop;
    agent.session = np_session_new(channel, nics, (guint) arg.gone_ms, shut_down, &agent);
    g_main_loop_run(agent.loop);
    np_channel_drain(channel, DRAIN_MS);
    /* No host is heard any more while the main loop runs once more for the helpers. */
    g_clear_pointer(&channel, np_channel_free);
    np_nics_settle(nics);
    np_session_free(agent.session);
    return true;
}

static bool
parse_options(int argc, char **argv, GError **error)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_option_context_set_summary(
        context, "Carries out what a nicpass host asks of this guest: sets up its network\n"
                 "cards, loads them with iperf, reads counters and CPU times.");
    g_option_context_set_description(context,
                                     "The port is " NP_PROTO_PORT_NAME " unless told otherwise.");
    g_option_context_add_main_entries(context, options, NULL);
    if (!g_option_context_parse(context, &argc, &argv, error))
        return false;
    if (argc > 1)
        return np_throw(error, NP_ERROR_CONFIG, "'%s' is no option (see --help)", argv[1]);
    if (arg.gone_ms < 1 || arg.retry_ms < 1)
        return np_throw(error, NP_ERROR_CONFIG, "times are at least 1 ms");
    return true;
}

int
main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    if (argc == 2 && strcmp(argv[1], NP_IPERF_VERB) == 0) {
        int status = np_iperf_worker();
        fflush(stdout);
        _exit(status); /* libiperf leaves its memory behind */
    }
    if (!open_standard_fds())
        return EXIT_FAILURE; /* nowhere to say it */
    setlocale(LC_ALL, "");
    bool parsed = parse_options(argc, argv, &error);
    np_log_start("nicpass-agent", arg.debug);
    if (!parsed) {
        np_log(G_LOG_LEVEL_MESSAGE, "%s", error->message);
        return EXIT_USAGE;
    }
    if (arg.version) {
        printf("nicpass-agent %s (protocol %d, iperf %s)\n", NP_VERSION, NP_PROTO_VERSION,
               np_iperf_version());
        return EXIT_SUCCESS;
    }
    if (run(&error))
        return EXIT_SUCCESS;
    np_log(G_LOG_LEVEL_MESSAGE, "%s", error->message);
    return g_error_matches(error, NP_ERROR, NP_ERROR_CONFIG) ? EXIT_USAGE : EXIT_FAILURE;
}
