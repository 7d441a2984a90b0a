/*
 * What is sent to a node: the remote command, and the bytes for its standard input (a nonce line, values
 * as quoted literals, the node's script, a verb). Pure: nothing is read, written or generated here.
 *
 * The same bytes serve ssh, a local /bin/sh and `docker exec -i NAME`: nothing in them depends on how they
 * get there. Every value of a request is borrowed until the call returns. Text that is no POSIX file name or
 * environment value (it holds no NUL by its type) needs no care: it arrives byte for byte.
 */
#ifndef MTLAUNCH_NODE_REQUEST_H
#define MTLAUNCH_NODE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strlist.h"
#include "model/env.h"
#include "model/place.h"

#define NODE_NONCE_LEN  32         /* letters and digits of a nonce */
#define NODE_ANSWER_MAX (4u << 20) /* no answer (a tail's body apart) is longer; read no more than this */

/* A call as a transport runs it: command for the remote shell, input for its standard input, then EOF. */
struct node_call {
    char *command;
    struct str input;
    char nonce[NODE_NONCE_LEN + 1]; /* the answer's frames carry it */
};

/* clang-format off */
#define NODE_CALL_INIT {0}
/* clang-format on */
#define AUTO_NODE_CALL __attribute__((cleanup(node_call_release)))
void node_call_release(struct node_call *call);

/* Which node of which run. artifacts: as the spec has it ("~/…" and relative: to the login folder); NULL:
 * ~/.mtlaunch. */
struct node_target {
    const char *run;    /* RUN, already checked by job_check_run_name */
    const char *run_id; /* RUN-<8 hex> */
    unsigned rank;
    unsigned attempt; /* from 1 */
    const char *artifacts;
    struct place place; /* borrowed; the script runs inside its container (node/container.h), if it has one */
};

/* What the environment of a job starts from on the node. */
enum node_env_mode {
    NODE_ENV_LOGIN, /* what the login gives (ssh) */
    NODE_ENV_KEEP,  /* the caller's less PET_*, RANK, LOCAL_RANK, WORLD_SIZE, GROUP_*, TORCHELASTIC_* (one
                       local node) */
    NODE_ENV_CLEAN  /* HOME, USER, LOGNAME, SHELL and the default PATH (a local node of several) */
};

/*
 * A job as one node runs it. Order on the node: unset, defaults, env and computed are applied, the working
 * folder is entered, the setup lines run, computed is applied again, argv is exec'd. Variables whose value is
 * NULL are passed over. Pointers may be NULL: empty.
 */
struct node_job {
    enum node_env_mode env_mode;
    const char *workdir;         /* NULL: login folder; "~/…" and relative: to the login folder */
    const char *shell;           /* "auto" (bash where the node has it, else sh), a name or a path */
    const struct strlist *setup; /* each must end with 0 */
    const struct strlist *argv;  /* at least one word for a start; ignored by checks */
    const struct strlist *ready; /* run before argv, after setup, and has to end with 0; empty: nothing */
    const size_t *home_words; /* indexes of the words of argv whose leading "~/" is the user's home there */
    size_t home_words_len;
    const struct strlist *unset; /* names taken out of the node's own environment */
    const struct env *defaults;  /* set only where the node has no value. LANG also waits for LC_ALL */
    const struct env *env;       /* set always */
    const struct env *computed;  /* set always, before setup and after it */
};

/*
 * What the job's shell looks for after the setup lines. NULL: do not look. A leading "~/" is the user's home
 * there.
 */
struct node_probe {
    const char *program;     /* a file, relative to the job's folder after setup */
    const char *command;     /* a program looked up in PATH after setup */
    const char *interpreter; /* a command looked up in PATH after setup */
    const char *module;      /* a Python module that the interpreter must find (not imported) */
    bool versions;           /* the versions of the interpreter's packages */
};

/* Checks to make on a node, as the check layer asks for them. */
struct node_check_options {
    const struct node_probe *probe;
    const char *lanes;           /* as src/node/script/30-check.sh has them */
    const char *own;             /* the same */
    const struct strlist *parts; /* the checks' parts of the script: "check/ID" */
    const struct env *values;    /* for their functions: NAME becomes mt_NAME */
};

struct node_observe_options {
    bool leftovers; /* also look for processes of the run when its command has ended (a scan of all processes)
                     */
    bool gpus;      /* also ask nvidia-smi, for five seconds at most */
};

struct node_start_options {
    unsigned master_port; /* recorded in .state; on rank 0 refused when another live run here claims it */
    const char *version;  /* of mtlaunch, recorded */
    const char *head;     /* name of the machine that starts it, recorded; NULL: unknown */
    unsigned long start_timeout_s; /* from the first setup line to the proof that it runs; 0: 120 */
};

struct node_prepare_options {
    const char *step;    /* its name: the log's */
    const char *creates; /* passed over where this is; relative to workdir; NULL: never */
    unsigned long limit_s;
};

struct node_stop_options {
    const char *signal; /* without SIG, from job_signal_name */
    unsigned long grace_s;
    bool only_attempt; /* the target's: processes of a later attempt there continue */
};

struct node_comm_options {
    unsigned long limit_s; /* all of it ends there after this time */
    const char *mark;      /* letters and digits: what it starts is found by it, as a command of `exec` is */
};

/* A watch: an observation at once and whenever it would differ, and in between a beat. */
struct node_watch_options {
    unsigned beat_s; /* pause between two beats; 0: 10 */
    unsigned gpus_s; /* pause between two questions to nvidia-smi, where there is one; 0: it is not asked */
    unsigned patience_s; /* a message that is not taken for so long ends the watch; 0: 300 */
};

enum node_tail_from { NODE_TAIL_LINES, NODE_TAIL_BYTES, NODE_TAIL_ALL, NODE_TAIL_OFFSET };

struct node_tail_options {
    unsigned attempt; /* 0: the target's */
    enum node_tail_from from;
    uint64_t count; /* the last lines or bytes, or the offset of the first byte */
    bool follow;    /* until the attempt has ended there and all is sent */
    /*
     * Patterns for grep, one a line: only lines that hold one are wanted. A node whose grep cannot be
     * trusted, or whose log is short, sends all lines. NULL: all are wanted; with follow it has to be.
     */
    const char *filter;
    bool filter_fixed; /* they are for grep -F, else for grep -E */
};

#define NODE_TAIL_UNFILTERED 74 /* exit status: grep could not read the log to its end */

/*
 * Build a call. nonce: NODE_NONCE_LEN letters and digits that nobody can guess, made by the caller. out is
 * initialised by the call and released by the caller with node_call_release.
 */
void node_request_check(const struct node_target *target, const struct node_job *job,
                        const struct node_check_options *options, const char *nonce, struct node_call *out);
void node_request_start(const struct node_target *target, const struct node_job *job,
                        const struct node_start_options *options, const char *nonce, struct node_call *out);
/* A step before the start: job's argv, with its own log. The answer is facts: skipped, late, status, …
 */
void node_request_prepare(const struct node_target *target, const struct node_job *job,
                          const struct node_prepare_options *options, const char *nonce,
                          struct node_call *out);
/*
 * The program of the all-reduce test, run by the interpreter, argv[0] of job, in the job's folder and
 * environment. It takes lines on the call's standard input, which stays open as long as it should run: the
 * first one after its first word (node/comm.h).
 */
void node_request_comm(const struct node_target *target, const struct node_job *job,
                       const struct node_comm_options *options, const char *nonce, struct node_call *out);
void node_request_observe(const struct node_target *target, const struct node_observe_options *options,
                          const char *nonce, struct node_call *out);
void node_request_watch(const struct node_target *target, const struct node_watch_options *options,
                        const char *nonce, struct node_call *out);
void node_request_stop(const struct node_target *target, const struct node_stop_options *options,
                       const char *nonce, struct node_call *out);
/* One signal (without SIG, from job_signal_name) to the job's process group, and nothing else. */
void node_request_signal(const struct node_target *target, const char *signal, const char *nonce,
                         struct node_call *out);
/*
 * What the run's workers are doing: the processes of the attempt with RANK in their environment. Nothing is
 * signalled or paused. py_spy: a file on the node to be preferred to the py-spy that is found there; NULL:
 * none. dumps: first ask NCCL's flight recorder of each rank, by its pipe, to write its dump. Facts:
 * worker="RANK PID STATE CPU SYSCALL WCHAN" (insight/stacks.h), each followed by stack="RANK JSON" where
 * there is a Python stack; problem: why there is none; lives: processes of the run live there.
 */
void node_request_stacks(const struct node_target *target, const char *py_spy, bool dumps, const char *nonce,
                         struct node_call *out);
void node_request_tail(const struct node_target *target, const struct node_tail_options *options,
                       const char *nonce, struct node_call *out);
/*
 * The lines of an attempt's log (0: the target's) that hold one of the literals (none empty, none with a line
 * end), and ten after each. The answer is a tail's, its body made of records "NUMBER TEXT": at most 2,000,
 * the first and the last ones, cut after 900 bytes; then "e LOCAL-RANK TIME PATH JSON" for each error file of
 * a worker, and "d JSON" for each dump of a flight recorder, read by python (NULL: one that is found there).
 * The last one is "0 LINES", how many lines the log has. Without it the answer is cut off.
 */
void node_request_grep(const struct node_target *target, unsigned attempt, const struct strlist *literals,
                       const char *python, const char *nonce, struct node_call *out);
/*
 * What the node has for the run and what its log says of NCCL: the first line with each of the literals. The
 * answer is facts, see src/node/script/74-inventory.sh.
 */
void node_request_inventory(const struct node_target *target, const struct strlist *literals,
                            const char *nonce, struct node_call *out);
/* Remove this run's files of this node (state and, with logs, logs), only when nothing of it lives there. */
void node_request_remove(const struct node_target *target, bool logs, const char *nonce,
                         struct node_call *out);

/* Nothing but a login: a command that ends at once. It answers no frame. */
void node_request_ping(struct node_call *out);

/* Is there a part of the node's script of this name ("check/port")? */
bool node_script_has(const char *name);

#endif
