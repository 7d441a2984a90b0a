/* Shows the steps of a ladder and their comparison. */
#include "report/ladder.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "report/compare.h"
#include "report/diagnose.h"
#include "report/json_internal.h"
#include "report/table.h"

/* Seconds that the run's attempt took; -1: unknown. */
static double seconds_of(const struct run *run)
{
    return run && run->started_ms > 0 && run->ended_ms >= run->started_ms
               ? (double)(run->ended_ms - run->started_ms) / 1000
               : -1;
}

/* --- text --------------------------------------------------------------------------------------------- */

static void add_span(struct table *table, double seconds)
{
    char buffer[CLOCK_TEXT_SIZE];
    table_add(table, seconds >= 0 ? clock_format_span((int64_t)seconds, buffer) : NULL, TONE_PLAIN);
}

void report_ladder_plan(const struct report_ladder *ladder, const struct report_style *style, struct str *out)
{
    static const struct table_column columns[] = {
        {.title = "STEP", .flexible = true},
        {.title = "RUN", .names = true},
        {.title = "NODES", .right = true},
        {.title = "PROFILES", .flexible = true, .hide_empty = true},
        {.title = "ZERO", .right = true, .hide_empty = true},
        {.title = "LIMIT", .right = true},
        {.title = "NOW"},
    };
    struct table table;
    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < ladder->len; i++) {
        const struct report_ladder_step *step = &ladder->steps[i];
        table_add(&table, step->step, TONE_STRONG);
        table_add(&table, step->run, TONE_PLAIN);
        table_addf(&table, TONE_PLAIN, "%zu", step->nodes);
        table_add(&table, step->profiles, TONE_PLAIN);
        table_add(&table, step->zero_stage, TONE_PLAIN);
        add_span(&table, (double)ladder->limit_s);
        if (step->done) {
            table_add(&table, step->changed->len > 0 ? "done, the job has changed since" : "done",
                      step->changed->len > 0 ? TONE_WARN : TONE_GOOD);
        } else if (step->record) {
            table_addf(&table, TONE_WARN, "%s, %s", run_state_name(step->record->state),
                       run_state_is_live(step->record->state) ? "will be waited for" : "will run again");
        } else {
            table_add(&table, "will run", TONE_PLAIN);
        }
    }
    table_render(&table, style->columns, style->color, out);
    table_release(&table);
}

static void add_steps(const struct report_ladder *ladder, const struct report_style *style, struct str *out)
{
    static const struct table_column columns[] = {
        {.title = "STEP", .flexible = true}, {.title = "RUN", .names = true},
        {.title = "NODES", .right = true},   {.title = "STATE"},
        {.title = "TIME", .right = true},    {.title = "REASON", .own_line = true},
    };
    struct table table;
    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < ladder->len; i++) {
        const struct report_ladder_step *step = &ladder->steps[i];
        enum report_tone tone = step->done ? TONE_GOOD : step->reason ? TONE_BAD : TONE_FAINT;
        table_add(&table, step->step, TONE_STRONG);
        table_add(&table, step->run, TONE_PLAIN);
        table_addf(&table, TONE_PLAIN, "%zu", step->nodes);
        table_add(&table, step->record ? run_state_name(step->record->state) : "not run", tone);
        add_span(&table, seconds_of(step->record));
        table_add(&table, step->reason, TONE_PLAIN);
    }
    table_render(&table, style->columns, style->color, out);
    table_release(&table);
}

void report_ladder_text(const struct report_ladder *ladder, const struct report_style *style, struct str *out)
{
    add_steps(ladder, style, out);
    for (size_t i = 0; i < ladder->len; i++) {
        if (ladder->steps[i].explanation) {
            str_add_char(out, '\n');
            report_diagnose_text(ladder->steps[i].explanation, style, out);
        }
    }
    if (ladder->comparison) {
        str_add_char(out, '\n');
        report_compare_text(ladder->comparison, style, out);
    }
    if (ladder->recommendation) {
        AUTO_STR struct str text = STR_INIT;
        tone_add(out, "next:", TONE_STRONG, style->color);
        str_add(out, "    ");
        text_add_line(&text, ladder->recommendation, strlen(ladder->recommendation));
        text_add_wrapped(out, str_text(&text), strlen("verdict: "), strlen("verdict: "), style->columns);
    }
}

/* --- JSON --------------------------------------------------------------------------------------------- */

static json_t *step_json(const struct report_ladder_step *step)
{
    json_t *object = json_object();
    double seconds = seconds_of(step->record);
    json_object_set_new(object, "step", js_text(step->step));
    json_object_set_new(object, "run", js_text(step->run));
    json_object_set_new(object, "state", js_text(step->record ? run_state_name(step->record->state) : NULL));
    json_object_set_new(object, "seconds", seconds >= 0 ? json_real(seconds) : json_null());
    json_object_set_new(object, "cause",
                        step->explanation ? report_cause_json(step->explanation) : json_null());
    json_object_set_new(object, "reason", js_text(step->reason));
    json_object_set_new(object, "changed", js_list(step->changed));
    return object;
}

void report_ladder_json(const struct report_ladder *ladder, struct str *out)
{
    json_t *answer = js_answer();
    json_t *steps = json_array();
    for (size_t i = 0; i < ladder->len; i++) {
        json_array_append_new(steps, step_json(&ladder->steps[i]));
    }
    json_object_set_new(answer, "steps", steps);
    json_object_set_new(answer, "compare",
                        ladder->comparison ? report_compare_object(ladder->comparison) : json_null());
    json_object_set_new(answer, "recommendation", js_text(ladder->recommendation));
    js_add_line(out, answer);
}
