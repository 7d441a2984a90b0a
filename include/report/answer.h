/* Short JSON answers of commands that have no report of their own. */
#ifndef MTLAUNCH_REPORT_ANSWER_H
#define MTLAUNCH_REPORT_ANSWER_H

#include "base/str.h"

void report_version_json(const char *version, struct str *out); /* {schema, version} */
void report_removed_json(const char *run, struct str *out);     /* {schema, run, removed} */
void report_init_json(const char *path, struct str *out);       /* {schema, path} */
void report_url_json(const char *url, struct str *out);         /* {schema, url} */

#endif
