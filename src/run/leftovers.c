/*
 * Finds and reports processes that are still alive although their node's command, or the whole run, has
 * ended.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "leftovers_internal.h"
#include "model/kind.h"
#include "node/answer.h"
#include "node_set_internal.h"
#include "node_target_internal.h"
#include "observe_internal.h"
#include "observer_internal.h"
#include "round_internal.h"
#include "stop_internal.h"

struct leftovers_round {
    struct node_set *set;
    struct run *run;
    bool all; /* also nodes that were written off */
    struct leftovers *found;
};

static bool leftovers_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct leftovers_round *round = ctx;
    enum node_state state = round->run->nodes[node].state;
    if (!round->all && !node_state_has_ended(state)) {
        return false;
    }
    const struct node_target target = run_node_target(round->run, node);
    const struct node_observe_options options = {.leftovers = true};
    node_request_observe(&target, &options, nonce, call);
    return true;
}

static void add_line(struct leftovers *found, const struct run_node *node, const struct node_processes *live)
{
    AUTO_STR struct str text = STR_INIT;
    str_addf(&text, "%s: %llu leftover process%s", node->label, (unsigned long long)live->total,
             live->total == 1 ? "" : "es");
    for (size_t i = 0; i < live->len; i++) {
        const char *command = live->items[i].command ? live->items[i].command : "?";
        str_addf(&text, "%s%lld (%.*s)", i == 0 ? ": " : ", ", (long long)live->items[i].pid,
                 (int)strcspn(command, "\n"), command);
    }
    strlist_add(&found->lines, str_text(&text));
}

/* A node's answer replaces its earlier one. Without an answer or a complete scan, the earlier one is kept. */
static void keep_left_over(struct run *run, const struct run_node *node, const struct node_processes *live)
{
    run_forget_left_over(run, node->label);
    for (size_t i = 0; i < live->len; i++) {
        AUTO_STR struct str command = STR_INIT;
        const char *text = live->items[i].command ? live->items[i].command : "?";
        text_add_line(&command, text, strlen(text));
        while (command.len > 0 && command.data[command.len - 1] == ' ') {
            str_truncate(&command, command.len - 1);
        }
        run_add_left_over(run, node->label, live->items[i].pid, str_text(&command));
    }
}

static int leftovers_take(void *ctx, size_t index, const char *bytes, size_t len, const char *nonce,
                          struct error *err)
{
    struct leftovers_round *round = ctx;
    const struct run_node *node = &round->run->nodes[index];
    struct node_observation seen;
    int result = node_answer_observe(bytes, len, nonce, &seen, err);
    bool lives = seen.life == NODE_LIFE_RUNNING || seen.life == NODE_LIFE_STARTING;
    bool ours = !seen.found_run_id || strcmp(seen.found_run_id, round->run->id) == 0;
    if (result == 0 && (seen.scanned || seen.leftovers.total > 0)) {
        keep_left_over(round->run, node, &seen.leftovers);
    }
    if (result == 0 && seen.leftovers.total > 0) {
        add_line(round->found, node, &seen.leftovers);
    } else if (result == 0 && ours && seen.ending) {
        strlist_addf(&round->found->lines, "%s: its exit status could not be written yet: %s", node->label,
                     seen.ending);
    } else if (result == 0 && ours && lives) {
        strlist_addf(&round->found->lines, "%s: its command still runs (pid %lld)", node->label,
                     (long long)seen.pid);
    } else if (result == 0 && !seen.scanned) {
        strlist_addf(&round->found->unproven, "%s: the node could not list all its processes: %s",
                     node->label, seen.unproven ? seen.unproven : "its answer proves nothing");
    }
    node_observation_release(&seen);
    return result;
}

static void leftovers_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    struct leftovers_round *round = ctx;
    (void)started;
    strlist_addf(error->kind == &kind_scan_failed ? &round->found->unproven : &round->found->silent, "%s: %s",
                 round->run->nodes[node].label, error->text);
}

int run_find_leftovers(struct node_set *set, struct run *run, bool all, struct leftovers *found)
{
    struct leftovers_round round = {.set = set, .run = run, .all = all, .found = found};
    const struct node_question question = {
        .ctx = &round,
        .timeout_ms = OBSERVE_TIMEOUT_MS,
        .build = leftovers_build,
        .take = leftovers_take,
        .failed = leftovers_failed,
    };
    *found = (struct leftovers){0};
    return node_set_ask(set, &question);
}

void leftovers_release(struct leftovers *found)
{
    strlist_release(&found->lines);
    strlist_release(&found->silent);
    strlist_release(&found->unproven);
}

static void report_lines(struct node_set *set, struct run *run, const struct strlist *lines,
                         const char *remedy)
{
    for (size_t i = 0; i < lines->len; i++) {
        report_warn(set->context, "%s%s", lines->items[i], remedy);
        run_note_event(set->context, run, "left-over", NULL, "%s", lines->items[i]);
    }
}

int run_report_leftovers(struct node_set *set, struct run *run, bool end)
{
    struct leftovers found;
    size_t unproven = 0;
    int result = run_find_leftovers(set, run, false, &found);
    if (result == 0 && end && found.lines.len > 0) {
        struct run_stop_result ended = {0};
        const struct stop_nodes_request request = {
            .signal = run->stop_signal, .grace_s = run->stop_grace_s, .sweep = true, .quiet = true};
        result = run_stop_nodes(set, run, &request, &ended, &unproven, NULL);
        if (unproven == 0) {
            run_forget_left_over(run, NULL);
        }
        report_lines(set, run, &ended.cleaned, "");
        run_stop_result_release(&ended);
    }
    if (!end || unproven > 0) {
        AUTO_FREE char *remedy = xasprintf("; `mtlaunch stop %s` ends what is left", run->name);
        report_lines(set, run, &found.lines, remedy);
    }
    report_lines(set, run, &found.unproven, "");
    leftovers_release(&found);
    return result;
}
