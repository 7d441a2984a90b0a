/* Refreshes a run repeatedly over sessions that stay open; follows a log meanwhile, and reads stacks. */
#include "run/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "node_set_internal.h"
#include "stacks_internal.h"
#include "status_internal.h"
#include "tails_internal.h"

struct run_view {
    struct run_context *context;
    const char *name;
    struct run run;
    struct node_set set; /* the nodes of attempt set_attempt */
    bool set_open;
    unsigned set_attempt;
    bool reads_stacks;
    bool enough;  /* run_view_wake has ended the reading of stacks */
    bool follows; /* a log is wanted; if tails is NULL, the next look begins it */
    size_t node;
    unsigned long lines;
    struct tails *tails;
    struct tails **dismissed; /* dismissed tails whose last answers have not arrived yet */
    size_t dismissed_len, dismissed_cap;
};

struct run_view *run_view_new(struct run_context *context, const char *name)
{
    struct run_view *view = xcalloc(1, sizeof(*view));
    view->context = context;
    view->name = name;
    run_init(&view->run);
    return view;
}

/* --- the set ------------------------------------------------------------------------------------ */

static int open_set(struct run_view *view, struct error *err)
{
    if (view->set_open) {
        return 0;
    }
    if (node_set_open_run(&view->set, view->context, &view->run, err) != 0) {
        node_set_close(&view->set);
        return -1;
    }
    node_set_hold(&view->set, NULL); /* if too few open files are allowed, sessions come and go */
    view->set_open = true;
    view->set_attempt = view->run.attempt;
    return 0;
}

static void close_set(struct run_view *view)
{
    if (view->set_open) {
        node_set_close(&view->set);
    }
    view->set_open = false;
    tails_free(view->tails);
    view->tails = NULL;
    while (view->dismissed_len > 0) {
        tails_free(view->dismissed[--view->dismissed_len]);
    }
}

void run_view_free(struct run_view *view)
{
    if (!view) {
        return;
    }
    close_set(view);
    free(view->dismissed);
    run_release(&view->run);
    free(view);
}

/* --- logs --------------------------------------------------------------------------------------- */

static void dismiss(struct run_view *view)
{
    if (!view->tails) {
        return;
    }
    tails_dismiss(view->tails);
    view->dismissed =
        xgrow(view->dismissed, view->dismissed_len, &view->dismissed_cap, sizeof(*view->dismissed));
    view->dismissed[view->dismissed_len++] = view->tails;
    view->tails = NULL;
}

static void free_dismissed(struct run_view *view)
{
    size_t kept = 0;
    for (size_t i = 0; i < view->dismissed_len; i++) {
        if (tails_left(view->dismissed[i]) > 0) {
            view->dismissed[kept++] = view->dismissed[i];
        } else {
            tails_free(view->dismissed[i]);
        }
    }
    view->dismissed_len = kept;
}

static void begin_log(struct run_view *view)
{
    AUTO_FREE bool *selected = xcalloc(view->run.nodes_len + 1, sizeof(bool));
    const struct node_tail_options options = {.from = NODE_TAIL_LINES, .count = view->lines, .follow = true};
    selected[view->node] = true;
    view->tails = tails_open(&view->set, &view->run, selected, &options, NULL);
}

void run_view_follow(struct run_view *view, size_t node, unsigned long lines)
{
    dismiss(view);
    view->follows = true;
    view->node = node;
    view->lines = lines;
    if (view->set_open && view->set_attempt == view->run.attempt) {
        begin_log(view);
    } else {
        run_view_wake(view); /* the next look begins the log */
    }
}

void run_view_unfollow(struct run_view *view)
{
    dismiss(view);
    view->follows = false;
}

/* --- looks -------------------------------------------------------------------------------------- */

static int reload(struct run_view *view, struct error *err)
{
    struct run fresh;
    if (run_store_load(view->context->store, view->name, &fresh, err) != 0) {
        run_release(&fresh);
        return -1;
    }
    if (view->set_open && fresh.attempt != view->set_attempt) {
        close_set(view); /* another attempt has other nodes and logs */
    }
    run_release(&view->run);
    view->run = fresh;
    return 0;
}

int run_view_look(struct run_view *view, struct error *err)
{
    free_dismissed(view);
    if (reload(view, err) != 0) {
        return -1;
    }
    const bool live = run_state_is_live(view->run.state);
    if ((live || view->follows) && open_set(view, err) != 0) {
        return -1;
    }
    if (view->follows && !view->tails && view->node < view->run.nodes_len) {
        begin_log(view);
    }
    return live ? run_look(&view->set, &view->run, err) : run_look_at_ended(view->context, &view->run, err);
}

const struct run *run_view_run(const struct run_view *view)
{
    return &view->run;
}

int run_view_pause(struct run_view *view, unsigned ms, struct error *err)
{
    if (!view->set_open) {
        return run_pause(view->context, ms, err);
    }
    node_set_pause(&view->set, ms);
    return node_set_is_interrupted(&view->set) ? node_set_interrupted_error(&view->set, err) : 0;
}

void run_view_wake(struct run_view *view)
{
    if (view->reads_stacks) {
        view->enough = true;
        fleet_cancel_all(view->set.fleet);
    } else if (view->context->sets) {
        fleet_stop(view->context->sets->fleet);
    }
}

int run_view_stacks(struct run_view *view, struct run_stacks_result *result, struct error *err)
{
    const struct run_stacks_request request = {.quiet = true};
    AUTO_FREE bool *selected = xcalloc(view->run.nodes_len + 1, sizeof(bool));
    struct error worst = ERROR_INIT;
    *result = (struct run_stacks_result){0};
    if (!run_state_is_live(view->run.state)) {
        return error_set(err, &kind_run_over, "run '%s' is %s: it has no processes to look at", view->name,
                         run_state_name(view->run.state));
    }
    if (open_set(view, err) != 0) {
        return -1;
    }
    memset(selected, true, view->run.nodes_len * sizeof(bool));
    view->enough = false;
    view->reads_stacks = true;
    int code = run_stacks_ask(&view->set, &view->run, &request, selected, result, &worst);
    view->reads_stacks = false;
    return code == 0 && !view->enough ? 0 : node_set_interrupted_error(&view->set, err);
}
