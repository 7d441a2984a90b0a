/* Looks up the parts of the node's script by name. */
#include <string.h>

#include "base/quote.h"
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

void node_script_add_watchdog(struct str *out)
{
    static const char *const parts[] = {"15-stat", "86-watchdog", NULL};
    AUTO_STR struct str text = STR_INIT;

    node_script_add(&text, parts);
    str_add(out, "mt_watchdog=");
    quote_sh(out, str_text(&text));
    str_add_char(out, '\n');
}
