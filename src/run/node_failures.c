/* Collects the failures of single nodes during a round, and reports equal ones once for all their nodes. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/fold.h"
#include "model/kind.h"
#include "node_failures_internal.h"

void node_failures_init(struct node_failures *failures, const struct strlist *labels)
{
    *failures = (struct node_failures){
        .errors = xcalloc(labels->len + 1, sizeof(struct error)),
        .len = labels->len,
    };
    for (size_t i = 0; i < labels->len; i++) {
        strlist_add(&failures->labels, labels->items[i]);
    }
}

void node_failures_init_run(struct node_failures *failures, const struct run *run)
{
    AUTO_STRLIST struct strlist labels = STRLIST_INIT;
    for (size_t i = 0; i < run->nodes_len; i++) {
        strlist_add(&labels, run->nodes[i].label);
    }
    node_failures_init(failures, &labels);
}

void node_failures_release(struct node_failures *failures)
{
    free(failures->errors);
    strlist_release(&failures->labels);
    *failures = (struct node_failures){0};
}

void node_failures_set(struct node_failures *failures, size_t node, const struct error *error)
{
    if (!failures->errors[node].kind) {
        failures->count++;
    }
    failures->errors[node] = *error;
}

/* Nodes that did not fail form their own group, which is skipped. */
static bool same_failure(const void *ctx, size_t first, size_t second)
{
    const struct error *errors = ctx, *a = &errors[first], *b = &errors[second];
    return a->kind == b->kind &&
           (!a->kind || (strcmp(a->text, b->text) == 0 && strcmp(a->hint, b->hint) == 0));
}

static bool is_worse(const struct error *error, const struct error *than)
{
    return !than->kind ||
           kind_worse_code(error->kind->exit_code, than->kind->exit_code) != than->kind->exit_code;
}

void node_failures_report(const struct node_failures *failures, const struct run_context *context,
                          struct error *worst)
{
    const struct run_observer *observer = context->observer;
    struct fold fold;
    fold_make(&fold, failures->len, same_failure, failures->errors);
    for (size_t i = 0; i < fold.len; i++) {
        const struct fold_group *group = &fold.groups[i];
        const struct error *error = &failures->errors[group->items[0]];
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        if (!error->kind) {
            continue;
        }
        for (size_t j = 0; j < group->len; j++) {
            strlist_add(&hosts, failures->labels.items[group->items[j]]);
        }
        if (worst && is_worse(error, worst)) {
            *worst = *error;
        }
        if (observer->failure) {
            observer->failure(observer->ctx, error, &hosts);
        }
    }
    fold_release(&fold);
}
