/* Keeps what a login prints before our command answers, for the error if it never does. */
#ifndef MTLAUNCH_RUN_LOGIN_OUTPUT_INTERNAL_H
#define MTLAUNCH_RUN_LOGIN_OUTPUT_INTERNAL_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

/* Add bytes of either stream; the last 2 KiB are kept. */
void login_output_add(struct str *login_output, const char *bytes, size_t len);

/*
 * If the node's answer is missing (kind_node_answer), add to err what was printed instead, and the remedy if
 * the text is known. Other errors are not changed.
 */
void login_output_explain(const struct str *login_output, struct error *err);

#endif
