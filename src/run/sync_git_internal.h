/* Asks git about a folder to push. Without git, or outside a work tree, nothing is known. */
#ifndef MTLAUNCH_RUN_SYNC_GIT_INTERNAL_H
#define MTLAUNCH_RUN_SYNC_GIT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"

/*
 * The commit that is checked out (the caller frees it), and whether there are uncommitted changes. NULL:
 * unknown.
 */
char *sync_git_commit(const char *folder, bool *dirty);

/*
 * Append patterns (model/skip.h) for what .gitignore names below folder, each with prefix ("" or "/name")
 * before it. Errors: kind_usage (it is not a work tree).
 */
int sync_git_ignored(const char *folder, const char *prefix, struct strlist *patterns, struct error *err);

/*
 * Set ignored[i] for the paths below folder that .gitignore names, whether they exist here or not. Paths of
 * folders end in '/'.
 */
void sync_git_check(const char *folder, const char *const *paths, size_t count, bool *ignored);

#endif
