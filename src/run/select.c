/* Finds the nodes of a run that --node selects. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/hostlist.h"
#include "select_internal.h"

/* Mark the nodes that a word of --node selects: digits are a rank, anything else a label or host name. */
static size_t select_word(const struct run *run, const char *word, bool *selected)
{
    uint64_t rank = 0;
    size_t found = 0;
    bool is_rank = text_to_uint(word, 0, UINT32_MAX, &rank);
    for (size_t i = 0; i < run->nodes_len; i++) {
        const struct run_node *node = &run->nodes[i];
        if (is_rank ? node->rank == rank
                    : strcmp(node->label, word) == 0 || strcmp(node->host.name, word) == 0) {
            selected[i] = true;
            found++;
        }
    }
    return found;
}

static int unknown_node(const struct run *run, const char *word, struct error *err)
{
    AUTO_FREE char **labels = xcalloc(run->nodes_len, sizeof(*labels));
    AUTO_STR struct str folded = STR_INIT;
    for (size_t i = 0; i < run->nodes_len; i++) {
        labels[i] = run->nodes[i].label;
    }
    hostlist_fold_names(labels, run->nodes_len, &folded);
    error_set(err, &kind_usage, "run '%s' has no node '%s'", run->name, word);
    return error_hint(err, "its nodes are 0 to %zu: %s", run->nodes_len - 1, str_text(&folded));
}

int run_select_nodes(const struct run *run, const struct strlist *words, bool *selected, size_t *count,
                     struct error *err)
{
    *count = words->len == 0 ? run->nodes_len : 0;
    for (size_t i = 0; i < *count; i++) {
        selected[i] = true;
    }
    for (size_t i = 0; i < words->len; i++) {
        size_t found = select_word(run, words->items[i], selected);
        if (found == 0) {
            return unknown_node(run, words->items[i], err);
        }
        *count += found;
    }
    return 0;
}
