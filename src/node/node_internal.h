/* Declarations shared by the files of this folder. */
#ifndef MTLAUNCH_NODE_INTERNAL_H
#define MTLAUNCH_NODE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "model/facts.h"
#include "node/answer.h"
#include "node/reader.h"
#include "node/request.h"

/* A part of the node's script (src/node/script/NAME.sh), embedded by embed.sh; text is not NUL-terminated. */
struct node_script_part {
    const char *name;
    const unsigned char *text;
    size_t len;
};

extern const struct node_script_part node_script_parts[];
extern const size_t node_script_parts_count;

/* Append the parts of these names (NULL-terminated) in that order. */
void node_script_add(struct str *out, const char *const *names);

/*
 * Append the assignment of mt_watchdog: the text of the watchdog, which ends a command when the connection
 * ends or a time limit passes.
 */
void node_script_add_watchdog(struct str *out);

/*
 * Append the text of a job for its shell on the node. The text takes these arguments: a file to which it
 * appends each step ("cd", "setup N", "ready", "exec" or "probed"); the working folder; the prefix of the
 * files for a probe's results (unused without a probe); the user's home folder. With a probe nothing is
 * exec'd.
 */
void node_job_text(const struct node_job *job, const struct node_probe *probe, struct str *out);

/*
 * Add a frame's text to facts. 1: the frame ends the answer (its key is last, or "end"); 0: more frames
 * follow; -1 with err: it is not "key=value", or there are too many facts.
 */
int node_facts_add(struct facts *facts, const char *frame, size_t len, const char *last, struct error *err);

/* The last non-blank line of bytes, at most its last 200 bytes. */
const char *node_last_line(const char *bytes, size_t len, size_t *line_len);

/*
 * Read the facts of a complete answer; -1 with err when there is no complete one, or when it reports a
 * failure.
 */
int node_facts_read(struct facts *facts, const char *bytes, size_t len, const char *nonce, struct error *err);

/*
 * Append the fields inner=RUN_ID: runs that were started inside a run. Values that are not ids are skipped.
 */
void node_inner_from_facts(const struct facts *facts, struct strlist *out);

/* Make an observation from the facts of a watch; release it in any case. */
int node_observation_from_facts(const struct facts *facts, struct node_observation *out, struct error *err);

/* Set the GPUs from the facts of an observation or a heartbeat. */
void node_observation_take_gpus(const struct facts *facts, struct node_observation *out);

/* Make an error of a kind listed in answer.h from the fields "error" and "detail"; 0 when there are none. */
int node_facts_check(const struct facts *facts, struct error *err);

/*
 * Append the lines that the node's own shell runs before it enters a container: begin, values and script,
 * end. node_entry_command returns the command that reads them.
 */
void node_entry_begin(struct str *out, const struct place *container, const char *verb, const char *nonce);
void node_entry_add_value(struct str *out, const char *name, const char *value);
void node_entry_end(struct str *out, const char *nonce);
char *node_entry_command(const char *nonce); /* the caller frees */
/* The same for lines that must run to their end even if the connection is lost. */
char *node_entry_command_detached(const char *nonce);

/*
 * Set the error for a failure to enter a container, by the name of its class; false when the name is unknown.
 */
bool node_entry_error(const char *name, const char *detail, struct error *err);

#endif
