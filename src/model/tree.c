/* Keeps the entries of a tree of files, and compares two of them. */
#include "model/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void tree_release(struct tree *tree)
{
    for (size_t i = 0; i < tree->len; i++) {
        free(tree->items[i].path);
        free(tree->items[i].link);
    }
    free(tree->items);
    *tree = (struct tree){0};
}

size_t tree_add(struct tree *tree, const char *path, const char *link, const struct tree_entry *what)
{
    tree->items = xgrow(tree->items, tree->len, &tree->cap, sizeof(*tree->items));
    struct tree_entry *added = &tree->items[tree->len];
    *added = *what;
    added->path = xstrdup(path);
    added->link = link ? xstrdup(link) : NULL;
    return tree->len++;
}

/* A '/' sorts below every other byte, so that "a/b" comes before "a-b", right after "a". */
int tree_compare_paths(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    const int left = *a == '/' ? 1 : (unsigned char)*a + (*a == '\0' ? 0 : 1);
    const int right = *b == '/' ? 1 : (unsigned char)*b + (*b == '\0' ? 0 : 1);
    return left - right;
}

static int compare_entries(const void *a, const void *b)
{
    const struct tree_entry *left = a, *right = b;

    return tree_compare_paths(left->path, right->path);
}

void tree_sort(struct tree *tree)
{
    if (tree->len > 1) {
        qsort(tree->items, tree->len, sizeof(*tree->items), compare_entries);
    }
}

size_t tree_find(const struct tree *tree, const char *path)
{
    size_t from = 0, to = tree->len;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        const int order = tree_compare_paths(path, tree->items[middle].path);
        if (order == 0) {
            return middle;
        }
        if (order < 0) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    return TREE_NONE;
}

size_t tree_parent(const struct tree *tree, size_t i)
{
    const char *path = tree->items[i].path;
    const char *last = strrchr(path, '/');

    if (!last) {
        return TREE_NONE;
    }
    AUTO_FREE char *above = xstrndup(path, (size_t)(last - path));
    return tree_find(tree, above);
}

bool tree_path_is_safe(const char *path)
{
    const size_t len = strlen(path);

    if (len == 0 || len > TREE_PATH_MAX) {
        return false;
    }
    for (const char *at = path;; at++) {
        const size_t part = strcspn(at, "/");
        if (part == 0 || (part == 1 && at[0] == '.') || (part == 2 && at[0] == '.' && at[1] == '.')) {
            return false;
        }
        at += part;
        if (*at == '\0') {
            return true;
        }
    }
}

enum tree_difference tree_compare(const struct tree_entry *here, const struct tree_entry *there)
{
    if (here->kind != there->kind) {
        return TREE_KIND;
    }
    if (here->kind == TREE_LINK) {
        return strcmp(here->link, there->link ? there->link : "") == 0 ? TREE_SAME : TREE_CONTENT;
    }
    if (here->kind == TREE_FILE && (here->size != there->size || here->mtime != there->mtime)) {
        return TREE_CONTENT;
    }
    if (here->mode != there->mode || here->mtime != there->mtime) {
        return TREE_MODE;
    }
    return TREE_SAME;
}

/* Mark the folders above entry i of extra: they contain something that is kept. */
static void keep_above(const struct tree *extra, size_t i, bool *kept)
{
    for (size_t above = tree_parent(extra, i); above != TREE_NONE && !kept[above];
         above = tree_parent(extra, above)) {
        kept[above] = true;
    }
}

size_t tree_find_removable(const struct tree *extra, const bool *keep, bool *removable)
{
    AUTO_FREE bool *kept = xcalloc(extra->len, sizeof(*kept));
    size_t count = 0;

    for (size_t i = 0; i < extra->len; i++) {
        if (keep[i]) {
            kept[i] = true;
            keep_above(extra, i, kept);
        }
    }
    for (size_t i = 0; i < extra->len; i++) {
        removable[i] = !kept[i];
        count += removable[i] ? 1 : 0;
    }
    return count;
}
