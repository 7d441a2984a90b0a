/* Shows a comparison of runs as JSON and as CSV, both made from one table of figures. */
#include "report/compare.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "report/json_internal.h"

static json_t *figure(double value)
{
    return value >= 0 ? json_real(value) : json_null();
}

static json_t *get_run(const struct comparison_row *row)
{
    return js_text(row->run->name);
}

static json_t *get_state(const struct comparison_row *row)
{
    return js_text(run_state_name(row->run->state));
}

static json_t *get_nodes(const struct comparison_row *row)
{
    return json_integer((json_int_t)row->nodes);
}

static json_t *get_gpus(const struct comparison_row *row)
{
    return js_integer(row->gpus, -1);
}

static json_t *get_global_batch(const struct comparison_row *row)
{
    return js_integer(row->global_batch, -1);
}

static json_t *get_step_time(const struct comparison_row *row)
{
    return figure(row->step_time_s);
}

static json_t *get_samples(const struct comparison_row *row)
{
    return figure(row->samples_per_second);
}

static json_t *get_tokens(const struct comparison_row *row)
{
    return figure(row->tokens_per_second);
}

static json_t *get_tflops(const struct comparison_row *row)
{
    return figure(row->tflops_per_gpu);
}

static json_t *get_speedup(const struct comparison_row *row)
{
    return figure(row->speedup);
}

static json_t *get_efficiency(const struct comparison_row *row)
{
    return figure(row->efficiency);
}

static json_t *get_network(const struct comparison_row *row)
{
    return js_text(row->network);
}

static json_t *get_mfu(const struct comparison_row *row)
{
    return figure(row->mfu);
}

static json_t *get_peak_memory(const struct comparison_row *row)
{
    return js_integer(row->peak_memory, -1);
}

static json_t *get_hours(const struct comparison_row *row)
{
    return figure(row->hours);
}

static json_t *get_loss(const struct comparison_row *row)
{
    return row->has_loss ? json_real(row->loss) : json_null();
}

static const struct {
    const char *key;
    json_t *(*get)(const struct comparison_row *row);
} figures[] = {
    {"run", get_run},
    {"state", get_state},
    {"nodes", get_nodes},
    {"gpus", get_gpus},
    {"global_batch", get_global_batch},
    {"step_time", get_step_time},
    {"samples_per_second", get_samples},
    {"tokens_per_second", get_tokens},
    {"tflops_per_gpu", get_tflops},
    {"speedup", get_speedup},
    {"efficiency", get_efficiency},
    {"network", get_network},
    {"mfu", get_mfu},
    {"peak_memory", get_peak_memory},
    {"hours", get_hours},
    {"final_loss", get_loss},
};

/* --- JSON --------------------------------------------------------------------------------------------- */

static json_t *differences_array(const struct differences *differences)
{
    json_t *array = json_array();
    for (size_t i = 0; i < differences->len; i++) {
        json_t *values = json_array();
        for (size_t run = 0; run < differences->runs_len; run++) {
            json_array_append_new(values, js_text(differences->items[i].values[run]));
        }
        json_t *object = json_object();
        json_object_set_new(object, "key", js_text(differences->items[i].key));
        json_object_set_new(object, "values", values);
        json_array_append_new(array, object);
    }
    return array;
}

json_t *report_compare_object(const struct comparison *comparison)
{
    json_t *object = json_object();
    json_t *runs = json_array();
    for (size_t i = 0; i < comparison->len; i++) {
        json_t *run = json_object();
        for (size_t k = 0; k < ARRAY_LEN(figures); k++) {
            json_object_set_new(run, figures[k].key, figures[k].get(&comparison->rows[i]));
        }
        json_array_append_new(runs, run);
    }
    json_object_set_new(object, "runs", runs);
    json_object_set_new(object, "differences", differences_array(&comparison->differences));
    json_object_set_new(object, "verdict", js_text(comparison->verdict));
    return object;
}

void report_compare_json(const struct comparison *comparison, struct str *out)
{
    json_t *answer = js_answer();
    json_t *object = report_compare_object(comparison);
    json_object_update(answer, object);
    json_decref(object);
    js_add_line(out, answer);
}

/* --- CSV ---------------------------------------------------------------------------------------------- */

/* Append a text, quoted if needed. */
static void add_field(struct str *out, const char *text)
{
    AUTO_STR struct str safe = STR_INIT;
    text_add_line(&safe, text, strlen(text));
    if (!strpbrk(str_text(&safe), ",\"")) {
        str_add(out, str_text(&safe));
        return;
    }
    str_add_char(out, '"');
    for (const char *at = str_text(&safe); *at; at++) {
        str_add(out, *at == '"' ? "\"\"" : "");
        str_add_mem(out, at, *at == '"' ? 0 : 1);
    }
    str_add_char(out, '"');
}

static void add_value(struct str *out, json_t *value)
{
    if (json_is_string(value)) {
        add_field(out, json_string_value(value));
    } else if (json_is_integer(value)) {
        str_addf(out, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        str_addf(out, "%.10g", json_real_value(value));
    }
    json_decref(value);
}

void report_compare_csv(const struct comparison *comparison, struct str *out)
{
    for (size_t k = 0; k < ARRAY_LEN(figures); k++) {
        str_addf(out, "%s%s", k ? "," : "", figures[k].key);
    }
    str_add_char(out, '\n');
    for (size_t i = 0; i < comparison->len; i++) {
        for (size_t k = 0; k < ARRAY_LEN(figures); k++) {
            str_add(out, k ? "," : "");
            add_value(out, figures[k].get(&comparison->rows[i]));
        }
        str_add_char(out, '\n');
    }
}
