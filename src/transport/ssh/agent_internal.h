/*
 * A client of the ssh agent (draft-miller-ssh-agent) that never blocks: each question is a connection of its
 * own on the loop, with a deadline. The list of an agent's keys is kept for all hosts of a fleet.
 */
#ifndef MTLAUNCH_TRANSPORT_SSH_AGENT_INTERNAL_H
#define MTLAUNCH_TRANSPORT_SSH_AGENT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/error.h"
#include "base/str.h"
#include "transport/deadline_internal.h"

#define SSH_AGENT_IDENTITIES 11 /* SSH_AGENTC_REQUEST_IDENTITIES */
#define SSH_AGENT_LISTED     12 /* SSH_AGENT_IDENTITIES_ANSWER */
#define SSH_AGENT_SIGN       13 /* SSH_AGENTC_SIGN_REQUEST */

struct agent_question;

/*
 * answer is without its length, or NULL with err (kind_auth_failed: the agent does not run or does not
 * answer; kind_local: no socket could be created).
 */
typedef void (*agent_answer)(void *ctx, const struct str *answer, const struct error *err);

/*
 * Ask the agent; message is without its length. answer is called once, from the loop, unless the question is
 * dropped before. The question frees itself after that.
 */
struct agent_question *agent_ask(uv_loop_t *loop, struct deadlines *deadlines, const char *path,
                                 const void *message, size_t len, unsigned timeout_ms, agent_answer answer,
                                 void *ctx);
void agent_drop(struct agent_question *question); /* NULL accepted */

/* code: errno of the socket that could not be created. */
void agent_out_of_files(int code, struct error *err);

/* A key that an agent holds. */
struct agent_key {
    char *blob; /* as on the wire */
    size_t blob_len;
    char *base64; /* the same as text */
    char *comment;
};

struct agent_list {
    struct agent_key *keys;
    size_t len, cap;
};

/* Parse an answer to SSH_AGENT_IDENTITIES; -1 with err (kind_auth_failed) when it is not valid. */
int agent_list_parse(const char *path, const struct str *answer, struct agent_list *list, struct error *err);
void agent_list_release(struct agent_list *list);

#endif
