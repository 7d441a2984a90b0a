/* Failures of single nodes: gathered over a round, reported once for all nodes that share one. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
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

static bool same_failure(const struct error *a, const struct error *b)
{
    return a->kind == b->kind && strcmp(a->text, b->text) == 0 && strcmp(a->hint, b->hint) == 0;
}

static bool told_before(const struct node_failures *failures, size_t node)
{
    for (size_t i = 0; i < node; i++) {
        if (failures->errors[i].kind && same_failure(&failures->errors[i], &failures->errors[node])) {
            return true;
        }
    }
    return false;
}

void node_failures_report(const struct node_failures *failures, const struct run_context *context,
                          struct error *worst)
{
    const struct run_observer *observer = context->observer;
    for (size_t i = 0; i < failures->len; i++) {
        const struct error *error = &failures->errors[i];
        if (!error->kind) {
            continue;
        }
        if (worst && (!worst->kind || kind_worse_code(error->kind->exit_code, worst->kind->exit_code) !=
                                          worst->kind->exit_code)) {
            *worst = *error;
        }
        if (!observer->failure || told_before(failures, i)) {
            continue;
        }
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        for (size_t other = i; other < failures->len; other++) {
            if (failures->errors[other].kind && same_failure(error, &failures->errors[other])) {
                strlist_add(&hosts, failures->labels.items[other]);
            }
        }
        observer->failure(observer->ctx, error, &hosts);
    }
}
