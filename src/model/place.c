/* Where a run's work happens, as a value. */
#include "model/place.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

#define KEY_SIZE 64

void place_init(struct place *place)
{
    *place = (struct place){0};
}

void place_copy(struct place *to, const struct place *from)
{
    *to = (struct place){
        .container = xstrdup(from->container),
        .engine = xstrdup(from->engine),
        .sudo = from->sudo,
        .user = xstrdup(from->user),
        .id = xstrdup(from->id),
        .started = xstrdup(from->started),
    };
}

void place_release(struct place *place)
{
    free(place->container);
    free(place->engine);
    free(place->user);
    free(place->id);
    free(place->started);
    place_init(place);
}

static const char *make_key(char key[KEY_SIZE], const char *prefix, const char *name)
{
    snprintf(key, KEY_SIZE, "%s%s", prefix, name);
    return key;
}

static const char *name_key(const char *prefix)
{
    return prefix[0] != '\0' ? "name" : "container";
}

void place_to_json(const struct place *place, json_t *object, const char *prefix)
{
    char key[KEY_SIZE];
    js_put_text(object, make_key(key, prefix, name_key(prefix)), place->container);
    js_put_text(object, make_key(key, prefix, "engine"), place->engine);
    js_put_flag(object, make_key(key, prefix, "sudo"), place->sudo);
    js_put_text(object, make_key(key, prefix, "user"), place->user);
    js_put_text(object, make_key(key, prefix, "id"), place->id);
    js_put_text(object, make_key(key, prefix, "started"), place->started);
}

void place_from_json(struct place *place, const json_t *object, const char *prefix)
{
    char key[KEY_SIZE];
    place->container = js_get_text(object, make_key(key, prefix, name_key(prefix)));
    place->engine = js_get_text(object, make_key(key, prefix, "engine"));
    place->sudo = js_get_flag(object, make_key(key, prefix, "sudo"));
    place->user = js_get_text(object, make_key(key, prefix, "user"));
    place->id = js_get_text(object, make_key(key, prefix, "id"));
    place->started = js_get_text(object, make_key(key, prefix, "started"));
}
