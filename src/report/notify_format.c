/*
 * The formats, in the order of enum notify_format_id; tests/unit/report/test_notify_format.c tests every row.
 */
#include "base/text.h"
#include "report/json_internal.h"
#include "report/notify_internal.h"

const struct notify_format *const notify_formats[NOTIFY_FORMATS] = {
    [NOTIFY_JSON] = &notify_json,
    [NOTIFY_SLACK] = &notify_slack,
    [NOTIFY_FEISHU] = &notify_feishu,
};

/* mtlaunch's own format: an object like those that the commands print (`mtlaunch help job`). */
static void build(const struct notice *notice, struct str *out)
{
    AUTO_STR struct str title = STR_INIT;
    json_t *body = js_answer();
    notice_add_title(notice, &title);
    json_object_set_new(body, "event", js_text(notify_event_names[notice->kind]));
    json_object_set_new(body, "time", js_time(notice->time_ms));
    json_object_set_new(body, "run", js_text(notice->run));
    json_object_set_new(body, "job", js_text(notice->job));
    json_object_set_new(body, "run_id", js_text(notice->run_id));
    json_object_set_new(body, "attempt", js_integer(notice->attempt, 0));
    json_object_set_new(body, "head", js_text(notice->head));
    json_object_set_new(body, "text", js_text(str_text(&title)));
    json_object_set_new(body, "reason", js_text_or_null(notice->reason));
    json_object_set_new(body, "exit_status", js_integer(notice->exit_status, -1));
    json_object_set_new(body, "hosts", js_list(&notice->hosts));
    json_object_set_new(body, "lines", js_list(&notice->lines));
    js_add_line(out, body);
}

const struct notify_format notify_json = {.build = build};
