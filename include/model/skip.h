/*
 * Patterns of paths that a copy leaves out, as described in rsync(1) under "INCLUDE/EXCLUDE PATTERN RULES":
 * the simple ones, without modifiers. Pure.
 *
 *   name     a file or folder of that name at any depth
 *   a/b      the last parts of a path
 *   /a/b     the same from the top of the copy
 *   name/    folders only
 *   * ? []   as in a shell, none of them matches a '/'; ** matches that too
 *
 * Everything below a folder that is left out is left out with it.
 */
#ifndef MTLAUNCH_MODEL_SKIP_H
#define MTLAUNCH_MODEL_SKIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"

#define SKIP_PATTERN_MAX 1000 /* bytes of one pattern */

/* Check a pattern. Errors: kind_usage (empty, too long, a '[' without its end). */
int skip_check(const char *pattern, struct error *err);

/* Does one of the patterns match this path itself? It is relative to the top of the copy: "a/b.c". */
bool skip_matches(const struct strlist *patterns, const char *path, bool is_folder);

/* The same for the path or one of the folders above it. */
bool skip_covers(const struct strlist *patterns, const char *path, bool is_folder);

#endif
