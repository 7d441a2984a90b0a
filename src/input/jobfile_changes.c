/* Compares two versions of a job file. */
#include <string.h>

#include "base/alloc.h"
#include "input/jobfile.h"

/* Keys that do not change what is trained, or how fast. */
static bool matters(const char *key)
{
    static const char *const others[] = {"time_limit", "notify"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (strcmp(key, others[i]) == 0) {
            return false;
        }
    }
    return true;
}

/* Add the key if the values differ; of mappings, their keys that differ. NULL: not set. */
static void compare_value(const char *key, json_t *before, json_t *now, struct strlist *keys)
{
    json_t *const sides[] = {before, now};
    const char *name;
    json_t *value;
    if (!matters(key) || (before && now && json_equal(before, now))) {
        return;
    }
    if ((before && !json_is_object(before)) || (now && !json_is_object(now))) {
        strlist_add(keys, key);
        return;
    }
    for (size_t side = 0; side < ARRAY_LEN(sides); side++) {
        json_object_foreach(sides[side], name, value)
        {
            json_t *other = json_object_get(sides[1 - side], name);
            if (side == 1 && other) {
                continue; /* compared already */
            }
            AUTO_FREE char *path = *key ? xasprintf("%s.%s", key, name) : xstrdup(name);
            compare_value(path, side == 0 ? value : other, side == 0 ? other : value, keys);
        }
    }
}

void jobfile_changes(const char *before, json_t *now, struct strlist *keys)
{
    json_t *recorded = before ? json_loads(before, 0, NULL) : NULL;
    if (json_is_object(recorded)) {
        if (!json_object_get(now, "nproc_per_node")) {
            json_object_del(recorded, "nproc_per_node"); /* filled in by the start */
        }
        compare_value("", recorded, now, keys);
    }
    json_decref(recorded);
}
