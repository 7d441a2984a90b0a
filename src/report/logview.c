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
        str_release(&view->nodes[i].line);
    }
    free(view->nodes);
    if (view->has_grep) {
        regfree(&view->grep);
    }
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
        error_set(err, &kind_usage, "'%s' is no regular expression for --grep: %s", pattern, reason);
        return error_hint(err, "put a backslash before characters meant as themselves: '\\[', '\\('");
    }
    view->has_grep = true;
    return 0;
}

/* What a terminal would show of a line: the text after its last CR, those at its end not counted. */
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

/* ends: it is a line, not only a part of one. */
static void show_line(struct logview *view, const struct logview_node *node, const char *bytes, size_t len,
                      bool ends)
{
    AUTO_STR struct str text = STR_INIT;
    add_visible(&text, bytes, len);
    if (view->has_grep && regexec(&view->grep, str_text(&text), 0, NULL, 0) != 0) {
        return;
    }
    if (view->json) {
        add_json(view, node, &text);
        return;
    }
    if (view->bare) {
        str_add_mem(&view->out, str_text(&text), text.len);
        if (ends) {
            str_add_char(&view->out, '\n');
        }
        return;
    }
    AUTO_STR struct str prefix = STR_INIT;
    text_add_line(&prefix, node->label, strlen(node->label));
    str_add_char(&prefix, ':');
    tone_add(&view->out, str_text(&prefix), TONE_STRONG, view->color);
    str_add_char(&view->out, ' ');
    str_add_mem(&view->out, str_text(&text), text.len);
    str_add_char(&view->out, '\n');
}

/* Bytes at the end that begin a character whose rest has not come. */
static size_t unfinished_bytes(const char *bytes, size_t len)
{
    for (size_t back = 1; back <= 3 && back <= len; back++) {
        unsigned char byte = (unsigned char)bytes[len - back];
        if ((byte & 0xc0) == 0x80) {
            continue;
        }
        size_t needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
        return needed > back ? back : 0;
    }
    return 0;
}

/* Show what has come of a line whose end has not. */
static void show_part(struct logview *view, struct logview_node *node, int64_t now_ms)
{
    size_t len = node->line.len - unfinished_bytes(str_text(&node->line), node->line.len);
    node->line_since_ms = now_ms;
    if (len == 0) {
        return;
    }
    show_line(view, node, node->line.data, len, false);
    str_consume(&node->line, len);
    node->continued = true;
}

/* A line has ended; the end of one that was shown already is no line of its own. */
static void finish_line(struct logview *view, struct logview_node *node)
{
    bool only_end = node->line.len == 0 || (node->line.len == 1 && node->line.data[0] == '\r');
    if (view->bare || !node->continued || !only_end) {
        show_line(view, node, str_text(&node->line), node->line.len, true);
    }
    str_reset(&node->line);
    node->continued = false;
}

void logview_feed(struct logview *view, size_t index, const char *bytes, size_t len, int64_t now_ms)
{
    struct logview_node *node = &view->nodes[index];
    if (view->raw) {
        str_add_mem(&view->out, bytes, len);
        return;
    }
    while (len > 0) {
        const char *end = memchr(bytes, '\n', len);
        size_t room = LOGVIEW_LINE_MAX - node->line.len;
        size_t take = end ? (size_t)(end - bytes) : len;
        if (node->line.len == 0) {
            node->line_since_ms = now_ms;
        }
        if (take > room) {
            take = room;
            end = NULL;
        }
        str_add_mem(&node->line, bytes, take);
        bytes += take;
        len -= take;
        if (end) {
            finish_line(view, node);
            bytes++;
            len--;
        } else if (node->line.len == LOGVIEW_LINE_MAX) {
            show_part(view, node, now_ms);
        }
    }
}

void logview_restart(struct logview *view, int64_t now_ms)
{
    for (size_t i = 0; i < view->len; i++) {
        view->nodes[i].line_since_ms = now_ms;
    }
}

static bool is_due(const struct logview_node *node, int64_t now_ms)
{
    return node->line.len > 0 && now_ms - node->line_since_ms >= LOGVIEW_LINE_WAIT_MS;
}

void logview_tick(struct logview *view, int64_t now_ms)
{
    for (size_t i = 0; i < view->len; i++) {
        if (is_due(&view->nodes[i], now_ms)) {
            show_part(view, &view->nodes[i], now_ms);
        }
    }
}

int64_t logview_wait_ms(const struct logview *view, int64_t now_ms)
{
    int64_t least = -1;
    for (size_t i = 0; i < view->len; i++) {
        const struct logview_node *node = &view->nodes[i];
        if (node->line.len == 0) {
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
    struct logview_node *node = &view->nodes[index];
    if (node->line.len > 0 && view->bare) {
        show_line(view, node, node->line.data, node->line.len, false);
        str_reset(&node->line);
    } else if (node->line.len > 0) {
        finish_line(view, node);
    }
    node->continued = false;
}
