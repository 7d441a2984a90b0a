/* Texts kept once: open addressing with linear probing, at most half full. Nothing is ever taken out. */
#include "base/texts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Eight bytes at a time, as texts may be long. A poor spread costs time only: slots are compared. */
static uint64_t hash(const char *text, size_t len)
{
    uint64_t sum = len, word;
    for (; len >= sizeof word; text += sizeof word, len -= sizeof word) {
        memcpy(&word, text, sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 32;
    }
    word = 0;
    memcpy(&word, text, len);
    sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return sum ^ (sum >> 29);
}

/* The slot that holds the text, or the free one where it belongs. */
static char **slot_of(const struct texts *texts, const char *text)
{
    size_t at = (size_t)hash(text, strlen(text)) & (texts->cap - 1);
    while (texts->slots[at] && strcmp(texts->slots[at], text) != 0) {
        at = (at + 1) & (texts->cap - 1);
    }
    return &texts->slots[at];
}

static void grow(struct texts *texts)
{
    struct texts larger = {.cap = texts->cap ? texts->cap * 2 : 64, .len = texts->len};
    larger.slots = xcalloc(larger.cap, sizeof(*larger.slots));
    for (size_t i = 0; i < texts->cap; i++) {
        if (texts->slots[i]) {
            *slot_of(&larger, texts->slots[i]) = texts->slots[i];
        }
    }
    free(texts->slots);
    *texts = larger;
}

void texts_release(struct texts *texts)
{
    for (size_t i = 0; i < texts->cap; i++) {
        free(texts->slots[i]);
    }
    free(texts->slots);
    *texts = (struct texts)TEXTS_INIT;
}

/* The slot of a text that is there afterwards; a free one is the caller's to fill. */
static char **reserve(struct texts *texts, const char *text)
{
    if (texts->len + 1 > texts->cap / 2) {
        grow(texts);
    }
    char **slot = slot_of(texts, text);
    texts->len += !*slot;
    return slot;
}

char *texts_add(struct texts *texts, const char *text)
{
    if (!text) {
        return NULL;
    }
    char **slot = reserve(texts, text);
    if (!*slot) {
        *slot = xstrdup(text);
    }
    return *slot;
}

char *texts_take(struct texts *texts, char *text)
{
    if (!text) {
        return NULL;
    }
    char **slot = reserve(texts, text);
    if (*slot) {
        free(text);
    } else {
        *slot = text;
    }
    return *slot;
}
