/* What the nodes of a run have and use, as a value. */
#include "model/inventory.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void inventory_release(struct inventory *inventory)
{
    strlist_release(&inventory->gpus);
    free(inventory->nccl_version);
    strlist_release(&inventory->networks);
    strlist_release(&inventory->interfaces);
    for (size_t i = 0; i < inventory->links_len; i++) {
        free(inventory->links[i].name);
    }
    free(inventory->links);
    *inventory = (struct inventory){0};
}

static void add_once(struct strlist *list, const char *value)
{
    if (value && value[0] != '\0' && list->len < INVENTORY_MAX && !strlist_has(list, value)) {
        strlist_add(list, value);
    }
}

void inventory_add_gpu(struct inventory *inventory, const char *model)
{
    add_once(&inventory->gpus, model);
}

void inventory_add_network(struct inventory *inventory, const char *network)
{
    add_once(&inventory->networks, network);
}

void inventory_add_interface(struct inventory *inventory, const char *interface)
{
    add_once(&inventory->interfaces, interface);
}

static struct inventory_link *find_link(const struct inventory *inventory, const char *name, bool rdma)
{
    for (size_t i = 0; i < inventory->links_len; i++) {
        struct inventory_link *link = &inventory->links[i];
        if (link->rdma == rdma && strcmp(link->name, name) == 0) {
            return link;
        }
    }
    return NULL;
}

void inventory_add_link(struct inventory *inventory, const char *name, bool rdma, double gbps)
{
    struct inventory_link *known = find_link(inventory, name, rdma);
    if (known) {
        known->gbps = gbps < known->gbps ? gbps : known->gbps;
        return;
    }
    if (inventory->links_len == INVENTORY_MAX || name[0] == '\0') {
        return;
    }
    inventory->links =
        xgrow(inventory->links, inventory->links_len, &inventory->links_cap, sizeof(inventory->links[0]));
    inventory->links[inventory->links_len++] =
        (struct inventory_link){.name = xstrdup(name), .gbps = gbps, .rdma = rdma};
}

const struct inventory_link *inventory_find_link(const struct inventory *inventory, const char *name,
                                                 bool rdma)
{
    return find_link(inventory, name, rdma);
}

json_t *inventory_to_json(const struct inventory *inventory)
{
    if (!inventory->known) {
        return json_null();
    }
    json_t *object = json_object();
    json_object_set_new(object, "gpus", js_exact_list(&inventory->gpus));
    js_put_text(object, "nccl_version", inventory->nccl_version);
    json_object_set_new(object, "networks", js_exact_list(&inventory->networks));
    json_object_set_new(object, "interfaces", js_exact_list(&inventory->interfaces));
    if (inventory->direct != INVENTORY_DIRECT_UNKNOWN) {
        js_put_flag(object, "direct", inventory->direct == INVENTORY_DIRECT_YES);
    }
    json_t *links = json_array();
    for (size_t i = 0; i < inventory->links_len; i++) {
        json_t *link = json_object();
        js_put_text(link, "name", inventory->links[i].name);
        js_put_flag(link, "rdma", inventory->links[i].rdma);
        json_object_set_new(link, "gbps", json_real(inventory->links[i].gbps));
        json_array_append_new(links, link);
    }
    json_object_set_new(object, "links", links);
    return object;
}

void inventory_from_json(const json_t *object, struct inventory *inventory)
{
    if (!json_is_object(object)) {
        return;
    }
    inventory->known = true;
    js_get_list(object, "gpus", &inventory->gpus);
    inventory->nccl_version = js_get_text(object, "nccl_version");
    js_get_list(object, "networks", &inventory->networks);
    js_get_list(object, "interfaces", &inventory->interfaces);
    if (json_object_get(object, "direct")) {
        inventory->direct = js_get_flag(object, "direct") ? INVENTORY_DIRECT_YES : INVENTORY_DIRECT_NO;
    }
    const json_t *links = json_object_get(object, "links");
    for (size_t i = 0; i < json_array_size(links); i++) {
        const json_t *link = json_array_get(links, i);
        AUTO_FREE char *name = js_get_text(link, "name");
        double gbps = json_number_value(json_object_get(link, "gbps"));
        if (name && gbps > 0) {
            inventory_add_link(inventory, name, js_get_flag(link, "rdma"), gbps);
        }
    }
}
