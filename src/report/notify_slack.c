/*
 * Slack, incoming webhooks: {"text": "…"}. &, < and > are replaced by entities, so that no line of a log
 * becomes a link or <!channel>. Errors have their own status (400, 403, 404, 410, 429).
 * Source: https://api.slack.com/messaging/webhooks,
 * https://api.slack.com/reference/surfaces/formatting#escaping
 */
#include "report/json_internal.h"
#include "report/notify_internal.h"

static void add_escaped(struct str *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '&') {
            str_add(out, "&amp;");
        } else if (*text == '<') {
            str_add(out, "&lt;");
        } else if (*text == '>') {
            str_add(out, "&gt;");
        } else {
            str_add_char(out, *text);
        }
    }
}

static void build(const struct notice *notice, struct str *out)
{
    AUTO_STR struct str text = STR_INIT;
    AUTO_STR struct str escaped = STR_INIT;
    json_t *body = json_object();
    notice_add_text(notice, &text);
    add_escaped(&escaped, str_text(&text));
    json_object_set_new(body, "text", js_text(str_text(&escaped)));
    js_add_line(out, body);
}

const struct notify_format notify_slack = {.build = build};
