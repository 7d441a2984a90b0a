/* How hosts are reached, as a value. */
#include "model/reach.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

#define KEY_SIZE 64

static const struct {
    const char *key;
    size_t offset;
} texts[] = {
    {"user", offsetof(struct reach, user)},     {"identity", offsetof(struct reach, identity)},
    {"config", offsetof(struct reach, config)}, {"known_hosts", offsetof(struct reach, known_hosts)},
    {"client", offsetof(struct reach, client)}, {"host_key", offsetof(struct reach, host_key)},
    {"jump", offsetof(struct reach, jump)},
};

static char **text_of(struct reach *reach, size_t index)
{
    return (char **)(void *)((char *)reach + texts[index].offset);
}

static const char *const_text_of(const struct reach *reach, size_t index)
{
    return *(char *const *)(const void *)((const char *)reach + texts[index].offset);
}

void reach_init(struct reach *reach)
{
    *reach = (struct reach){0};
}

void reach_copy(struct reach *to, const struct reach *from)
{
    reach_init(to);
    to->port = from->port;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        *text_of(to, i) = xstrdup(const_text_of(from, i));
    }
}

void reach_release(struct reach *reach)
{
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        free(*text_of(reach, i));
    }
    reach_init(reach);
}

void reach_to_json(const struct reach *reach, json_t *object, const char *prefix)
{
    char key[KEY_SIZE];
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        snprintf(key, sizeof(key), "%s%s", prefix, texts[i].key);
        js_put_text(object, key, const_text_of(reach, i));
    }
    snprintf(key, sizeof(key), "%sport", prefix);
    js_put_number(object, key, reach->port);
}

void reach_from_json(struct reach *reach, const json_t *object, const char *prefix)
{
    char key[KEY_SIZE];
    reach_init(reach);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        snprintf(key, sizeof(key), "%s%s", prefix, texts[i].key);
        *text_of(reach, i) = js_get_text(object, key);
    }
    snprintf(key, sizeof(key), "%sport", prefix);
    reach->port = (unsigned)js_get_number(object, key, 0);
}
