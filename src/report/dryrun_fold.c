/* Finds nodes of a plan that are alike except for their rank, their host, and what contains these. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/hostlist.h"
#include "report/dryrun_internal.h"

/* The length of the node's name or label at the beginning of text; 0: text begins otherwise. */
static size_t name_len(const struct plan_node *node, const char *text)
{
    if (text_starts(text, node->label)) {
        return strlen(node->label);
    }
    return text_starts(text, node->name) ? strlen(node->name) : 0;
}

/* Is the number at the beginning of text the node's rank? */
static bool is_number(const struct plan_node *node, const char *text, size_t digits)
{
    AUTO_FREE char *number = xasprintf("%u", node->rank);
    return strlen(number) == digits && strncmp(text, number, digits) == 0;
}

/* Is it a character with which neither a number nor the node's name or label begins? */
static bool is_plain(const struct plan_node *node, char c)
{
    return c != node->label[0] && c != node->name[0] && !(c >= '0' && c <= '9');
}

/* Compare pointers first: equal texts in a plan are mostly one object. */
static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/*
 * Are two texts (each may be NULL) the same, except that each has its own node's name or rank where the other
 * has that of its node?
 */
static bool alike(const struct plan_node *a, const char *text_a, const struct plan_node *b,
                  const char *text_b)
{
    static const char digits[] = "0123456789";
    if (same_text(text_a, text_b)) {
        return true;
    }
    while (text_a && text_b && *text_a && *text_b) {
        if (*text_a == *text_b && is_plain(a, *text_a) && is_plain(b, *text_b)) {
            text_a++;
            text_b++;
            continue;
        }
        size_t name_a = name_len(a, text_a), name_b = name_len(b, text_b);
        size_t len_a = strspn(text_a, digits), len_b = strspn(text_b, digits);
        if (name_a && name_b) {
            text_a += name_a;
            text_b += name_b;
        } else if (len_a && len_b) {
            bool same = len_a == len_b && strncmp(text_a, text_b, len_a) == 0;
            if (!same && !(is_number(a, text_a, len_a) && is_number(b, text_b, len_b))) {
                return false;
            }
            text_a += len_a;
            text_b += len_b;
        } else if (*text_a++ != *text_b++) {
            return false;
        }
    }
    return text_a && text_b && *text_a == *text_b;
}

static bool alike_environments(const struct plan_node *a, const struct plan_node *b)
{
    size_t len = plan_node_env_len(a);
    bool same = len == plan_node_env_len(b);
    for (size_t i = 0; same && i < len; i++) {
        const struct env_var *var_a = plan_node_var(a, i), *var_b = plan_node_var(b, i);
        same = strcmp(var_a->name, var_b->name) == 0 && same_text(var_a->source, var_b->source) &&
               alike(a, var_a->value, b, var_b->value);
    }
    return same;
}

static bool alike_nodes(const struct plan_node *a, const struct plan_node *b)
{
    bool same = a->local == b->local && a->port == b->port && same_text(a->user, b->user) &&
                a->argv.len == b->argv.len && alike(a, a->workdir, b, b->workdir) &&
                alike(a, a->log, b, b->log);
    for (size_t i = 0; same && i < a->argv.len; i++) {
        same = alike(a, a->argv.items[i], b, b->argv.items[i]);
    }
    return same;
}

static bool says_the_same(const void *ctx, size_t a, size_t b)
{
    const struct plan_node *nodes = ctx;
    return alike_environments(&nodes[a], &nodes[b]) && alike_nodes(&nodes[a], &nodes[b]);
}

void dryrun_fold(const struct plan *plan, struct fold *fold)
{
    fold_make(fold, plan->nnodes, says_the_same, plan->nodes);
}

/*
 * Append the names of the variables that differ between two nodes that are alike, each once, except
 * MTLAUNCH_HOST.
 */
static void add_differences(const struct plan_node *a, const struct plan_node *b, struct strlist *names)
{
    for (size_t i = 0; i < plan_node_env_len(a); i++) {
        const struct env_var *var = plan_node_var(a, i);
        if (!same_text(var->value, plan_node_var(b, i)->value) && strcmp(var->name, "MTLAUNCH_HOST") != 0 &&
            !strlist_has(names, var->name)) {
            strlist_add(names, var->name);
        }
    }
}

void dryrun_add_others(const struct plan *plan, const struct fold_group *group, struct str *out)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT, hosts = STRLIST_INIT;
    AUTO_STR struct str folded = STR_INIT;
    for (size_t i = 1; i < group->len; i++) {
        const struct plan_node *other = &plan->nodes[group->items[i]];
        strlist_add(&hosts, other->label);
        add_differences(&plan->nodes[group->items[0]], other, &names);
    }
    if (hosts.len == 0) {
        return;
    }
    hostlist_fold_names(hosts.items, hosts.len, &folded);
    str_addf(out, "\n%zu other%s differ%s in ", hosts.len, hosts.len == 1 ? "" : "s",
             hosts.len == 1 ? "s" : "");
    for (size_t i = 0; i < names.len; i++) {
        str_addf(out, "%s, ", names.items[i]);
    }
    str_add(out, "host, and so in log and command: ");
    text_add_safe(out, str_text(&folded), folded.len);
    str_add(out, "\n(--full shows each node)\n");
}
