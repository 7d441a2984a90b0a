/*
 * Feishu and Lark, custom bots: {"msg_type": "text", "content": {"text": "…"}}. The text could mention people
 * by <at user_id="…">, so '<' is replaced by its full-width form. The status is 200 even if the message was
 * rejected; the body says whether it was accepted: {"code": 0, …}, from older servers "StatusCode". 11232
 * means that too many messages came at once. A body may have 20 KiB. Source:
 * https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot
 */
#include <string.h>

#include "base/text.h"
#include "report/json_internal.h"
#include "report/notify_internal.h"

#define CODE_FREQUENCY 11232
#define TEXT_MAX       15000 /* bytes; leaves room for JSON escapes */

static void add_without_tags(struct str *out, const char *text)
{
    for (; *text && out->len < TEXT_MAX; text++) {
        if (*text == '<') {
            str_add(out, "\xef\xbc\x9c"); /* U+FF1C */
        } else {
            str_add_char(out, *text);
        }
    }
}

static void build(const struct notice *notice, struct str *out)
{
    AUTO_STR struct str text = STR_INIT;
    AUTO_STR struct str plain = STR_INIT;
    json_t *body = json_object();
    json_t *content = json_object();
    notice_add_text(notice, &text);
    add_without_tags(&plain, str_text(&text));
    json_object_set_new(content, "text", js_text(str_text(&plain)));
    json_object_set_new(body, "msg_type", json_string("text"));
    json_object_set_new(body, "content", content);
    js_add_line(out, body);
}

static bool accepted(const char *body, size_t len, bool *retryable, struct str *why)
{
    json_t *answer = json_loadb(body, len, JSON_DISABLE_EOF_CHECK, NULL);
    json_t *code = json_object_get(answer, "code");
    if (!code) {
        code = json_object_get(answer, "StatusCode");
    }
    bool taken = json_is_integer(code) && json_integer_value(code) == 0;
    *retryable = json_is_integer(code) && json_integer_value(code) == CODE_FREQUENCY;
    if (!taken && json_is_integer(code)) {
        const char *words = json_string_value(json_object_get(answer, "msg"));
        str_addf(why, "refused with code %" JSON_INTEGER_FORMAT, json_integer_value(code));
        if (words) {
            str_add(why, ": ");
            text_add_line(why, words, strnlen(words, 200));
        }
    } else if (!taken) {
        str_add(why, "an answer that is not Feishu's");
    }
    json_decref(answer);
    return taken;
}

const struct notify_format notify_feishu = {.build = build, .accepted = accepted};
