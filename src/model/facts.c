/* What a node reported, as keys with values. */
#include "model/facts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"

void facts_release(struct facts *facts)
{
    for (size_t i = 0; i < facts->len; i++) {
        free(facts->items[i].key);
    }
    free(facts->items);
    *facts = (struct facts){0};
}

static struct fact make_fact(const char *key, const char *value)
{
    size_t key_len = strlen(key), value_len = strlen(value);
    char *text = xcalloc(key_len + value_len + 2, 1);
    memcpy(text, key, key_len + 1);
    memcpy(text + key_len + 1, value, value_len + 1);
    return (struct fact){.key = text, .value = text + key_len + 1};
}

int facts_add(struct facts *facts, const char *key, const char *value, struct error *err)
{
    size_t bytes = strlen(key) + strlen(value) + 1;
    if (facts->len == FACTS_MAX) {
        return error_set(err, &kind_node_answer, "the node's answer contains more than %d frames", FACTS_MAX);
    }
    if (bytes > FACTS_BYTES_MAX - facts->bytes) {
        return error_set(err, &kind_node_answer, "the node's answer is longer than %u bytes",
                         FACTS_BYTES_MAX);
    }
    facts->items = xgrow(facts->items, facts->len, &facts->cap, sizeof(*facts->items));
    facts->items[facts->len++] = make_fact(key, value);
    facts->bytes += bytes;
    return 0;
}

const char *facts_next(const struct facts *facts, const char *key, size_t *at)
{
    while (*at < facts->len) {
        const struct fact *fact = &facts->items[(*at)++];
        if (strcmp(fact->key, key) == 0) {
            return fact->value;
        }
    }
    return NULL;
}

const char *facts_text(const struct facts *facts, const char *key)
{
    size_t at = 0;
    return facts_next(facts, key, &at);
}

const char *facts_some(const struct facts *facts, const char *key)
{
    const char *value = facts_text(facts, key);
    return value && value[0] != '\0' ? value : NULL;
}

char *facts_copy(const struct facts *facts, const char *key)
{
    return xstrdup(facts_some(facts, key));
}

bool facts_is_set(const struct facts *facts, const char *key)
{
    const char *value = facts_text(facts, key);
    return value && strcmp(value, "1") == 0;
}

void facts_map(struct facts *facts, const char *key, char *(*map)(void *ctx, char *value), void *ctx)
{
    for (size_t i = 0; i < facts->len; i++) {
        struct fact *fact = &facts->items[i];
        if (strcmp(fact->key, key) == 0) {
            AUTO_FREE char *value = map(ctx, xstrdup(fact->value));
            struct fact mapped = make_fact(key, value ? value : "");
            free(fact->key);
            *fact = mapped;
        }
    }
}

int facts_number(const struct facts *facts, const char *key, uint64_t max, uint64_t *out, struct error *err)
{
    const char *value = facts_text(facts, key);
    if (!value || value[0] == '\0') {
        return 0;
    }
    if (!text_to_uint(value, 0, max, out)) {
        return error_set(err, &kind_node_answer,
                         "the node's answer says '%s' for '%s', expected a number up to %llu", value, key,
                         (unsigned long long)max);
    }
    return 0;
}

uint64_t facts_uint(const struct facts *facts, const char *key, uint64_t fallback)
{
    uint64_t number = fallback;
    return facts_number(facts, key, UINT64_MAX, &number, NULL) == 0 ? number : fallback;
}

bool fact_read_process(const char *value, struct fact_process *out)
{
    size_t digits = strspn(value, "0123456789");
    AUTO_FREE char *number = xstrndup(value, digits);
    uint64_t pid = 0;
    if (!text_to_uint(number, 1, FACT_PID_MAX, &pid) || value[digits] != ' ' ||
        !(isalpha((unsigned char)value[digits + 1]) || value[digits + 1] == '?')) {
        return false;
    }
    const char *rest = value + digits + 2;
    rest += rest[0] == ' ';
    size_t len = strlen(rest); /* /proc/PID/cmdline ends every word, the last one too */
    while (len > 0 && rest[len - 1] == ' ') {
        len--;
    }
    *out = (struct fact_process){
        .pid = (int64_t)pid,
        .state = value[digits + 1],
        .command = rest,
        .command_len = len,
    };
    return true;
}
