/* Explains why a run's communication is slow, from what its record says about networks. */
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"
#include "comparison_internal.h"

/* Bytes of a finding's text that are quoted. */
#define FINDING_SHOWN 200

static const struct inventory_link *slowest_interface(const struct inventory *inventory)
{
    const struct inventory_link *slowest = NULL;
    for (size_t i = 0; i < inventory->interfaces.len; i++) {
        const struct inventory_link *link =
            inventory_find_link(inventory, inventory->interfaces.items[i], false);
        slowest = link && (!slowest || link->gbps < slowest->gbps) ? link : slowest;
    }
    return slowest;
}

static const struct inventory_link *fastest_port(const struct inventory *inventory)
{
    const struct inventory_link *fastest = NULL;
    for (size_t i = 0; i < inventory->links_len; i++) {
        const struct inventory_link *link = &inventory->links[i];
        fastest = link->rdma && (!fastest || link->gbps > fastest->gbps) ? link : fastest;
    }
    return fastest;
}

/* --- what keeps NCCL off a port that is up ------------------------------------------------------------ */

/* A variable of the first node; NULL: it is not set. The caller frees. */
static char *variable(const struct run *run, const char *name)
{
    json_t *spec = run->spec ? json_loads(run->spec, 0, NULL) : NULL;
    char *value = xstrdup(json_string_value(json_object_get(json_object_get(spec, "env"), name)));
    json_decref(spec);
    return value;
}

/* The first warning of one of these checks, as a sentence; the caller frees. NULL: there is none. */
static char *finding(const struct run *run, const char *const *ids)
{
    json_t *findings = run->findings ? json_loads(run->findings, 0, NULL) : NULL;
    char *text = NULL;
    for (size_t i = 0; i < json_array_size(findings) && !text; i++) {
        const json_t *item = json_array_get(findings, i);
        const char *id = json_string_value(json_object_get(item, "id"));
        for (size_t k = 0; id && ids[k] && !text; k++) {
            text =
                strcmp(id, ids[k]) == 0 ? xstrdup(json_string_value(json_object_get(item, "title"))) : NULL;
        }
    }
    json_decref(findings);
    return text;
}

static void add_obstacle(const struct run *run, struct str *out)
{
    static const char *const settings[] = {"NCCL_IB_DISABLE", "NCCL_NET", "NCCL_IB_HCA"};
    static const char *const checks[] = {"ib", NULL};
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        AUTO_FREE char *value = variable(run, settings[i]);
        if (value && strcmp(value, "0") != 0) {
            str_addf(out, " (%s=%s)", settings[i], value);
            return;
        }
    }
    AUTO_FREE char *found = finding(run, checks);
    if (found) {
        str_addf(out, " (%.*s)", FINDING_SHOWN, found);
    }
}

/* --- the reason --------------------------------------------------------------------------------------- */

static void add_sockets(const struct run *run, struct str *out)
{
    const struct inventory *inventory = &run->inventory;
    const struct inventory_link *interface = slowest_interface(inventory), *port = fastest_port(inventory);
    str_add(out, "NCCL used sockets");
    if (interface) {
        str_addf(out, " at %g Gb/s", interface->gbps);
    }
    if (!port) {
        str_add(out, ", and no InfiniBand or RoCE port is up");
    } else if (!interface || port->gbps > interface->gbps) {
        str_addf(out, " while %s %g Gb/s is up", port->name, port->gbps);
        add_obstacle(run, out);
    }
}

bool comparison_add_reason(const struct run *run, struct str *out)
{
    static const char *const checks[] = {"ib", "nic", "debugging", "memory", NULL};
    const struct inventory *inventory = &run->inventory;
    if (strlist_has(&inventory->networks, "Socket")) {
        add_sockets(run, out);
        return true;
    }
    if (inventory->direct == INVENTORY_DIRECT_NO) {
        str_add(out, "NCCL copies through the processor's memory, without GPUDirect RDMA");
        return true;
    }
    AUTO_FREE char *found = finding(run, checks);
    if (found) {
        str_addf(out, "a check warned of it: %.*s", FINDING_SHOWN, found);
        return true;
    }
    if (inventory->gpus.len > 0 && inventory->networks.len == 0) {
        str_add(out, "its logs do not name the network that NCCL used; with NCCL_DEBUG=INFO they do");
        return true;
    }
    return false;
}
