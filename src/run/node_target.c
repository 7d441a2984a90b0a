/* A node of a run as the node's script knows it. */
#include "node_target_internal.h"

struct reach run_reach(const struct run *run)
{
    return (struct reach){
        .user = run->ssh_user,
        .port = run->ssh_port,
        .identity = run->ssh_identity,
        .config = run->ssh_config,
        .known_hosts = run->ssh_known_hosts,
        .client = run->ssh_client,
        .host_key = run->ssh_host_key,
        .jump = run->ssh_jump,
    };
}

struct node_target run_node_target(const struct run *run, size_t node)
{
    return (struct node_target){
        .run = run->name,
        .run_id = run->id,
        .rank = run->nodes[node].rank,
        .attempt = run->attempt,
        .artifacts = run->nodes[node].artifacts,
        .container =
            {
                .name = run->container_name,
                .engine = run->container_engine,
                .user = run->container_user,
                .sudo = run->container_sudo,
                .id = run->nodes[node].container_id,
                .started = run->nodes[node].container_started,
            },
    };
}
