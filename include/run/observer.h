/*
 * How the use cases report what happens: a struct of callbacks that report implements and cmd plugs in.
 * Every member may be NULL. Texts are borrowed for the length of the call.
 */
#ifndef MTLAUNCH_RUN_OBSERVER_H
#define MTLAUNCH_RUN_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"

struct run;

/*
 * Work of the observer that continues while a use case waits for nodes: ready is called whenever fd is
 * readable. ready NULL: none.
 */
struct run_work {
    void (*ready)(void *ctx);
    void *ctx;
    int fd;
};

enum { RUN_WORK_NOTIFIER, RUN_WORK_TERMINAL, RUN_WORKS };

struct run_observer {
    void *ctx;
    /*
     * Progress of a step over all nodes: what is done ("checking", "starting", "stopping"), and on how many
     * of them.
     */
    void (*progress)(void *ctx, const char *what, size_t done, size_t total);
    /* Something worth a line on stderr. */
    void (*info)(void *ctx, const char *text);
    void (*warn)(void *ctx, const char *text);
    void (*verbose)(void *ctx, const char *text);
    /* One failure, and all hosts (labels) that it happened on. */
    void (*failure)(void *ctx, const struct error *error, const struct strlist *hosts);
    /* Bytes of node `rank`'s log, in order. */
    void (*log)(void *ctx, size_t rank, const char *label, const char *bytes, size_t len);
    /* The log of node `rank` has no more bytes; called once per node that was asked. */
    void (*log_end)(void *ctx, size_t rank, const char *label);
    /* About once a second while logs are followed: incomplete lines may be shown now. */
    void (*tick)(void *ctx);
    /* An event of the run was recorded ("started", "failed", "stalled" …); host: NULL for the whole run. */
    void (*event)(void *ctx, const struct run *run, const char *event, const char *host, const char *text);
    struct run_work works[RUN_WORKS];
};

#endif
