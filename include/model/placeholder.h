/*
 * Placeholders of a job's texts: ${{name}}, blanks inside the braces allowed, $${{ for a literal ${{. Nothing
 * else in a text is interpreted. Pure.
 */
#ifndef MTLAUNCH_MODEL_PLACEHOLDER_H
#define MTLAUNCH_MODEL_PLACEHOLDER_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/* All names. To add one: a line here and its value where the plan fills them (run/plan.c). */
#define PLACEHOLDER_TABLE(X)                                                                                 \
    X(JOB, "job")                                                                                            \
    X(RUN, "run")                                                                                            \
    X(RUN_ID, "run_id")                                                                                      \
    X(NODE_RANK, "node_rank")                                                                                \
    X(NNODES, "nnodes")                                                                                      \
    X(NPROC_PER_NODE, "nproc_per_node")                                                                      \
    X(WORLD_SIZE, "world_size")                                                                              \
    X(MASTER_ADDR, "master_addr")                                                                            \
    X(MASTER_PORT, "master_port")                                                                            \
    X(HOST, "host")                                                                                          \
    X(ATTEMPT, "attempt")                                                                                    \
    X(ZERO_STAGE, "zero_stage")                                                                              \
    X(ARTIFACTS, "artifacts")                                                                                \
    X(RENDEZVOUS_ID, "rendezvous_id")                                                                        \
    X(DEEPSPEED_CONFIG, "deepspeed_config")

enum placeholder_id {
#define PLACEHOLDER_ENUM(identifier, name) PLACEHOLDER_##identifier,
    PLACEHOLDER_TABLE(PLACEHOLDER_ENUM)
#undef PLACEHOLDER_ENUM
        PLACEHOLDER_COUNT
};

/* The value of each name; NULL: open, known only at the start. Owned. */
struct placeholders {
    char *value[PLACEHOLDER_COUNT];
    const char *refused[PLACEHOLDER_COUNT]; /* static text: why the name cannot be used here; NULL: it can */
};

/* clang-format off */
#define PLACEHOLDERS_INIT {{0}, {0}}
/* clang-format on */

void placeholders_release(struct placeholders *values);

/* value may be NULL: open. */
void placeholders_set(struct placeholders *values, enum placeholder_id id, const char *value);

/* count 0: the number is not known yet, so the name is open. */
void placeholders_set_count(struct placeholders *values, enum placeholder_id id, unsigned count);

/* The value, or the placeholder itself ("${{run_id}}") while it is open. Borrowed. */
const char *placeholders_text(const struct placeholders *values, enum placeholder_id id);

/*
 * Append text with its placeholders filled; open ones are kept as ${{name}} and set *open (never cleared;
 * NULL accepted). Errors: kind_plan for an unknown name (hint: the nearest), a name refused here, braces that
 * are not closed; the text itself is not shown, since it may be a secret. Callers add the place.
 */
int placeholder_fill(const struct placeholders *values, const char *text, struct str *out, bool *open,
                     struct error *err);

#endif
