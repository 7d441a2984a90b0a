/* JSON answers: what all have in common, and those with a single member. */
#include "report/answer.h"

#include "report/json_internal.h"

#define JSON_SCHEMA "mtlaunch/1"

json_t *js_answer(void)
{
    return json_pack("{s:s}", "schema", JSON_SCHEMA);
}

void report_version_json(const char *version, struct str *out)
{
    json_t *answer = js_answer();
    json_object_set_new(answer, "version", js_text(version));
    js_add_line(out, answer);
}

void report_removed_json(const char *run, struct str *out)
{
    json_t *answer = js_answer();
    json_object_set_new(answer, "run", js_text(run));
    json_object_set_new(answer, "removed", json_true());
    js_add_line(out, answer);
}

void report_init_json(const char *path, struct str *out)
{
    json_t *answer = js_answer();
    json_object_set_new(answer, "path", js_text(path));
    js_add_line(out, answer);
}

void report_url_json(const char *url, struct str *out)
{
    json_t *answer = js_answer();
    json_object_set_new(answer, "url", js_text(url));
    js_add_line(out, answer);
}
