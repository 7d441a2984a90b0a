/*
 * The content of a folder, as a copy sees it: one entry per file, folder or link, in a fixed order, so that
 * two trees can be compared entry by entry. Pure. A path from a node is not trusted until tree_path_is_safe
 * has accepted it.
 */
#ifndef MTLAUNCH_MODEL_TREE_H
#define MTLAUNCH_MODEL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strlist.h"

#define TREE_PATH_MAX    4000     /* bytes of a path below the top */
#define TREE_ENTRIES_MAX 20000000 /* that are copied at once */

/* Prefix of the names of a copy's own files in the folder it fills; they are never part of a tree. */
#define TREE_OWN_PREFIX ".mtlaunch-"

enum tree_kind {
    TREE_FILE,
    TREE_FOLDER,
    TREE_LINK,
    TREE_OTHER /* a device, a pipe, a socket: not copied */
};

struct tree_entry {
    char *path; /* below the top: "a/b.c"; any byte but NUL */
    enum tree_kind kind;
    unsigned mode; /* permission bits: 07777 */
    uint64_t size; /* of a file */
    int64_t mtime; /* epoch seconds */
    char *link;    /* the target of a link; NULL: not a link */
    size_t source; /* which of several sources it came from */
};

struct tree {
    struct tree_entry *items;
    size_t len, cap;
};

#define TREE_NONE SIZE_MAX

void tree_release(struct tree *tree);

/* Append an entry with path and link (NULL: none), which are copied; the other fields come from what. Returns
 * its index. */
size_t tree_add(struct tree *tree, const char *path, const char *link, const struct tree_entry *what);

/* Sort by path: a folder comes directly before its content. */
void tree_sort(struct tree *tree);

/* Compare two paths in that order: below, at or above 0. */
int tree_compare_paths(const char *a, const char *b);

/* The index of a path of a sorted tree, or TREE_NONE. */
size_t tree_find(const struct tree *tree, const char *path);

/* The index of the folder that contains entry i, or TREE_NONE: it is at the top. The tree is sorted. */
size_t tree_parent(const struct tree *tree, size_t i);

/*
 * Is it a path that stays below the folder it is joined to? Not empty, no '/' at either end or twice, no "."
 * or "..", at most TREE_PATH_MAX bytes.
 */
bool tree_path_is_safe(const char *path);

/* How an entry here differs from the one with the same path there. */
enum tree_difference {
    TREE_SAME,
    TREE_MODE,    /* only the permission bits differ (of a folder: these or its time) */
    TREE_CONTENT, /* same kind, but other content: to be sent */
    TREE_KIND,    /* another kind: what is there has to be removed first */
    TREE_ABSENT   /* there is nothing there */
};

/* Files of the same size and time count as equal. */
enum tree_difference tree_compare(const struct tree_entry *here, const struct tree_entry *there);

/*
 * Find the entries of extra (a sorted tree of what is there and not here) that may be removed: those that are
 * not in keep and contain nothing that is kept. Sets removable[i], and returns how many there are.
 */
size_t tree_find_removable(const struct tree *extra, const bool *keep, bool *removable);

#endif
