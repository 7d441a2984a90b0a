/* Groups nodes or hosts that report the same. */
#include "model/fold.h"

#include <stdlib.h>

#include "base/alloc.h"

static struct fold_group *find_group(struct fold *fold, size_t index,
                                     bool (*same)(const void *ctx, size_t a, size_t b), const void *ctx)
{
    for (size_t i = 0; same && i < fold->len; i++) {
        if (same(ctx, fold->groups[i].items[0], index)) {
            return &fold->groups[i];
        }
    }
    fold->groups = xgrow(fold->groups, fold->len, &fold->cap, sizeof(*fold->groups));
    fold->groups[fold->len] = (struct fold_group){0};
    return &fold->groups[fold->len++];
}

void fold_make(struct fold *fold, size_t count, bool (*same)(const void *ctx, size_t a, size_t b),
               const void *ctx)
{
    *fold = (struct fold){0};
    for (size_t i = 0; i < count; i++) {
        struct fold_group *group = find_group(fold, i, same, ctx);
        group->items = xgrow(group->items, group->len, &group->cap, sizeof(*group->items));
        group->items[group->len++] = i;
    }
}

void fold_release(struct fold *fold)
{
    for (size_t i = 0; i < fold->len; i++) {
        free(fold->groups[i].items);
    }
    free(fold->groups);
    *fold = (struct fold){0};
}

static int compare_groups(const void *a, const void *b)
{
    const struct fold_group *first = a, *second = b;
    if (first->len != second->len) {
        return first->len < second->len ? -1 : 1;
    }
    return first->items[0] < second->items[0] ? -1 : first->items[0] > second->items[0];
}

void fold_sort_odd_first(struct fold *fold)
{
    if (fold->len > 0) {
        qsort(fold->groups, fold->len, sizeof(*fold->groups), compare_groups);
    }
}
