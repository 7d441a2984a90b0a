/* What the parts of the ranker share. */
#ifndef MTLAUNCH_INSIGHT_DIAGNOSIS_INTERNAL_H
#define MTLAUNCH_INSIGHT_DIAGNOSIS_INTERNAL_H

#include "insight/diagnosis.h"

/* A message, or the end of a process, that may be the cause. */
struct candidate {
    size_t node;               /* index */
    const struct event *event; /* borrowed */
    enum signature_class class;
    unsigned level; /* the smaller the likelier; LEVEL_NEVER: not a cause */
    double time;    /* negative: unknown */
};

/* Ranks that never called a collective, by the flight recorders. */
struct unjoined {
    const struct recorded *waiter; /* one of those that wait in it, borrowed */
    size_t waiting;                /* how many wait in it */
    long *ranks;                   /* ascending; owned */
    size_t len, cap;
};

#define INFERRED_MAX   8 /* events per node */
#define LEVEL_NEVER    90
#define LEVEL_AMBIG    50
#define LEVEL_HANDLED  55 /* from here on: the program went on after it */
#define LEVEL_UNLIKELY 56 /* named only if there is nothing else */

struct ranking {
    const struct node_end *nodes;
    size_t nodes_len;
    long nproc;                /* 0: unknown */
    struct evidence *made;     /* one per node: events of how processes ended */
    struct evidence *inferred; /* one per node: conclusions from all nodes; room for INFERRED_MAX events */
    bool **matched;            /* one per node: which of its faults belong to an event in made */
    struct candidate *candidates;
    size_t len, cap;
    bool failed;              /* something says that the run failed */
    bool trained;             /* a node shows some steps */
    bool completed;           /* a node shows that the last step was done */
    struct unjoined unjoined; /* len 0: none, or nothing is recorded */
};

bool candidate_is(const struct event *event, const char *id);

/* levels.c: is it what others suffer when a rank fails or is missing? */
bool event_is_consequence(const struct event *event);

/* levels.c: is it a line that healthy logs have too: a warning, or a common text that ended no program? */
bool event_is_common(const struct event *event);

/* levels.c: does it not explain why the node failed: a common line, or an exception that was handled? */
bool event_tells_nothing(const struct ranking *ranking, size_t node, const struct event *event);

/* levels.c: note how far the training got on any node; call it before ranking_level */
void ranking_note_steps(struct ranking *ranking);

/* levels.c: how likely an event of the node is the cause: the smaller the more likely */
unsigned ranking_level(const struct ranking *ranking, size_t node, const struct event *event);

/*
 * candidates.c: add the events of a node; find the likeliest of all (valid until more are added), NULL when
 * none can be the cause.
 */
void ranking_add_candidates(struct ranking *ranking, size_t node, const struct evidence *evidence);
const struct candidate *ranking_find_best(const struct ranking *ranking);

/* candidates.c: convert a time in the node's log to the clock that all share; unknown stays unknown */
double ranking_common_time(const struct ranking *ranking, size_t node, double time);

/* candidates.c: processes on each node, guessed from the logs; 0: unknown. */
long ranking_guess_nproc(const struct ranking *ranking);

/* ends.c: add an event for each process whose end is significant, and for nodes that do not answer. */
void ranking_add_ends(struct ranking *ranking);

/* ends.c: did a process fail? Does anything say that the run failed? */
bool ranking_has_ended_badly(const struct ranking *ranking);
bool ranking_has_failure(const struct ranking *ranking);

/* ends.c: the name of a signal without SIG, such as "TERM"; NULL: unknown */
const char *ranking_signal_name(int number);

/*
 * infer.c: add what the flight recorders show, as an event in made; add what the nodes show together, as
 * candidates
 */
void ranking_note_unjoined(struct ranking *ranking);
void ranking_infer(struct ranking *ranking);

/*
 * The global rank of an event: its own, else by local rank, else of the worker that failed first on its node;
 * -1: unknown.
 */
long ranking_rank(const struct ranking *ranking, size_t node, const struct event *event);

/*
 * absent.c: flag the nodes that others wait for, by the culprit of the candidate's signature. Returns the
 * rank, or -1.
 */
long ranking_find_absent(const struct ranking *ranking, const struct candidate *candidate, bool *absent);

/* absent.c: the index of the node of a global rank; -1: unknown. */
long ranking_node_of_rank(const struct ranking *ranking, long rank);

/* recorder.c: find the ranks that never called a collective. Returns whether there are any. */
bool ranking_find_unjoined(const struct ranking *ranking, struct unjoined *found);

/* absent.c: flag the nodes whose logs show nothing known. Returns how many there are. */
size_t ranking_find_silent(const struct ranking *ranking, bool *absent);

/* diagnosis.c: add a node to those that the cause affects */
void cause_add_node(struct cause *cause, size_t node);

/* absent.c: where ranks have different versions, replace the nodes of the cause by those of the minority. */
void ranking_take_minority(const struct ranking *ranking, const struct event *event, struct cause *cause);

/* expand.c: append numbers, which are ascending and distinct, as "0" or "0-3,7" */
void ranges_add(const long *numbers, size_t len, struct str *out);

/*
 * expand.c: append a summary or remedy with the groups of the event; same: events that say the same, for
 * folded groups.
 */
void expand_template(const char *template, const struct event *event, const struct event *const *same,
                     size_t same_len, struct str *out);

#endif
