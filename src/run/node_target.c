/* Identifies a node of a run to the node's script. */
#include "node_target_internal.h"

struct node_target run_node_target(const struct run *run, size_t node)
{
    return (struct node_target){
        .run = run->name,
        .run_id = run->id,
        .rank = run->nodes[node].rank,
        .attempt = run->attempt,
        .artifacts = run->nodes[node].artifacts,
        .place = run_node_place(run, node),
    };
}
