/*
 * What the log of one node says: known messages (events), the ends of worker processes as torchrun reports
 * them, and facts. Reading takes one pass and bounded memory, however long the log or its lines are.
 */
#ifndef MTLAUNCH_INSIGHT_EVIDENCE_H
#define MTLAUNCH_INSIGHT_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strlist.h"
#include "insight/signature.h"
#include "insight/start_step.h"

#define EVIDENCE_EVENTS   256 /* kept per log */
#define EVIDENCE_REPEATS  4   /* kept per signature and rank: the first ones and the last */
#define EVIDENCE_CHILDREN 256
#define EVIDENCE_RANKS    1024 /* ranks of one node that are distinguished */

/* A known message. Owned strings. */
struct event {
    const struct signature *signature;
    unsigned long line; /* in the log, from 1 */
    long rank;          /* torch's global rank; -1: unknown */
    long local_rank;    /* -1: unknown */
    double time;        /* seconds, to compare within a run; negative: unknown */
    bool fatal;         /* the message of an exception, or in the last lines before the end */
    bool exception;     /* the message of an exception */
    bool prefixed;      /* a rank stood before the line; torch adds it to an exception that ended the rank */
    unsigned chain;     /* number shared by exceptions that were raised one from another; 0: not in a chain */
    bool aside;         /* an exception that ended at most a thread */
    bool message;       /* one of the further lines of an exception's message */
    bool warning;       /* it was logged as a warning */
    bool late;          /* in the last lines before the end, or before the first report of a failed worker */
    unsigned steps;     /* training steps that the log showed before this line */
    bool command;       /* the end of the job's command itself; it has no rank */
    char *text;         /* the line, without prefixes and colours */
    char *file;         /* the file that it is in; NULL: the log */
    char *place;        /* "train.py:17", innermost frame of the program's own files; NULL: none */
    char *groups[SIGNATURE_GROUPS]; /* of the pattern; NULL: no such group */
};

/* How a worker process ended, by torchrun's failure block or its "failed (exitcode: …)" line. */
struct child_end {
    unsigned long line;
    long rank, local_rank; /* -1: unknown */
    int exit_code;         /* negative: a signal */
    double time;           /* negative: unknown */
    bool first;            /* the block's "root cause": the first to end on this node */
    char *text;            /* the line; owned */
};

/* A deadly signal as Python's faulthandler or a shell reports it. Owned strings. */
struct fault {
    const char *signal; /* name without SIG, static */
    unsigned long line;
    long rank, local_rank; /* -1: unknown */
    bool prefixed;         /* a rank stood before the line */
    bool current;          /* the stack that follows is of the thread that got the signal */
    char *text;            /* the line */
    char *place;           /* "train.py:42", innermost frame of the program's own files; NULL: unknown */
};

/* What a rank's watchdog reports about a process group. */
struct enqueued {
    long rank;
    unsigned long line;
    long long enqueued, completed; /* numbers of the last collective */
    char group[48];
};

/* What the flight recorder of a rank reports about a process group. Owned strings. */
struct recorded {
    long rank;
    char *group;                   /* its name, the same on all ranks */
    long long enqueued, completed; /* numbers of the last collective; -1: none */
    char *op;    /* the collective that it waits in, or called last: "all_reduce"; NULL: unknown */
    char *place; /* "train.py:88", where it was called; NULL: unknown */
    long *ranks; /* global ranks of the group; empty: unknown */
    size_t ranks_len;
};

struct evidence {
    struct event *events;
    size_t events_len, events_cap;
    struct child_end *children;
    size_t children_len, children_cap;
    struct fault *faults;
    size_t faults_len, faults_cap;
    struct recorded *recorded;
    size_t recorded_len, recorded_cap;
    struct enqueued *enqueued;
    size_t enqueued_len, enqueued_cap;
    long *ranks; /* global ranks that printed something that was read, in order of appearance */
    size_t ranks_len, ranks_cap;
    size_t workers;                           /* workers that torchrun says it ended */
    unsigned steps;                           /* training steps that the log shows, roughly */
    bool completed;                           /* the log shows that the last planned step was done */
    struct start_step start;                  /* the step from which the training went on */
    bool megatron;                            /* the program is from Megatron-LM, or uses it */
    unsigned long lines;                      /* read */
    unsigned long failed_line;                /* the first line that says that a worker failed; 0: none */
    int signalled;                            /* the signal that torchrun says it got; 0: none */
    double signalled_at;                      /* by the log's clock; negative: unknown */
    char *nccl_version, *network, *interface; /* NULL: not known */
    char *ib_link;                            /* of the ports that NCCL found: "IB" or "RoCE"; NULL: none */
    long *init_open; /* ranks in an NCCL init that began but has not completed; one entry per init */
    size_t init_open_len, init_open_cap;
    size_t init_begun; /* inits of NCCL communicators that began */
    double
        met_at; /* when NCCL's first init completed, which is simultaneous on its ranks; negative: unknown */
};

void evidence_init(struct evidence *evidence);
void evidence_release(struct evidence *evidence);

/*
 * Add an event that comes from no log line, such as the exit of a process. The caller sets the other fields.
 * Valid until the next call.
 */
struct event *evidence_add_event(struct evidence *evidence, const struct signature *signature);

/* Recognises the rows of all tables; made once, used for any number of logs, one after the other. */
struct scanner;
struct scanner *scanner_new(void);
void scanner_free(struct scanner *scanner);

/* Append the literals of all rows that can be a cause or a consequence, for a search on a node. */
void scanner_list_literals(const struct scanner *scanner, struct strlist *literals);

/* Reads one log. It borrows the scanner and the evidence. */
struct evidence_reader;
struct evidence_reader *evidence_reader_new(struct scanner *scanner, struct evidence *evidence);

/* Take the next bytes of the log. */
void evidence_reader_feed(struct evidence_reader *reader, const char *bytes, size_t len);

/* Take one line of the log, with its number; lines may be skipped. Do not mix with evidence_reader_feed. */
void evidence_reader_line(struct evidence_reader *reader, unsigned long number, const char *bytes,
                          size_t len);

/*
 * Take the error file of a worker (JSON, as torch.distributed.elastic's @record writes it), after the log.
 * path: the name that evidence shows. when: the exception's time as "2026-11-29_15:25:00"; any other text:
 * unknown.
 */
void evidence_reader_error_file(struct evidence_reader *reader, const char *path, long local_rank,
                                const char *when, const char *text);

/*
 * Take the summary of a flight recorder's dump, as the node's script reports it (JSON). Returns false if it
 * is not one.
 */
bool evidence_add_dump(struct evidence *evidence, const char *text);

/* End the log and free the reader. */
void evidence_reader_end(struct evidence_reader *reader);

#endif
