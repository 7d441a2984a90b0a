/* Shows the results of a job's checks: one line per check, each problem once, and the same as JSON. */
#include "report/check.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/hostlist.h"
#include "report/comm_internal.h"
#include "report/json_internal.h"
#include "report/table.h"

static enum report_tone tone_of(enum finding_severity severity)
{
    static const enum report_tone tones[] = {
        [FINDING_OK] = TONE_GOOD,
        [FINDING_NOTE] = TONE_PLAIN,
        [FINDING_WARN] = TONE_WARN,
        [FINDING_FAIL] = TONE_BAD,
    };
    return tones[severity];
}

/* The hosts with findings of this check and severity, each once. */
static void find_hosts(const struct findings *findings, const char *id, enum finding_severity severity,
                       struct strlist *out)
{
    for (size_t i = 0; i < findings->len; i++) {
        const struct finding *finding = &findings->items[i];
        if (strcmp(finding->id, id) != 0 || finding->severity != severity) {
            continue;
        }
        for (size_t h = 0; h < finding->hosts.len; h++) {
            if (!strlist_has(out, finding->hosts.items[h])) {
                strlist_add(out, finding->hosts.items[h]);
            }
        }
    }
}

/* "ok 30 · fail g[0034-0035]"; false: nothing was found. */
static bool add_summary(const struct findings *findings, const char *id, struct str *out)
{
    for (int severity = FINDING_OK; severity <= FINDING_FAIL; severity++) {
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        find_hosts(findings, id, (enum finding_severity)severity, &hosts);
        if (hosts.len == 0) {
            continue;
        }
        str_addf(out, "%s%s ", out->len > 0 ? " · " : "",
                 finding_severity_name((enum finding_severity)severity));
        if (severity == FINDING_OK) {
            str_addf(out, "%zu", hosts.len);
        } else {
            hostlist_fold_names(hosts.items, hosts.len, out);
        }
    }
    return out->len > 0;
}

static void add_indented(const char *text, struct str *out)
{
    str_add(out, TEXT_QUOTE_INDENT);
    text_add_lines(out, text, strlen(text));
    str_add_char(out, '\n');
}

static void add_problem(const struct finding *finding, const struct report_style *style, struct str *out)
{
    AUTO_STR struct str folded = STR_INIT;
    hostlist_fold_names(finding->hosts.items, finding->hosts.len, &folded);
    tone_add(out, finding_severity_name(finding->severity), tone_of(finding->severity), style->color);
    str_addf(out, " %s: ", finding->id);
    text_add_line(out, str_text(&folded), folded.len);
    str_add(out, ": ");
    text_add_line(out, finding->text, strlen(finding->text));
    str_add_char(out, '\n');
    if (finding->evidence) {
        add_indented(finding->evidence, out);
    }
    if (finding->remedy) {
        add_indented(finding->remedy, out);
    }
}

static void add_comm_row(const struct run_checked *checked, struct table *table)
{
    AUTO_STR struct str summary = STR_INIT;
    bool found = add_summary(&checked->findings, COMM_ID, &summary);
    table_add(table, COMM_ID, TONE_STRONG);
    table_add(table, found ? str_text(&summary) : "not tried",
              found ? tone_of(findings_worst(&checked->findings, COMM_ID)) : TONE_PLAIN);
}

void report_check_text(const struct run_checked *checked, const struct report_style *style, struct str *out)
{
    static const struct table_column columns[] = {
        {.title = "CHECK"},
        {.title = "RESULT", .flexible = true},
    };
    struct table table;
    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < checks_count; i++) {
        const char *id = checks_all[i]->id;
        AUTO_STR struct str summary = STR_INIT;
        bool found = add_summary(&checked->findings, id, &summary);
        if (found || checked->asked.wanted[i]) {
            table_add(&table, id, TONE_STRONG);
            table_add(&table, found ? str_text(&summary) : "not checked: what it needs has failed",
                      found ? tone_of(findings_worst(&checked->findings, id)) : TONE_PLAIN);
        }
    }
    if (checked->tried_comm) {
        add_comm_row(checked, &table);
    }
    table_render(&table, style->columns, style->color, out);
    table_release(&table);
    if (checked->tried_comm) {
        report_comm_text(&checked->comm, style, out);
    }
    for (int severity = FINDING_FAIL; severity >= FINDING_NOTE; severity--) {
        for (size_t i = 0; i < checked->findings.len; i++) {
            const struct finding *finding = &checked->findings.items[i];
            if ((int)finding->severity == severity) {
                add_problem(finding, style, out);
            }
        }
    }
}

void report_check_json(const struct run_checked *checked, const struct error *failure, struct str *out)
{
    json_t *answer = js_answer();
    json_t *array = json_array();
    for (size_t i = 0; i < checked->findings.len; i++) {
        json_array_append_new(array, finding_to_json(&checked->findings.items[i]));
    }
    json_object_set_new(answer, "ok",
                        json_boolean(!failure && findings_worst(&checked->findings, NULL) < FINDING_FAIL));
    json_object_set_new(answer, "findings", array);
    if (checked->tried_comm) {
        json_object_set_new(answer, "comm", report_comm_json(&checked->comm));
    }
    if (failure) {
        const struct strlist hosts = STRLIST_INIT;
        json_object_set_new(answer, "error", js_error(failure, &hosts));
    }
    js_add_line(out, answer);
}

void report_checks_text(const struct report_style *style, struct str *out)
{
    static const struct table_column columns[] = {
        {.title = "CHECK"},
        {.title = "LOOKS AT"},
        {.title = "WHY", .own_line = true},
    };
    struct table table;
    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < checks_count; i++) {
        table_add(&table, checks_all[i]->id, TONE_STRONG);
        table_add(&table, checks_all[i]->title, TONE_PLAIN);
        table_add(&table, checks_all[i]->why, TONE_PLAIN);
    }
    table_add(&table, COMM_ID, TONE_STRONG);
    table_add(&table, COMM_TITLE " (only with --comm)", TONE_PLAIN);
    table_add(&table, COMM_WHY, TONE_PLAIN);
    table_render(&table, style->columns, style->color, out);
    table_release(&table);
}

void report_checks_json(struct str *out)
{
    json_t *answer = js_answer();
    json_t *array = json_array();
    for (size_t i = 0; i < checks_count; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "id", js_text(checks_all[i]->id));
        json_object_set_new(object, "title", js_text(checks_all[i]->title));
        json_object_set_new(object, "why", js_text(checks_all[i]->why));
        json_object_set_new(object, "before_start", json_boolean(checks_all[i]->when != CHECK_ON_REQUEST));
        json_array_append_new(array, object);
    }
    json_t *comm = json_object();
    json_object_set_new(comm, "id", js_text(COMM_ID));
    json_object_set_new(comm, "title", js_text(COMM_TITLE));
    json_object_set_new(comm, "why", js_text(COMM_WHY));
    json_object_set_new(comm, "before_start", json_false());
    json_array_append_new(array, comm);
    json_object_set_new(answer, "checks", array);
    js_add_line(out, answer);
}
