/*
 * Shows the nodes of a run as a table: one line per node; in a large run one line for all nodes in the same
 * state.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/fold.h"
#include "model/hostlist.h"
#include "report/status_internal.h"
#include "report/table.h"

#define GIB             (1024.0 * 1024 * 1024)
#define IDLE_MEMORY_MAX ((int64_t)1 << 30) /* bytes; a GPU that holds more is in use */
#define FOLD_FROM       17                 /* with this many nodes or more, equal ones share a line */

static enum report_tone node_tone(enum node_state state)
{
    static const enum report_tone tones[] = {
        [NODE_PENDING] = TONE_FAINT, [NODE_RUNNING] = TONE_GOOD, [NODE_EXITED] = TONE_GOOD,
        [NODE_FAILED] = TONE_BAD,    [NODE_STOPPED] = TONE_WARN, [NODE_LOST] = TONE_BAD,
    };
    return tones[state];
}

/* The reason that a line shows for a node; NULL: none. The caller frees. */
static char *node_reason(const struct run_node *node)
{
    if (node->reason) {
        return xstrdup(node->reason);
    }
    return node->state == NODE_FAILED ? report_exit_text(node) : NULL;
}

static bool says_the_same(const void *ctx, size_t first, size_t second)
{
    const struct run *run = ctx;
    const struct run_node *a = &run->nodes[first], *b = &run->nodes[second];
    AUTO_FREE char *reason_a = node_reason(a), *reason_b = node_reason(b);
    return a->state == b->state && a->exit_status == b->exit_status &&
           strcmp(reason_a ? reason_a : "", reason_b ? reason_b : "") == 0;
}

/* --- cells -------------------------------------------------------------------------------------------- */

/* Add the ranks of the nodes: "0-31,40". */
static void add_numbers(struct table *table, const struct run *run, const struct fold_group *group)
{
    AUTO_STR struct str text = STR_INIT;
    for (size_t i = 0; i < group->len;) {
        unsigned first = run->nodes[group->items[i]].rank, last = first;
        for (i++; i < group->len && run->nodes[group->items[i]].rank == last + 1; i++) {
            last++;
        }
        str_addf(&text, last > first ? "%s%u-%u" : "%s%u", text.len ? "," : "", first, last);
    }
    table_add(table, str_text(&text), TONE_PLAIN);
}

static void add_hosts(struct table *table, const struct run *run, const struct fold_group *group)
{
    AUTO_STR struct str text = STR_INIT;
    AUTO_STRLIST struct strlist labels = STRLIST_INIT;
    for (size_t i = 0; i < group->len; i++) {
        strlist_add(&labels, run->nodes[group->items[i]].label);
    }
    if (labels.len > 1) {
        hostlist_fold_names(labels.items, labels.len, &text);
    }
    table_add(table, labels.len > 1 ? str_text(&text) : labels.items[0], TONE_STRONG);
}

/* How long a node ran, or has been running, in seconds; -1: unknown. */
static int64_t lifetime_of(const struct run_node *node, int64_t now_ms)
{
    bool live = node_state_may_run(node->state);
    int64_t until = node->ended_ms ? node->ended_ms : now_ms;
    if (!node->started_ms || (!live && !node->ended_ms)) {
        return -1;
    }
    return until > node->started_ms ? (until - node->started_ms) / 1000 : 0; /* its clock may be slow */
}

/* How many seconds ago a running node last wrote to its log; -1: unknown. */
static int64_t silence_of(const struct run_node *node, int64_t now_ms)
{
    (void)now_ms;
    return node->state == NODE_RUNNING ? node->silent_s : -1;
}

/* Add "3m12s", or "3m10s-3m12s" for several nodes. */
static void add_spans(struct table *table, const struct run *run, const struct fold_group *group,
                      int64_t now_ms, int64_t (*span_of)(const struct run_node *node, int64_t now_ms))
{
    char least_text[CLOCK_TEXT_SIZE], most_text[CLOCK_TEXT_SIZE];
    int64_t least = -1, most = -1;
    for (size_t i = 0; i < group->len; i++) {
        int64_t span = span_of(&run->nodes[group->items[i]], now_ms);
        if (span >= 0 && (least < 0 || span < least)) {
            least = span;
        }
        if (span > most) {
            most = span;
        }
    }
    if (most < 0) {
        table_add(table, NULL, TONE_PLAIN);
        return;
    }
    clock_format_span(least, least_text);
    clock_format_span(most, most_text);
    if (strcmp(least_text, most_text) == 0) {
        table_add(table, most_text, TONE_PLAIN);
    } else {
        table_addf(table, TONE_PLAIN, "%s-%s", least_text, most_text);
    }
}

/* Append ", others 3: 96%": GPUs that are in use but not by the job, and their mean utilisation. */
static void add_others_gpus(struct str *text, const struct run *run, const struct fold_group *group)
{
    int64_t sum = 0, known = 0;
    size_t busy = 0;
    for (size_t i = 0; i < group->len; i++) {
        const struct run_node *node = &run->nodes[group->items[i]];
        for (size_t g = node->gpus_len; g < node->gpus_len + node->gpus_others; g++) {
            const struct run_gpu *gpu = &node->gpus[g];
            if (gpu->utilization <= 0 && gpu->memory_used < IDLE_MEMORY_MAX) {
                continue;
            }
            busy++;
            sum += gpu->utilization > 0 ? gpu->utilization : 0;
            known += gpu->utilization >= 0;
        }
    }
    if (busy) {
        str_addf(text, ", others %zu:", busy);
    }
    if (busy && known) {
        str_addf(text, " %lld%%", (long long)(sum / known));
    }
}

/* Add "8: 97% 61.2G/140G": GPUs per node, their mean utilisation, the memory of the fullest one. */
static void add_gpus(struct table *table, const struct run *run, const struct fold_group *group)
{
    AUTO_STR struct str text = STR_INIT;
    const struct run_gpu *fullest = NULL;
    int64_t sum = 0, known = 0;
    size_t least = SIZE_MAX, most = 0;
    for (size_t i = 0; i < group->len; i++) {
        const struct run_node *node = &run->nodes[group->items[i]];
        least = node->gpus_len < least ? node->gpus_len : least;
        most = node->gpus_len > most ? node->gpus_len : most;
        for (size_t g = 0; g < node->gpus_len; g++) {
            const struct run_gpu *gpu = &node->gpus[g];
            if (gpu->utilization >= 0) {
                sum += gpu->utilization;
                known++;
            }
            if (gpu->memory_used >= 0 && (!fullest || gpu->memory_used > fullest->memory_used)) {
                fullest = gpu;
            }
        }
    }
    if (most == 0) {
        add_others_gpus(&text, run, group);
        table_add(table, text.len > 0 ? str_text(&text) + strlen(", ") : NULL, TONE_PLAIN);
        return;
    }
    if (least != most) {
        str_addf(&text, "%zu-", least);
    }
    str_addf(&text, "%zu:", most);
    if (known) {
        str_addf(&text, " %lld%%", (long long)(sum / known));
    }
    if (fullest) {
        str_addf(&text, " %.1fG", (double)fullest->memory_used / GIB);
    }
    if (fullest && fullest->memory_total > 0) {
        str_addf(&text, "/%.0fG", (double)fullest->memory_total / GIB);
    }
    add_others_gpus(&text, run, group);
    table_add(table, str_text(&text), TONE_PLAIN);
}

static void add_row(struct table *table, const struct run *run, const struct fold_group *group,
                    int64_t now_ms)
{
    const struct run_node *node = &run->nodes[group->items[0]];
    AUTO_FREE char *reason = node_reason(node);
    add_numbers(table, run, group);
    add_hosts(table, run, group);
    table_add(table, node_state_name(node->state), node_tone(node->state));
    if (node->pid && group->len == 1) {
        table_addf(table, TONE_PLAIN, "%lld", (long long)node->pid);
    } else {
        table_add(table, NULL, TONE_PLAIN);
    }
    if (node->exit_status >= 0) {
        table_addf(table, TONE_PLAIN, "%d", node->exit_status);
    } else {
        table_add(table, NULL, TONE_PLAIN);
    }
    add_spans(table, run, group, now_ms, lifetime_of);
    add_spans(table, run, group, now_ms, silence_of);
    add_gpus(table, run, group);
    table_add(table, reason, TONE_PLAIN);
}

/* --- the whole table ---------------------------------------------------------------------------------- */

/* Append "29 running · 2 lost · 1 failed": how many nodes are in each state, the most frequent first. */
static void add_summary(const struct run *run, bool color, struct str *out)
{
    size_t counts[NODE_LOST + 1] = {0};
    for (size_t i = 0; i < run->nodes_len; i++) {
        counts[run->nodes[i].state]++;
    }
    for (bool first = true;; first = false) {
        size_t most = 0;
        for (size_t state = 1; state <= NODE_LOST; state++) {
            if (counts[state] > counts[most]) {
                most = state;
            }
        }
        if (counts[most] == 0) {
            break;
        }
        AUTO_FREE char *text = xasprintf("%zu %s", counts[most], node_state_name((enum node_state)most));
        str_add(out, first ? "" : " · ");
        tone_add(out, text, node_tone((enum node_state)most), color);
        counts[most] = 0;
    }
    str_add_char(out, '\n');
}

void report_nodes_text(const struct run *run, const struct report_style *style, struct str *out)
{
    static const struct table_column columns[] = {
        {.title = "NODE", .right = true, .names = true},
        {.title = "HOST", .names = true},
        {.title = "STATE"},
        {.title = "PID", .right = true, .hide_empty = true},
        {.title = "EXIT", .right = true, .hide_empty = true},
        {.title = "TIME", .right = true, .hide_empty = true},
        {.title = "OUTPUT", .right = true, .hide_empty = true}, /* time since the last output */
        {.title = "GPUS", .hide_empty = true},
        {.title = "REASON", .own_line = true},
    };
    const bool large = run->nodes_len >= FOLD_FROM;
    const bool folded = large && !style->full;
    struct table table;
    struct fold fold;
    fold_make(&fold, run->nodes_len, folded ? says_the_same : NULL, run);
    if (folded) {
        fold_sort_odd_first(&fold);
    }
    if (large) {
        add_summary(run, style->color, out);
    }
    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < fold.len; i++) {
        add_row(&table, run, &fold.groups[i], style->now_ms);
    }
    table_render(&table, style->columns, style->color, out);
    table_release(&table);
    if (folded && fold.len < run->nodes_len) {
        str_addf(out, "nodes in the same state share one line; `mtlaunch status %s --full` shows each\n",
                 run->name);
    }
    fold_release(&fold);
}
