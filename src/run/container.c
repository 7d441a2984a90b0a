/* The containers of a job: inspects all, then creates, starts, replaces or removes them as needed. */
#include "run/container.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "node/container.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "round_internal.h"

#define LOOK_TIMEOUT_MS 60000
#define MAKE_TIMEOUT_MS (30u * 60 * 1000) /* the engine may pull the image first */

struct action {
    char *old_id;  /* the container to remove first */
    char *idle_id; /* the container that only has to be started */
    const char *action;
};

struct containers {
    const struct run_container_request *request;
    struct run_containers *out;
    struct node_set set;
    struct node_failures failures;
    struct action *actions; /* one per host; action NULL: nothing to do */
};

void run_containers_release(struct run_containers *containers)
{
    for (size_t i = 0; i < containers->len; i++) {
        struct run_container *item = &containers->items[i];
        char *texts[] = {item->label, item->status, item->id, item->image, item->job, item->runs};
        for (size_t t = 0; t < ARRAY_LEN(texts); t++) {
            free(texts[t]);
        }
        strlist_release(&item->differences);
    }
    free(containers->items);
    *containers = (struct run_containers){0};
}

/* --- the hosts ----------------------------------------------------------------------------------- */

static int open_hosts(struct containers *all, struct run_context *context, struct error *err)
{
    const struct job *job = all->request->job;
    const struct hostlist *list = all->request->hosts;
    AUTO_STRLIST struct strlist labels = STRLIST_INIT;
    AUTO_FREE const struct host **hosts = xcalloc(list->len + 1, sizeof(*hosts));
    hostlist_labels(list, &labels);
    all->out->items = xcalloc(list->len, sizeof(*all->out->items));
    all->out->len = list->len;
    all->actions = xcalloc(list->len, sizeof(*all->actions));
    for (size_t i = 0; i < list->len; i++) {
        hosts[i] = &list->items[i];
        all->out->items[i].label = xstrdup(labels.items[i]);
    }
    node_failures_init(&all->failures, &labels);
    const struct node_set_options options = {
        .hosts = hosts,
        .labels = (const char *const *)labels.items,
        .count = list->len,
        .reach = &job->reach,
        .place = &job->place,
    };
    return node_set_open(&all->set, context, &options, err);
}

static void release(struct containers *all)
{
    node_set_close(&all->set);
    for (size_t i = 0; all->actions && i < all->out->len; i++) {
        free(all->actions[i].old_id);
        free(all->actions[i].idle_id);
    }
    free(all->actions);
    node_failures_release(&all->failures);
}

/* The place of the container itself, without a user inside it. */
static struct place the_container(const struct containers *all)
{
    struct place place = *all->set.place;
    place.user = NULL;
    return place;
}

static void failed(void *ctx, size_t node, const struct error *error, bool started)
{
    struct containers *all = ctx;
    (void)started;
    node_failures_set(&all->failures, node, error);
}

/* Report failures and combine them into one error. 0 when there are none. */
static int conclude(struct containers *all, const char *what, struct error *err)
{
    struct error worst = ERROR_INIT;
    if (all->failures.count == 0) {
        return 0;
    }
    node_failures_report(&all->failures, all->set.context, &worst);
    if (all->out->len == 1) {
        *err = worst;
        return -1;
    }
    return error_set(err, worst.kind, "%zu of %zu hosts failed %s", all->failures.count, all->out->len, what);
}

/* --- asking -------------------------------------------------------------------------------------- */

static bool inspect_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct containers *all = ctx;
    const struct place container = the_container(all);
    (void)node;
    node_request_container_inspect(&container, all->request->job->container.run.image, nonce, call);
    return true;
}

static void keep_facts(struct run_container *item, struct node_container_facts *facts)
{
    free(item->status);
    free(item->id);
    item->status = facts->status;
    item->id = facts->id;
    facts->status = facts->id = NULL;
    if (facts->runs) {
        free(item->runs);
        item->runs = facts->runs;
        facts->runs = NULL;
    }
}

static int inspect_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                        struct error *err)
{
    struct containers *all = ctx;
    struct run_container *item = &all->out->items[node];
    struct node_container_facts facts;
    int result = node_answer_container(bytes, len, nonce, &facts, err);
    if (result == 0 && facts.id && facts.inspect) {
        result = container_compare(all->request->job, facts.inspect, facts.image_id, item, err);
    }
    if (result == 0) {
        keep_facts(item, &facts);
    }
    node_container_facts_release(&facts);
    return result;
}

static int inspect(struct containers *all, struct error *err)
{
    const struct node_question question = {
        .what = "looking",
        .ctx = all,
        .timeout_ms = LOOK_TIMEOUT_MS,
        .build = inspect_build,
        .take = inspect_take,
        .failed = failed,
    };
    return node_set_ask(&all->set, &question) == 0 ? 0 : node_set_interrupted_error(&all->set, err);
}

/* --- deciding ------------------------------------------------------------------------------------ */

static int refuse_removal(const struct containers *all, const struct run_container *item, struct error *err)
{
    error_set(err, &kind_run_live, "a live run uses container '%s': %s", all->request->job->place.container,
              item->runs);
    return error_hint(err, "`mtlaunch stop %s` ends it", item->runs);
}

static int decide_up(struct containers *all, size_t node, struct error *err)
{
    struct run_container *item = &all->out->items[node];
    struct action *action = &all->actions[node];
    if (!item->id) {
        action->action = "made";
    } else if (item->differences.len > 0) {
        if (!all->request->replace) {
            AUTO_FREE char *text = strlist_join(&item->differences, "; ");
            error_set(err, &kind_container_differs, "container '%s' differs from the spec: %s",
                      all->request->job->place.container, text);
            return error_hint(err, "--replace removes it and makes a new one");
        }
        if (item->runs) {
            return refuse_removal(all, item, err);
        }
        action->action = "replaced";
        action->old_id = xstrdup(item->id);
    } else if (strcmp(item->status, "running") == 0) {
        item->action = "kept";
    } else {
        action->action = "started";
        action->idle_id = xstrdup(item->id);
    }
    return 0;
}

static int decide_down(struct containers *all, size_t node, struct error *err)
{
    struct run_container *item = &all->out->items[node];
    const char *job = all->request->job->name;
    if (!item->id) {
        item->action = "kept";
        return 0;
    }
    if (!all->request->replace && (!item->job || strcmp(item->job, job) != 0)) {
        if (!item->job) {
            error_set(err, &kind_container_foreign, "container '%s' was not made by `mtlaunch container up`",
                      all->request->job->place.container);
        } else {
            error_set(err, &kind_container_foreign, "container '%s' was made for job '%s', not for '%s'",
                      all->request->job->place.container, item->job, job);
        }
        return error_hint(err, "--replace removes it anyway");
    }
    if (item->runs) {
        return refuse_removal(all, item, err);
    }
    all->actions[node].action = "removed";
    all->actions[node].old_id = xstrdup(item->id);
    return 0;
}

static void decide(struct containers *all)
{
    for (size_t i = 0; i < all->out->len; i++) {
        struct error err = ERROR_INIT;
        int result = 0;
        if (all->failures.errors[i].kind || all->request->verb == RUN_CONTAINER_STATUS) {
            continue;
        }
        result = all->request->verb == RUN_CONTAINER_UP ? decide_up(all, i, &err) : decide_down(all, i, &err);
        if (result != 0) {
            node_failures_set(&all->failures, i, &err);
        }
    }
}

/* --- acting -------------------------------------------------------------------------------------- */

static bool act_wanted(void *ctx, size_t node)
{
    const struct containers *all = ctx;
    return all->actions[node].action;
}

static bool act_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct containers *all = ctx;
    const struct action *action = &all->actions[node];
    const struct job *job = all->request->job;
    const struct place container = the_container(all);
    AUTO_STRLIST struct strlist words = STRLIST_INIT;
    if (all->request->verb == RUN_CONTAINER_DOWN) {
        node_request_container_down(&container, action->old_id, nonce, call);
        return true;
    }
    container_run_words(job, &words);
    const struct node_container_options options = {
        .old_id = action->old_id,
        .idle_id = action->idle_id,
        .image = job->container.run.image,
        .words = &words,
        .env = &job->container.run.env,
    };
    node_request_container_up(&container, &options, nonce, call);
    return true;
}

static int act_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                    struct error *err)
{
    struct containers *all = ctx;
    struct run_container *item = &all->out->items[node];
    struct node_container_facts facts;
    int result = node_answer_container(bytes, len, nonce, &facts, err);
    if (result == 0) {
        keep_facts(item, &facts);
        item->action = all->actions[node].action;
        if (all->request->verb == RUN_CONTAINER_UP && strcmp(item->action, "started") != 0) {
            strlist_release(&item->differences);
            free(item->image);
            free(item->job);
            item->image = xstrdup(all->request->job->container.run.image);
            item->job = xstrdup(all->request->job->name);
        }
    }
    node_container_facts_release(&facts);
    return result;
}

static int act(struct containers *all, struct error *err)
{
    const struct node_question question = {
        .what = all->request->verb == RUN_CONTAINER_UP ? "making" : "removing",
        .ctx = all,
        .timeout_ms = MAKE_TIMEOUT_MS,
        .wanted = act_wanted,
        .build = act_build,
        .take = act_take,
        .failed = failed,
    };
    return node_set_ask(&all->set, &question) == 0 ? 0 : node_set_interrupted_error(&all->set, err);
}

/* --- the command --------------------------------------------------------------------------------- */

static int check_job(const struct run_container_request *request, struct error *err)
{
    const struct job_container *container = &request->job->container;
    if (!request->job->place.container) {
        error_set(err, &kind_plan, "job '%s' names no container", request->job->name);
        return error_hint(err, "set 'container.name' in the spec, or --container");
    }
    if (request->verb == RUN_CONTAINER_UP && !container->run.image) {
        error_set(err, &kind_plan, "job '%s' does not say how its container is made", request->job->name);
        return error_hint(err, "set 'container.run' in the spec: at least its image");
    }
    return 0;
}

int run_container(struct run_context *context, const struct run_container_request *request,
                  struct run_containers *containers, struct error *err)
{
    struct containers all = {.request = request, .out = containers};
    *containers = (struct run_containers){0};
    if (check_job(request, err) != 0) {
        return -1;
    }
    int result = open_hosts(&all, context, err);
    if (result == 0) {
        result = inspect(&all, err);
    }
    if (result == 0) {
        decide(&all);
        result = conclude(&all, "before anything was touched", err);
    }
    if (result == 0 && request->verb != RUN_CONTAINER_STATUS) {
        result = act(&all, err);
    }
    if (result == 0 && request->verb != RUN_CONTAINER_STATUS) {
        result = conclude(&all, "partway", err);
    }
    release(&all);
    return result;
}
