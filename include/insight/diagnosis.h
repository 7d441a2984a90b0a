/*
 * Why a run failed: the evidence of all its nodes, ranked. Pure: no clock, no I/O.
 *
 * The class of a message outweighs its time, because the node whose torchrun exits first is often a victim. A
 * consequence (VICTIM) is never the cause.
 */
#ifndef MTLAUNCH_INSIGHT_DIAGNOSIS_H
#define MTLAUNCH_INSIGHT_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/strlist.h"
#include "insight/evidence.h"

/* What is known about a node. All borrowed. */
struct node_end {
    unsigned rank;
    const char *host;                /* its label */
    const char *file;                /* name of its log, as evidence shows it; NULL: none */
    const struct evidence *evidence; /* NULL: its log could not be read */
    bool running;                    /* it has not ended, and its whole log was searched */
    bool unreachable;                /* it did not answer when the run ended */
    bool stopped;                    /* mtlaunch signalled it: how it ended says nothing */
    int exit_status;                 /* of the job's command, as sh reports it; -1: unknown, or it runs */
    const char *signal;              /* name without SIG; NULL */
    double ended;                    /* seconds, comparable between nodes; negative: unknown */
    double clock_ahead;              /* seconds by which its clock, and so its log, is ahead of the others */
};

enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };

/* "low", "medium", "high". */
const char *confidence_name(enum confidence confidence);

/* The cause. Owned. */
struct cause {
    const struct signature *signature; /* NULL: there is none */
    enum signature_class class;
    enum confidence confidence;
    bool command;  /* the cause is the end of the job's command: no log says more */
    char *summary; /* one line, without the host */
    size_t *nodes; /* indices of the affected nodes, ascending */
    size_t nodes_len;
    /* index of the node whose evidence is shown: one of nodes, if any of them printed something */
    size_t node;
    long global_rank; /* -1: unknown */
    struct strlist remedies;
    const char *file;   /* of the evidence, borrowed from the node; NULL: none */
    unsigned long line; /* 0: the file holds a single text, or there is no evidence */
    char *text;         /* NULL: none */
};

/* What other nodes show. Owned. */
struct consequence {
    const struct signature *signature;
    size_t *nodes;
    size_t nodes_len;
    const char *file;
    unsigned long line;
    char *text;    /* NULL: none */
    char *summary; /* one line */
};

struct diagnosis {
    bool failed; /* something failed, whether a cause was found or not */
    struct cause cause;
    struct consequence *consequences;
    size_t consequences_len, consequences_cap;
};

/* nproc: processes on each node; 0: unknown (it is guessed from the evidence). */
void diagnosis_make(struct diagnosis *diagnosis, const struct node_end *nodes, size_t nodes_len,
                    unsigned nproc);
void diagnosis_release(struct diagnosis *diagnosis);

/*
 * Append the cause in one line: "node3 (node 2, rank 5): ValueError: shape mismatch (train.py:17)", or
 * "node[1-4]: …" when it affects several nodes. Appends nothing when there is no cause.
 */
void diagnosis_add_reason(const struct diagnosis *diagnosis, const struct node_end *nodes, struct str *out);

#endif
