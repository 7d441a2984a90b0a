/*
 * Builds calls to a node: the remote command, and the bytes for its standard input (a nonce line, values as
 * quoted literals, the node's script, a verb). Pure: nothing is read, written or generated here.
 *
 * The same bytes serve ssh, a local /bin/sh and `docker exec -i NAME`: nothing in them depends on how they
 * are delivered. Every value of a request is borrowed until the function returns. Texts may contain any byte
 * except NUL and arrive unchanged.
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

#define NODE_NONCE_LEN 32 /* length of a nonce: letters and digits */
/* no answer, except the body of a tail, is longer: read no more than this */
#define NODE_ANSWER_MAX (4u << 20)

/* A call as a transport runs it: command for the remote shell, input for its standard input, then EOF. */
struct node_call {
    char *command;
    struct str input;
    char nonce[NODE_NONCE_LEN + 1]; /* it appears in each frame of the answer */
};

/* clang-format off */
#define NODE_CALL_INIT {0}
/* clang-format on */
#define AUTO_NODE_CALL __attribute__((cleanup(node_call_release)))
void node_call_release(struct node_call *call);

/*
 * Which node of which run. artifacts: as in the spec ("~/…" and relative paths: from the login folder); NULL:
 * ~/.mtlaunch.
 */
struct node_target {
    const char *run;    /* RUN, already checked by job_check_run_name */
    const char *run_id; /* RUN-<8 hex> */
    unsigned rank;
    unsigned attempt; /* from 1 */
    const char *artifacts;
    struct place place; /* borrowed; the script runs inside its container (node/container.h), if it has one */
};

/* The environment that a job starts from on the node, before its own variables are set. */
enum node_env_mode {
    NODE_ENV_LOGIN, /* that of the login (ssh) */
    /*
     * the caller's without PET_*, RANK, LOCAL_RANK, WORLD_SIZE, GROUP_*, TORCHELASTIC_* (one
     * local node)
     */
    NODE_ENV_KEEP,
    NODE_ENV_CLEAN /* HOME, USER, LOGNAME, SHELL and the default PATH (a local node of several) */
};

/*
 * A job as one node runs it. Order on the node: unset, defaults, env and computed are applied, the working
 * folder is entered, the setup lines run, computed is applied again, ready runs, argv is exec'd. Variables
 * whose value is NULL are skipped. Pointers may be NULL: empty.
 */
struct node_job {
    enum node_env_mode env_mode;
    const char *workdir;         /* NULL: login folder; "~/…" and relative paths: from the login folder */
    const char *shell;           /* "auto" (bash where the node has it, else sh), a name or a path */
    const struct strlist *setup; /* each must exit with 0 */
    const struct strlist *argv;  /* at least one word for a start; ignored by checks */
    const struct strlist *ready; /* run after setup and before argv; must exit with 0; empty: nothing */
    /* indexes of the words of argv whose leading "~/" means the user's home on the node */
    const size_t *home_words;
    size_t home_words_len;
    const struct strlist *unset; /* names removed from the node's own environment */
    /* set only where the node has no value; LANG only where LC_ALL is unset too */
    const struct env *defaults;
    const struct env *env;      /* set always */
    const struct env *computed; /* set always, before setup and again after it */
};

/*
 * What the job's shell looks for after the setup lines. NULL: do not look. A leading "~/" means the user's
 * home on the node.
 */
struct node_probe {
    const char *program;     /* a file, relative to the job's folder after setup */
    const char *command;     /* a program looked up in PATH after setup */
    const char *interpreter; /* a Python interpreter looked up in PATH after setup */
    const char *module;      /* a Python module that the interpreter must find (not imported) */
    bool versions;           /* also report the versions of the interpreter's packages */
};

/* The checks to run on a node, as the check layer requests them. */
struct node_check_options {
    const struct node_probe *probe;
    const char *lanes;           /* mt_lanes of src/node/script/30-check.sh */
    const char *own;             /* mt_own_checks of the same file */
    const struct strlist *parts; /* the parts of the script that hold the checks: "check/ID" */
    const struct env *values;    /* variables for their functions: NAME becomes mt_NAME */
};

struct node_observe_options {
    /* also look for processes of the run if its command has ended (a scan of all processes) */
    bool leftovers;
    bool gpus; /* also ask nvidia-smi, for five seconds at most */
};

struct node_start_options {
    /* recorded in .state; refused on rank 0 when another live run on this node claims it */
    unsigned master_port;
    const char *version;           /* of mtlaunch, recorded */
    const char *head;              /* name of the machine that starts the run, recorded; NULL: unknown */
    unsigned long start_timeout_s; /* from the first setup line to the proof that the command runs; 0: 120 */
};

struct node_prepare_options {
    const char *step;    /* its name, part of the log's name */
    const char *creates; /* the step is skipped where this path exists; relative to workdir; NULL: never */
    unsigned long limit_s;
};

struct node_stop_options {
    const char *signal; /* without SIG, from job_signal_name */
    unsigned long grace_s;
    bool only_attempt; /* stop only the target's attempt: processes of other attempts continue */
};

struct node_comm_options {
    unsigned long limit_s; /* the node ends the whole test after this time */
    const char *mark;      /* letters and digits: its processes are found by it, as those of `exec` are */
};

/* A watch: an observation at once and after each change, and a heartbeat in between. */
struct node_watch_options {
    unsigned beat_s;     /* interval of the heartbeats; 0: 10 */
    unsigned gpus_s;     /* interval of the calls of nvidia-smi, on nodes that have it; 0: never called */
    unsigned patience_s; /* the watch ends when a message cannot be written for this long; 0: 300 */
};

enum node_tail_from { NODE_TAIL_LINES, NODE_TAIL_BYTES, NODE_TAIL_ALL, NODE_TAIL_OFFSET };

struct node_tail_options {
    unsigned attempt; /* 0: the target's */
    enum node_tail_from from;
    uint64_t count; /* number of last lines or bytes, or the offset of the first byte */
    bool follow;    /* until the attempt has ended on the node and the whole log is sent */
    /*
     * Patterns for grep, one per line: only matching lines are wanted. A node whose grep cannot be trusted,
     * or whose log is short, sends all lines. NULL: all lines are wanted; required with follow.
     */
    const char *filter;
    bool filter_fixed; /* patterns for grep -F, else for grep -E */
};

#define NODE_TAIL_UNFILTERED 74 /* exit status: grep failed, or did not read the log to its end */

/*
 * Build a call. nonce: NODE_NONCE_LEN letters and digits that nobody can guess, generated by the caller. The
 * function initialises out; the caller releases it with node_call_release.
 */
void node_request_check(const struct node_target *target, const struct node_job *job,
                        const struct node_check_options *options, const char *nonce, struct node_call *out);
void node_request_start(const struct node_target *target, const struct node_job *job,
                        const struct node_start_options *options, const char *nonce, struct node_call *out);
/*
 * A prepare step: run job's argv before the start, with a log of its own. The answer consists of facts:
 * skipped, late, status, …
 */
void node_request_prepare(const struct node_target *target, const struct node_job *job,
                          const struct node_prepare_options *options, const char *nonce,
                          struct node_call *out);
/*
 * Run the program of the all-reduce test with the interpreter argv[0] of job, in the job's folder and
 * environment. The program reads orders on the call's standard input, which the caller keeps open as long as
 * the test is to run. The caller sends the first order after the first event (node/comm.h).
 */
void node_request_comm(const struct node_target *target, const struct node_job *job,
                       const struct node_comm_options *options, const char *nonce, struct node_call *out);
void node_request_observe(const struct node_target *target, const struct node_observe_options *options,
                          const char *nonce, struct node_call *out);
void node_request_watch(const struct node_target *target, const struct node_watch_options *options,
                        const char *nonce, struct node_call *out);
void node_request_stop(const struct node_target *target, const struct node_stop_options *options,
                       const char *nonce, struct node_call *out);
/* Send one signal (without SIG, from job_signal_name) to the job's process group, and do nothing else. */
void node_request_signal(const struct node_target *target, const char *signal, const char *nonce,
                         struct node_call *out);
/*
 * Report what the workers are doing: the processes of the attempt that have RANK in their environment.
 * Nothing is signalled or paused. py_spy: a file on the node to use instead of the py-spy that is found
 * there; NULL: none. dumps: first make the NCCL flight recorder of each rank write its dump, through its
 * pipe. Facts: worker="RANK PID STATE CPU SYSCALL WCHAN" (insight/stacks.h), each followed by stack="RANK
 * JSON" if there is a Python stack; problem: why there is none; lives: processes of the run are alive on the
 * node.
 */
void node_request_stacks(const struct node_target *target, const char *py_spy, bool dumps, const char *nonce,
                         struct node_call *out);
void node_request_tail(const struct node_target *target, const struct node_tail_options *options,
                       const char *nonce, struct node_call *out);
/*
 * Search an attempt's log (0: the target's) for lines that contain one of the literals (none empty, none with
 * a newline), with the ten lines after each. The answer is that of a tail; its body consists of records
 * "NUMBER TEXT", at most 2,000 (the first and the last ones), each cut after 900 bytes; then "e LOCAL-RANK
 * TIME PATH JSON" for each error file of a worker, and "d JSON" for each dump of a flight recorder, read with
 * python (NULL: an interpreter found on the node). The last record is "0 LINES", the number of lines of the
 * log; without it the answer was cut off.
 */
void node_request_grep(const struct node_target *target, unsigned attempt, const struct strlist *literals,
                       const char *python, const char *nonce, struct node_call *out);
/*
 * Report the hardware of the node and what the run's log says about NCCL: the first line that contains each
 * of the literals. The answer consists of facts, see src/node/script/74-inventory.sh.
 */
void node_request_inventory(const struct node_target *target, const struct strlist *literals,
                            const char *nonce, struct node_call *out);
/*
 * Remove this run's files on the node (state files and, with logs, its logs), unless processes of the run are
 * alive there.
 */
void node_request_remove(const struct node_target *target, bool logs, const char *nonce,
                         struct node_call *out);

/* Only log in: a command that ends at once. Its answer has no frames. */
void node_request_ping(struct node_call *out);

/* Whether the node's script has a part of this name ("check/port"). */
bool node_script_has(const char *name);

#endif
