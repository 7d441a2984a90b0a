/* Finds the nodes and ranks that the others waited for. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "diagnosis_internal.h"

/* The node of a global rank, by the ranks that nodes showed, else by counting. */
long ranking_node_of_rank(const struct ranking *ranking, long rank)
{
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct evidence *evidence = ranking->nodes[i].evidence;
        for (size_t j = 0; evidence && j < evidence->ranks_len; j++) {
            if (evidence->ranks[j] == rank) {
                return (long)i;
            }
        }
    }
    for (size_t i = 0; i < ranking->nodes_len && ranking->nproc > 0; i++) {
        if ((long)ranking->nodes[i].rank == rank / ranking->nproc) {
            return (long)i;
        }
    }
    return -1;
}

static bool is_silent(const struct ranking *ranking, size_t node)
{
    const struct evidence *evidence = ranking->nodes[node].evidence;
    for (size_t i = 0; evidence && i < evidence->events_len; i++) {
        enum signature_class class = evidence->events[i].signature->class;
        bool ended = strcmp(evidence->events[i].signature->id, "SIG_EXCEPTION") == 0;
        if (class != CLASS_NOISE && !ended) {
            return false;
        }
    }
    return true;
}

size_t ranking_find_silent(const struct ranking *ranking, bool *absent)
{
    size_t count = 0;
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        absent[i] = is_silent(ranking, i);
        count += absent[i];
    }
    return count;
}

/* Those that are silent, unless all are; the rank where it is a single one. */
static long find_silent(const struct ranking *ranking, bool *absent)
{
    size_t count = ranking_find_silent(ranking, absent);
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        if (absent[i] && count == 1 && ranking->nproc == 1) {
            return (long)ranking->nodes[i].rank;
        }
        absent[i] = absent[i] && count < ranking->nodes_len;
    }
    return -1;
}

/* The smallest and the largest number that the ranks of a group had enqueued. */
struct span {
    long long least, most;
    bool differ;
};

static struct span group_span(const struct ranking *ranking, const char *group)
{
    struct span span = {.least = LLONG_MAX, .most = LLONG_MIN};
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct evidence *evidence = ranking->nodes[i].evidence;
        for (size_t j = 0; evidence && j < evidence->enqueued_len; j++) {
            const struct enqueued *one = &evidence->enqueued[j];
            if (strcmp(one->group, group) == 0) {
                span.least = one->enqueued < span.least ? one->enqueued : span.least;
                span.most = one->enqueued > span.most ? one->enqueued : span.most;
            }
        }
    }
    span.differ = span.least < span.most;
    return span;
}

/* The ranks that enqueued fewer collectives than others of their group never called the one that is waited
 * for. */
static long find_laggard(const struct ranking *ranking, bool *absent)
{
    long rank = -1;
    size_t count = 0;
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct evidence *evidence = ranking->nodes[i].evidence;
        for (size_t j = 0; evidence && j < evidence->enqueued_len; j++) {
            const struct enqueued *one = &evidence->enqueued[j];
            struct span span = group_span(ranking, one->group);
            if (!span.differ || one->enqueued != span.least) {
                continue;
            }
            absent[i] = true;
            count += one->rank != rank;
            rank = one->rank;
        }
    }
    if (count == 0) {
        return find_silent(ranking, absent);
    }
    return count == 1 ? rank : -1;
}

/* Node 0, or when it waits itself those that are silent. */
static long find_master(const struct ranking *ranking, const struct candidate *candidate, bool *absent)
{
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        if (ranking->nodes[i].rank == 0 && i != candidate->node) {
            absent[i] = true;
            return -1;
        }
    }
    return find_silent(ranking, absent);
}

static long find_named(const struct ranking *ranking, const struct event *event, bool *absent)
{
    long rank = event->groups[1] ? strtol(event->groups[1], NULL, 10) : -1;
    long node = rank >= 0 ? ranking_node_of_rank(ranking, rank) : -1;
    if (node < 0) {
        return find_silent(ranking, absent);
    }
    absent[node] = true;
    return rank;
}

/* Those that the flight recorders tell of. */
static long find_unjoined(const struct ranking *ranking, bool *absent)
{
    const struct unjoined *found = &ranking->unjoined;
    for (size_t i = 0; i < found->len; i++) {
        long node = ranking_node_of_rank(ranking, found->ranks[i]);
        if (node >= 0) {
            absent[node] = true;
        }
    }
    return found->len == 1 ? found->ranks[0] : -1;
}

long ranking_find_absent(const struct ranking *ranking, const struct candidate *candidate, bool *absent)
{
    switch (candidate->event->signature->culprit) {
    case CULPRIT_LAGGARD:
        return find_laggard(ranking, absent);
    case CULPRIT_MASTER:
        return find_master(ranking, candidate, absent);
    case CULPRIT_NAMED:
        return find_named(ranking, candidate->event, absent);
    case CULPRIT_ABSENT:
        return find_silent(ranking, absent);
    case CULPRIT_RECORDED:
        return find_unjoined(ranking, absent);
    case CULPRIT_PRINTER:
        break;
    }
    absent[candidate->node] = true;
    return ranking_rank(ranking, candidate->node, candidate->event);
}
