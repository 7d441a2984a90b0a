/* What the JSON answers of all commands share. */
#ifndef MTLAUNCH_REPORT_JSON_INTERNAL_H
#define MTLAUNCH_REPORT_JSON_INTERNAL_H

#include "base/error.h"
#include "base/json.h"

json_t *js_answer(void); /* a new object with "schema" */

/* {kind, code, message, hint, hosts, file, line, column} */
json_t *js_error(const struct error *err, const struct strlist *hosts);

#endif
