/*
 * Files of NAME=VALUE lines: `[export ]NAME=VALUE`, one pair of outer quotes removed, nothing expanded; empty
 * lines, `#` lines, CRLF and a BOM are accepted, anything else is an error. Values are never shown in errors.
 */
#ifndef MTLAUNCH_INPUT_ENVFILE_H
#define MTLAUNCH_INPUT_ENVFILE_H

#include <stddef.h>

#include "base/error.h"
#include "model/env.h"

#define ENVFILE_MAX_BYTES (1024U * 1024U)

/*
 * Read path into env (later lines win), each with source "env_file NAME:LINE", name being the file as the job
 * names it. Errors: kind_env_file with the file and the line; env may then hold some of the lines.
 */
int envfile_read(struct env *env, const char *path, const char *name, struct error *err);

/* The same for a text in memory. */
int envfile_parse(struct env *env, const char *text, size_t len, const char *path, const char *name,
                  struct error *err);

#endif
