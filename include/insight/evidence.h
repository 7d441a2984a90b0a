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

#define EVIDENCE_EVENTS   256 /* kept of a log */
#define EVIDENCE_REPEATS  4   /* kept of one signature and rank: the first ones, and the last */
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
    bool prefixed;  /* a rank stood before the line: of an exception, torch itself says that it ended the rank
                     */
    unsigned chain; /* exceptions that were raised one from another have the same number; 0: of none */
    bool aside;     /* of an exception: it ended at most a thread */
    bool message;   /* in the lines below an exception's first, which belong to its message */
    bool warning;   /* whoever logged it calls it a warning */
    bool late;      /* in the last lines before the end, or before a worker is said to have failed */
    unsigned steps; /* of the training that the log had shown before */
    bool command;   /* how the job's command itself ended: of no rank */
    char *text;     /* the line, without prefixes and colours */
    char *file;     /* where it is, if not in the log; NULL: there */
    char *place;    /* "train.py:17", innermost frame of the program's own files; NULL: none */
    char *groups[SIGNATURE_GROUPS]; /* of the pattern; NULL: no such group */
};

/* How a worker process ended, by torchrun's failure block or its "failed (exitcode: …)" line. */
struct child_end {
    unsigned long line;
    long rank, local_rank; /* -1: unknown */
    int exit_code;         /* negative: a signal */
    double time;           /* negative: unknown */
    bool first;            /* the block's "root cause": the first that ended on this node */
    char *text;            /* the line; owned */
};

/* A deadly signal as Python's faulthandler or a shell reports it. Owned strings. */
struct fault {
    const char *signal; /* name without SIG, static */
    unsigned long line;
    long rank, local_rank; /* -1: unknown */
    bool prefixed;         /* a rank stood before the line */
    bool current;          /* the stack that follows is that of the thread that got the signal */
    char *text;            /* the line */
    char *place;           /* "train.py:42", innermost frame of the program's own files; NULL: unknown */
};

/* What a rank's watchdog says of a process group. */
struct enqueued {
    long rank;
    unsigned long line;
    long long enqueued, completed; /* numbers of the last collective */
    char group[48];
};

/* What the flight recorder of a rank says of a process group. Owned strings. */
struct recorded {
    long rank;
    char *group;                   /* its name, the same on all ranks */
    long long enqueued, completed; /* numbers of the last collective; -1: none */
    char *op;    /* the collective that it waits in, or called last: "all_reduce"; NULL: unknown */
    char *place; /* "train.py:88", from where it was called; NULL: unknown */
    long *ranks; /* of the group, global; none: unknown */
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
    size_t workers;                           /* that torchrun says it ended */
    unsigned steps;                           /* of the training that the log shows, roughly */
    bool completed;                           /* the last step is the last that was to be done */
    struct start_step start;                  /* from which step it went on */
    bool megatron;                            /* the program is Megatron-LM's, or uses it */
    unsigned long lines;                      /* read */
    unsigned long failed_line;                /* the first line that says that a worker failed; 0: none */
    int signalled;                            /* the signal that torchrun says it got; 0: none */
    double signalled_at;                      /* by the log's clock; negative: unknown */
    char *nccl_version, *network, *interface; /* NULL: not known */
    char *ib_link;                            /* of the ports that NCCL found: "IB" or "RoCE"; NULL: none */
    long
        *init_open; /* ranks whose NCCL communicators have begun and not completed their init; one per init */
    size_t init_open_len, init_open_cap;
    size_t init_begun; /* inits of NCCL communicators that began */
    double
        met_at; /* when NCCL's first init completed, at the same moment on all its ranks; negative: unknown */
};

void evidence_init(struct evidence *evidence);
void evidence_release(struct evidence *evidence);

/* Event of a row that no line gave, such as the exit of a process; the caller sets the rest. Valid until the
 * next. */
struct event *evidence_add_event(struct evidence *evidence, const struct signature *signature);

/* Recognises the rows of all tables; made once, used for any number of logs, one after the other. */
struct scanner;
struct scanner *scanner_new(void);
void scanner_free(struct scanner *scanner);

/* The literals of all rows that can be a cause or a consequence, for a search on a node. */
void scanner_list_literals(const struct scanner *scanner, struct strlist *literals);

/* Reads one log. It borrows the scanner and the evidence. */
struct evidence_reader;
struct evidence_reader *evidence_reader_new(struct scanner *scanner, struct evidence *evidence);

/* Take the next bytes of the log. */
void evidence_reader_feed(struct evidence_reader *reader, const char *bytes, size_t len);

/* Take one line of the log by its number: lines between may be left out. Not to be mixed with feed. */
void evidence_reader_line(struct evidence_reader *reader, unsigned long number, const char *bytes,
                          size_t len);

/*
 * Take the error file of a worker (JSON, as torch.distributed.elastic's @record writes it), after the log.
 * path is what evidence shows, when the exception's time as "2026-11-29_15:25:00", or another text: unknown.
 */
void evidence_reader_error_file(struct evidence_reader *reader, const char *path, long local_rank,
                                const char *when, const char *text);

/* Take the summary of a flight recorder's dump, as the node's script reports it (JSON). False: it is not one.
 */
bool evidence_add_dump(struct evidence *evidence, const char *text);

/* The log has ended; the reader is freed. */
void evidence_reader_end(struct evidence_reader *reader);

#endif
