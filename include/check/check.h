/*
 * Checks: what can be asked of the nodes before a job starts there, and what the answers mean. Pure: a check
 * says what to ask and judges the answers; the layer above does the asking.
 *
 * To add one: src/check/ID.c with a `const struct check check_ID`, src/check/ID.sh with a shell function
 * mt_check_ID that reports its facts with mt_frame KEY VALUE, a line in CHECK_TABLE of
 * src/check/check_internal.h, and good and bad facts in tests/data/check/ID.facts.
 * tests/unit/check/test_table.c walks the table and fails for a check that lacks a part.
 *
 * The names of values that ask sets, and the keys of facts, consist of letters and "_". The shell function
 * finds the value NAME in mt_NAME. Facts come back as "ID.KEY".
 */
#ifndef MTLAUNCH_CHECK_CHECK_H
#define MTLAUNCH_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"
#include "model/env.h"
#include "model/facts.h"
#include "model/finding.h"
#include "model/job.h"

enum check_program {
    CHECK_PROGRAM_NONE,   /* a shell line: nothing can be looked for */
    CHECK_PROGRAM_FILE,   /* a file, relative to the working folder */
    CHECK_PROGRAM_MODULE, /* a Python module */
    CHECK_PROGRAM_COMMAND /* looked up in PATH, or with a slash: an executable file */
};

/* The part of a job that one node would run. All borrowed; NULL and 0: not given. */
struct check_subject {
    const char *run;
    unsigned rank, nnodes;
    bool local;            /* without ssh */
    const char *container; /* its name; NULL: on the node itself */
    const char *workdir;   /* as the spec has it */
    const char *artifacts;
    const struct strlist *setup; /* lines as they may be shown: without secrets */
    unsigned long start_timeout_s;
    enum check_program program_type;
    const char *program, *interpreter;
    const char *module;         /* a module that the interpreter must have */
    const char *config;         /* a file that the launcher reads, relative to workdir */
    const char *config_key;     /* the key of the spec that names it */
    const struct strlist *argv; /* the whole command */
    const char *visible;        /* CUDA_VISIBLE_DEVICES as the job sets it; NULL: it does not */
    bool counts_gpus;           /* the number of GPUs may decide how many processes start */
    bool needs_gpus;            /* it does so on this node */
    unsigned master_port;       /* 0: any that is free */
    const char *master_addr;
    const char *outer_run_id; /* of the run whose job called this command; NULL: none */
    bool starting;            /* the job starts if all is well: ask only what is quick or required */
    unsigned nproc;           /* processes on this node; 0: known only at the start */
    const struct job_require *require;
    const struct env *env; /* of the job, as far as spec, host list and caller set it */
    /*
     * For checks that involve all nodes: a unique text of letters and digits, a port that is not known to be
     * in use, and the addresses of the next and the previous node (NULL: none).
     */
    const char *token;
    unsigned probe_port;
    const char *next_addr, *previous_addr;
    const struct strlist *addresses; /* of all nodes; NULL: not known */
};

/* One node's part in a comparison. All borrowed. */
struct check_node {
    const char *label;
    const struct check_subject *subject;
    const struct facts *facts;
};

/* When a check runs, apart from `mtlaunch check`. */
enum check_when {
    CHECK_ON_REQUEST,   /* never */
    CHECK_BEFORE_START, /* by start, unless --no-check */
    CHECK_ALWAYS        /* by every start */
};

enum check_fact_type {
    CHECK_TEXT,
    CHECK_NUMBER,  /* 0..max */
    CHECK_STATUS,  /* an exit status 0..255, or -1: none */
    CHECK_PROCESS, /* "PID STATE COMMAND" */
    CHECK_RUN_USER /* "RUN_ID USER" */
};

/* A fact that must have a certain form: an answer in which it has another form is refused. */
struct check_fact {
    const char *key; /* without the check's id; NULL ends a list */
    enum check_fact_type type;
    uint64_t max;
};

struct check {
    const char *id;    /* letters and "_" */
    const char *title; /* what it looks at: "master port" */
    const char *why;   /* what goes wrong without it: one sentence */
    /*
     * The check whose results it uses (src/check/ID.sh may read its variables and files), or that must have
     * ended first: if both are wanted, it runs after that one. NULL: none.
     */
    const char *needs;
    enum check_when when;
    unsigned timeout_s; /* on the node; 0: no limit: its result must be complete, and it cannot hang */
    bool has_setup;     /* start_timeout is added to its limit */
    bool apart;         /* it may take long: it runs in parallel with the others */
    /* What it means if it did not end in time: a failure of this kind, or (NULL) a warning. */
    const struct error_kind *late;
    const struct check_fact *facts; /* NULL: texts only */

    /* Does the check make sense for this node? If so, set the values that its shell function needs. */
    bool (*ask)(const struct check_subject *subject, struct env *values);

    /* Judge the facts of one node. No finding: nothing to report (what the check needs has failed). */
    void (*judge)(const struct check_subject *subject, const struct facts *facts, struct findings *out);

    /*
     * Compare the facts of all nodes that answered. The findings name their hosts. NULL: nodes are not
     * compared. Not called for a start.
     */
    void (*compare)(const struct check_node *nodes, size_t count, struct findings *out);
};

/* All checks, in the order in which their findings count. */
extern const struct check *const checks_all[];
extern const size_t checks_count;

#define CHECKS_MAX 64 /* room for the checks of the table; tests/unit/check verifies it */

/* Find a check by its id. NULL: there is none. */
const struct check *check_find(const char *id);

/* A selection of checks, with one entry for each of checks_all. */
struct check_choice {
    bool wanted[CHECKS_MAX];
};

/* Choose the checks of a start: all that run before a start, or (no_check) only the CHECK_ALWAYS ones. */
void check_choose_start(struct check_choice *choice, bool no_check);

/* Add the checks that the chosen ones need. */
void check_add_needed(struct check_choice *choice);

/* What to ask one node, for node_request_check. Owned. */
struct check_request {
    struct str lanes;     /* checks that run in parallel: see src/node/script/30-check.sh */
    struct str own;       /* checks without a time limit, in order */
    struct strlist parts; /* names of their parts of the script */
    struct env values;
};

void check_request_release(struct check_request *request);

/* Fill out with what to ask a node. Checks that make no sense for this node are removed from choice. */
void check_ask(const struct check_subject *subject, struct check_choice *choice, struct check_request *out);

/*
 * Verify that every fact of an answer has the form that its check declares, so that judges can rely on it. -1
 * with kind_node_answer if one does not.
 */
int check_verify(const struct facts *facts, struct error *err);

/* Judge the chosen checks of one node, in the order of the table. out: appended to. */
void check_judge(const struct check_subject *subject, const struct check_choice *choice,
                 const struct facts *facts, struct findings *out);

/* Compare the nodes that ran a chosen check, check by check. out: appended to, with hosts. */
void check_compare(const struct check_choice *choice, const struct check_node *nodes, size_t count,
                   struct findings *out);

/* Clear the checks that the spec leaves out (checks.skip). -1 with kind_job_file for an id that no check has.
 */
int check_choose_skip(const struct strlist *ids, struct check_choice *choice, struct error *err);

/* Does the node have InfiniBand or RoCE ports that are up? By the facts of the check 'ib'. */
bool check_has_fast_ports(const struct facts *facts);

/* The setup line with this number (from 1), as a message quotes it: its first line. The caller frees it. */
char *check_quote_setup(const struct strlist *setup, uint64_t number);

/* The owner of a .state file that is in the way of a run; NULL: not known. */
struct check_foreign {
    const char *run_id, *host, *user;
    const char *head; /* the machine it was started from; NULL: unknown */
    int64_t pid;
    bool lives; /* false: it may still be alive */
};

/* The error for it: kind_run_foreign. Returns -1. */
int check_foreign_error(const struct check_foreign *foreign, const char *run, struct error *err);

#endif
