/*
 * How the nodes of a run stand to each other: how many processes each has, who the master is and by which
 * address the others reach it. Pure.
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
    long gpus;            /* GPUs its job sees; -1: known on start */
};

/* The address other nodes use for it: addr=, HostName of ssh_config, its name. Borrowed. */
const char *topology_node_addr(const struct topology_node *node);

/*
 * True for text by which a machine reaches itself: 127/8 in any spelling, ::1, 0.0.0.0, ::, IPv4-mapped ones,
 * localhost and its usual other names. Brackets and a %zone are looked through.
 */
bool topology_addr_is_loopback(const char *addr);

/*
 * MASTER_ADDR (caller frees), IPv6 bare. Errors: kind_plan for what is no address or name, and with more than
 * one node for a loopback address (unless every node's address is one) and a %zone.
 */
char *topology_choose_master(const char *wanted, const struct topology_node *nodes, size_t count,
                             struct error *err);

/*
 * Processes of each node into nproc[count]: the job's number; else slots or gpus of the host list; else the
 * GPUs found, 1 when there are none; 0 while that is known only on start. Unequal numbers are refused unless
 * unequal_allowed: kind_plan when the list says so, kind_unequal_gpus when the nodes do. A number above a
 * host's gpus= is refused (kind_plan), above its slots= it is a warning.
 */
int topology_count_processes(const struct job *job, bool unequal_allowed, const struct topology_node *nodes,
                             size_t count, unsigned *nproc, struct strlist *warnings, struct error *err);

/* How many GPUs CUDA_VISIBLE_DEVICES leaves of `present` ones: entries up to the first that names none. */
unsigned topology_count_visible(const char *visible_devices, unsigned present);

#endif
