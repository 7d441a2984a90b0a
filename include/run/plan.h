/*
 * The plan of a run: from (job, hosts, caller's environment) to each node's command, environment and paths. A
 * pure function: no file, clock, getenv or network; the same input gives the same plan byte for byte. What
 * `start --dry-run` prints and what `start` runs are one plan, made with fewer or more facts:
 *
 *   facts NULL                       a dry run; what only the start can know stays open
 *   run_id, attempt                  before the nodes were probed
 *   run_id, attempt, port, nodes     after the probe: everything is known
 *
 * A value that is still open is NULL (a number: 0) with source "on start"; in an argv or a path it appears as
 * ${{name}}.
 */
#ifndef MTLAUNCH_RUN_PLAN_H
#define MTLAUNCH_RUN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"
#include "launcher/launcher.h"
#include "model/env.h"
#include "model/hostlist.h"
#include "model/job.h"
#include "model/place.h"
#include "model/topology.h"

/* What the transport knows about a host without contacting it. Borrowed. */
struct plan_host {
    bool local;           /* runs without ssh */
    const char *hostname; /* HostName of its ssh_config entry, or NULL */
    const char *user;     /* the user of the login; NULL: not known, or the caller */
    unsigned port;        /* the port to connect to; 0: not known */
};

/* What the probe found on one node. Borrowed. */
struct plan_node_facts {
    unsigned cores;        /* processors that the login may use; 0: unknown */
    unsigned gpus;         /* GPUs found, within the login's CUDA_VISIBLE_DEVICES */
    unsigned gpus_present; /* GPUs found, whatever CUDA_VISIBLE_DEVICES says */
    /* that routes to MASTER_ADDR (on the master: that has this address); NULL: not found */
    const char *interface;
    const char *artifacts; /* absolute; NULL: still unknown */
};

struct plan_facts {
    const char *run_id;   /* NULL: unknown */
    unsigned attempt;     /* 0: unknown */
    unsigned master_port; /* free on node 0, for `port: auto`; 0: unknown, the plan shows 29500 */
    const struct plan_node_facts *nodes; /* one per host in list order; NULL: not probed yet */
};

struct plan_input {
    const struct job *job;
    const struct hostlist *hosts;
    const struct plan_host *host_facts; /* one per host; NULL: all remote, nothing known */
    const char *run;                    /* its name, already checked */
    const char *const *environ_;        /* the caller's environment, NULL-terminated; NULL: empty */
    const struct plan_facts *facts;     /* NULL: a dry run */
};

/* The environment a node's command starts from, before the plan's own lists are set. */
enum plan_env_mode {
    PLAN_ENV_KEEP,  /* a run of one local node: the caller's, without what plan_caller_env() drops */
    PLAN_ENV_CLEAN, /* a local node of several: HOME, USER, LOGNAME, SHELL and the default PATH */
    PLAN_ENV_LOGIN  /* remote: that of sshd */
};

/* A step of `prepare` on one node. */
struct plan_step {
    const char *name;    /* borrowed from the job */
    struct strlist argv; /* empty: it does not run on this node */
    char *creates;       /* NULL: none */
    unsigned long timeout_s;
};

struct plan_node {
    unsigned rank;
    size_t host;    /* index in the host list */
    char *name;     /* as in the host list */
    char *label;    /* name, or name:port where names repeat */
    char *addr;     /* the address that other nodes use: addr=, HostName of ssh_config, or the name */
    bool local;     /* without ssh */
    char *user;     /* NULL: not known or the caller */
    unsigned port;  /* 0: not known, the default */
    unsigned nproc; /* processes on this node; 0: known on start */

    struct plan_step *steps; /* as many as the job has; may be none */
    size_t steps_len;
    struct strlist ready; /* run after setup and before argv; must exit with 0; empty: nothing */
    char *ready_about;    /* what it does, for display; NULL: nothing */
    struct strlist argv;  /* the job's exact command, without ssh */

    /*
     * The environment in three lists that share no name:
     *   defaults  set only where the node's own environment has no such variable
     *   env       set always, before setup
     *   computed  set before setup and again after it
     * plan_node_env() returns all of it in display order.
     */
    struct env defaults, env, computed;
    enum plan_env_mode env_mode;

    char *workdir;    /* NULL: the login folder, the container's own in a container. May start with "~/" */
    char *artifacts;  /* may start with "~/" while no fact made it absolute */
    char *state_base; /* ARTIFACTS/run_state/RUN_node<rank>, likewise */
    char *log;        /* ARTIFACTS/logs/RUN_node<rank>.log, likewise */

    struct launch_probe probe; /* what must exist before the start */
};

struct plan {
    struct texts *texts; /* owns the words, steps and environments of the nodes: equal ones are stored once */
    char *job;
    char *run;
    char *launcher;
    unsigned nnodes;
    unsigned nproc_per_node; /* 0: known on start, or not the same on every node (script) */
    unsigned world_size;     /* 0: known on start */
    char *master_addr;
    unsigned master_port;
    char *rendezvous_id;         /* run_id.attempt; NULL: known on start */
    bool has_batch;              /* the launcher knows about batches */
    struct topology_batch batch; /* if so: what is known about them */
    struct launch_step step;     /* what is known about a training step */
    struct strlist setup;        /* as in the job */
    char *shell;                 /* as in the job: "auto", or a shell for setup */
    struct strlist ssh_options;  /* for ssh(1) to reach the nodes as the job requires: -i FILE … */
    struct place place;
    struct strlist warnings; /* for display, in a fixed order */
    struct plan_node *nodes; /* nnodes of them, in rank order */
};

/*
 * Make the plan. Errors: kind_plan (2) when the input cannot work, kind_not_supported (2), kind_unequal_gpus
 * and kind_gpus_missing (4) when the facts show it. On error out holds nothing to release.
 */
int plan_make(struct plan *out, const struct plan_input *in, struct error *err);
void plan_release(struct plan *plan);

/* The node's whole environment in display order: computed, env, defaults. */
size_t plan_node_env_len(const struct plan_node *node);
const struct env_var *plan_node_var(const struct plan_node *node, size_t index);
/* The same, added to an empty env; the plan still owns the texts. */
void plan_node_env(const struct plan_node *node, struct env *out);

/*
 * The environment a local node's shell is started with, as NAME=VALUE items appended to out: for
 * PLAN_ENV_KEEP the caller's without PET_*, RANK, LOCAL_RANK, WORLD_SIZE, GROUP_*, TORCHELASTIC_* and an
 * outer run's MTLAUNCH_MARK; for PLAN_ENV_CLEAN HOME, USER, LOGNAME, SHELL (from the caller's) and the
 * default PATH.
 */
void plan_caller_env(enum plan_env_mode mode, const char *const *environ_, struct strlist *out);

/*
 * Append the shell line that runs this node's command by hand from the head: folder, environment (secrets as
 * ***, open values left out), setup, command; through ssh for a remote node.
 */
void plan_shell_line(const struct plan *plan, size_t node, struct str *out);

#endif
