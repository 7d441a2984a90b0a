/* Orders everything that may be the cause: by class, then by time. */
#include <string.h>

#include "base/alloc.h"
#include "diagnosis_internal.h"

#define SURVIVED_LINES 200 /* an exception this many lines before the rank's next one did not end it */

bool candidate_is(const struct event *event, const char *id)
{
    return strcmp(event->signature->id, id) == 0;
}

/* A rank ends by one exception: one that was followed by another much later was handled. */
static bool was_survived(const struct evidence *evidence, const struct event *event)
{
    if (event->file) {
        return false;
    }
    for (size_t i = 0; i < evidence->events_len; i++) {
        const struct event *other = &evidence->events[i];
        if (other->exception && other->rank == event->rank && other->local_rank == event->local_rank &&
            other->line > event->line + SURVIVED_LINES) {
            return true;
        }
    }
    return false;
}

/* Does anything but the end of a process tell why the node failed? */
static bool is_explained(const struct evidence *evidence, bool victims_too)
{
    for (size_t i = 0; evidence && i < evidence->events_len; i++) {
        enum signature_class class = evidence->events[i].signature->class;
        if (class < CLASS_VICTIM || (class == CLASS_VICTIM && victims_too)) {
            return true;
        }
    }
    return false;
}

static unsigned class_level(const struct signature *signature)
{
    static const unsigned levels[] = {
        [CLASS_ROOT] = 20,           [CLASS_NODE] = 10,           [CLASS_CONF] = 30,
        [CLASS_ABSENT] = 40,         [CLASS_AMBIG] = LEVEL_AMBIG, [CLASS_VICTIM] = LEVEL_NEVER,
        [CLASS_NOISE] = LEVEL_NEVER,
    };
    return signature->hardware ? 5 : levels[signature->class];
}

static unsigned event_level(const struct ranking *ranking, size_t node, const struct event *event)
{
    const struct evidence *evidence = ranking->nodes[node].evidence;
    unsigned level = class_level(event->signature);
    if (level < LEVEL_AMBIG && event->signature->generic && !event->fatal) {
        return LEVEL_AMBIG + 5;
    }
    if (candidate_is(event, "EXIT_STATUS")) {
        bool bare = event->groups[1] && strcmp(event->groups[1], "1") == 0;
        return is_explained(evidence, bare) ? LEVEL_NEVER : bare ? 45 : 28;
    }
    if (candidate_is(event, "COLLECTIVE_UNJOINED")) {
        return level - 1; /* waiting ranks are known by name, not by what is missing in logs */
    }
    if (candidate_is(event, "PY_EXCEPTION")) {
        return evidence && was_survived(evidence, event) ? LEVEL_AMBIG + 5 : 25;
    }
    return level;
}

/* By the log's clock: the message's own time, else when torchrun noticed that a worker of the node had ended.
 */
static double event_time(const struct ranking *ranking, size_t node, const struct event *event)
{
    const struct evidence *evidence = ranking->nodes[node].evidence;
    double time = event->time;
    for (size_t i = 0; evidence && time < 0 && i < evidence->children_len; i++) {
        time = evidence->children[i].time;
    }
    return time;
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
            .level = event_level(ranking, node, event),
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

/* Is a the likelier cause? Both are of nodes of the ranking. */
static bool is_better(const struct ranking *ranking, const struct candidate *a, const struct candidate *b)
{
    if (a->level != b->level) {
        return a->level < b->level;
    }
    if (a->time >= 0 && b->time >= 0 && (a->time < b->time || a->time > b->time)) {
        return a->time < b->time;
    }
    if (a->node == b->node) {
        bool later = a->event->exception && b->event->exception && a->event->rank == b->event->rank;
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
