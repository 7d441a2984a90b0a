/* What the parts of the ranker share. */
#ifndef MTLAUNCH_INSIGHT_DIAGNOSIS_INTERNAL_H
#define MTLAUNCH_INSIGHT_DIAGNOSIS_INTERNAL_H

#include "insight/diagnosis.h"

/* A message, or the end of a process, that may be the cause. */
struct candidate {
    size_t node;               /* index */
    const struct event *event; /* borrowed */
    enum signature_class class;
    unsigned level; /* the smaller the more likely; LEVEL_NEVER: no cause */
    double time;    /* negative: unknown */
};

/* Ranks that never called a collective, by the flight recorders. */
struct unjoined {
    const struct recorded *waiter; /* one that waits in it, borrowed */
    size_t waiting;                /* how many do */
    long *ranks;                   /* ascending; owned */
    size_t len, cap;
};

#define LEVEL_NEVER 90
#define LEVEL_AMBIG 50

struct ranking {
    const struct node_end *nodes;
    size_t nodes_len;
    long nproc;            /* 0: unknown */
    struct evidence *made; /* one per node: events of how processes ended */
    bool **matched;        /* one per node: which of its faults belong to an event in made */
    struct candidate *candidates;
    size_t len, cap;
    struct unjoined unjoined; /* len 0: nobody, or nothing is recorded */
};

bool candidate_is(const struct event *event, const char *id);

/* candidates.c: take the events of a node; the best of all, NULL when none can be the cause (valid until more
 * come). */
void ranking_add_candidates(struct ranking *ranking, size_t node, const struct evidence *evidence);
const struct candidate *ranking_find_best(const struct ranking *ranking);

/* candidates.c: processes on each node, by what the logs tell of them; 0: unknown. */
long ranking_guess_nproc(const struct ranking *ranking);

/* ends.c: add an event for each process whose end says something, and for nodes that do not answer. */
void ranking_add_ends(struct ranking *ranking);

/* ends.c: did anything fail? */
bool ranking_has_failure(const struct ranking *ranking);

/* The global rank of an event: its own, else by local rank, or by the worker that failed first on its node;
 * -1. */
long ranking_rank(const struct ranking *ranking, size_t node, const struct event *event);

/* absent.c: the nodes (flags) that others wait for, by what the candidate's signature says, and a rank or -1.
 */
long ranking_find_absent(const struct ranking *ranking, const struct candidate *candidate, bool *absent);

/* absent.c: the index of the node of a global rank, -1. */
long ranking_node_of_rank(const struct ranking *ranking, long rank);

/* recorder.c: true when there are some. */
bool ranking_find_unjoined(const struct ranking *ranking, struct unjoined *found);

/* absent.c: the nodes (flags) whose logs show nothing known. Returns how many. */
size_t ranking_find_silent(const struct ranking *ranking, bool *absent);

/* expand.c: the summary of a candidate; same: events that tell the same, for folded groups. */
void expand_template(const char *template, const struct event *event, const struct event *const *same,
                     size_t same_len, struct str *out);

#endif
