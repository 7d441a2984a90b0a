/* Other runs that live on a node, from the facts of a probe's answer. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/job.h"
#include "model/kind.h"
#include "node/node_internal.h"

#define OTHERS_MAX 64
#define USER_MAX   64
#define SUFFIX_LEN 9 /* "-" and 8 hexadecimal digits */

static bool is_run_id(const char *text, size_t len)
{
    if (len <= SUFFIX_LEN || text[len - SUFFIX_LEN] != '-' ||
        strspn(text + len - SUFFIX_LEN + 1, "0123456789abcdef") != SUFFIX_LEN - 1) {
        return false;
    }
    AUTO_FREE char *name = xstrndup(text, len - SUFFIX_LEN);
    return job_check_run_name(name, NULL) == 0;
}

static bool is_user(const char *text)
{
    size_t len = strlen(text);

    for (size_t i = 0; i < len; i++) {
        if (text[i] <= ' ' || text[i] > '~' || strchr("'\"`\\", text[i])) {
            return false;
        }
    }
    return len > 0 && len <= USER_MAX;
}

int node_others_from_facts(const struct facts *facts, struct node_others *out, struct error *err)
{
    for (size_t i = 0; i < facts->len && out->len < OTHERS_MAX; i++) {
        const char *value = facts->items[i].value;
        size_t len = strcspn(value, " ");
        if (strcmp(facts->items[i].key, "other") != 0) {
            continue;
        }
        if (value[len] != ' ' || !is_run_id(value, len) || !is_user(value + len + 1)) {
            return error_set(err, &kind_node_answer, "the node's answer says '%s' for another run", value);
        }
        out->items = xgrow(out->items, out->len, &out->cap, sizeof(*out->items));
        out->items[out->len++] = (struct node_other){
            .run_id = xstrndup(value, len),
            .user = xstrdup(value + len + 1),
        };
    }
    return 0;
}

void node_others_release(struct node_others *others)
{
    for (size_t i = 0; i < others->len; i++) {
        free(others->items[i].run_id);
        free(others->items[i].user);
    }
    free(others->items);
    *others = (struct node_others){0};
}

/* Ids are as model/job allows them; anything else is left out. */
void node_inner_from_facts(const struct facts *facts, struct strlist *out)
{
    for (size_t i = 0; i < facts->len && out->len < 16; i++) {
        const char *value = facts->items[i].value;
        if (strcmp(facts->items[i].key, "inner") != 0 || value[0] == '\0' || strlen(value) > 128 ||
            value[strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")] !=
                '\0') {
            continue;
        }
        strlist_add(out, value);
    }
}
