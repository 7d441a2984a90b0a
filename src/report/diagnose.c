/* Shows a diagnosis: cause, evidence, remedies, consequences, facts. */
#include "report/diagnose.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/hostlist.h"
#include "report/json_internal.h"
#include "report/status.h"
#include "report/table.h"
#include "report/values_internal.h"

#define TEXT_SHOWN 300 /* bytes of a quoted line */

static void list_hosts(const struct explanation *explanation, const size_t *nodes, size_t len,
                       struct strlist *hosts)
{
    for (size_t i = 0; i < len; i++) {
        strlist_add(hosts, explanation->ends[nodes[i]].host);
    }
}

/* --- JSON --------------------------------------------------------------------------------------- */

static json_t *hosts_json(const struct explanation *explanation, const size_t *nodes, size_t len)
{
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    list_hosts(explanation, nodes, len, &hosts);
    return js_list(&hosts);
}

static json_t *evidence_json(const char *file, unsigned long line, const char *text)
{
    json_t *object = json_object();
    json_object_set_new(object, "file", js_text(file));
    json_object_set_new(object, "line", js_integer((int64_t)line, 0));
    json_object_set_new(object, "text", js_text(text));
    return object;
}

json_t *report_cause_json(const struct explanation *explanation)
{
    const struct cause *cause = &explanation->diagnosis.cause;
    json_t *object = json_object();
    if (!cause->signature) {
        json_decref(object);
        return json_null();
    }
    json_object_set_new(object, "id", js_text(cause->signature->id));
    json_object_set_new(object, "class", js_text(signature_class_name(cause->class)));
    json_object_set_new(object, "summary", js_text(cause->summary));
    json_object_set_new(object, "hosts", hosts_json(explanation, cause->nodes, cause->nodes_len));
    json_object_set_new(object, "rank", json_integer(explanation->ends[cause->nodes[0]].rank));
    json_object_set_new(object, "global_rank", js_integer(cause->global_rank, -1));
    json_object_set_new(object, "confidence", js_text(confidence_name(cause->confidence)));
    json_object_set_new(object, "remedy", js_list(&cause->remedies));
    json_object_set_new(object, "evidence", evidence_json(cause->file, cause->line, cause->text));
    return object;
}

static json_t *consequences_json(const struct explanation *explanation)
{
    const struct diagnosis *diagnosis = &explanation->diagnosis;
    json_t *array = json_array();
    for (size_t i = 0; i < diagnosis->consequences_len; i++) {
        const struct consequence *one = &diagnosis->consequences[i];
        json_t *object = json_object();
        json_object_set_new(object, "id", js_text(one->signature->id));
        json_object_set_new(object, "class", js_text(signature_class_name(one->signature->class)));
        json_object_set_new(object, "hosts", hosts_json(explanation, one->nodes, one->nodes_len));
        json_object_set_new(object, "evidence", evidence_json(one->file, one->line, one->text));
        json_array_append_new(array, object);
    }
    return array;
}

/* The fact of the first node that reports it; offset: of the member in struct evidence. NULL: none does. */
static const char *first_fact(const struct explanation *explanation, size_t offset)
{
    for (size_t i = 0; i < explanation->nodes_len; i++) {
        const struct evidence *evidence = explanation->ends[i].evidence;
        const char *fact = evidence ? *(char *const *)((const char *)evidence + offset) : NULL;
        if (fact) {
            return fact;
        }
    }
    return NULL;
}

static json_t *facts_json(const struct explanation *explanation)
{
    json_t *object = json_object();
    json_t *interfaces = json_object();
    json_t *open = json_array();
    for (size_t i = 0; i < explanation->nodes_len; i++) {
        const struct evidence *evidence = explanation->ends[i].evidence;
        if (evidence && evidence->interface) {
            json_object_set_new(interfaces, explanation->ends[i].host, js_text(evidence->interface));
        }
        for (size_t j = 0; evidence && j < evidence->init_open_len; j++) {
            json_array_append_new(open, json_integer(evidence->init_open[j]));
        }
    }
    json_object_set_new(object, "nccl_version",
                        js_text(first_fact(explanation, offsetof(struct evidence, nccl_version))));
    json_object_set_new(object, "network",
                        js_text(first_fact(explanation, offsetof(struct evidence, network))));
    json_object_set_new(object, "interfaces", interfaces);
    json_object_set_new(object, "init_incomplete", open);
    json_object_set_new(object, "progress", report_progress_json(&explanation->progress));
    return object;
}

void report_diagnosis_put(json_t *object, const struct explanation *explanation)
{
    json_object_set_new(object, "cause", report_cause_json(explanation));
    json_object_set_new(object, "consequences", consequences_json(explanation));
    json_object_set_new(object, "facts", facts_json(explanation));
}

void report_diagnose_json(const struct explanation *explanation, struct str *out)
{
    json_t *answer = js_answer();
    report_diagnosis_put(answer, explanation);
    js_add_line(out, answer);
}

/* --- text --------------------------------------------------------------------------------------- */

static void add_line(struct str *out, const char *text)
{
    size_t len = strlen(text);
    text_add_line(out, text, len < TEXT_SHOWN ? len : TEXT_SHOWN);
}

static void add_evidence(struct str *out, const char *file, unsigned long line, const char *text)
{
    if (!file || !text) {
        return;
    }
    str_add(out, "    ");
    add_line(out, file);
    if (line > 0) {
        str_addf(out, ":%lu", line);
    }
    str_add(out, ": ");
    add_line(out, text);
    str_add_char(out, '\n');
}

static void add_cause(const struct explanation *explanation, const struct report_style *style,
                      struct str *out)
{
    const struct cause *cause = &explanation->diagnosis.cause;
    AUTO_STR struct str reason = STR_INIT;
    diagnosis_add_reason(&explanation->diagnosis, explanation->ends, &reason);
    tone_add(out, "cause: ", TONE_STRONG, style->color);
    text_add_line(out, str_text(&reason), reason.len);
    str_addf(out, "\n    %s, %s confidence\n", cause->signature->id, confidence_name(cause->confidence));
    add_evidence(out, cause->file, cause->line, cause->text);
    for (size_t i = 0; i < cause->remedies.len; i++) {
        str_add(out, i == 0 ? "try:   " : "       ");
        add_line(out, cause->remedies.items[i]);
        str_add_char(out, '\n');
    }
}

static void add_consequences(const struct explanation *explanation, struct str *out)
{
    const struct diagnosis *diagnosis = &explanation->diagnosis;
    for (size_t i = 0; i < diagnosis->consequences_len; i++) {
        const struct consequence *one = &diagnosis->consequences[i];
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        AUTO_STR struct str folded = STR_INIT;
        list_hosts(explanation, one->nodes, one->nodes_len, &hosts);
        hostlist_fold_names(hosts.items, hosts.len, &folded);
        str_add(out, i == 0 ? "then:  " : "       ");
        text_add_line(out, str_text(&folded), folded.len);
        str_add(out, ": ");
        add_line(out, one->summary);
        str_addf(out, " (%s", one->signature->id);
        if (one->file && one->line > 0) {
            str_add(out, ", ");
            add_line(out, one->file);
            str_addf(out, ":%lu", one->line);
        }
        str_add(out, ")\n");
    }
}

static void add_facts(const struct explanation *explanation, struct str *out)
{
    const char *version = first_fact(explanation, offsetof(struct evidence, nccl_version));
    const char *network = first_fact(explanation, offsetof(struct evidence, network));
    const char *interface = first_fact(explanation, offsetof(struct evidence, interface));
    AUTO_STR struct str text = STR_INIT;
    str_addf(&text, "%s%s%s%s%s%s", version ? ", NCCL " : "", version ? version : "",
             network ? ", network " : "", network ? network : "", interface ? ", interface " : "",
             interface ? interface : "");
    for (size_t i = 0; i < explanation->nodes_len; i++) {
        const struct evidence *evidence = explanation->ends[i].evidence;
        for (size_t j = 0; evidence && j < evidence->init_open_len; j++) {
            str_addf(&text, ", rank %ld did not complete NCCL's init", evidence->init_open[j]);
        }
    }
    if (explanation->progress.iteration >= 0 || explanation->progress.has_loss) {
        str_add(&text, ", iteration ");
        report_progress_text(&explanation->progress, false, &text);
    }
    if (text.len > 0) {
        str_add(out, "facts: ");
        text_add_line(out, str_text(&text) + 2, text.len - 2);
        str_add_char(out, '\n');
    }
}

void report_diagnose_text(const struct explanation *explanation, const struct report_style *style,
                          struct str *out)
{
    const struct diagnosis *diagnosis = &explanation->diagnosis;
    if (diagnosis->cause.signature) {
        add_cause(explanation, style, out);
    } else if (diagnosis->failed || diagnosis->consequences_len > 0) {
        str_add(out, "no cause found: the logs show only consequences\n");
    } else {
        str_add(out, "no failure found\n");
    }
    add_consequences(explanation, out);
    add_facts(explanation, out);
}
