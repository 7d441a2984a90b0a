/*
 * The local transport: /bin/sh on this machine, in its own session and in the home folder, as a login
 * over ssh would be.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "transport/child_internal.h"

/* The pipes of one command; rarely does more than one run at a time. */
static size_t local_files(const struct endpoint *endpoint)
{
    (void)endpoint;
    return 3;
}

static bool local_serves(const struct endpoint *endpoint)
{
    return endpoint->local;
}

static void local_data(struct child *child, int stream, const char *bytes, size_t len)
{
    child->link->events->data(child->link->owner, child->job, stream, bytes, len);
}

static void local_release(struct child *child)
{
    free(child);
}

static const struct child_kind local_kind = {.data = local_data, .release = local_release};

static void local_run(void *arg, struct transport_job *job)
{
    struct child_link *link = arg;
    struct child *child = xcalloc(1, sizeof(*child));
    char shell[] = "/bin/sh", option[] = "-c";
    AUTO_FREE char *line = xstrdup(job->command);
    char *argv[] = {shell, option, line, NULL};
    const struct child_program program = {.argv = argv, .folder = link->endpoint->home};
    int failed;

    child->kind = &local_kind;
    child_attach(child, link, job);
    failed = child_spawn(child, &program);
    if (failed != 0) {
        AUTO_FREE char *text = xasprintf("/bin/sh cannot be started: %s", uv_strerror(failed));
        child_fail(child, &kind_local, text, NULL);
        return;
    }
    link->events->started(link->owner, job);
    child_start_streams(child);
}

const struct transport_ops transport_local = {
    .name = "local",
    .serves = local_serves,
    .files = local_files,
    .begin = child_begin,
    .end = child_end,
    .open = child_open,
    .run = local_run,
    .input = child_input,
    .pause = child_pause,
    .cancel = child_cancel,
    .close = child_close,
};
