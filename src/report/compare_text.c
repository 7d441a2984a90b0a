/* Shows a comparison of runs as text: two tables, a bar chart, what differs, and the verdict. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "report/compare.h"
#include "report/table.h"

#define GIB              ((double)((int64_t)1 << 30))
#define NAME_MAX_COLUMNS 24 /* of a run's name before its bar */
#define RATE_COLUMNS     10 /* of the number after the longest bar */

/* --- tables ------------------------------------------------------------------------------------------- */

/* Add a cell with this many significant digits; an unknown value is an empty cell. */
static void add_figure(struct table *table, double value, int digits)
{
    if (value >= 0) {
        table_addf(table, TONE_PLAIN, "%.*g", digits, value);
    } else {
        table_add(table, NULL, TONE_PLAIN);
    }
}

/* Add a cell with this many decimals and a unit. */
static void add_fixed(struct table *table, double value, int decimals, const char *unit,
                      enum report_tone tone)
{
    if (value >= 0) {
        table_addf(table, tone, "%.*f%s", decimals, value, unit);
    } else {
        table_add(table, NULL, TONE_PLAIN);
    }
}

static void add_count(struct table *table, int64_t count)
{
    if (count < 0) {
        table_add(table, NULL, TONE_PLAIN);
    } else {
        table_addf(table, TONE_PLAIN, "%lld", (long long)count);
    }
}

static enum report_tone efficiency_tone(const struct comparison_row *row)
{
    if (row->efficiency < 0) {
        return TONE_PLAIN;
    }
    return row->efficiency >= COMPARISON_EFFICIENT ? TONE_GOOD
           : row->efficiency >= COMPARISON_BOUND   ? TONE_WARN
                                                   : TONE_BAD;
}

static void add_rates(const struct comparison *comparison, const struct report_style *style, struct str *out)
{
    static const struct table_column columns[] = {
        {.title = "RUN", .names = true},
        {.title = "NODES", .right = true},
        {.title = "GPUS", .right = true, .hide_empty = true},
        {.title = "BATCH", .right = true, .hide_empty = true},
        {.title = "S/STEP", .right = true, .hide_empty = true},
        {.title = "SAMPLES/S", .right = true, .hide_empty = true},
        {.title = "TOKENS/S", .right = true, .hide_empty = true},
        {.title = "SPEEDUP", .right = true, .hide_empty = true},
        {.title = "EFFICIENCY", .right = true, .hide_empty = true},
    };
    struct table table;
    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < comparison->len; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        table_add(&table, row->run->name, TONE_STRONG);
        add_count(&table, (int64_t)row->nodes);
        add_count(&table, row->gpus);
        add_count(&table, row->global_batch);
        add_figure(&table, row->step_time_s, 4);
        add_figure(&table, row->samples_per_second, 5);
        add_fixed(&table, row->tokens_per_second, 0, "", TONE_PLAIN);
        add_fixed(&table, row->speedup, 3, "", TONE_PLAIN);
        add_fixed(&table, row->efficiency * 100, 1, " %", efficiency_tone(row));
    }
    table_render(&table, style->columns, style->color, out);
    table_release(&table);
}

static void add_rest(const struct comparison *comparison, const struct report_style *style, struct str *out)
{
    static const struct table_column columns[] = {
        {.title = "RUN", .names = true},
        {.title = "STATE"},
        {.title = "NETWORK", .flexible = true, .hide_empty = true},
        {.title = "TFLOP/S A GPU", .right = true, .hide_empty = true},
        {.title = "MFU", .right = true, .hide_empty = true},
        {.title = "PEAK MEMORY", .right = true, .hide_empty = true},
        {.title = "LOSS", .right = true, .hide_empty = true},
        {.title = "HOURS", .right = true, .hide_empty = true},
    };
    struct table table;
    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < comparison->len; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        table_add(&table, row->run->name, TONE_STRONG);
        table_add(&table, run_state_name(row->run->state), TONE_PLAIN);
        table_add(&table, row->network, TONE_PLAIN);
        add_figure(&table, row->tflops_per_gpu, 4);
        add_fixed(&table, row->mfu * 100, 1, " %", TONE_PLAIN);
        add_fixed(&table, (double)row->peak_memory / GIB, 1, "G", TONE_PLAIN);
        if (row->has_loss) {
            table_addf(&table, TONE_PLAIN, "%.4g", row->loss);
        } else {
            table_add(&table, NULL, TONE_PLAIN);
        }
        add_fixed(&table, row->hours, 1, "", TONE_PLAIN);
    }
    table_render(&table, style->columns, style->color, out);
    table_release(&table);
}

/* --- chart -------------------------------------------------------------------------------------------- */

/* Append a bar per run, in samples per second. */
static void add_chart(const struct comparison *comparison, const struct report_style *style, struct str *out)
{
    double most = 0;
    size_t name_columns = 0;
    for (size_t i = 0; i < comparison->len; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        size_t len = strlen(row->run->name);
        most = row->samples_per_second > most ? row->samples_per_second : most;
        name_columns = len > name_columns ? len : name_columns;
    }
    name_columns = name_columns < NAME_MAX_COLUMNS ? name_columns : NAME_MAX_COLUMNS;
    if (most <= 0 || style->columns < name_columns + RATE_COLUMNS + 10) {
        return;
    }
    size_t room = style->columns - name_columns - RATE_COLUMNS - 2;
    str_add(out, "\nsamples/s\n");
    for (size_t i = 0; i < comparison->len; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (row->samples_per_second < 0) {
            continue;
        }
        AUTO_STR struct str bar = STR_INIT;
        for (size_t cell = 0; (double)cell < row->samples_per_second / most * (double)room; cell++) {
            str_add_char(&bar, '#');
        }
        str_addf(out, "%-*.*s ", (int)name_columns, (int)name_columns, row->run->name);
        tone_add(out, str_text(&bar), row->speedup < 1 ? TONE_BAD : TONE_GOOD, style->color);
        str_addf(out, " %.5g\n", row->samples_per_second);
    }
}

/* --- differences and verdict -------------------------------------------------------------------------- */

static bool is_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* "args.lr: 1e-4 (a, b), not set (c)" */
static void add_difference(const struct comparison *comparison, const struct difference *item,
                           const struct report_style *style, struct str *out)
{
    AUTO_STR struct str text = STR_INIT, safe = STR_INIT;
    str_addf(&text, "%s:", item->key);
    for (size_t i = 0; i < comparison->len; i++) {
        bool told = false;
        for (size_t k = 0; k < i; k++) {
            told = told || is_equal(item->values[k], item->values[i]);
        }
        if (told) {
            continue;
        }
        str_addf(&text, "%s %s (%s", i ? "," : "", item->values[i] ? item->values[i] : "not set",
                 comparison->rows[i].run->name);
        for (size_t k = i + 1; k < comparison->len; k++) {
            if (is_equal(item->values[k], item->values[i])) {
                str_addf(&text, ", %s", comparison->rows[k].run->name);
            }
        }
        str_add_char(&text, ')');
    }
    text_add_line(&safe, str_text(&text), text.len);
    str_add(out, "  ");
    text_add_wrapped(out, str_text(&safe), 2, 2, style->columns);
}

void report_compare_text(const struct comparison *comparison, const struct report_style *style,
                         struct str *out)
{
    add_rates(comparison, style, out);
    str_add_char(out, '\n');
    add_rest(comparison, style, out);
    if (style->chart) {
        add_chart(comparison, style, out);
    }
    for (size_t i = 0; i < comparison->differences.len; i++) {
        str_add(out, i == 0 ? "\ndiffers:\n" : "");
        add_difference(comparison, &comparison->differences.items[i], style, out);
    }
    if (comparison->verdict) {
        AUTO_STR struct str text = STR_INIT;
        str_add_char(out, '\n');
        tone_add(out, "verdict:", TONE_STRONG, style->color);
        str_add_char(out, ' ');
        text_add_line(&text, comparison->verdict, strlen(comparison->verdict));
        text_add_wrapped(out, str_text(&text), strlen("verdict: "), strlen("verdict: "), style->columns);
    }
}
