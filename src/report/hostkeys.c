#include "report/hostkeys.h"

#include <string.h>

#include "model/hostlist.h"
#include "report/json_internal.h"

/* The hosts that show the key at index; false: an earlier one showed it, and stands for it. */
static bool gather(const struct report_hostkey *keys, size_t count, size_t index, struct strlist *hosts)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i].fingerprint, keys[index].fingerprint) != 0) {
            continue;
        }
        if (i < index) {
            return false;
        }
        if (!strlist_has(hosts, keys[i].host)) {
            strlist_add(hosts, keys[i].host);
        }
    }
    return true;
}

void report_hostkeys_text(const struct report_hostkey *keys, size_t count, struct str *out)
{
    for (size_t i = 0; i < count; i++) {
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        if (!gather(keys, count, i, &hosts)) {
            continue;
        }
        hostlist_fold_names(hosts.items, hosts.len, out);
        str_addf(out, ": %s %s\n", keys[i].type, keys[i].fingerprint);
    }
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
    for (size_t i = 0; i < count; i++) {
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        if (gather(keys, count, i, &hosts)) {
            json_array_append_new(shown, key_object(&keys[i], &hosts));
        }
    }
    for (size_t i = 0; i < failures->len; i++) {
        json_array_append_new(errors, js_error(&failures->items[i].error, &failures->items[i].hosts));
    }
    json_object_set_new(answer, "keys", shown);
    json_object_set_new(answer, "added", json_integer((json_int_t)added));
    json_object_set_new(answer, "errors", errors);
    json_object_set_new(answer, "error", error ? js_error(error, NULL) : json_null());
    js_add_line(out, answer);
}
