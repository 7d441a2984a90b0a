/* Orders everything that may be the cause: by class, then by time. */
#include <string.h>

#include "base/alloc.h"
#include "diagnosis_internal.h"

#define CLOCK_APART_S 2 /* seconds; smaller differences can come from the init itself */

bool candidate_is(const struct event *event, const char *id)
{
    return strcmp(event->signature->id, id) == 0;
}

/*
 * How far a node's clock is ahead: as the run measured it, else by NCCL's init, which ends on all nodes at
 * once.
 */
static double clock_ahead(const struct ranking *ranking, size_t node)
{
    const struct evidence *own = ranking->nodes[node].evidence;
    double ahead = ranking->nodes[node].clock_ahead;
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct evidence *first = ranking->nodes[i].evidence;
        if (ranking->nodes[i].clock_ahead < 0 || ranking->nodes[i].clock_ahead > 0) {
            return ahead;
        }
        if (first && first->met_at >= 0) {
            double apart = own && own->met_at >= 0 ? own->met_at - first->met_at : 0;
            return apart < -CLOCK_APART_S || apart > CLOCK_APART_S ? apart : 0;
        }
    }
    return ahead;
}

double ranking_common_time(const struct ranking *ranking, size_t node, double time)
{
    return time >= 0 ? time - clock_ahead(ranking, node) : time;
}

/* The message's own time, else the time at which torchrun noticed that a worker of the node had ended. */
static double event_time(const struct ranking *ranking, size_t node, const struct event *event)
{
    const struct evidence *evidence = ranking->nodes[node].evidence;
    double time = event->time;
    for (size_t i = 0; evidence && time < 0 && i < evidence->children_len; i++) {
        time = evidence->children[i].time;
    }
    return ranking_common_time(ranking, node, time);
}

void ranking_add_candidates(struct ranking *ranking, size_t node, const struct evidence *evidence)
{
    for (size_t i = 0; evidence && i < evidence->events_len; i++) {
        const struct event *event = &evidence->events[i];
        ranking->candidates =
            xgrow(ranking->candidates, ranking->len, &ranking->cap, sizeof(struct candidate));
        ranking->candidates[ranking->len++] = (struct candidate){
            .node = node,
            .event = event,
            .class = event->signature->class,
            .level = ranking_level(ranking, node, event),
            .time = event_time(ranking, node, event),
        };
    }
}

long ranking_guess_nproc(const struct ranking *ranking)
{
    size_t most = 0;
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct evidence *evidence = ranking->nodes[i].evidence;
        size_t seen = evidence ? evidence->ranks_len : 0;
        for (size_t j = 0; evidence && j < evidence->children_len; j++) {
            size_t count = (size_t)(evidence->children[j].local_rank + 1);
            seen = count > seen ? count : seen;
        }
        seen = evidence && evidence->workers > seen ? evidence->workers : seen;
        most = seen > most ? seen : most;
    }
    return (long)most;
}

/* Is a likelier to be the cause than b? */
static bool is_better(const struct ranking *ranking, const struct candidate *a, const struct candidate *b)
{
    if (a->level != b->level) {
        return a->level < b->level;
    }
    if (a->time >= 0 && b->time >= 0 && (a->time < b->time || a->time > b->time)) {
        return a->time < b->time;
    }
    if (a->node == b->node) {
        bool later = (a->event->exception && b->event->exception && a->event->rank == b->event->rank) ||
                     (event_is_common(a->event) && event_is_common(b->event));
        return later ? a->event->line > b->event->line : a->event->line < b->event->line;
    }
    double a_ended = ranking->nodes[a->node].ended;
    double b_ended = ranking->nodes[b->node].ended;
    if (a_ended >= 0 && b_ended >= 0 && (a_ended < b_ended || a_ended > b_ended)) {
        return a_ended < b_ended;
    }
    return ranking->nodes[a->node].rank < ranking->nodes[b->node].rank;
}

const struct candidate *ranking_find_best(const struct ranking *ranking)
{
    const struct candidate *best = NULL;
    for (size_t i = 0; i < ranking->len; i++) {
        const struct candidate *one = &ranking->candidates[i];
        if (one->level < LEVEL_NEVER && (!best || is_better(ranking, one, best))) {
            best = one;
        }
    }
    return best;
}
