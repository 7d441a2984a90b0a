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

/* Are the texts equal apart from numbers? In the message of an exception each rank may name its own. */
static bool is_same_but_numbers(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0') {
        size_t digits_a = strspn(a, "0123456789");
        size_t digits_b = strspn(b, "0123456789");
        if (digits_a > 0 && digits_b > 0) {
            a += digits_a;
            b += digits_b;
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return *a == *b;
}

/* Is it the same message on another rank: the same row, naming the same thing? */
static bool is_same(const struct event *a, const struct event *b)
{
    if (strcmp(a->signature->id, b->signature->id) != 0) {
        return false;
    }
    if ((a->signature->class == CLASS_CONF || candidate_is(a, "EXIT_STATUS")) && a->groups[1] &&
        b->groups[1]) {
        return a->signature->generic || a->signature->class != CLASS_CONF
                   ? strcmp(a->groups[1], b->groups[1]) == 0
                   : is_same_but_numbers(a->groups[1], b->groups[1]);
    }
    if (candidate_is(a, "PY_EXCEPTION")) {
        bool placed = a->place && b->place && strcmp(a->place, b->place) == 0;
        return placed ? is_same_but_numbers(a->text, b->text) : strcmp(a->text, b->text) == 0;
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

void cause_add_node(struct cause *cause, size_t node)
{
    add_node(&cause->nodes, &cause->nodes_len, node);
}

/*
 * Add the nodes that show the same cause. Returns their events, for folded numbers; the caller frees the
 * array.
 */
static const struct event **gather_same(const struct ranking *ranking, const struct candidate *best,
                                        struct cause *cause, size_t *len)
{
    const struct event **same = xcalloc(ranking->len + 1, sizeof(*same));
    for (size_t i = 0; i < ranking->len; i++) {
        const struct candidate *one = &ranking->candidates[i];
        bool likely = one->level < LEVEL_HANDLED || best->level >= LEVEL_HANDLED;
        if (one->level < LEVEL_NEVER && likely && is_same(one->event, best->event)) {
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

/*
 * A local fault on only some nodes is a fault of these nodes; the same exception on all nodes is a fault of
 * the job.
 */
static enum signature_class class_of(const struct ranking *ranking, const struct cause *cause)
{
    const struct signature *signature = cause->signature;
    const bool all = cause->nodes_len == ranking->nodes_len;
    if (signature->local && !all) {
        return CLASS_NODE;
    }
    return strcmp(signature->id, "PY_EXCEPTION") == 0 && all && ranking->nodes_len > 1 ? CLASS_CONF
                                                                                       : signature->class;
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
        ranking_take_minority(ranking, event, cause);
        cause->confidence = best->level >= LEVEL_AMBIG ? CONFIDENCE_LOW
                            : best->level >= 40        ? CONFIDENCE_MEDIUM
                                                       : CONFIDENCE_HIGH;
        cause->class = class_of(ranking, cause);
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

/* Add what the nodes that are not the culprit show. */
static void add_consequences(struct diagnosis *diagnosis, const struct ranking *ranking)
{
    const struct cause *cause = &diagnosis->cause;
    for (size_t i = 0; i < ranking->len; i++) {
        const struct candidate *one = &ranking->candidates[i];
        bool same_row = cause->signature && strcmp(one->event->signature->id, cause->signature->id) == 0;
        bool culprit = is_in(cause->nodes, cause->nodes_len, one->node);
        bool plain_end = candidate_is(one->event, "EXIT_STATUS") && one->level == LEVEL_NEVER;
        bool idle = one->event->warning || event_tells_nothing(ranking, one->node, one->event);
        if (one->event->signature->class == CLASS_NOISE || same_row || culprit || plain_end || idle) {
            continue;
        }
        add_consequence(diagnosis, ranking, one);
    }
}

/* --- the whole diagnosis ------------------------------------------------------------------------ */

void diagnosis_make(struct diagnosis *diagnosis, const struct node_end *nodes, size_t nodes_len,
                    unsigned nproc)
{
    *diagnosis = (struct diagnosis){.cause = {.global_rank = -1}};
    struct ranking ranking = {.nodes = nodes, .nodes_len = nodes_len};
    ranking.nproc = nproc > 0 ? (long)nproc : ranking_guess_nproc(&ranking);
    ranking.made = xcalloc(nodes_len, sizeof(*ranking.made));
    ranking.inferred = xcalloc(nodes_len, sizeof(*ranking.inferred));
    ranking.matched = xcalloc(nodes_len, sizeof(*ranking.matched));
    for (size_t i = 0; i < nodes_len; i++) {
        ranking.inferred[i].events = xcalloc(INFERRED_MAX, sizeof(struct event));
        ranking.inferred[i].events_cap = INFERRED_MAX;
        ranking.matched[i] = xcalloc(nodes[i].evidence ? nodes[i].evidence->faults_len + 1 : 1, sizeof(bool));
    }
    ranking_add_ends(&ranking);
    ranking_note_unjoined(&ranking);
    ranking.failed = ranking_has_failure(&ranking);
    ranking_note_steps(&ranking);
    for (size_t i = 0; i < nodes_len; i++) {
        ranking_add_candidates(&ranking, i, nodes[i].evidence);
        ranking_add_candidates(&ranking, i, &ranking.made[i]);
    }
    ranking_infer(&ranking);
    const struct candidate *best = ranking_find_best(&ranking);
    diagnosis->failed = best || ranking_has_ended_badly(&ranking);
    if (best) {
        make_cause(&ranking, best, &diagnosis->cause);
    }
    add_consequences(diagnosis, &ranking);
    for (size_t i = 0; i < nodes_len; i++) {
        evidence_release(&ranking.made[i]);
        evidence_release(&ranking.inferred[i]);
        free(ranking.matched[i]);
    }
    free(ranking.made);
    free(ranking.inferred);
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
