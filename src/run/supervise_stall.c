/* A run whose logs have stopped growing: notices it, and reports what is known of the cause. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "explain_internal.h"
#include "lastlines_internal.h"
#include "observer_internal.h"
#include "stacks_internal.h"
#include "supervise_internal.h"

#define STALL_MARGIN_S 1

/*
 * Find where the ranks are, as one line; NULL: unknown. If the run is going to be stopped, first let NCCL's
 * flight recorders write their dumps.
 */
static char *find_stall_place(struct supervise_loop *loop, const bool *running)
{
    const struct run *run = loop->run;
    struct strlist all = STRLIST_INIT;
    const struct run_stacks_request request = {
        .nodes = &all, .ranks = &all, .dumps = run->policy.on_stall != POLICY_KEEP, .quiet = true};
    struct run_stacks_result result = {0};
    struct str text = STR_INIT, safe = STR_INIT;
    run_stacks_ask(&loop->set, run, &request, running, &result, NULL);
    stack_groups_add_summary(&result.groups, &text);
    run_stacks_result_release(&result);
    text_add_line(&safe, str_text(&text), text.len);
    str_release(&text);
    if (safe.len == 0) {
        str_release(&safe);
        return NULL;
    }
    char *place = str_detach(&safe);
    run_mask(loop->context, &place);
    return place;
}

/* The likely cause that the logs show, as one line; NULL: none. */
static char *find_stall_cause(struct supervise_loop *loop, const bool *running)
{
    struct explanation explanation;
    char *reason = NULL;
    int result = run_explain(&loop->set, loop->run, 0, running, NULL, &explanation);
    const struct cause *cause = &explanation.diagnosis.cause;
    if (result == 0 && cause->signature && !cause->command && cause->confidence != CONFIDENCE_LOW) {
        struct str text = STR_INIT;
        diagnosis_add_reason(&explanation.diagnosis, explanation.ends, &text);
        reason = str_detach(&text);
        run_mask(loop->context, &reason);
    }
    explanation_release(&explanation);
    return reason;
}

/* The cause, if the logs show one, and where the ranks are; NULL: neither is known. */
static char *find_stall(struct supervise_loop *loop, const bool *running)
{
    char *cause = find_stall_cause(loop, running);
    char *place = find_stall_place(loop, running);
    if (!cause || !place) {
        return cause ? cause : place;
    }
    char *both = xasprintf("%s; %s", cause, place);
    free(cause);
    free(place);
    return both;
}

/* Report a stall: what is known of it, the last line of each node, and which nodes are behind the others. */
static void report_stall(struct supervise_loop *loop)
{
    struct run *run = loop->run;
    AUTO_FREE bool *running = xcalloc(run->nodes_len, sizeof(bool));
    AUTO_FREE bool *behind = xcalloc(run->nodes_len, sizeof(bool));
    AUTO_FREE char **texts = xcalloc(run->nodes_len, sizeof(*texts));
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    AUTO_STR struct str text = STR_INIT;
    int64_t margin = ((int64_t)policy_beat_s(&run->policy) * 2 + STALL_MARGIN_S) * 1000;
    const int64_t *silent_since = watchers_silent_since(loop->watchers);
    for (size_t i = 0; i < run->nodes_len; i++) {
        running[i] =
            run->nodes[i].state == NODE_RUNNING && silent_since[i] == 0; /* others would only be waited for */
    }
    run_fetch_lines(&loop->set, run, running, 1, texts);
    policy_find_behind(run, watchers_grown(loop->watchers), margin, behind);
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (behind[i]) {
            strlist_add(&names, run->nodes[i].label);
        }
    }
    free(loop->stall_cause);
    loop->stall_cause = find_stall(loop, running);
    str_addf(&text, "no log has grown for %lu s", run->policy.stall_s);
    if (loop->stall_cause) {
        str_addf(&text, ": %s", loop->stall_cause);
    }
    if (names.len > 0) {
        AUTO_FREE char *joined = strlist_join(&names, ", ");
        str_addf(&text, "; behind the others: %s", joined);
    }
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (running[i]) {
            str_addf(&text, "\n    %s: %s", run->nodes[i].label, texts[i] ? texts[i] : "");
        }
        free(texts[i]);
    }
    run_note_event(loop->context, run, "stalled", names.len == 1 ? names.items[0] : NULL, "%s",
                   str_text(&text));
    report_warn(loop->context, "run '%s' has stalled: %s", run->name, str_text(&text));
}

void supervise_check_stall(struct supervise_loop *loop)
{
    bool stalled =
        policy_is_stalled(loop->run, watchers_grown(loop->watchers), fleet_now_ms(loop->set.fleet));
    if (stalled && !loop->stalled) {
        report_stall(loop);
    } else if (!stalled && loop->stalled) {
        run_note_event(loop->context, loop->run, "goes-on", NULL, "logs grow again");
        report_info(loop->context, "run '%s' continues: logs grow again", loop->run->name);
    }
    loop->stalled = stalled;
}
