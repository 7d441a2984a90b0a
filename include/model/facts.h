/*
 * What a node reported: keys with values, in the order of arrival. A key is "id.key" for the fact of a check
 * and a bare "key" for any other. A key that occurs several times is a list. Values are texts as the node
 * sent them, with any byte except NUL.
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
    char *key;         /* the same allocation holds the value */
    const char *value; /* borrowed from key */
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

/* A copy of facts_some(); the caller frees it. */
char *facts_copy(const struct facts *facts, const char *key);

/*
 * The next value of a key that is a list. The search begins at *at (0 at first), which is moved past the
 * value. NULL: no more.
 */
const char *facts_next(const struct facts *facts, const char *key, size_t *at);

bool facts_is_set(const struct facts *facts, const char *key); /* its value is "1" */

/* Replace every value of a key by the result of map, which takes an owned text and returns one (NULL: ""). */
void facts_map(struct facts *facts, const char *key, char *(*map)(void *ctx, char *value), void *ctx);

/* 0, with *out unchanged, if the key is missing or empty; -1 if its value is not a number within 0..max. */
int facts_number(const struct facts *facts, const char *key, uint64_t max, uint64_t *out, struct error *err);

/* The number of a key whose value has been checked. fallback if it is missing or not a number. */
uint64_t facts_uint(const struct facts *facts, const char *key, uint64_t fallback);

/* A process as nodes report it: "PID STATE COMMAND", with STATE a letter of /proc or "?". Borrows from the
 * value. */
struct fact_process {
    int64_t pid;
    char state;
    const char *command; /* command_len bytes, without trailing blanks */
    size_t command_len;
};

bool fact_read_process(const char *value, struct fact_process *out);

#endif
