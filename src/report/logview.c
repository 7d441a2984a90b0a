/* Shows the logs of several nodes as one stream of whole lines. */
#include "report/logview.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "report/json_internal.h"
#include "report/table.h"

void logview_init(struct logview *view)
{
    *view = (struct logview){0};
}

void logview_release(struct logview *view)
{
    for (size_t i = 0; i < view->len; i++) {
        free(view->nodes[i].label);
        str_release(&view->nodes[i].prefix);
        lines_release(&view->nodes[i].lines);
    }
    free(view->nodes);
    if (view->has_grep) {
        regfree(&view->grep);
    }
    str_release(&view->text);
    str_release(&view->out);
    *view = (struct logview){0};
}

size_t logview_node(struct logview *view, unsigned rank, const char *label)
{
    for (size_t i = 0; i < view->len; i++) {
        if (view->nodes[i].rank == rank) {
            return i;
        }
    }
    view->nodes = xgrow(view->nodes, view->len, &view->cap, sizeof(view->nodes[0]));
    view->nodes[view->len] = (struct logview_node){.label = xstrdup(label), .rank = rank};
    return view->len++;
}

int logview_grep(struct logview *view, const char *pattern, struct error *err)
{
    int code = regcomp(&view->grep, pattern, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        char reason[200];
        regerror(code, &view->grep, reason, sizeof reason);
        error_set(err, &kind_usage, "'%s' is not a valid regular expression for --grep: %s", pattern, reason);
        return error_hint(err, "put a backslash before characters meant as themselves: '\\[', '\\('");
    }
    view->has_grep = true;
    return 0;
}

/* Append what a terminal would show of a line: the text after its last CR, not counting those at its end. */
static void add_visible(struct str *out, const char *bytes, size_t len)
{
    while (len > 0 && bytes[len - 1] == '\r') {
        len--;
    }
    const char *cr = len ? memrchr(bytes, '\r', len) : NULL;
    if (cr) {
        len -= (size_t)(cr + 1 - bytes);
        bytes = cr + 1;
    }
    text_add_safe(out, bytes, len);
}

static void add_json(struct logview *view, const struct logview_node *node, const struct str *text)
{
    json_t *line = json_object();
    json_object_set_new(line, "host", js_text(node->label));
    json_object_set_new(line, "rank", json_integer(node->rank));
    json_object_set_new(line, "text", json_stringn(str_text(text), text->len));
    js_add_line(&view->out, line);
}

static const struct str *prefix_of(const struct logview *view, struct logview_node *node)
{
    if (node->prefix.len == 0) {
        AUTO_STR struct str host = STR_INIT;
        text_add_line(&host, node->label, strlen(node->label));
        str_add_char(&host, ':');
        tone_add(&node->prefix, str_text(&host), TONE_STRONG, view->color);
        str_add_char(&node->prefix, ' ');
    }
    return &node->prefix;
}

/* Does the line match the expression, if there is one? */
static bool is_wanted(struct logview *view, const char *bytes, size_t len)
{
    if (!view->has_grep) {
        return true;
    }
    str_reset(&view->text);
    add_visible(&view->text, bytes, len);
    return regexec(&view->grep, str_text(&view->text), 0, NULL, 0) == 0;
}

/* ends: it is a whole line or the end of one. */
static void show_line(struct logview *view, struct logview_node *node, const char *bytes, size_t len,
                      bool ends)
{
    if (!is_wanted(view, bytes, len)) {
        return;
    }
    if (view->json) {
        str_reset(&view->text);
        add_visible(&view->text, bytes, len);
        add_json(view, node, &view->text);
        return;
    }
    if (!view->bare) {
        const struct str *prefix = prefix_of(view, node);
        str_add_mem(&view->out, prefix->data, prefix->len);
    }
    add_visible(&view->out, bytes, len);
    if (ends || !view->bare) {
        str_add_char(&view->out, '\n');
    }
}

/* A view and one of its nodes, for the callback. */
struct feeding {
    struct logview *view;
    size_t node;
    int64_t now_ms;
};

/* Show a line or a part of one. The end of a line that was already shown is not a line of its own. */
static void show_piece(void *ctx, const struct line_piece *piece)
{
    const struct feeding *feeding = ctx;
    struct logview_node *node = &feeding->view->nodes[feeding->node];
    bool only_end = piece->len == 0 || (piece->len == 1 && piece->bytes[0] == '\r');
    node->line_since_ms = feeding->now_ms;
    if (feeding->view->bare || !piece->ends || !piece->continued || !only_end) {
        show_line(feeding->view, node, piece->bytes, piece->len, piece->ends);
    }
}

void logview_feed(struct logview *view, size_t index, const char *bytes, size_t len, int64_t now_ms)
{
    struct logview_node *node = &view->nodes[index];
    struct feeding feeding = {.view = view, .node = index, .now_ms = now_ms};
    if (view->raw) {
        str_add_mem(&view->out, bytes, len);
        return;
    }
    if (node->lines.part.len == 0) {
        node->line_since_ms = now_ms;
    }
    lines_feed(&node->lines, bytes, len, show_piece, &feeding);
}

void logview_restart(struct logview *view, int64_t now_ms)
{
    for (size_t i = 0; i < view->len; i++) {
        view->nodes[i].line_since_ms = now_ms;
    }
}

static bool is_due(const struct logview *view, const struct logview_node *node, int64_t now_ms)
{
    return !view->patient && node->lines.part.len > 0 && now_ms - node->line_since_ms >= LOGVIEW_LINE_WAIT_MS;
}

void logview_tick(struct logview *view, int64_t now_ms)
{
    for (size_t i = 0; i < view->len; i++) {
        struct feeding feeding = {.view = view, .node = i, .now_ms = now_ms};
        if (is_due(view, &view->nodes[i], now_ms)) {
            view->nodes[i].line_since_ms = now_ms;
            lines_flush(&view->nodes[i].lines, show_piece, &feeding);
        }
    }
}

int64_t logview_wait_ms(const struct logview *view, int64_t now_ms)
{
    int64_t least = -1;
    for (size_t i = 0; i < view->len; i++) {
        const struct logview_node *node = &view->nodes[i];
        if (view->patient || node->lines.part.len == 0) {
            continue;
        }
        int64_t left = node->line_since_ms + LOGVIEW_LINE_WAIT_MS - now_ms;
        if (left < 0) {
            left = 0;
        }
        if (least < 0 || left < least) {
            least = left;
        }
    }
    return least;
}

void logview_end(struct logview *view, size_t index)
{
    struct feeding feeding = {.view = view, .node = index};
    lines_end(&view->nodes[index].lines, !view->bare, show_piece, &feeding);
}
