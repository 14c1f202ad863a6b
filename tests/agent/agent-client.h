/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Agent client: starts the real agent and speaks to it as a host, for the process tests.
 *
 * Whatever is awaited here is awaited by an event and ends the test when it has not come within
 * WAIT_MS, which only keeps a broken agent from hanging the tests.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "lib/proto/frame.h"
#include "lib/proto/proto.h"

#define WAIT_MS 60000

typedef struct {
    pid_t pid; /* 0: reaped */
    char *dir, *path;
} Agent;

/* The agent's program in $NP_BUILD (transfer full). */
char *agent_program(void);

/* Starts the program with these arguments behind its name. stdio: its standard input and output
 * (-1: ours). */
pid_t agent_spawn(const char *const *args, int stdio);

/* Starts an agent on a unix socket in a folder of its own, with these further arguments
 * (NULL-terminated; nullable), and waits for the socket. */
Agent *agent_new(const char *const *args);

/* The same in the folder of one that has ended. */
void agent_start(Agent *agent, const char *const *args);

/* Waits for its end; returns the status of waitpid(). */
int agent_wait(Agent *agent);

/* SIGTERM, asserts that it ends well, removes its folder. */
void agent_free(Agent *agent);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Agent, agent_free)

/* The agent's live children, oldest first (pid_t; transfer full). */
GArray *agent_children(pid_t pid);

/* A descriptor that becomes readable when the process ends, and the waiting for that. */
int process_open(pid_t pid);
void process_wait(int pidfd);

/* Looks for condition(data) until it holds: for what no event tells of. */
void wait_until(bool (*condition)(gconstpointer data), gconstpointer data, const char *what);

/* Waits until nothing is left of the process, so that its parent knows of its end. */
void process_wait_reaped(pid_t pid);

/* A host's end of a conversation. Every line that is read is checked to be of its session. */
typedef struct {
    int fd;
    NpFrame *frame;
    char *session; /* NULL: before hello */
    int64_t last_id;
    GQueue messages; /* json_t *: read and not yet asked for */
} Host;

/* fd is taken over. */
Host *host_new(int fd);
Host *host_connect(const Agent *agent);
void host_free(Host *host);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Host, host_free)

void host_write(Host *host, const char *text);
int64_t host_send(Host *host, NpVerb verb, json_t *fields);

/* The next message whatever it is (transfer full), NULL at the end of the stream. */
json_t *host_read(Host *host);

/* The reply to a request, or the next event of that name; others are kept (transfer full). */
json_t *host_reply(Host *host, int64_t id);
json_t *host_event(Host *host, const char *name);

/* host_send and host_reply. ..._ok: asserts ok and returns it; ..._error: asserts an error of that
 * code and returns its text (transfer full); host_refused: without the text. */
json_t *host_ok(Host *host, NpVerb verb, json_t *fields);
char *host_error(Host *host, NpVerb verb, json_t *fields, const char *code);
void host_refused(Host *host, NpVerb verb, json_t *fields, const char *code);

/* "\n", then hello with this session id; returns ok. */
json_t *host_hello(Host *host, const char *session);

/* Asserts that the message is an error of that code and returns its text (borrowed). */
const char *error_text(const json_t *message, const char *code);

/* TCP ports nobody uses at the moment. */
unsigned free_port(void);
