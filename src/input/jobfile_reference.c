/* The keys of the job file as the reference shows them: made from the tables that the parser uses. */
#include <stdlib.h>

#include "base/alloc.h"
#include "input/jobfile_internal.h"

static void add_choices(const struct field *field, struct str *out)
{
    for (size_t i = 0; i < field->choices_count; i++) {
        str_addf(out, "%s%s", out->len > 0 ? " | " : "", field->choices[i].name);
    }
}

/* What the value of a key is, from its row. Caller frees. */
static char *describe_type(const struct field *field)
{
    AUTO_STR struct str out = STR_INIT;
    if (field->form) {
        return xstrdup(field->form);
    }
    if (field->handle == read_launcher) {
        launcher_names(&out);
        return str_detach(&out);
    }
    switch (field->type) {
    case FIELD_TEXT:
        str_add(&out, field->auto_ok ? "string, or auto" : "string");
        break;
    case FIELD_PATH:
        str_add(&out, "path (relative to the job file's folder)");
        break;
    case FIELD_LIST:
        str_add(&out, "list of strings");
        break;
    case FIELD_COUNT:
        str_addf(&out, "whole number, %llu to %llu%s", (unsigned long long)field->min,
                 (unsigned long long)field->max, field->auto_ok ? ", or auto" : "");
        break;
    case FIELD_DURATION:
        str_addf(&out, "duration, %llus to %llud", (unsigned long long)field->min,
                 (unsigned long long)(field->max / 86400));
        break;
    case FIELD_CHOICE:
    case FIELD_NAME:
        add_choices(field, &out);
        break;
    case FIELD_FLAG:
        str_add(&out, "true or false");
        break;
    case FIELD_MAP:
    case FIELD_CUSTOM:
    case FIELD_DONE:
        str_add(&out, "mapping");
        break;
    }
    return str_detach(&out);
}

static void add_table(const struct field_table *table, const char *prefix, struct jobfile_keys *keys)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct field *field = &table->fields[i];
        keys->items = xgrow(keys->items, keys->len, &keys->cap, sizeof(keys->items[0]));
        keys->items[keys->len++] = (struct jobfile_key){
            .path = xasprintf("%s%s", prefix, field->key),
            .type = describe_type(field),
            .since = field->doc.since,
            .about = field->doc.about,
            .normal = field->doc.normal,
            .example = field->doc.example,
            .is_section = field->table || field->items,
        };
        if (field->table) {
            AUTO_FREE char *below = xasprintf("%s%s.", prefix, field->key);
            add_table(field->table, below, keys);
        }
        if (field->items) {
            AUTO_FREE char *below = xasprintf("%s%s[].", prefix, field->key);
            add_table(field->items, below, keys);
        }
    }
}

void jobfile_keys_list(struct jobfile_keys *keys)
{
    add_table(&job_fields, "", keys);
}

void jobfile_keys_release(struct jobfile_keys *keys)
{
    for (size_t i = 0; i < keys->len; i++) {
        free(keys->items[i].path);
        free(keys->items[i].type);
    }
    free(keys->items);
    *keys = (struct jobfile_keys){0};
}
