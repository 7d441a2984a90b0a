/* Shows unknown host keys, as text and as JSON. */
#include "report/hostkeys.h"

#include <string.h>

#include "model/fold.h"
#include "model/hostlist.h"
#include "report/json_internal.h"

static bool same_key(const void *ctx, size_t a, size_t b)
{
    const struct report_hostkey *keys = ctx;
    return strcmp(keys[a].fingerprint, keys[b].fingerprint) == 0;
}

/* The hosts that show the same key. */
static void add_hosts(const struct report_hostkey *keys, const struct fold_group *group,
                      struct strlist *hosts)
{
    for (size_t i = 0; i < group->len; i++) {
        const char *host = keys[group->items[i]].host;
        if (!strlist_has(hosts, host)) {
            strlist_add(hosts, host);
        }
    }
}

void report_hostkeys_text(const struct report_hostkey *keys, size_t count, struct str *out)
{
    struct fold fold;
    fold_make(&fold, count, same_key, keys);
    for (size_t i = 0; i < fold.len; i++) {
        const struct report_hostkey *key = &keys[fold.groups[i].items[0]];
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        add_hosts(keys, &fold.groups[i], &hosts);
        hostlist_fold_names(hosts.items, hosts.len, out);
        str_addf(out, ": %s %s\n", key->type, key->fingerprint);
    }
    fold_release(&fold);
}

static json_t *key_object(const struct report_hostkey *key, const struct strlist *hosts)
{
    AUTO_STR struct str folded = STR_INIT;
    json_t *object = json_object();
    hostlist_fold_names(hosts->items, hosts->len, &folded);
    json_object_set_new(object, "hosts", js_list(hosts));
    json_object_set_new(object, "folded", js_text(str_text(&folded)));
    json_object_set_new(object, "type", js_text(key->type));
    json_object_set_new(object, "fingerprint", js_text(key->fingerprint));
    json_object_set_new(object, "file", js_text(key->file));
    return object;
}

void report_hostkeys_json(const struct report_hostkey *keys, size_t count, size_t added,
                          const struct failures *failures, const struct error *error, struct str *out)
{
    json_t *answer = js_answer();
    json_t *shown = json_array();
    json_t *errors = json_array();
    struct fold fold;
    fold_make(&fold, count, same_key, keys);
    for (size_t i = 0; i < fold.len; i++) {
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        add_hosts(keys, &fold.groups[i], &hosts);
        json_array_append_new(shown, key_object(&keys[fold.groups[i].items[0]], &hosts));
    }
    fold_release(&fold);
    for (size_t i = 0; i < failures->len; i++) {
        json_array_append_new(errors, js_error(&failures->items[i].error, &failures->items[i].hosts));
    }
    json_object_set_new(answer, "keys", shown);
    json_object_set_new(answer, "added", json_integer((json_int_t)added));
    json_object_set_new(answer, "errors", errors);
    json_object_set_new(answer, "error", error ? js_error(error, NULL) : json_null());
    js_add_line(out, answer);
}
