/* Warns of other runs that live on the nodes of a start. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/hostlist.h"
#include "observer_internal.h"
#include "start_internal.h"

#define SUFFIX_LEN 9 /* a run_id is the run's name, "-" and 8 hexadecimal digits */

/* The id of the run whose job this command was called from; "": none. */
static const char *outer_run_id(const struct run_context *context)
{
    static const char name[] = "MTLAUNCH_RUN_ID=";
    for (size_t i = 0; context->environ_ && context->environ_[i]; i++) {
        if (text_starts(context->environ_[i], name)) {
            return context->environ_[i] + sizeof(name) - 1;
        }
    }
    return "";
}

static bool has_other(const struct node_others *others, const struct node_other *wanted)
{
    for (size_t i = 0; i < others->len; i++) {
        if (strcmp(others->items[i].run_id, wanted->run_id) == 0 &&
            strcmp(others->items[i].user, wanted->user) == 0) {
            return true;
        }
    }
    return false;
}

/* Was it told with a node before this one? */
static bool is_told(const struct start *start, size_t node, const struct node_other *other)
{
    for (size_t i = 0; i < node; i++) {
        if (has_other(&start->probes[i].others, other)) {
            return true;
        }
    }
    return false;
}

static void tell_other(const struct start *start, size_t first, const struct node_other *other)
{
    const struct run *run = start->run;
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    AUTO_STR struct str folded = STR_INIT;
    bool is_uid = strspn(other->user, "0123456789") == strlen(other->user);
    const char *quote = is_uid ? "" : "'";
    for (size_t i = first; i < run->nodes_len; i++) {
        if (has_other(&start->probes[i].others, other)) {
            strlist_add(&hosts, run->nodes[i].label);
        }
    }
    hostlist_fold_names(hosts.items, hosts.len, &folded);
    report_warn(start->context, "%s: run '%.*s' of %s %s%s%s is running there too", str_text(&folded),
                (int)(strlen(other->run_id) - SUFFIX_LEN), other->run_id, is_uid ? "uid" : "user", quote,
                other->user, quote);
}

void start_warn_others(struct start *start)
{
    const char *outer = outer_run_id(start->context);
    if (start->told_others || start->request->is_restart) {
        return;
    }
    start->told_others = true;
    for (size_t i = 0; i < start->run->nodes_len; i++) {
        const struct node_others *others = &start->probes[i].others;
        for (size_t o = 0; o < others->len; o++) {
            const struct node_other *other = &others->items[o];
            if (strcmp(other->run_id, outer) != 0 && !is_told(start, i, other)) {
                tell_other(start, i, other);
            }
        }
    }
}
