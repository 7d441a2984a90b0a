/* JSON values the way README's "JSON" wants them: unknown is null, times UTC, text always valid UTF-8. */
#ifndef MTLAUNCH_REPORT_JSON_INTERNAL_H
#define MTLAUNCH_REPORT_JSON_INTERNAL_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"

json_t *js_answer(void);                   /* an object that holds "schema" */
json_t *js_text(const char *text);         /* NULL: null */
json_t *js_text_or_null(const char *text); /* NULL or "": null */
json_t *js_time(int64_t epoch_ms);         /* 0: null */
json_t *js_integer(int64_t value, int64_t unknown);
json_t *js_list(const struct strlist *list);

/* {kind, code, message, hint, hosts, file, line, column} */
json_t *js_error(const struct error *err, const struct strlist *hosts);

/* Append value on one line with its line end, and give it up. */
void js_add_line(struct str *out, json_t *value);

#endif
