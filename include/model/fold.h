/* Groups nodes or hosts, by their index, that report the same. */
#ifndef MTLAUNCH_MODEL_FOLD_H
#define MTLAUNCH_MODEL_FOLD_H

#include <stdbool.h>
#include <stddef.h>

/* Indexes in ascending order; the first stands for all of them. */
struct fold_group {
    size_t *items;
    size_t len, cap;
};

struct fold {
    struct fold_group *groups; /* in the order of their first indexes */
    size_t len, cap;
};

/*
 * Group the indexes 0 to count - 1: each joins the first group for whose first index same() is true. same
 * NULL: each index is a group of its own. Release with fold_release.
 */
void fold_make(struct fold *fold, size_t count, bool (*same)(const void *ctx, size_t a, size_t b),
               const void *ctx);
void fold_release(struct fold *fold);

/* Sort smaller groups first, so that outliers come before the majority. */
void fold_sort_odd_first(struct fold *fold);

#endif
