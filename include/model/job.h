/*
 * A job: the spec after profiles, the caller's variables, --set and options have been applied. Plain values;
 * input/jobfile.h makes one, the planner reads it. job_init fills in the defaults.
 */
#ifndef MTLAUNCH_MODEL_JOB_H
#define MTLAUNCH_MODEL_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strlist.h"
#include "model/env.h"
#include "model/notify.h"
#include "model/place.h"
#include "model/policy.h"
#include "model/reach.h"

enum job_rendezvous { RENDEZVOUS_STATIC, RENDEZVOUS_C10D };
/* How zero_stage is passed to Megatron-LM: FSDP from 0.14 on, its form in 0.12 and 0.13, or flags alone. */
enum job_sharding { SHARDING_MEGATRON_FSDP, SHARDING_CUSTOM_FSDP, SHARDING_FLAGS_ONLY };

/* How `launcher: deepspeed` starts the processes: by torchrun, or by DeepSpeed's own launcher. */
enum job_deepspeed_form { DEEPSPEED_TORCHRUN, DEEPSPEED_NO_SSH };

/* One argument or mapping entry of `args`, in file order. */
struct job_arg {
    enum { JOB_ARG_WORD, JOB_ARG_PAIR, JOB_ARG_TRUE, JOB_ARG_FALSE, JOB_ARG_NULL, JOB_ARG_LIST } type;
    char *key;             /* mapping entries */
    struct strlist values; /* WORD and PAIR: one; LIST: any number */
};

struct job_args {
    struct job_arg *items;
    size_t len;
    size_t cap;
};

/* A command that runs before the start. */
struct job_step {
    char *name;
    bool on_all;            /* on all nodes; false: only on the first one */
    bool is_line;           /* command is one line for /bin/sh; false: an exact argv */
    struct strlist command; /* at least one word */
    char *creates;          /* a path on the node, relative to workdir; NULL: none */
    unsigned long timeout_s;
};

/* What `container up` creates; NULL, 0 and empty lists: not given, the engine's default. */
struct job_container_run {
    char *image; /* NULL: there is no container.run */
    struct strlist command;
    char *gpus; /* "all", "none", a count, or "device=0,2" */
    char *network, *ipc;
    unsigned long long shm_size_bytes; /* 0: not given */
    bool privileged;
    struct strlist cap_add, ulimit, devices, volumes;
    struct strlist env; /* NAME=VALUE, no line ends; values are never shown */
    char *user, *workdir;
    struct strlist extra; /* words for `ENGINE run`, as they are */
};

/* Further settings of the container of a job's place. */
struct job_container {
    char *workdir; /* inside, if 'workdir' is not given; NULL: the container's own */
    struct job_container_run run;
};

/* Files that are pushed to the nodes before each start; from NULL: none. */
struct job_sync {
    char *from;             /* here, resolved against the spec's folder; as the source of `push` */
    char *to;               /* on the nodes; NULL: workdir */
    struct strlist exclude; /* patterns of model/skip.h */
    bool delete_;           /* files that are not here are removed there */
    bool git;               /* files that .gitignore names are left out */
};

/* What the hosts must have; checks find out whether they do. */
struct job_require {
    struct strlist paths;     /* exist and are readable; relative to workdir */
    struct strlist same;      /* have the same content on all nodes */
    struct strlist commands;  /* are found in PATH after the setup lines */
    unsigned gpus;            /* 0: not required */
    uint64_t free_disk_bytes; /* where artifacts are; 0: not required */
    uint64_t shm_bytes;       /* of /dev/shm; 0: not required */
    bool ib;                  /* an active InfiniBand or RoCE port */
};

/* The string and list members of a job. To add such a key: one line here and one line in the tables of input.
 */
/* clang-format off */
#define JOB_TEXTS(X)                                                                                         \
    X(name)              /* job, or the file's name without .yaml */                                         \
    X(file)              /* the spec's path as found */                                                      \
    X(folder)            /* its folder; relative paths of the spec are resolved against it */                \
    X(hosts)             /* for hostlist_parse, its lines as in the spec; NULL: not given */                 \
    X(hostfile)          /* path, resolved against folder; NULL */                                           \
    X(launcher)          /* "torchrun" */                                                                    \
    X(master_addr)       /* NULL: auto */                                                                    \
    X(master_interface)  /* NULL: auto */                                                                    \
    X(workdir)           /* NULL: login folder */                                                            \
    X(artifacts)         /* NULL: ~/.mtlaunch on the node */                                                 \
    X(shell)             /* "auto", or a shell for setup ("bash", "sh", a path) */                           \
    X(python)            /* "python3"; "none": --no_python */                                                \
    X(deepspeed_config)  /* a file on the nodes, relative to workdir; NULL: none */                          \
    X(accelerate_config) /* likewise */                                                                      \
    X(stop_signal)       /* without SIG: "TERM" */

#define JOB_LISTS(X)                                                                                         \
    X(setup)                                                                                                 \
    X(program)       /* one item unless a list for script */                                                 \
    X(launcher_args) /* words for torchrun itself */                                                         \
    X(extra_args)    /* after "--" on the command line, appended */                                          \
    X(pass_env)      /* patterns */                                                                          \
    X(secret_env)    /* patterns, defaults included */                                                       \
    X(checks_skip)   /* ids of checks to skip */
/* clang-format on */

struct job {
#define JOB_TEXT(member) char *member;
    JOB_TEXTS(JOB_TEXT)
#undef JOB_TEXT
#define JOB_LIST(member) struct strlist member;
    JOB_LISTS(JOB_LIST)
#undef JOB_LIST
    bool hosts_is_list;     /* one entry per line (HOSTLIST_LINES) rather than an expression */
    unsigned hostfile_line; /* line of the spec that names it; 0: not from the spec */
    unsigned hosts_line;    /* line in the spec of the first entry; 0: not from the spec */

    unsigned nproc_per_node; /* 0: auto */
    unsigned master_port;    /* 0: auto */
    enum job_rendezvous rendezvous;
    bool program_is_list; /* script: an exact argv rather than a line for /bin/sh */
    struct job_args args;
    unsigned zero_stage;   /* 0..3 */
    bool zero_stage_given; /* it was set, possibly to 0 */
    enum job_sharding megatron_sharding;
    enum job_deepspeed_form deepspeed_form;

    struct env env_files;   /* all env_file entries, later wins, source "env_file NAME:LINE" */
    struct env env;         /* env, source "spec"; source "--set" or "profile NAME" where that set it */
    struct env env_options; /* -e, source "-e" */

    struct reach reach; /* ssh.*; paths are expanded, and relative to folder */
    struct place place; /* container.*: where the work happens on each node; engine is "docker" by default */
    struct job_container container;
    struct job_sync sync;
    struct job_require require;

    struct job_step *prepare; /* in order */
    size_t prepare_len, prepare_cap;

    unsigned long start_timeout_s; /* 120 */
    struct notify_targets notify;  /* notification targets; URLs are secrets */
    struct policy policy;          /* on_failure, on_lost, lost_after, stall, on_stall, restart */
    unsigned long stop_grace_s;    /* 40 */
};

void job_init(struct job *job); /* the defaults of the job file; pass_env and secret_env filled */
void job_release(struct job *job);
struct job_step *job_add_step(
    struct job *job); /* timeout_s is an hour, the rest zero; valid until the next call */
void job_release_steps(struct job *job);
void job_args_release(struct job_args *args);
struct job_arg *job_args_add(struct job_args *args); /* a zeroed item at the end; valid until the next add */
void job_args_add_word(struct job_args *args, const char *word);

/* RUN: [A-Za-z0-9][A-Za-z0-9._-]{0,63}. Errors: kind_usage. */
int job_check_run_name(const char *run, struct error *err);

/* A container's name: letters, digits, '_', '.', '-', the first a letter or digit. Errors: kind_usage. */
int job_check_container_name(const char *name, struct error *err);

/* The canonical name ("TERM") of a signal that is named with or without SIG. NULL: unknown. Static text. */
const char *job_signal_name(const char *text);
/* The canonical names, for nearest names in messages. */
extern const char *const job_signal_names[];
extern const size_t job_signal_names_count;

#endif
