/* What a login says before our command answers, kept for the error when it never does. */
#ifndef MTLAUNCH_RUN_SAID_INTERNAL_H
#define MTLAUNCH_RUN_SAID_INTERNAL_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

/* Add bytes of either stream; the last 2 KiB stay. */
void said_add(struct str *said, const char *bytes, size_t len);

/* When the node's answer is missing (kind_node_answer), say what came in its place, and the remedy where the
 * text is known. Other errors are left alone. */
void said_explain(const struct str *said, struct error *err);

#endif
