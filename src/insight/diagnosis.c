/* Ranks the evidence of all nodes and picks the cause. */
#include "insight/diagnosis.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "diagnosis_internal.h"
#include "model/hostlist.h"

#define SUMMARY_MAX 400

const char *confidence_name(enum confidence confidence)
{
    return confidence == CONFIDENCE_HIGH ? "high" : confidence == CONFIDENCE_MEDIUM ? "medium" : "low";
}

/* --- the cause ---------------------------------------------------------------------------------- */

/* The same message on another rank: the same row, and the same thing named in it. */
static bool is_same(const struct event *a, const struct event *b)
{
    if (strcmp(a->signature->id, b->signature->id) != 0) {
        return false;
    }
    if ((a->signature->class == CLASS_CONF || candidate_is(a, "EXIT_STATUS")) && a->groups[1] &&
        b->groups[1]) {
        return strcmp(a->groups[1], b->groups[1]) == 0;
    }
    if (candidate_is(a, "PY_EXCEPTION")) {
        return strcmp(a->text, b->text) == 0;
    }
    return true;
}

static void add_node(size_t **nodes, size_t *len, size_t node)
{
    for (size_t i = 0; i < *len; i++) {
        if ((*nodes)[i] == node) {
            return;
        }
    }
    *nodes = xrealloc(*nodes, *len + 1, sizeof(**nodes));
    size_t at = (*len)++;
    while (at > 0 && (*nodes)[at - 1] > node) {
        (*nodes)[at] = (*nodes)[at - 1];
        at--;
    }
    (*nodes)[at] = node;
}

/* Nodes that show the same cause. Returns the events, for folded numbers; the caller frees the array. */
static const struct event **gather_same(const struct ranking *ranking, const struct candidate *best,
                                        struct cause *cause, size_t *len)
{
    const struct event **same = xcalloc(ranking->len + 1, sizeof(*same));
    for (size_t i = 0; i < ranking->len; i++) {
        const struct candidate *one = &ranking->candidates[i];
        if (one->level < LEVEL_NEVER && is_same(one->event, best->event)) {
            same[(*len)++] = one->event;
            add_node(&cause->nodes, &cause->nodes_len, one->node);
        }
    }
    return same;
}

static void take_absent(const struct ranking *ranking, const struct candidate *best, struct cause *cause)
{
    AUTO_FREE bool *absent = xcalloc(ranking->nodes_len, sizeof(bool));
    cause->global_rank = ranking_find_absent(ranking, best, absent);
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        if (absent[i]) {
            add_node(&cause->nodes, &cause->nodes_len, i);
        }
    }
    bool found = cause->nodes_len > 0;
    if (!found) {
        add_node(&cause->nodes, &cause->nodes_len, best->node);
    }
    cause->confidence = found && cause->nodes_len == 1 ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
}

static char *make_summary(const struct event *event, const struct event *const *same, size_t same_len)
{
    AUTO_STR struct str text = STR_INIT;
    if (event->signature->summary) {
        expand_template(event->signature->summary, event, same, same_len, &text);
    } else if (event->text) {
        str_add(&text, event->text);
    } else {
        str_add(&text, event->signature->id);
    }
    AUTO_STR struct str clean = STR_INIT;
    text_add_line(&clean, str_text(&text), text.len < SUMMARY_MAX ? text.len : SUMMARY_MAX);
    if (event->place) {
        str_addf(&clean, " (%s)", event->place);
    }
    return str_detach(&clean);
}

static void add_remedies(const struct event *event, const struct event *const *same, size_t same_len,
                         struct strlist *remedies)
{
    for (size_t i = 0; event->signature->remedies[i]; i++) {
        AUTO_STR struct str text = STR_INIT;
        expand_template(event->signature->remedies[i], event, same, same_len, &text);
        strlist_add(remedies, str_text(&text));
    }
}

static void make_cause(const struct ranking *ranking, const struct candidate *best, struct cause *cause)
{
    const struct event *event = best->event;
    const struct signature *signature = event->signature;
    size_t same_len = 0;
    cause->signature = signature;
    cause->class = signature->class;
    cause->node = best->node;
    cause->command = event->command;
    AUTO_FREE const struct event **same = NULL;
    if (signature->class == CLASS_ABSENT) {
        take_absent(ranking, best, cause);
    } else {
        same = gather_same(ranking, best, cause, &same_len);
        cause->global_rank = ranking_rank(ranking, best->node, event);
        cause->confidence = best->level >= LEVEL_AMBIG ? CONFIDENCE_LOW
                            : best->level >= 40        ? CONFIDENCE_MEDIUM
                                                       : CONFIDENCE_HIGH;
        if (signature->local && cause->nodes_len < ranking->nodes_len) {
            cause->class = CLASS_NODE;
        }
    }
    cause->summary = make_summary(event, same, same_len);
    add_remedies(event, same, same_len, &cause->remedies);
    cause->file = event->file ? event->file : ranking->nodes[best->node].file;
    cause->line = event->line;
    cause->text = xstrdup(event->text);
}

/* --- consequences ------------------------------------------------------------------------------- */

static bool is_in(const size_t *nodes, size_t len, size_t node)
{
    for (size_t i = 0; i < len; i++) {
        if (nodes[i] == node) {
            return true;
        }
    }
    return false;
}

static void add_consequence(struct diagnosis *diagnosis, const struct ranking *ranking,
                            const struct candidate *one)
{
    for (size_t i = 0; i < diagnosis->consequences_len; i++) {
        struct consequence *known = &diagnosis->consequences[i];
        if (strcmp(known->signature->id, one->event->signature->id) == 0) {
            add_node(&known->nodes, &known->nodes_len, one->node);
            return;
        }
    }
    diagnosis->consequences = xgrow(diagnosis->consequences, diagnosis->consequences_len,
                                    &diagnosis->consequences_cap, sizeof(struct consequence));
    struct consequence *fresh = &diagnosis->consequences[diagnosis->consequences_len++];
    *fresh = (struct consequence){
        .signature = one->event->signature,
        .file = one->event->file ? one->event->file : ranking->nodes[one->node].file,
        .line = one->event->line,
        .text = xstrdup(one->event->text),
        .summary = make_summary(one->event, &one->event, 1),
    };
    add_node(&fresh->nodes, &fresh->nodes_len, one->node);
}

/* What other nodes show, and what else the culprit shows that is not the cause. */
static void add_consequences(struct diagnosis *diagnosis, const struct ranking *ranking)
{
    const struct cause *cause = &diagnosis->cause;
    for (size_t i = 0; i < ranking->len; i++) {
        const struct candidate *one = &ranking->candidates[i];
        bool same_row = cause->signature && strcmp(one->event->signature->id, cause->signature->id) == 0;
        bool culprit = is_in(cause->nodes, cause->nodes_len, one->node);
        bool plain_end = candidate_is(one->event, "EXIT_STATUS") && one->level == LEVEL_NEVER;
        if (one->event->signature->class == CLASS_NOISE || same_row || culprit || plain_end) {
            continue;
        }
        add_consequence(diagnosis, ranking, one);
    }
}

/* --- the whole ---------------------------------------------------------------------------------- */

/* Every other node lost a peer, and some say nothing: there lies the cause, whatever it was. */
static void blame_silent(struct ranking *ranking)
{
    AUTO_FREE bool *silent = xcalloc(ranking->nodes_len, sizeof(bool));
    size_t victims = 0;
    for (size_t i = 0; i < ranking->len; i++) {
        const struct event *event = ranking->candidates[i].event;
        victims += event->signature->class == CLASS_VICTIM && !candidate_is(event, "SIG_EXCEPTION");
    }
    size_t count = ranking_find_silent(ranking, silent);
    for (size_t i = 0; i < ranking->nodes_len && victims > 0 && count < ranking->nodes_len; i++) {
        if (silent[i]) {
            evidence_add_event(&ranking->made[i], signature_find("NODE_SILENT"));
            ranking_add_candidates(ranking, i, &ranking->made[i]);
            return;
        }
    }
}

/* The id of the rendezvous that a node names; NULL: none does. */
static const char *rendezvous_id(const struct ranking *ranking)
{
    for (size_t i = 0; i < ranking->len; i++) {
        if (candidate_is(ranking->candidates[i].event, "RDZV_ID")) {
            return ranking->candidates[i].event->groups[1];
        }
    }
    return NULL;
}

/* Every node waited for the others until its time was up: nobody is absent, they did not find each other. */
static void note_unmet(struct ranking *ranking)
{
    AUTO_FREE bool *silent = xcalloc(ranking->nodes_len, sizeof(bool));
    const struct candidate *best = ranking_find_best(ranking);
    if (!best || !candidate_is(best->event, "RDZV_TIMEOUT") || ranking->nodes_len < 2 ||
        ranking_find_silent(ranking, silent) > 0) {
        return;
    }
    const char *id = rendezvous_id(ranking);
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        struct event *event = evidence_add_event(&ranking->made[i], signature_find("RDZV_UNMET"));
        event->line = ranking->nodes[i].evidence->events[0].line;
        event->text = xstrdup(ranking->nodes[i].evidence->events[0].text);
        event->groups[1] = xstrdup(id ? id : "?");
        ranking_add_candidates(ranking, i, &ranking->made[i]);
    }
}

/* "rank 7 ", "ranks 4-7,9 " */
static char *ranks_text(const struct unjoined *found)
{
    struct str text = STR_INIT;
    str_add(&text, "ranks ");
    for (size_t i = 0, to = 0; i < found->len; i = to) {
        to = i + 1;
        while (to < found->len && found->ranks[to] == found->ranks[to - 1] + 1) {
            to++;
        }
        str_addf(&text, i > 0 ? ",%ld" : "%ld", found->ranks[i]);
        if (to > i + 1) {
            str_addf(&text, "-%ld", found->ranks[to - 1]);
        }
    }
    str_add_char(&text, ' ');
    return str_detach(&text);
}

/* The flight recorders tell who never called the collective in which the others wait. */
static void note_unjoined(struct ranking *ranking)
{
    struct unjoined *found = &ranking->unjoined;
    if (!ranking_find_unjoined(ranking, found)) {
        return;
    }
    long node = ranking_node_of_rank(ranking, found->ranks[0]);
    size_t at = node >= 0 ? (size_t)node : 0;
    struct event *event = evidence_add_event(&ranking->made[at], signature_find("COLLECTIVE_UNJOINED"));
    event->fatal = true;
    event->groups[1] = found->len > 1 ? ranks_text(found) : xstrdup("");
    event->groups[2] = xstrdup(found->waiter->op ? found->waiter->op : "the collective");
    event->groups[3] = xasprintf("%lld", found->waiter->enqueued);
    event->groups[4] = found->waiting == 1 ? xasprintf("rank %ld waits", found->waiter->rank)
                                           : xasprintf("%zu ranks wait", found->waiting);
    event->place = xstrdup(found->waiter->place);
}

void diagnosis_make(struct diagnosis *diagnosis, const struct node_end *nodes, size_t nodes_len,
                    unsigned nproc)
{
    *diagnosis = (struct diagnosis){.cause = {.global_rank = -1}};
    struct ranking ranking = {.nodes = nodes, .nodes_len = nodes_len};
    ranking.nproc = nproc > 0 ? (long)nproc : ranking_guess_nproc(&ranking);
    ranking.made = xcalloc(nodes_len, sizeof(*ranking.made));
    ranking.matched = xcalloc(nodes_len, sizeof(*ranking.matched));
    for (size_t i = 0; i < nodes_len; i++) {
        ranking.matched[i] = xcalloc(nodes[i].evidence ? nodes[i].evidence->faults_len + 1 : 1, sizeof(bool));
    }
    ranking_add_ends(&ranking);
    note_unjoined(&ranking);
    for (size_t i = 0; i < nodes_len; i++) {
        ranking_add_candidates(&ranking, i, nodes[i].evidence);
        ranking_add_candidates(&ranking, i, &ranking.made[i]);
    }
    if (!ranking_find_best(&ranking)) {
        blame_silent(&ranking);
    }
    note_unmet(&ranking);
    const struct candidate *best = ranking_find_best(&ranking);
    diagnosis->failed = best || ranking_has_failure(&ranking);
    if (best) {
        make_cause(&ranking, best, &diagnosis->cause);
    }
    add_consequences(diagnosis, &ranking);
    for (size_t i = 0; i < nodes_len; i++) {
        evidence_release(&ranking.made[i]);
        free(ranking.matched[i]);
    }
    free(ranking.made);
    free(ranking.matched);
    free(ranking.unjoined.ranks);
    free(ranking.candidates);
}

void diagnosis_release(struct diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->consequences_len; i++) {
        free(diagnosis->consequences[i].nodes);
        free(diagnosis->consequences[i].text);
        free(diagnosis->consequences[i].summary);
    }
    free(diagnosis->consequences);
    free(diagnosis->cause.summary);
    free(diagnosis->cause.nodes);
    free(diagnosis->cause.text);
    strlist_release(&diagnosis->cause.remedies);
    *diagnosis = (struct diagnosis){0};
}

void diagnosis_add_reason(const struct diagnosis *diagnosis, const struct node_end *nodes, struct str *out)
{
    const struct cause *cause = &diagnosis->cause;
    if (!cause->signature) {
        return;
    }
    if (cause->nodes_len == 1) {
        const struct node_end *node = &nodes[cause->nodes[0]];
        str_addf(out, "%s (node %u", node->host, node->rank);
        if (cause->global_rank >= 0) {
            str_addf(out, ", rank %ld", cause->global_rank);
        }
        str_add(out, ")");
    } else {
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        for (size_t i = 0; i < cause->nodes_len; i++) {
            strlist_add(&hosts, nodes[cause->nodes[i]].host);
        }
        hostlist_fold_names(hosts.items, hosts.len, out);
    }
    str_addf(out, ": %s", cause->summary);
}
