/* Shows which logs were saved, and where. */
#include "report/saved.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/json_internal.h"

static void add_text(struct str *out, const char *text)
{
    text_add_line(out, text, strlen(text));
}

void report_saved_text(const struct run_saved *saved, struct str *out)
{
    for (size_t i = 0; i < saved->len; i++) {
        const struct run_saved_log *log = &saved->items[i];
        if (!log->complete) {
            continue;
        }
        add_text(out, log->host);
        str_add(out, ": ");
        add_text(out, log->path);
        str_addf(out, ": %" PRIu64 " bytes, %" PRIu64 " new\n", log->bytes, log->added);
    }
}

void report_saved_json(const char *run, const struct run_saved *saved, const struct error *failure,
                       struct str *out)
{
    AUTO_STRLIST struct strlist failed = STRLIST_INIT;
    json_t *answer = js_answer();
    json_t *hosts = json_array();
    for (size_t i = 0; i < saved->len; i++) {
        const struct run_saved_log *log = &saved->items[i];
        json_t *object = json_object();
        json_object_set_new(object, "host", js_text(log->host));
        json_object_set_new(object, "rank", json_integer((json_int_t)log->rank));
        json_object_set_new(object, "file", js_text(log->path));
        json_object_set_new(object, "bytes", json_integer((json_int_t)log->bytes));
        json_object_set_new(object, "bytes_new", json_integer((json_int_t)log->added));
        json_object_set_new(object, "older", js_text(log->older));
        json_object_set_new(object, "complete", json_boolean(log->complete));
        json_object_set_new(object, "error", log->error.kind ? js_text(log->error.text) : json_null());
        json_array_append_new(hosts, object);
        if (log->error.kind) {
            strlist_add(&failed, log->host);
        }
    }
    json_object_set_new(answer, "run", js_text(run));
    json_object_set_new(answer, "attempt", json_integer((json_int_t)saved->attempt));
    json_object_set_new(answer, "hosts", hosts);
    if (failure && failure->kind) {
        json_object_set_new(answer, "error", js_error(failure, &failed));
    }
    js_add_line(out, answer);
}
