/* Finds the nodes and ranks that the others waited for. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "diagnosis_internal.h"

/* The node of a global rank: by the ranks that the logs show, else by the number of processes per node. */
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
        if (class != CLASS_NOISE && !ended && !event_tells_nothing(ranking, node, &evidence->events[i])) {
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

/* Keep only the silent nodes with empty logs, if there are any and no more than are missing (wanted). */
static size_t keep_empty(const struct ranking *ranking, bool *absent, size_t count, size_t wanted)
{
    size_t empty = 0;
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct evidence *evidence = ranking->nodes[i].evidence;
        empty += absent[i] && (!evidence || evidence->lines == 0);
    }
    if (empty == 0 || empty == count || empty > wanted) {
        return count;
    }
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct evidence *evidence = ranking->nodes[i].evidence;
        absent[i] = absent[i] && (!evidence || evidence->lines == 0);
    }
    return empty;
}

/* How many nodes or ranks the message says are missing; the number of nodes if it gives no count. */
static size_t missing_count(const struct ranking *ranking, const struct event *event)
{
    bool clients = candidate_is(event, "RDZV_WAIT_CLIENTS");
    const char *all = event->groups[clients ? 3 : 2];
    const char *came = event->groups[clients ? 2 : 4];
    if (!all || !came || (!clients && !candidate_is(event, "STORE_BARRIER"))) {
        return ranking->nodes_len;
    }
    long missing = strtol(all, NULL, 10) - strtol(came, NULL, 10);
    return missing > 0 ? (size_t)missing : ranking->nodes_len;
}

/* Flag the silent nodes, unless all are silent. Returns the rank if it is a single node with one process. */
static long find_silent(const struct ranking *ranking, const struct event *event, bool *absent)
{
    size_t count = ranking_find_silent(ranking, absent);
    count = keep_empty(ranking, absent, count, missing_count(ranking, event));
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

static bool has_timed_out(const struct evidence *evidence, long rank)
{
    for (size_t i = 0; i < evidence->events_len; i++) {
        if (evidence->events[i].rank == rank && candidate_is(&evidence->events[i], "NCCL_WATCHDOG")) {
            return true;
        }
    }
    return false;
}

/*
 * Older watchdogs print no numbers. Finds the single rank whose watchdog printed nothing, if those of all
 * others did.
 */
static long find_missing(const struct ranking *ranking, bool *absent)
{
    long missing = -1;
    size_t node = 0;
    for (size_t i = 0; i < ranking->nodes_len && ranking->nproc > 1; i++) {
        long first = (long)ranking->nodes[i].rank * ranking->nproc;
        for (long rank = first; rank < first + ranking->nproc; rank++) {
            const struct evidence *evidence = ranking->nodes[i].evidence;
            if (evidence && has_timed_out(evidence, rank)) {
                continue;
            }
            if (missing >= 0) {
                return -1;
            }
            missing = rank;
            node = i;
        }
    }
    if (missing >= 0) {
        absent[node] = true;
    }
    return missing;
}

/*
 * The ranks that enqueued fewer collectives than others of their group never called the one that the others
 * wait for.
 */
static long find_laggard(const struct ranking *ranking, const struct event *event, bool *absent)
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
        rank = find_missing(ranking, absent);
        return rank >= 0 ? rank : find_silent(ranking, event, absent);
    }
    return count == 1 ? rank : -1;
}

/* Flag node 0, or the silent nodes when node 0 itself waits. */
static long find_master(const struct ranking *ranking, const struct candidate *candidate, bool *absent)
{
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        if (ranking->nodes[i].rank == 0 && i != candidate->node) {
            absent[i] = true;
            return -1;
        }
    }
    return find_silent(ranking, candidate->event, absent);
}

static long find_named(const struct ranking *ranking, const struct event *event, bool *absent)
{
    long rank = event->groups[1] ? strtol(event->groups[1], NULL, 10) : -1;
    long node = rank >= 0 ? ranking_node_of_rank(ranking, rank) : -1;
    if (node < 0) {
        return find_silent(ranking, event, absent);
    }
    absent[node] = true;
    return rank;
}

static long find_uninit(const struct ranking *ranking, bool *absent)
{
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        absent[i] = !ranking->nodes[i].evidence || ranking->nodes[i].evidence->init_begun == 0;
    }
    return -1;
}

/* Flag the nodes of the ranks that did not join, by the flight recorders. */
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
        return find_laggard(ranking, candidate->event, absent);
    case CULPRIT_MASTER:
        return find_master(ranking, candidate, absent);
    case CULPRIT_NAMED:
        return find_named(ranking, candidate->event, absent);
    case CULPRIT_ABSENT:
        return find_silent(ranking, candidate->event, absent);
    case CULPRIT_UNINIT:
        return find_uninit(ranking, absent);
    case CULPRIT_RECORDED:
        return find_unjoined(ranking, absent);
    case CULPRIT_PRINTER:
    case CULPRIT_MINORITY:
        break;
    }
    absent[candidate->node] = true;
    return ranking_rank(ranking, candidate->node, candidate->event);
}

/* --- the minority --------------------------------------------------------------------------------- */

#define VERSIONS_MAX 512 /* ranks whose versions are compared */

struct rank_version {
    long rank;
    const char *version; /* borrowed */
};

static size_t add_version(struct rank_version *known, size_t len, const char *rank, const char *version)
{
    long number = rank ? strtol(rank, NULL, 10) : -1;
    for (size_t i = 0; i < len; i++) {
        if (known[i].rank == number) {
            return len;
        }
    }
    if (number < 0 || !version || len == VERSIONS_MAX) {
        return len;
    }
    known[len] = (struct rank_version){.rank = number, .version = version};
    return len + 1;
}

static size_t count_version(const struct rank_version *known, size_t len, const char *version)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        count += strcmp(known[i].version, version) == 0;
    }
    return count;
}

void ranking_take_minority(const struct ranking *ranking, const struct event *event, struct cause *cause)
{
    struct rank_version known[VERSIONS_MAX];
    size_t len = 0;
    size_t fewest = VERSIONS_MAX;
    if (event->signature->culprit != CULPRIT_MINORITY) {
        return;
    }
    for (size_t i = 0; i < ranking->len; i++) {
        const struct event *one = ranking->candidates[i].event;
        if (one->signature == event->signature) {
            len = add_version(known, len, one->groups[1], one->groups[2]);
            len = add_version(known, len, one->groups[3], one->groups[4]);
        }
    }
    for (size_t i = 0; i < len; i++) {
        size_t count = count_version(known, len, known[i].version);
        fewest = count < fewest ? count : fewest;
    }
    cause->nodes_len = 0;
    for (size_t i = 0; i < len; i++) {
        long node = ranking_node_of_rank(ranking, known[i].rank);
        if (node >= 0 && count_version(known, len, known[i].version) == fewest) {
            cause_add_node(cause, (size_t)node);
            cause->global_rank = fewest == 1 ? known[i].rank : -1;
        }
    }
    if (cause->nodes_len == 0) {
        cause_add_node(cause, cause->node);
    }
}
