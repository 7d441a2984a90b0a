/* A hash set of texts: open addressing with linear probing, at most half full. Nothing is ever removed. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/hostlist_internal.h"

/* FNV-1a, 64 bits (Fowler, Noll, Vo): short keys, no attacker. */
static uint64_t hash(const char *key)
{
    uint64_t sum = UINT64_C(14695981039346656037);

    for (; *key; key++) {
        sum = (sum ^ (unsigned char)*key) * UINT64_C(1099511628211);
    }
    return sum ^ (sum >> 29);
}

/* The slot that holds key, or the free one where it belongs. */
static struct hostlist_slot *slot_of(const struct hostlist_index *index, const char *key)
{
    size_t at = (size_t)hash(key) & (index->cap - 1);

    while (index->slots[at].key && strcmp(index->slots[at].key, key) != 0) {
        at = (at + 1) & (index->cap - 1);
    }
    return &index->slots[at];
}

static void grow(struct hostlist_index *index)
{
    struct hostlist_index larger = {.cap = index->cap ? index->cap * 2 : 64, .len = index->len};

    larger.slots = xcalloc(larger.cap, sizeof *larger.slots);
    for (size_t i = 0; i < index->cap; i++) {
        if (index->slots[i].key) {
            *slot_of(&larger, index->slots[i].key) = index->slots[i];
        }
    }
    free(index->slots);
    *index = larger;
}

void hostlist_index_release(struct hostlist_index *index)
{
    for (size_t i = 0; i < index->cap; i++) {
        free(index->slots[i].key);
    }
    free(index->slots);
    *index = (struct hostlist_index){0};
}

void hostlist_index_add(struct hostlist_index *index, const char *key, size_t value)
{
    if (index->len + 1 > index->cap / 2) {
        grow(index);
    }
    *slot_of(index, key) = (struct hostlist_slot){.key = xstrdup(key), .value = value};
    index->len++;
}

bool hostlist_index_find(const struct hostlist_index *index, const char *key, size_t *value)
{
    if (index->cap == 0) {
        return false;
    }

    const struct hostlist_slot *slot = slot_of(index, key);
    if (slot->key && value) {
        *value = slot->value;
    }
    return slot->key;
}
