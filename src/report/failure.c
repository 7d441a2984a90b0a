/* Shows errors as text and as JSON, and folds those that several hosts share. */
#include "report/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "base/text.h"
#include "model/hostlist.h"
#include "model/kind.h"
#include "report/json_internal.h"
#include "report/table.h"

void failures_release(struct failures *failures)
{
    for (size_t i = 0; i < failures->len; i++) {
        strlist_release(&failures->items[i].hosts);
    }
    free(failures->items);
    *failures = (struct failures)FAILURES_INIT;
}

static bool is_same_failure(const struct error *a, const struct error *b)
{
    return a->kind == b->kind && strcmp(a->text, b->text) == 0 && strcmp(a->hint, b->hint) == 0;
}

void failures_add(struct failures *failures, const char *host, const struct error *err)
{
    struct failure *found = NULL;
    for (size_t i = 0; i < failures->len && !found; i++) {
        if (is_same_failure(&failures->items[i].error, err)) {
            found = &failures->items[i];
        }
    }
    if (!found) {
        failures->items = xgrow(failures->items, failures->len, &failures->cap, sizeof(failures->items[0]));
        found = &failures->items[failures->len++];
        *found = (struct failure){.error = *err, .hosts = STRLIST_INIT};
    }
    if (host && !strlist_has(&found->hosts, host)) {
        strlist_add(&found->hosts, host);
    }
}

bool failures_has(const struct failures *failures, const struct error *err)
{
    for (size_t i = 0; i < failures->len; i++) {
        if (is_same_failure(&failures->items[i].error, err)) {
            return true;
        }
    }
    return false;
}

void failures_hosts(const struct failures *failures, struct strlist *hosts)
{
    for (size_t i = 0; i < failures->len; i++) {
        const struct strlist *some = &failures->items[i].hosts;
        for (size_t j = 0; j < some->len; j++) {
            if (!strlist_has(hosts, some->items[j])) {
                strlist_add(hosts, some->items[j]);
            }
        }
    }
}

static int error_code(const struct error *err)
{
    return err->kind ? err->kind->exit_code : 0;
}

int failures_code(const struct failures *failures)
{
    int code = 0;
    for (size_t i = 0; i < failures->len; i++) {
        code = kind_worse_code(code, error_code(&failures->items[i].error));
    }
    return code;
}

/* Append text as a single line. */
static void add_safe_line(struct str *out, const char *text)
{
    size_t from = out->len;
    text_add_safe(out, text, strlen(text));
    for (size_t i = from; i < out->len; i++) {
        if (out->data[i] == '\n') {
            out->data[i] = ' ';
        }
    }
}

static size_t utf8_len(const char *at)
{
    size_t len = 1;
    while (((unsigned char)at[len] & 0xc0) == 0x80) {
        len++;
    }
    return len;
}

/*
 * Append a line below the quoted one: blanks as wide as the text before column, tabs kept as tabs, then the
 * caret.
 */
static void add_caret(struct str *out, const char *line, unsigned column, bool color)
{
    const char *at = line;
    for (unsigned i = 1; i < column && *at; i++) {
        size_t len = utf8_len(at);
        AUTO_FREE char *character = xstrndup(at, len);
        size_t width = text_columns(character);
        if (*at == '\t') {
            str_add_char(out, '\t');
        } else {
            for (size_t blank = 0; blank < width; blank++) {
                str_add_char(out, ' ');
            }
        }
        at += len;
    }
    tone_add(out, "^", TONE_BAD, color);
    str_add_char(out, '\n');
}

static void add_source(struct str *out, const struct error *err, bool color)
{
    AUTO_STR struct str line = STR_INIT;
    if (!err->source[0]) {
        return;
    }
    add_safe_line(&line, err->source);
    str_addf(out, "  %s\n", str_text(&line));
    if (err->column) {
        str_add(out, "  ");
        add_caret(out, str_text(&line), err->column, color);
    }
}

static void add_position(struct str *out, const struct error *err)
{
    if (!err->file[0]) {
        return;
    }
    add_safe_line(out, err->file);
    if (err->line) {
        str_addf(out, ":%u", err->line);
    }
    if (err->line && err->column) {
        str_addf(out, ":%u", err->column);
    }
    str_add(out, ": ");
}

void failure_text(const struct error *err, const struct strlist *hosts, bool color, struct str *out)
{
    tone_add(out, "mtlaunch:", TONE_BAD, color);
    str_add_char(out, ' ');
    add_position(out, err);
    if (hosts && hosts->len) {
        AUTO_STR struct str folded = STR_INIT;
        hostlist_fold_names(hosts->items, hosts->len, &folded);
        add_safe_line(out, str_text(&folded));
        str_add(out, ": ");
    }
    text_add_lines(out, err->text, strlen(err->text)); /* further lines may quote a log */
    str_add_char(out, '\n');
    add_source(out, err, color);
    if (err->hint[0]) {
        str_add(out, "  ");
        tone_add(out, "hint:", TONE_STRONG, color);
        str_add_char(out, ' ');
        add_safe_line(out, err->hint);
        str_add_char(out, '\n');
    }
}

json_t *js_error(const struct error *err, const struct strlist *hosts)
{
    json_t *error = json_object();
    json_object_set_new(error, "kind", js_text(err->kind ? err->kind->name : NULL));
    json_object_set_new(error, "code", json_integer(error_code(err)));
    json_object_set_new(error, "message", js_text(err->text));
    json_object_set_new(error, "hint", js_text_or_null(err->hint));
    json_object_set_new(error, "hosts", js_list(hosts));
    json_object_set_new(error, "file", js_text_or_null(err->file));
    json_object_set_new(error, "line", js_integer(err->line, 0));
    json_object_set_new(error, "column", js_integer(err->column, 0));
    return error;
}

void failure_json(const struct error *err, const struct strlist *hosts, struct str *out)
{
    json_t *answer = js_answer();
    json_object_set_new(answer, "error", js_error(err, hosts));
    js_add_line(out, answer);
}

void failure_print(const struct error *err, const struct strlist *hosts, bool color)
{
    AUTO_STR struct str text = STR_INIT;
    failure_text(err, hosts, color, &text);
    msg_write(str_text(&text), text.len);
}
