/*
 * Interned texts in a hash table: open addressing with linear probing, at most half full. Nothing is ever
 * removed.
 */
#include "base/texts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Reads eight bytes at a time, because texts may be long. Collisions cost only time. */
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
static struct texts_slot *slot_of(const struct texts *texts, const char *text)
{
    size_t at = (size_t)hash(text, strlen(text)) & (texts->cap - 1);
    while (texts->slots[at].text && strcmp(texts->slots[at].text, text) != 0) {
        at = (at + 1) & (texts->cap - 1);
    }
    return &texts->slots[at];
}

static void grow(struct texts *texts)
{
    struct texts larger = {.cap = texts->cap ? texts->cap * 2 : 64, .len = texts->len};
    larger.slots = xcalloc(larger.cap, sizeof(*larger.slots));
    for (size_t i = 0; i < texts->cap; i++) {
        if (texts->slots[i].text) {
            *slot_of(&larger, texts->slots[i].text) = texts->slots[i];
        }
    }
    free(texts->slots);
    *texts = larger;
}

void texts_release(struct texts *texts)
{
    for (size_t i = 0; i < texts->cap; i++) {
        free(texts->slots[i].text);
    }
    free(texts->slots);
    *texts = (struct texts)TEXTS_INIT;
}

/* The slot of the text, counted as used. If it is free, the caller must fill it. */
static struct texts_slot *reserve(struct texts *texts, const char *text)
{
    if (texts->len + 1 > texts->cap / 2) {
        grow(texts);
    }
    struct texts_slot *slot = slot_of(texts, text);
    texts->len += !slot->text;
    return slot;
}

static struct texts_slot *add(struct texts *texts, const char *text)
{
    struct texts_slot *slot = reserve(texts, text);
    if (!slot->text) {
        slot->text = xstrdup(text);
    }
    return slot;
}

char *texts_add(struct texts *texts, const char *text)
{
    return text ? add(texts, text)->text : NULL;
}

char *texts_take(struct texts *texts, char *text)
{
    if (!text) {
        return NULL;
    }
    struct texts_slot *slot = reserve(texts, text);
    if (slot->text) {
        free(text);
    } else {
        slot->text = text;
    }
    return slot->text;
}

void texts_put(struct texts *texts, const char *text, size_t value)
{
    add(texts, text)->value = value;
}

bool texts_find(const struct texts *texts, const char *text, size_t *value)
{
    const struct texts_slot *slot = texts->cap > 0 ? slot_of(texts, text) : NULL;
    if (!slot || !slot->text) {
        return false;
    }
    if (value) {
        *value = slot->value;
    }
    return true;
}
