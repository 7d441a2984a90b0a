/* What the files of this folder share. */
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

/* The node's script by parts (src/node/script/NAME.sh), embedded by embed.sh; no NUL at the end of text. */
struct node_script_part {
    const char *name;
    const unsigned char *text;
    size_t len;
};

extern const struct node_script_part node_script_parts[];
extern const size_t node_script_parts_count;

/* Append the parts of these names (NULL-terminated) in that order. */
void node_script_add(struct str *out, const char *const *names);

/* Append the assignment of the watchdog's text: it ends a command with the connection or after a time. */
void node_script_add_watchdog(struct str *out);

/*
 * Append the text of a job as its shell on the node runs it. Arguments there: a file that the steps taken are
 * appended to ("cd", "setup N", "exec" or "probed"), the working folder, and with options (a probe: nothing
 * is exec'd) a path that results are put beside (else it is not used), and the user's home folder.
 */
void node_job_text(const struct node_job *job, const struct node_probe *probe, struct str *out);

/* Add a frame's text to facts. 1: it ends the answer (its key is last, or "end"), 0: more is to come, -1
 * with err: it is no "key=value", or too much came. */
int node_facts_add(struct facts *facts, const char *frame, size_t len, const char *last, struct error *err);

/* The last line that is not blank of bytes, at most 200 bytes of it. */
const char *node_last_line(const char *bytes, size_t len, size_t *line_len);

/* The facts of a whole answer; -1 with err when there is none, or when it says that something failed. */
int node_facts_read(struct facts *facts, const char *bytes, size_t len, const char *nonce, struct error *err);

/* Fields inner=RUN_ID: runs that were started inside a run; those that are not ids are left out. */
void node_inner_from_facts(const struct facts *facts, struct strlist *out);

/* A watch's observation; release it whatever came back. */
int node_observation_from_facts(const struct facts *facts, struct node_observation *out, struct error *err);

/* What nvidia-smi shows, of an observation or a beat. */
void node_observation_take_gpus(const struct facts *facts, struct node_observation *out);

/* Fields "error" and "detail" as an error of the kinds answer.h names; 0 when there are none. */
int node_facts_check(const struct facts *facts, struct error *err);

/*
 * The lines that the node's own shell runs before a container is entered: begin, values and script, end. The
 * command is what reads them.
 */
void node_entry_begin(struct str *out, const struct place *container, const char *verb, const char *nonce);
void node_entry_add_value(struct str *out, const char *name, const char *value);
void node_entry_end(struct str *out, const char *nonce);
char *node_entry_command(const char *nonce); /* the caller frees */
/* The same for lines that run to their end without the connection. */
char *node_entry_command_detached(const char *nonce);

/* A failure on the way into a container, by the name of its class; false when there is none of that name. */
bool node_entry_error(const char *name, const char *detail, struct error *err);

#endif
