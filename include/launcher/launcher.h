/*
 * Launchers: how the command of a node is built from (job, place in the run). Pure: values in, argv out.
 *
 * To add one: a file src/launcher/<name>.c that defines a `const struct launcher launcher_<name>`, a line in
 * the table of src/launcher/launcher.c (and its name leaves the list of names not built yet there). The test
 * tests/unit/launcher/test_launcher.c walks the table and fails for a launcher that lacks a part.
 */
#ifndef MTLAUNCH_LAUNCHER_LAUNCHER_H
#define MTLAUNCH_LAUNCHER_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
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
    char *interpreter; /* a command: "python3" */
    char *module;      /* a module the interpreter itself needs: "torch" */

    /* The words of the command that are the interpreter or the program and start with "~/", by index in argv:
     * the home folder of the user on the node. Every other word is handed over as it stands. */
    size_t home_words[2];
    size_t home_words_len;
};

void launch_probe_release(struct launch_probe *probe);

/* The job as a whole, before the commands of its nodes are built. Borrowed. */
struct launch_job {
    const struct job *job;
    const struct strlist
        *args; /* as words, with those after "--"; of the first node, what is open as ${{name}} */
    unsigned nnodes;
    unsigned world_size; /* 0: known on start */
};

/* What a launcher makes of the job as a whole. Owned. */
struct launch_whole {
    struct strlist args; /* words of its own, put before the job's args */
    struct env defaults; /* variables it wants unless something sets them; NULL value: known on start */
    bool has_batch;      /* it knows about batches */
    struct topology_batch batch; /* then: what is known of them */
};

void launch_whole_release(struct launch_whole *whole);

/*
 * One node's place in the run, as text that may still hold ${{name}} where only the start knows. Borrowed.
 * program and args have their placeholders filled and args are mapped to words.
 */
struct launch_input {
    const struct job *job;
    const struct strlist *program;
    const struct strlist *args;
    unsigned nnodes;
    unsigned rank;
    const char *python; /* python= of this host; NULL: the job's */
    const char *nproc;  /* "8" or "${{nproc_per_node}}" */
    const char *master_addr;
    unsigned master_port;
    const char *rendezvous_id;
};

struct launcher {
    const char *name;         /* as in `launcher:` */
    bool unequal_counts;      /* nodes may run different numbers of processes */
    bool program_may_be_list; /* `program` may be a list: an exact argv */

    /* Append warnings about the job as a whole (once per plan). NULL: never has any. */
    void (*warn)(const struct job *job, unsigned nnodes, struct strlist *warnings);

    /*
     * Judge the job as a whole and fill out (zeroed before); warnings are appended. Called once per plan,
     * after warn. Errors: kind_plan. The caller releases out in any case. NULL: nothing to judge.
     */
    int (*prepare)(const struct launch_job *in, struct launch_whole *out, struct strlist *warnings,
                   struct error *err);

    /*
     * Judge the variables that spec, host list, caller and options set for one node against its command.
     * Warnings are appended unless they stand there already. Errors: kind_plan. NULL: any will do.
     */
    int (*check_env)(const struct launch_input *in, const struct env *env, struct strlist *warnings,
                     struct error *err);

    /*
     * Append the node's command to argv and fill probe (zeroed before). Errors: kind_plan. The caller
     * releases both in any case.
     */
    int (*build)(const struct launch_input *in, struct strlist *argv, struct launch_probe *probe,
                 struct error *err);
};

/* All launchers, ended by NULL. */
extern const struct launcher *const launchers_all[];

/* By name. NULL and kind_plan with the nearest name as hint, or kind_not_supported for one not built yet. */
const struct launcher *launcher_find(const char *name, struct error *err);

/*
 * Append args as words: a word as it is; `key: value` as --key value (a key that starts with '-' is kept);
 * true as --key; false and null as nothing; a list as --key v1 v2, an empty one as nothing.
 */
void launcher_map_args(const struct job_args *args, struct strlist *out);

#endif
