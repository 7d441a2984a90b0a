/*
 * What the nodes of a run have and use: GPUs, network links, and what NCCL reports that it chose. It is
 * collected once per attempt and kept in the record, so that runs can be compared when their nodes are gone.
 * A value is kept once, no matter how many nodes have it.
 */
#ifndef MTLAUNCH_MODEL_INVENTORY_H
#define MTLAUNCH_MODEL_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/strlist.h"

#define INVENTORY_MAX 64 /* values of a kind that are kept */

/* A network link of the nodes. */
struct inventory_link {
    char *name;  /* "eth0", "mlx5_0" */
    double gbps; /* the lowest rate among the nodes */
    bool rdma;   /* an active InfiniBand or RoCE port, else a network interface */
};

/* Does NCCL move data between GPUs and network adapters without a copy in host memory? */
enum inventory_direct { INVENTORY_DIRECT_UNKNOWN, INVENTORY_DIRECT_NO, INVENTORY_DIRECT_YES };

/* Owned strings. */
struct inventory {
    bool known;                /* a node was asked, and answered */
    struct strlist gpus;       /* models: "NVIDIA H200" */
    char *nccl_version;        /* NULL: not known */
    struct strlist networks;   /* chosen by NCCL: "IB", "Socket", a plugin's name */
    struct strlist interfaces; /* over which NCCL finds the other processes */
    enum inventory_direct direct;
    struct inventory_link *links;
    size_t links_len, links_cap;
};

void inventory_release(struct inventory *inventory); /* leaves it empty */

/* Add a value (copied) unless it is already there. NULL and "" are ignored. */
void inventory_add_gpu(struct inventory *inventory, const char *model);
void inventory_add_network(struct inventory *inventory, const char *network);
void inventory_add_interface(struct inventory *inventory, const char *interface);
void inventory_add_link(struct inventory *inventory, const char *name, bool rdma, double gbps);

/* The link of that name; NULL: it is not known. */
const struct inventory_link *inventory_find_link(const struct inventory *inventory, const char *name,
                                                 bool rdma);

/* A new reference; null while it is not known. */
json_t *inventory_to_json(const struct inventory *inventory);
void inventory_from_json(const json_t *object, struct inventory *inventory); /* inventory is empty */

#endif
