/*
 * How the nodes of a run work together: how many processes each has, who the master is and by which
 * address the others reach it, and how the processes split a model and a batch among them. Pure.
 */
#ifndef MTLAUNCH_MODEL_TOPOLOGY_H
#define MTLAUNCH_MODEL_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"
#include "model/host.h"
#include "model/job.h"

#define TOPOLOGY_MASTER_PORT 29500 /* `master.port: auto`; torch/distributed/run.py's default */

/* One node, in rank order. Borrowed. */
struct topology_node {
    const struct host *host;
    const char *label;    /* how messages name it */
    const char *hostname; /* HostName of its ssh_config entry, or NULL */
    long gpus;            /* GPUs that its job sees; -1: known only at the start */
};

/* The address that other nodes use for it: addr=, else HostName of ssh_config, else its name. Borrowed. */
const char *topology_node_addr(const struct topology_node *node);

/*
 * True for an address or name by which a machine reaches itself: 127/8 in any spelling, ::1, 0.0.0.0, ::,
 * IPv4-mapped ones, localhost and its usual other names. Brackets and a %zone are ignored.
 */
bool topology_addr_is_loopback(const char *addr);

/*
 * MASTER_ADDR (caller frees), IPv6 bare. Errors: kind_plan for what is not an address or name, and with more
 * than one node for a loopback address (unless every node's address is one) and a %zone.
 */
char *topology_choose_master(const char *wanted, const struct topology_node *nodes, size_t count,
                             struct error *err);

/*
 * Processes of each node into nproc[count]: the job's number; else slots or gpus of the host list; else the
 * GPUs found, 1 when there are none; 0 while that is known only at the start. Unequal numbers are refused
 * unless unequal_allowed: kind_plan when the list says so, kind_unequal_gpus when the nodes do. A number
 * above a host's gpus= is refused (kind_plan), above its slots= it is a warning.
 */
int topology_count_processes(const struct job *job, bool unequal_allowed, const struct topology_node *nodes,
                             size_t count, unsigned *nproc, struct strlist *warnings, struct error *err);

/* How many of `present` GPUs CUDA_VISIBLE_DEVICES leaves visible: its entries before an invalid one. */
unsigned topology_count_visible(const char *visible_devices, unsigned present);

/* How many ways a model is split, in Megatron-LM's terms. 1: not at all; 0: known only at the start. */
struct topology_split {
    unsigned tensor, pipeline, context;
    unsigned expert, expert_tensor; /* for mixture-of-experts layers; expert_tensor is tensor unless given */
};

/* The samples of one training step. 0: not known, or known only at the start. */
struct topology_batch {
    struct topology_split split;
    unsigned micro;         /* samples a process works on at once */
    unsigned global;        /* samples of a whole step */
    unsigned data_parallel; /* copies of the model: world / (tensor * pipeline * context) */
    unsigned accumulation;  /* micro batches a copy accumulates per step: global / (micro * data_parallel) */
};

/*
 * How many copies of the model the world's processes hold. 0 and kind_plan if the sizes, including those of
 * the experts, do not divide the world (Megatron-LM: megatron/training/arguments.py, core/parallel_state.py);
 * the hint names the nearest world sizes that they divide. Sizes are from 1 to 2^20.
 */
unsigned topology_split_world(const struct topology_split *split, unsigned world, struct error *err);

/*
 * The number of micro batches that a step accumulates. 0 and kind_plan if global is not a multiple of micro *
 * data_parallel (Megatron-LM: core/num_microbatches_calculator.py); the hint names the nearest sizes that
 * are. Sizes are from 1 to 2^30.
 */
unsigned topology_split_batch(unsigned global, unsigned micro, unsigned data_parallel, struct error *err);

#endif
