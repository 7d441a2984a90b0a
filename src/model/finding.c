/* The findings of checks and diagnoses; joins equal findings of many hosts. */
#include "model/finding.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/hostlist.h"

const char *finding_severity_name(enum finding_severity severity)
{
    static const char *const names[] = {
        [FINDING_OK] = "ok",
        [FINDING_NOTE] = "note",
        [FINDING_WARN] = "warn",
        [FINDING_FAIL] = "fail",
    };
    return names[severity];
}

void findings_release(struct findings *findings)
{
    for (size_t i = 0; i < findings->len; i++) {
        struct finding *finding = &findings->items[i];
        free(finding->text);
        free(finding->evidence);
        free(finding->remedy);
        strlist_release(&finding->hosts);
    }
    free(findings->items);
    *findings = (struct findings){0};
}

/* Takes ownership of text. */
static struct finding *append(struct findings *findings, const char *id, enum finding_severity severity,
                              const struct error_kind *kind, char *text)
{
    findings->items = xgrow(findings->items, findings->len, &findings->cap, sizeof(*findings->items));
    struct finding *finding = &findings->items[findings->len++];
    *finding = (struct finding){.id = id, .severity = severity, .kind = kind, .text = text};
    return finding;
}

struct finding *findings_add(struct findings *findings, const char *id, enum finding_severity severity,
                             const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = xvasprintf(format, args);
    va_end(args);
    return append(findings, id, severity, NULL, text);
}

struct finding *findings_fail(struct findings *findings, const char *id, const struct error_kind *kind,
                              const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = xvasprintf(format, args);
    va_end(args);
    return append(findings, id, FINDING_FAIL, kind, text);
}

struct finding *findings_fail_error(struct findings *findings, const char *id, const struct error *error)
{
    struct finding *finding = append(findings, id, FINDING_FAIL, error->kind, xstrdup(error->text));
    finding->remedy = error->hint[0] != '\0' ? xstrdup(error->hint) : NULL;
    return finding;
}

void finding_set_evidence(struct finding *finding, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    free(finding->evidence);
    finding->evidence = xvasprintf(format, args);
    va_end(args);
}

void finding_set_remedy(struct finding *finding, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    free(finding->remedy);
    finding->remedy = xvasprintf(format, args);
    va_end(args);
}

int finding_to_error(const struct finding *finding, struct error *err)
{
    error_set(err, finding->kind, "%s", finding->text);
    if (finding->remedy) {
        error_hint(err, "%s", finding->remedy);
    }
    return -1;
}

const struct finding *findings_first_failure(const struct findings *findings)
{
    for (size_t i = 0; i < findings->len; i++) {
        if (findings->items[i].severity == FINDING_FAIL) {
            return &findings->items[i];
        }
    }
    return NULL;
}

enum finding_severity findings_worst(const struct findings *findings, const char *id)
{
    enum finding_severity worst = FINDING_OK;
    for (size_t i = 0; i < findings->len; i++) {
        const struct finding *finding = &findings->items[i];
        if ((!id || strcmp(finding->id, id) == 0) && finding->severity > worst) {
            worst = finding->severity;
        }
    }
    return worst;
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

static bool is_same(const struct finding *a, const struct finding *b)
{
    return strcmp(a->id, b->id) == 0 && a->severity == b->severity && is_same_text(a->text, b->text) &&
           is_same_text(a->evidence, b->evidence) && is_same_text(a->remedy, b->remedy);
}

static struct finding *find_same(struct findings *all, const struct finding *wanted)
{
    for (size_t i = 0; i < all->len; i++) {
        if (is_same(&all->items[i], wanted)) {
            return &all->items[i];
        }
    }
    return NULL;
}

void findings_fold(struct findings *all, const struct findings *found, const char *host)
{
    for (size_t i = 0; i < found->len; i++) {
        const struct finding *from = &found->items[i];
        struct finding *same = find_same(all, from);
        if (!same) {
            same = append(all, from->id, from->severity, from->kind, xstrdup(from->text));
            same->evidence = xstrdup(from->evidence);
            same->remedy = xstrdup(from->remedy);
        }
        if (host) {
            strlist_add(&same->hosts, host);
        } else {
            strlist_copy(&same->hosts, &from->hosts);
        }
    }
}

void findings_move(struct findings *to, struct findings *from, const char *id)
{
    size_t kept = 0;
    for (size_t i = 0; i < from->len; i++) {
        if (strcmp(from->items[i].id, id) != 0) {
            from->items[kept++] = from->items[i];
            continue;
        }
        to->items = xgrow(to->items, to->len, &to->cap, sizeof(*to->items));
        to->items[to->len++] = from->items[i];
    }
    from->len = kept;
}

json_t *finding_to_json(const struct finding *finding)
{
    AUTO_STR struct str folded = STR_INIT;
    hostlist_fold_names(finding->hosts.items, finding->hosts.len, &folded);
    json_t *object = json_object();
    json_object_set_new(object, "id", js_text(finding->id));
    json_object_set_new(object, "severity", js_text(finding_severity_name(finding->severity)));
    json_object_set_new(object, "hosts", js_list(&finding->hosts));
    json_object_set_new(object, "folded", js_text(str_text(&folded)));
    json_object_set_new(object, "title", js_text(finding->text));
    json_object_set_new(object, "evidence", js_text(finding->evidence));
    json_object_set_new(object, "remedy", js_text(finding->remedy));
    return object;
}
