/* The parts of the node's script, by name. */
#include <string.h>

#include "node/node_internal.h"

bool node_script_has(const char *name)
{
    for (size_t i = 0; i < node_script_parts_count; i++) {
        if (strcmp(node_script_parts[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

void node_script_add(struct str *out, const char *const *names)
{
    for (; names && *names; names++) {
        for (size_t i = 0; i < node_script_parts_count; i++) {
            const struct node_script_part *part = &node_script_parts[i];
            if (strcmp(part->name, *names) == 0) {
                str_add_mem(out, part->text, part->len);
            }
        }
    }
}
