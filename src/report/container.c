/* Shows the containers of a job, as text and as JSON. */
#include "report/container.h"

#include <string.h>

#include "base/alloc.h"
#include "report/json_internal.h"
#include "report/table.h"

static enum report_tone tone_of(const struct run_container *item)
{
    if (!item->status) {
        return TONE_BAD;
    }
    if (strcmp(item->status, "running") == 0) {
        return TONE_GOOD;
    }
    return TONE_WARN;
}

static void add_row(struct table *table, const struct run_container *item)
{
    AUTO_FREE char *differences = strlist_join(&item->differences, "; ");
    table_add(table, item->label, TONE_STRONG);
    table_add(table, item->status ? item->status : "unknown", tone_of(item));
    table_add(table, item->action, TONE_PLAIN);
    if (item->id) {
        table_addf(table, TONE_PLAIN, "%.12s", item->id);
    } else {
        table_add(table, NULL, TONE_PLAIN);
    }
    table_add(table, item->image, TONE_PLAIN);
    table_add(table, item->runs, TONE_PLAIN);
    table_add(table, differences[0] ? differences : NULL, TONE_WARN);
}

void report_containers_text(const struct run_containers *containers, const struct report_style *style,
                            struct str *out)
{
    static const struct table_column columns[] = {
        {.title = "HOST", .names = true},
        {.title = "STATE"},
        {.title = "DONE", .hide_empty = true},
        {.title = "ID", .hide_empty = true},
        {.title = "IMAGE", .flexible = true, .hide_empty = true},
        {.title = "RUNS", .flexible = true, .hide_empty = true},
        {.title = "DIFFERENT", .flexible = true, .hide_empty = true},
    };
    struct table table;
    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < containers->len; i++) {
        add_row(&table, &containers->items[i]);
    }
    table_render(&table, style->columns, style->color, out);
    table_release(&table);
}

/* An array of the names in runs, which are separated by blanks. */
static json_t *runs_array(const char *runs)
{
    json_t *array = json_array();
    while (runs && *runs) {
        size_t len = strcspn(runs, " ");
        AUTO_FREE char *name = xstrndup(runs, len);
        json_array_append_new(array, js_text(name));
        runs += len + (runs[len] == ' ');
    }
    return array;
}

void report_containers_json(const struct run_containers *containers, const struct job *job,
                            const struct error *failure, const struct strlist *hosts, struct str *out)
{
    json_t *answer = js_answer();
    json_t *array = json_array();
    for (size_t i = 0; i < containers->len; i++) {
        const struct run_container *item = &containers->items[i];
        json_t *object = json_object();
        json_object_set_new(object, "rank", json_integer((json_int_t)i));
        json_object_set_new(object, "host", js_text(item->label));
        json_object_set_new(object, "state", js_text(item->status));
        json_object_set_new(object, "id", js_text(item->id));
        json_object_set_new(object, "image", js_text_or_null(item->image));
        json_object_set_new(object, "job", js_text(item->job));
        json_object_set_new(object, "differences", js_list(&item->differences));
        json_object_set_new(object, "runs", runs_array(item->runs));
        json_object_set_new(object, "action", js_text(item->action));
        json_array_append_new(array, object);
    }
    json_object_set_new(answer, "job", js_text(job->name));
    json_object_set_new(answer, "container", js_text(job->place.container));
    json_object_set_new(answer, "engine", js_text(job->place.engine));
    json_object_set_new(answer, "hosts", array);
    if (failure && failure->kind) {
        json_object_set_new(answer, "error", js_error(failure, hosts));
    }
    js_add_line(out, answer);
}
