/* Shows a recorded run, as text and as JSON, from its record alone. */
#include "report/show.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "report/json_internal.h"
#include "report/status_internal.h"
#include "report/table.h"
#include "report/values_internal.h"

#define INDENT 2

static void add_text(struct str *out, const char *text)
{
    text_add_line(out, text, strlen(text));
}

static json_t *started_value(const struct run *run)
{
    json_t *spec = run->spec ? json_loads(run->spec, 0, NULL) : NULL;
    return spec ? spec : json_null();
}

static json_t *spec_value(const struct run *run)
{
    json_t *spec = run->job_spec ? json_loads(run->job_spec, 0, NULL) : NULL;
    return spec ? spec : started_value(run);
}

static json_t *findings_value(const struct run *run)
{
    json_t *findings = run->findings ? json_loads(run->findings, 0, NULL) : NULL;
    return findings ? findings : json_array();
}

static json_t *plan_nodes(const struct run *run)
{
    json_t *array = json_array();
    for (size_t i = 0; i < run->nodes_len; i++) {
        const struct run_node *node = &run->nodes[i];
        json_t *object = json_object();
        json_object_set_new(object, "rank", json_integer(node->rank));
        json_object_set_new(object, "host", js_text(node->label));
        json_object_set_new(object, "addr", js_text(node->addr));
        json_object_set_new(object, "local", json_boolean(node->local));
        json_object_set_new(object, "artifacts", js_text(node->artifacts));
        json_object_set_new(object, "log", js_text(node->log));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *synced_value(const struct run_synced *synced)
{
    if (!synced->done) {
        return json_null();
    }
    json_t *value = json_object();
    json_object_set_new(value, "files", json_integer((json_int_t)synced->files));
    json_object_set_new(value, "bytes", json_integer((json_int_t)synced->bytes));
    json_object_set_new(value, "seconds", json_real(synced->took_ms / 1000.0));
    json_object_set_new(value, "commit", js_text(synced->commit));
    json_object_set_new(value, "dirty", synced->commit ? json_boolean(synced->dirty) : json_null());
    return value;
}

/* What the current attempt was started with. command and env are those of node 0, with secrets masked. */
static json_t *plan_value(const struct run *run)
{
    AUTO_STR struct str rendezvous = STR_INIT;
    json_t *plan = json_object(), *spec = started_value(run);
    const size_t world = (size_t)run->nproc_per_node * run->nodes_len;
    if (run->id[0] && run->attempt) {
        str_addf(&rendezvous, "%s.%u", run->id, run->attempt);
    }
    json_object_set_new(plan, "run_id", js_text_or_null(run->id));
    json_object_set_new(plan, "attempt", js_integer(run->attempt, 0));
    json_object_set_new(plan, "rendezvous_id", js_text_or_null(str_text(&rendezvous)));
    json_object_set_new(plan, "nnodes", json_integer((json_int_t)run->nodes_len));
    json_object_set_new(plan, "nproc_per_node", js_integer(run->nproc_per_node, 0));
    json_object_set_new(plan, "world_size", js_integer((int64_t)world, 0));
    json_object_set_new(plan, "master_addr", js_text(run->master_addr));
    json_object_set_new(plan, "master_port", js_integer(run->master_port, 0));
    json_object_set_new(plan, "container", js_text(run->place.container));
    json_object_set_new(plan, "synced", synced_value(&run->synced));
    static const char *const first_node[] = {"command", "env"};
    for (size_t i = 0; i < sizeof(first_node) / sizeof(first_node[0]); i++) {
        json_t *value = json_object_get(spec, first_node[i]);
        json_object_set_new(plan, first_node[i], value ? json_incref(value) : json_null());
    }
    json_object_set_new(plan, "nodes", plan_nodes(run));
    json_decref(spec);
    return plan;
}

void report_recorded_put(json_t *object, const struct run *run)
{
    json_object_set_new(object, "spec", spec_value(run));
    json_object_set_new(object, "plan", plan_value(run));
    json_object_set_new(object, "findings", findings_value(run));
}

void report_show_json(const struct report_show *show, struct str *out)
{
    json_t *answer = js_answer();
    json_object_set_new(answer, "run", js_text(show->run->name));
    json_object_set_new(answer, "job", js_text(show->run->job));
    report_recorded_put(answer, show->run);
    json_object_set_new(answer, "events", report_events_json(show->events));
    js_add_line(out, answer);
}

/* --- text --------------------------------------------------------------------------------------------- */

/* Is it a word, or words with single blanks, that every YAML reader takes as plain text? */
static bool is_plain(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./~@%+=";
    static const char *const words[] = {"true", "false", "null", "~"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(text, words[i]) == 0) {
            return false;
        }
    }
    const char *first = text + (text[0] == '-') + (text[0] == '-' && text[1] == '-'); /* "-x", "--lr" */
    if (*first == '\0' || strchr("@%=", *text) || !strchr(letters, *first)) {
        return false;
    }
    for (const char *at = text; *at != '\0'; at++) {
        bool blank = *at == ' ' && at > text && at[1] != '\0' && at[1] != ' ' && at[1] != '#';
        if (!blank && *at != '-' && !strchr(letters, *at)) {
            return false;
        }
    }
    return true;
}

/* Append a quoted text. Control characters are escaped, including those that change the writing direction. */
static void add_quoted(struct str *out, const json_t *value)
{
    AUTO_STR struct str safe = STR_INIT;
    const char *text = json_string_value(value);
    text_add_line(&safe, text, strlen(text));
    char *quoted =
        json_dumps(value, JSON_ENCODE_ANY | (strcmp(str_text(&safe), text) == 0 ? 0 : JSON_ENSURE_ASCII));
    str_add(out, quoted ? quoted : "\"\"");
    free(quoted);
}

static void add_scalar(struct str *out, const json_t *value)
{
    if (json_is_string(value) && is_plain(json_string_value(value))) {
        str_add(out, json_string_value(value));
    } else if (json_is_string(value)) {
        add_quoted(out, value);
    } else if (json_is_null(value)) {
        str_add(out, "-"); /* does not occur in a job file */
    } else {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        str_add(out, text ? text : "?");
        free(text);
    }
}

static void add_value(struct str *out, const json_t *value, size_t depth);

static bool has_lines(const json_t *value)
{
    return (json_is_object(value) && json_object_size(value)) ||
           (json_is_array(value) && json_array_size(value));
}

static void add_entry(struct str *out, const char *key, const json_t *value, size_t depth)
{
    json_t *name = js_text(key);
    add_scalar(out, name);
    json_decref(name);
    if (has_lines(value)) {
        str_add(out, ":\n");
        add_value(out, value, depth + 1);
        return;
    }
    str_add(out, ": ");
    add_scalar(out, value);
    str_add_char(out, '\n');
}

static void add_indent(struct str *out, size_t depth)
{
    str_addf(out, "%*s", (int)(depth * INDENT), "");
}

/* Append an object as "key: value" lines; the first one is printed at the caller's position. */
static void add_entries(struct str *out, const json_t *object_const, size_t depth)
{
    json_t *object = (json_t *)(uintptr_t)object_const; /* jansson only iterates over a non-const object */
    bool first = true;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        if (!first) {
            add_indent(out, depth);
        }
        first = false;
        add_entry(out, json_object_iter_key(at), json_object_iter_value(at), depth);
    }
}

/* Append a value as YAML: an object as "key: value" lines, an array as "- value" lines. */
static void add_value(struct str *out, const json_t *value, size_t depth)
{
    if (json_is_object(value)) {
        add_indent(out, depth);
        add_entries(out, value, depth);
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        add_indent(out, depth);
        str_add(out, "- ");
        if (json_is_object(item) && json_object_size(item)) {
            add_entries(out, item, depth + 1);
        } else {
            add_scalar(out, item);
            str_add_char(out, '\n');
        }
    }
}

void report_spec_text(const json_t *spec, struct str *out)
{
    add_value(out, spec, 0);
}

static void add_section(struct str *out, const char *title, json_t *value, bool color)
{
    tone_add(out, title, TONE_STRONG, color);
    str_add_char(out, '\n');
    if (json_is_object(value) && json_object_size(value)) {
        add_value(out, value, 1);
    } else {
        str_add(out, "  none is recorded\n");
    }
    json_decref(value);
}

static void add_events(const struct run_events *events, const struct report_style *style, struct str *out)
{
    tone_add(out, "events", TONE_STRONG, style->color);
    str_add(out, events->len ? "\n" : "\n  none is recorded\n");
    for (size_t i = 0; i < events->len; i++) {
        char time[CLOCK_TEXT_SIZE];
        const struct run_event *event = &events->items[i];
        str_addf(out, "  %s  ", clock_format_local(event->time_ms, time));
        add_text(out, event->event);
        if (event->host) {
            str_add(out, "  ");
            add_text(out, event->host);
        }
        if (event->text && *event->text) {
            str_add(out, ": ");
            add_text(out, event->text);
        }
        str_add_char(out, '\n');
    }
}

/* Append what the checks of the last start found; nothing if there were no findings. */
static void add_findings(const struct run *run, const struct report_style *style, struct str *out)
{
    json_t *findings = findings_value(run);
    if (json_array_size(findings)) {
        tone_add(out, "findings of the start", TONE_STRONG, style->color);
        str_add_char(out, '\n');
    }
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        static const char *const keys[] = {"severity", "id", "folded", "title"};
        str_add(out, "  ");
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            const char *text = json_string_value(json_object_get(finding, keys[k]));
            str_add(out, k == 0 ? "" : k == 1 ? " " : ": ");
            add_text(out, text ? text : "?");
        }
        str_add_char(out, '\n');
    }
    json_decref(findings);
}

/* Append only the job file, in a form that `start` can read. */
static void add_job_file(const struct report_show *show, struct str *out)
{
    json_t *spec = spec_value(show->run);
    str_add(out, "# run ");
    add_text(out, show->run->name);
    str_addf(out, ", attempt %u; what is not here has its default, *** is a secret\n", show->run->attempt);
    add_value(out, spec, 0);
    json_decref(spec);
}

void report_show_text(const struct report_show *show, const struct report_style *style, struct str *out)
{
    if (show->with_spec && !show->with_plan && !show->with_events) {
        add_job_file(show, out);
        return;
    }
    add_text(out, show->run->name);
    str_add(out, " (job ");
    add_text(out, show->run->job ? show->run->job : "?");
    str_addf(out, ", attempt %u)\n", show->run->attempt);
    if (show->with_spec) {
        add_section(out, "spec", spec_value(show->run), style->color);
    }
    if (show->with_plan) {
        json_t *plan = plan_value(show->run);
        json_object_del(plan, "nodes");
        add_section(out, "plan", plan, style->color);
        report_nodes_text(show->run, style, out);
    }
    if (show->with_events) {
        add_findings(show->run, style, out);
        add_events(show->events, style, out);
    }
}
