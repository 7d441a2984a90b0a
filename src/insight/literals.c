/* Finds any of many literals in one pass, by an automaton with one table access for each byte. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "literals_internal.h"

#define NONE 0xffff

/* A literal's end: the number it stands for, and the next end of the same state. */
struct ending {
    uint16_t number;
    uint16_t next;
};

struct literals {
    uint8_t classes[256]; /* byte -> column; 0: in no literal */
    size_t columns;
    uint16_t *next;  /* state * columns + column -> state */
    uint16_t *ends;  /* state -> first ending, NONE */
    uint16_t *fails; /* state -> state of the longest proper suffix; only while building */
    size_t states, states_cap;
    struct ending *endings;
    size_t endings_len, endings_cap;
    char **texts; /* only until it is built */
    uint16_t *numbers;
    size_t texts_len, texts_cap, numbers_cap;
};

struct literals *literals_new(void)
{
    struct literals *literals = xcalloc(1, sizeof(*literals));
    literals->columns = 1;
    return literals;
}

static void drop_texts(struct literals *literals)
{
    for (size_t i = 0; i < literals->texts_len; i++) {
        free(literals->texts[i]);
    }
    free(literals->texts);
    free(literals->numbers);
    literals->texts = NULL;
    literals->numbers = NULL;
    literals->texts_len = 0;
}

void literals_free(struct literals *literals)
{
    if (!literals) {
        return;
    }
    drop_texts(literals);
    free(literals->next);
    free(literals->ends);
    free(literals->fails);
    free(literals->endings);
    free(literals);
}

void literals_add(struct literals *literals, const char *text, uint16_t number)
{
    literals->texts =
        xgrow(literals->texts, literals->texts_len, &literals->texts_cap, sizeof(*literals->texts));
    literals->numbers =
        xgrow(literals->numbers, literals->texts_len, &literals->numbers_cap, sizeof(*literals->numbers));
    literals->texts[literals->texts_len] = xstrdup(text);
    literals->numbers[literals->texts_len++] = number;
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        if (literals->classes[*at] == 0) {
            literals->classes[*at] = (uint8_t)literals->columns++;
        }
    }
}

static void add_ending(struct literals *literals, size_t state, uint16_t number)
{
    literals->endings =
        xgrow(literals->endings, literals->endings_len, &literals->endings_cap, sizeof(struct ending));
    literals->endings[literals->endings_len] =
        (struct ending){.number = number, .next = literals->ends[state]};
    literals->ends[state] = (uint16_t)literals->endings_len++;
}

/* Add a text to the trie. 0 in the table means no edge, because no edge of a trie leads to the root. */
static void add_path(struct literals *literals, const char *text, uint16_t number)
{
    size_t state = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        uint16_t *edge = &literals->next[state * literals->columns + literals->classes[*at]];
        if (*edge == 0) {
            *edge = (uint16_t)literals->states++;
        }
        state = *edge;
    }
    add_ending(literals, state, number);
}

/* Breadth first: a missing edge becomes that of the longest suffix, whose endings count here too. */
static void add_fails(struct literals *literals)
{
    AUTO_FREE uint16_t *queue = xcalloc(literals->states, sizeof(*queue));
    size_t head = 0;
    size_t tail = 0;
    queue[tail++] = 0;
    while (head < tail) {
        size_t state = queue[head++];
        uint16_t *row = &literals->next[state * literals->columns];
        const uint16_t *fail_row = &literals->next[(size_t)literals->fails[state] * literals->columns];
        for (size_t column = 0; column < literals->columns; column++) {
            uint16_t child = row[column];
            if (child == 0) {
                row[column] = state == 0 ? 0 : fail_row[column];
                continue;
            }
            uint16_t fail = state == 0 ? 0 : fail_row[column];
            literals->fails[child] = fail;
            for (uint16_t at = literals->ends[fail]; at != NONE; at = literals->endings[at].next) {
                add_ending(literals, child, literals->endings[at].number);
            }
            queue[tail++] = child;
        }
    }
}

void literals_build(struct literals *literals)
{
    size_t most = 1;
    for (size_t i = 0; i < literals->texts_len; i++) {
        most += strlen(literals->texts[i]);
    }
    literals->next = xcalloc(most * literals->columns, sizeof(*literals->next));
    literals->ends = xcalloc(most, sizeof(*literals->ends));
    literals->fails = xcalloc(most, sizeof(*literals->fails));
    memset(literals->ends, 0xff, most * sizeof(*literals->ends));
    literals->states = 1;
    for (size_t i = 0; i < literals->texts_len; i++) {
        add_path(literals, literals->texts[i], literals->numbers[i]);
    }
    add_fails(literals);
    drop_texts(literals);
    free(literals->fails);
    literals->fails = NULL;
}

static size_t add_found(const struct literals *literals, size_t state, uint16_t *numbers, size_t len,
                        size_t max)
{
    for (uint16_t at = literals->ends[state]; at != NONE; at = literals->endings[at].next) {
        uint16_t number = literals->endings[at].number;
        bool known = false;
        for (size_t i = 0; i < len && !known; i++) {
            known = numbers[i] == number;
        }
        if (!known && len < max) {
            size_t to = len++;
            for (; to > 0 && numbers[to - 1] > number; to--) {
                numbers[to] = numbers[to - 1];
            }
            numbers[to] = number;
        }
    }
    return len;
}

size_t literals_find(const struct literals *literals, const char *bytes, size_t len, uint16_t *numbers,
                     size_t max)
{
    const unsigned char *at = (const unsigned char *)bytes;
    size_t state = 0;
    size_t found = 0;
    for (size_t i = 0; i < len; i++) {
        state = literals->next[state * literals->columns + literals->classes[at[i]]];
        if (literals->ends[state] != NONE) {
            found = add_found(literals, state, numbers, found, max);
        }
    }
    return found;
}
