/*
 * Launchers: how the command of a node is built from (job, place in the run). Pure: values in, argv out.
 *
 * To add one: a file src/launcher/<name>.c that defines a `const struct launcher launcher_<name>`, and its
 * line in LAUNCHER_TABLE (src/launcher/launcher_internal.h). The parser, `init`, the completion and the help
 * read that row and nothing else. tests/unit/launcher/test_launcher.c walks the table and fails for a row
 * that lacks a part.
 */
#ifndef MTLAUNCH_LAUNCHER_LAUNCHER_H
#define MTLAUNCH_LAUNCHER_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"
#include "model/env.h"
#include "model/job.h"
#include "model/topology.h"

/* What a node must have before the command can start there. Strings are owned; NULL: nothing to look for. */
struct launch_probe {
    enum launch_program {
        LAUNCH_PROGRAM_NONE,   /* a shell line: nothing can be looked for */
        LAUNCH_PROGRAM_FILE,   /* a readable file, relative to the working directory */
        LAUNCH_PROGRAM_MODULE, /* a Python module the interpreter finds */
        LAUNCH_PROGRAM_COMMAND /* found in PATH, or with a slash: an executable file */
    } program_type;
    char *program;
    char *interpreter;      /* a command: "python3" */
    char *module;           /* a module the interpreter itself needs: "torch" */
    char *config;           /* a file that the launcher reads, relative to the working directory */
    const char *config_key; /* the key of the spec that names it */

    /* Indexes in argv of the interpreter and the program if they start with "~/", the home folder of the user
     * on the node. Every other word is passed on unchanged. */
    size_t home_words[2];
    size_t home_words_len;
};

void launch_probe_release(struct launch_probe *probe);

/* The job as a whole, before the commands of its nodes are built. Borrowed. */
struct launch_job {
    const struct job *job;
    const struct strlist
        *args; /* words, including those after "--"; of the first node; ${{name}}: not known yet */
    unsigned nnodes;
    unsigned world_size; /* 0: known only at the start */
};

/* What a launcher adds to the job as a whole. Owned. */
struct launch_whole {
    struct strlist args; /* words of its own, put before the job's args */
    struct env defaults; /* variables to set if nothing else does; NULL value: known only at the start */
    bool has_batch;      /* batch is filled */
    struct topology_batch batch; /* parallel and batch sizes */
};

void launch_whole_release(struct launch_whole *whole);

/* The size of a training step, if the arguments state it exactly; 0: they do not. */
struct launch_step {
    unsigned global_batch; /* samples of all processes */
    unsigned sequence;     /* tokens of a sample */
};

/*
 * One node's place in the run. Texts may contain ${{name}} for a value that is known only at the start.
 * Borrowed. program and args have their placeholders filled and args are mapped to words.
 */
struct launch_input {
    const struct job *job;
    const struct strlist *program;
    const struct strlist *args;
    unsigned nnodes;
    unsigned rank;
    const struct strlist *labels; /* of all nodes, in rank order */
    const char *state_base; /* prefix of the run's files on the node: ".../run_state/RUN_node<rank>"; may
                               begin with "~/" or contain ${{artifacts}} */
    const char *python;     /* python= of this host; NULL: the job's */
    const char *nproc;      /* "8" or "${{nproc_per_node}}" */
    const char *world;      /* processes of all nodes: "32" or "${{world_size}}" */
    const char *master_addr;
    unsigned master_port;
    const char *rendezvous_id;
};

/* An option of the launcher's own command line that mtlaunch sets, or offers by a key of the spec. */
struct launcher_option {
    const char *name; /* "node_rank": with underscores; dashes mean the same. "m": the short option -m */
    const char *hint; /* what to use instead */
};

/* The launcher's own options, for launcher_args. */
struct launcher_words {
    const struct launcher_option *owned; /* refused there; ended by a row without a name */
    const char *const *flags;            /* options without a value, with underscores; ended by NULL */
};

/* What `init` writes about a launcher. Lines end with '\n'. */
struct launcher_example {
    const char *program;  /* a value for `program`: "train.py" */
    const char *about;    /* comment lines above it */
    const char *settings; /* commented settings below it; "" for none */
};

/* What `program` is. */
enum launcher_program {
    LAUNCHER_PROGRAM_PYTHON, /* one script, or "-m MODULE" */
    LAUNCHER_PROGRAM_VERB,   /* a word of the launcher's own */
    LAUNCHER_PROGRAM_SHELL   /* a line for /bin/sh, or a list: an exact argv */
};

/* One row of the table: all there is to know about a launcher. */
struct launcher {
    const char *name;    /* as in `launcher:` */
    const char *summary; /* for people: half a line */
    struct launcher_example example;
    enum launcher_program program;
    const char *key;     /* its own mapping in the spec; NULL: it has none */
    const char *config;  /* ${{deepspeed_config}} is state_base plus this suffix; NULL: it has none */
    bool bool_values;    /* true and false in args are values: --key true */
    bool unequal_counts; /* nodes may run different numbers of processes */

    const struct launcher_words *words; /* its own options; NULL: it takes no launcher_args */
    /* If the options depend on the job: returns them, and words is not used. NULL: they do not. */
    const struct launcher_words *(*choose_words)(const struct job *job);

    /*
     * Judge the job as a whole and fill out (zeroed before): options and variables that the job needs, and
     * the resulting batch. Warnings are appended. Called once per plan. Errors: kind_plan. The caller
     * releases out in any case. NULL: nothing to judge.
     */
    int (*judge)(const struct launch_job *in, struct launch_whole *out, struct strlist *warnings,
                 struct error *err);

    /*
     * Add the variables that it needs on one node, but none that the job sets. A NULL value is known only at
     * the start. NULL: none.
     */
    void (*add_env)(const struct launch_input *in, struct env *env);

    /*
     * Check the variables that spec, host list, caller and options set for one node against its command.
     * Warnings are appended unless they are already there. Errors: kind_plan. NULL: nothing to check.
     */
    int (*check_env)(const struct launch_input *in, const struct env *env, struct strlist *warnings,
                     struct error *err);

    /*
     * Append a command that prepares the node for its main command. It runs after the setup lines, in the
     * folder and environment of the job, and the start fails unless it ends with 0. about says what it does.
     * If nothing is appended, no preparation is needed. NULL: never needed.
     */
    void (*ready)(const struct launch_input *in, struct strlist *argv, struct str *about);

    /*
     * Append the node's command to argv and fill probe (zeroed before). Errors: kind_plan. The caller
     * releases both in any case.
     */
    int (*build)(const struct launch_input *in, struct strlist *argv, struct launch_probe *probe,
                 struct error *err);
};

/* All launchers, ended by NULL. The first is the default. */
extern const struct launcher *const launchers_all[];

/* Work out the step from the job's arguments. whole: the launcher's result. Nothing is refused. */
void launcher_read_step(const struct launch_job *in, const struct launch_whole *whole,
                        struct launch_step *out);

/* Find a launcher by name. NULL and kind_plan, with the most similar name, or all names, as hint. */
const struct launcher *launcher_find(const char *name, struct error *err);

/* The options of the launcher for this job; NULL: it takes no launcher_args. */
const struct launcher_words *launcher_words(const struct launcher *launcher, const struct job *job);

/* The owned option that a word names, in full or abbreviated as argparse allows; NULL: none. Borrowed. */
const struct launcher_option *launcher_find_owned(const struct launcher_words *words, const char *word);

/* True for an option that takes no value. */
bool launcher_is_flag(const struct launcher_words *words, const char *word);

/*
 * Append args as words: a word as it is; `key: value` as --key value (a key that starts with '-' is kept);
 * true as --key; false and null as nothing; a list as --key v1 v2, an empty one as nothing. bool_values: true
 * and false as --key true, --key false.
 */
void launcher_map_args(const struct job_args *args, bool bool_values, struct strlist *out);

#endif
