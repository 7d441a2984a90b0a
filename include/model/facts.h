/*
 * What a node reported: keys with values, in the order they came. A key is "id.key" for the fact of a check,
 * a bare "key" for any other; a key that comes several times is a list. Values are texts as the node sent
 * them: they may hold any byte but NUL.
 *
 * Bounded: at most FACTS_MAX facts of FACTS_BYTES_MAX bytes together.
 */
#ifndef MTLAUNCH_MODEL_FACTS_H
#define MTLAUNCH_MODEL_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define FACTS_MAX       4096
#define FACTS_BYTES_MAX (4u << 20)

/* Limits of numbers that nodes report. */
#define FACT_PID_MAX  4194304u /* the kernel's PID_MAX_LIMIT */
#define FACT_PORT_MAX 65535u

struct fact {
    char *key;         /* owns the value, too */
    const char *value; /* no NUL but the one at its end */
};

struct facts {
    struct fact *items;
    size_t len, cap;
    size_t bytes; /* of all keys and values together */
};

/* clang-format off */
#define FACTS_INIT {0}
/* clang-format on */
#define AUTO_FACTS __attribute__((cleanup(facts_release)))

void facts_release(struct facts *facts); /* leaves it empty */

/* Add a fact (both are copied). -1 with kind_node_answer when there are too many, or they are too long. */
int facts_add(struct facts *facts, const char *key, const char *value, struct error *err);

/* The first value of a key; NULL: there is none. Borrowed. */
const char *facts_text(const struct facts *facts, const char *key);

/* The same; NULL also for an empty one. */
const char *facts_some(const struct facts *facts, const char *key);

/* A copy of that, which the caller frees. */
char *facts_copy(const struct facts *facts, const char *key);

/* The next value of a key that is a list, from *at on (0 at first), which is moved past it. NULL: no more. */
const char *facts_next(const struct facts *facts, const char *key, size_t *at);

bool facts_is_set(const struct facts *facts, const char *key); /* its value is "1" */

/* Replace every value of a key by what map makes of it (map takes and gives an owned text). */
void facts_map(struct facts *facts, const char *key, char *(*map)(void *ctx, char *value), void *ctx);

/* 0, and *out untouched, when the key is not there or empty; -1 if it is not a number within 0..max. */
int facts_number(const struct facts *facts, const char *key, uint64_t max, uint64_t *out, struct error *err);

/* The number of a key whose value was found to be one; fallback where it is not there or is none. */
uint64_t facts_uint(const struct facts *facts, const char *key, uint64_t fallback);

/* A process as nodes report it: "PID STATE COMMAND", with STATE a letter of /proc or "?". Borrows from the
 * value. */
struct fact_process {
    int64_t pid;
    char state;
    const char *command; /* without the blanks at its end: command_len bytes */
    size_t command_len;
};

bool fact_read_process(const char *value, struct fact_process *out);

#endif
