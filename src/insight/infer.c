/* Infers what no line says but the nodes together show: who did not join, who fell silent, what hangs. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "diagnosis_internal.h"
#include "model/hostlist.h"

#define LEVEL_HANG    (LEVEL_AMBIG + 1) /* a message that names a link says more */
#define LEVEL_STOPPED (LEVEL_AMBIG - 1)
#define LEVEL_UNMET   30
#define LEVEL_SILENT  40
#define LEVEL_DESYNC  35
#define LEVEL_STARTS  33 /* a hang is its consequence */
#define EARLIER_S     3  /* seconds by which clocks may still differ */

/*
 * Add an event of a node as a candidate. There is room for INFERRED_MAX per node, so pointers to them stay
 * valid.
 */
static struct event *add(struct ranking *ranking, size_t node, const char *id, unsigned level)
{
    struct event *event = evidence_add_event(&ranking->inferred[node], signature_find(id));
    ranking->candidates = xgrow(ranking->candidates, ranking->len, &ranking->cap, sizeof(struct candidate));
    ranking->candidates[ranking->len++] = (struct candidate){
        .node = node, .event = event, .class = event->signature->class, .level = level, .time = -1};
    return event;
}

/* Show a line of the node's own log as the evidence. */
static void quote(struct event *event, const struct event *from)
{
    event->line = from->line;
    event->text = xstrdup(from->text);
    event->time = from->time;
}

/* --- flight recorders --------------------------------------------------------------------------- */

/* "ranks 4-7,9 " */
static char *ranks_text(const struct unjoined *found)
{
    struct str text = STR_INIT;
    str_add(&text, "ranks ");
    ranges_add(found->ranks, found->len, &text);
    str_add_char(&text, ' ');
    return str_detach(&text);
}

/* The flight recorders show who never called the collective in which the others wait. */
void ranking_note_unjoined(struct ranking *ranking)
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

/* --- nodes that did not meet -------------------------------------------------------------------- */

/*
 * Append the rendezvous ids that the nodes name: "'joba'", "'joba' on one, 'jobb' on another". Returns how
 * many.
 */
static size_t list_rendezvous_ids(const struct ranking *ranking, struct str *out)
{
    AUTO_STRLIST struct strlist ids = STRLIST_INIT;
    for (size_t i = 0; i < ranking->len; i++) {
        const struct event *event = ranking->candidates[i].event;
        const char *id = candidate_is(event, "RDZV_ID") ? event->groups[1] : NULL;
        if (id && !strlist_has(&ids, id)) {
            str_addf(out, ids.len == 0 ? "'%s' on one" : ", '%s' on another", id);
            strlist_add(&ids, id);
        }
    }
    return ids.len;
}

/* Did node 0 wait for clients while the others waited for an answer where they tried (appended to tried)? */
static bool is_at_other_port(const struct ranking *ranking, const struct candidate *best, struct str *tried)
{
    bool waits = false;
    size_t clients = 0;
    if (!candidate_is(best->event, "RDZV_WAIT_CLIENTS") &&
        !candidate_is(best->event, "RDZV_CLIENT_TIMEOUT")) {
        return false;
    }
    for (size_t i = 0; i < ranking->len; i++) {
        const struct event *event = ranking->candidates[i].event;
        waits = waits || candidate_is(event, "RDZV_WAIT_CLIENTS");
        if (candidate_is(event, "RDZV_CONNECT_FAIL")) {
            return false; /* the network says why */
        }
        if (candidate_is(event, "RDZV_CLIENT_TIMEOUT")) {
            if (clients++ == 0) {
                str_addf(tried, ", or a firewall is between: %s port %s did not answer", event->groups[1],
                         event->groups[2]);
            }
        }
    }
    return waits && clients > 0;
}

/* Every node waited for the others until its timeout: no node is absent, but they did not find each other. */
static void note_unmet(struct ranking *ranking)
{
    AUTO_FREE bool *silent = xcalloc(ranking->nodes_len, sizeof(bool));
    AUTO_STR struct str ids = STR_INIT;
    const struct candidate *best = ranking_find_best(ranking);
    const bool differ = list_rendezvous_ids(ranking, &ids) > 1;
    AUTO_STR struct str tried = STR_INIT;
    const bool waited =
        best && (candidate_is(best->event, "RDZV_TIMEOUT") || is_at_other_port(ranking, best, &tried));
    if ((!waited && !(differ && (!best || best->level >= LEVEL_UNMET))) || ranking->nodes_len < 2 ||
        ranking_find_silent(ranking, silent) > 0) {
        return;
    }
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        struct event *event = add(ranking, i, "RDZV_UNMET", LEVEL_UNMET);
        quote(event, &ranking->nodes[i].evidence->events[0]);
        event->groups[2] = xstrdup(str_text(&tried));
        event->groups[1] = ids.len > 0 ? xasprintf(" (%s)", str_text(&ids)) : xstrdup("");
    }
}

/*
 * torchrun's agents wait for what rank 0 assigned to their own node rank: "keys:
 * /ID/torchelastic/assigned_ranks/1"
 */
static long own_rank(const struct event *event)
{
    static const char key[] = "/torchelastic/assigned_ranks/";
    const char *at = candidate_is(event, "STORE_GET_TIMEOUT") ? strstr(event->text, key) : NULL;
    return at ? strtol(at + strlen(key), NULL, 10) : -1;
}

static long own_rank_of(const struct evidence *evidence)
{
    long rank = -1;
    for (size_t i = 0; evidence && i < evidence->events_len && rank < 0; i++) {
        rank = own_rank(&evidence->events[i]);
    }
    return rank;
}

static void note_same_rank(struct ranking *ranking)
{
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        long rank = own_rank_of(ranking->nodes[i].evidence);
        bool twice = false;
        for (size_t j = 0; j < ranking->nodes_len && rank >= 0; j++) {
            twice = twice || (j != i && own_rank_of(ranking->nodes[j].evidence) == rank);
        }
        if (twice) {
            struct event *event = add(ranking, i, "RDZV_SAME_RANK", LEVEL_UNMET);
            quote(event, &ranking->nodes[i].evidence->events[0]);
            event->groups[1] = xasprintf("%ld", rank);
        }
    }
}

/* --- a collective that hangs --------------------------------------------------------------------- */

/*
 * Do the watchdogs of two ranks wait at the same number in different collectives? All-reduces of different
 * sizes are different too.
 */
static bool differ(const struct event *a, const struct event *b)
{
    bool same_number = a->groups[1] && b->groups[1] && strcmp(a->groups[1], b->groups[1]) == 0;
    bool same_op = a->groups[2] && b->groups[2] && strcmp(a->groups[2], b->groups[2]) == 0;
    bool sized = same_op && a->groups[4] && b->groups[4] && strcmp(a->groups[2], "ALLREDUCE") == 0;
    return same_number && (!same_op || (sized && strcmp(a->groups[4], b->groups[4]) != 0));
}

/* The group in which a rank's watchdog noticed the hang first; NULL: unknown. */
static const char *first_group(const struct evidence *evidence, long rank)
{
    for (size_t i = 0; evidence && i < evidence->enqueued_len; i++) {
        if (evidence->enqueued[i].rank == rank) {
            return evidence->enqueued[i].group;
        }
    }
    return NULL;
}

/* Another candidate whose rank is in another collective of the same group and number; NULL: there is none. */
static const struct candidate *find_other_call(const struct ranking *ranking, const struct candidate *one)
{
    const char *group = first_group(ranking->nodes[one->node].evidence, one->event->rank);
    for (size_t i = 0; i < ranking->len; i++) {
        const struct candidate *other = &ranking->candidates[i];
        if (!candidate_is(other->event, "NCCL_WATCHDOG") || !differ(one->event, other->event)) {
            continue;
        }
        const char *theirs = first_group(ranking->nodes[other->node].evidence, other->event->rank);
        if (group && theirs && strcmp(group, theirs) == 0) {
            return other;
        }
    }
    return NULL;
}

/* "rank 0 is in ALLREDUCE of 1 elements, rank 1 in BROADCAST of 8, at number 36" */
static bool note_desync(struct ranking *ranking, const struct candidate *one)
{
    const struct candidate *other = find_other_call(ranking, one);
    if (!other) {
        return false;
    }
    const struct event *a = one->event;
    const struct event *b = other->event;
    const size_t nodes[] = {one->node, other->node};
    char *text = xasprintf("rank %ld is in %s (%s elements), rank %ld in %s (%s), both at number %s", a->rank,
                           a->groups[2], a->groups[4] ? a->groups[4] : "?", b->rank, b->groups[2],
                           b->groups[4] ? b->groups[4] : "?", a->groups[1]);
    for (size_t i = 0; i < ARRAY_LEN(nodes) && (i == 0 || nodes[0] != nodes[1]); i++) {
        struct event *event = add(ranking, nodes[i], "DESYNC", LEVEL_DESYNC);
        quote(event, i == 0 ? a : b);
        event->groups[1] = xstrdup(text);
    }
    free(text);
    return true;
}

/*
 * No rank is behind in the collective that timed out, and no node is silent: the collective began everywhere.
 */
static void note_hang(struct ranking *ranking)
{
    const struct candidate *best = ranking_find_best(ranking);
    AUTO_FREE bool *absent = xcalloc(ranking->nodes_len, sizeof(bool));
    bool late = false;
    if (!best || !candidate_is(best->event, "NCCL_WATCHDOG") || ranking->nodes_len < 2) {
        return;
    }
    if (note_desync(ranking, best)) {
        return;
    }
    ranking_find_absent(ranking, best, absent);
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        late = late || absent[i];
    }
    const size_t len = ranking->len;
    for (size_t i = 0; i < len && !late; i++) {
        struct candidate *one = &ranking->candidates[i];
        if (!candidate_is(one->event, "NCCL_WATCHDOG")) {
            continue;
        }
        const struct event *from = one->event;
        one->level = LEVEL_NEVER;
        if (ranking->inferred[one->node].events_len < INFERRED_MAX - 2) {
            struct event *event = add(ranking, one->node, "NCCL_HANG", LEVEL_HANG);
            quote(event, from);
            event->groups[1] = xstrdup(from->groups[1]);
            event->groups[2] = xstrdup(from->groups[2]);
        }
    }
}

/* Ranks wait in an init of NCCL that the ranks of other nodes never began. */
static void note_uninit(struct ranking *ranking)
{
    const struct candidate *best = ranking_find_best(ranking);
    size_t waiting = 0;
    size_t absent = 0;
    size_t waiter = 0;
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct evidence *evidence = ranking->nodes[i].evidence;
        absent += !evidence || evidence->init_begun == 0;
        if (evidence && evidence->init_open_len > 0 && evidence->init_open_len == evidence->init_begun) {
            waiter = waiting == 0 ? i : waiter;
            waiting += evidence->init_open_len;
        }
    }
    if (waiting == 0 || absent == 0 || (best && best->level < LEVEL_AMBIG)) {
        return;
    }
    struct event *event = add(ranking, waiter, "NCCL_INIT_ABSENT", LEVEL_SILENT);
    event->groups[1] = waiting == 1 ? xstrdup("a rank") : xasprintf("%zu ranks", waiting);
}

/* --- nodes that were stopped, or say nothing -------------------------------------------------------- */

static const struct event *stop_of(const struct ranking *ranking, size_t node)
{
    const struct evidence *evidence = ranking->nodes[node].evidence;
    for (size_t i = 0; evidence && i < evidence->events_len && !ranking->nodes[node].stopped; i++) {
        if (candidate_is(&evidence->events[i], "SIG_EXCEPTION")) {
            return &evidence->events[i];
        }
    }
    return NULL;
}

/*
 * When the first node that was not stopped lost a peer; -1: unknown. Sets count to the number of such losses.
 */
static double first_loss(const struct ranking *ranking, size_t *count)
{
    double first = -1;
    *count = 0;
    for (size_t i = 0; i < ranking->len; i++) {
        const struct candidate *one = &ranking->candidates[i];
        if (one->class != CLASS_VICTIM || one->event->warning || stop_of(ranking, one->node)) {
            continue;
        }
        (*count)++;
        if (one->time >= 0 && (first < 0 || one->time < first)) {
            first = one->time;
        }
    }
    return first;
}

/*
 * Add the signal as a cause on the nodes that got it. early: only where it surely came before other nodes
 * lost them.
 */
static bool note_stopped(struct ranking *ranking, bool early)
{
    size_t losses = 0;
    double loss = first_loss(ranking, &losses);
    bool found = false;
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct event *stop = stop_of(ranking, i);
        double time = stop ? ranking_common_time(ranking, i, ranking->nodes[i].evidence->signalled_at) : -1;
        const bool known = time >= 0 && loss >= 0;
        if (!stop || (known && time > loss + EARLIER_S) || (early && !known)) {
            continue; /* it was stopped while it waited for a node that others had already lost */
        }
        struct event *event = add(ranking, i, "STOPPED_BY_SIGNAL", LEVEL_STOPPED);
        const char *name = ranking_signal_name(ranking->nodes[i].evidence->signalled);
        quote(event, stop);
        event->time = time;
        event->groups[1] = name ? xasprintf("SIG%s", name) : xasprintf("signal %s", stop->groups[1]);
        found = true;
    }
    return found;
}

/* Other nodes lost a peer, and this node shows nothing: the cause is there, whatever it was. */
static bool note_silent(struct ranking *ranking, bool stopped_too)
{
    AUTO_FREE bool *silent = xcalloc(ranking->nodes_len, sizeof(bool));
    size_t losses = 0;
    first_loss(ranking, &losses);
    size_t count = ranking_find_silent(ranking, silent);
    for (size_t i = 0; i < ranking->nodes_len && losses > 0 && count < ranking->nodes_len; i++) {
        if (silent[i] && (stopped_too || !stop_of(ranking, i))) {
            bool well = ranking->nodes[i].exit_status == 0 && !ranking->nodes[i].stopped;
            add(ranking, i, well ? "LEFT_EARLY" : "NODE_SILENT", LEVEL_SILENT);
            return true;
        }
    }
    return false;
}

/*
 * Did the node's torchrun wait for the other nodes after its workers had ended well, while those lost them?
 */
static const struct event *left_early(const struct ranking *ranking, size_t node)
{
    const struct evidence *evidence = ranking->nodes[node].evidence;
    const struct event *found = NULL;
    for (size_t i = 0; evidence && i < evidence->events_len; i++) {
        const struct event *event = &evidence->events[i];
        bool lost = event->signature->class == CLASS_VICTIM && event->exception;
        if (candidate_is(event, "EXIT_BARRIER")) {
            found = event;
        } else if (lost && !found) {
            return NULL;
        }
    }
    return evidence && evidence->children_len == 0 ? found : NULL;
}

static bool note_left_early(struct ranking *ranking)
{
    bool failed = false;
    bool found = false;
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        failed = failed || (ranking->nodes[i].evidence && ranking->nodes[i].evidence->children_len > 0);
    }
    for (size_t i = 0; i < ranking->nodes_len && failed; i++) {
        const struct event *barrier = left_early(ranking, i);
        if (barrier) {
            quote(add(ranking, i, "LEFT_EARLY", LEVEL_SILENT), barrier);
            found = true;
        }
    }
    return found;
}

static void note_ends(struct ranking *ranking)
{
    const struct candidate *best = ranking_find_best(ranking);
    if ((best && best->level < LEVEL_AMBIG) || note_left_early(ranking)) {
        return;
    }
    bool unsure = !best || best->level >= LEVEL_HANDLED;
    if (!note_stopped(ranking, true) && unsure && !note_silent(ranking, false) &&
        !note_stopped(ranking, false)) {
        note_silent(ranking, true);
    }
}

/* --- checkpoints that not all nodes have ---------------------------------------------------------- */

/* Nodes that began at the least and at the greatest number of the same unit. */
struct starts {
    size_t known, first, last; /* how many; indexes of nodes */
};

static struct starts find_starts(const struct ranking *ranking, bool said)
{
    struct starts found = {0};
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct evidence *evidence = ranking->nodes[i].evidence;
        if (!evidence || !evidence->start.unit || evidence->start.said != said) {
            continue;
        }
        if (found.known++ == 0) {
            found.first = found.last = i;
            continue;
        }
        const struct start_step *start = &evidence->start;
        const struct start_step *first = &ranking->nodes[found.first].evidence->start;
        const struct start_step *last = &ranking->nodes[found.last].evidence->start;
        if (strcmp(start->unit, first->unit) != 0) {
            return (struct starts){0};
        }
        found.first = start->number < first->number ? i : found.first;
        found.last = start->number > last->number ? i : found.last;
    }
    return found;
}

/* Does it hang, or did it fail because nodes waited for each other? Else two logs may be of different parts
 * of a run. */
static bool do_nodes_wait(const struct ranking *ranking)
{
    bool waits = false;
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        waits = waits || ranking->nodes[i].running;
    }
    for (size_t i = 0; i < ranking->len; i++) {
        waits = waits || event_is_consequence(ranking->candidates[i].event);
    }
    return waits;
}

/*
 * A node may count from 0 and another from 1. The first steps that are shown tell less than what is said: the
 * log of one must show that it began anew, and as they wait for each other, both show about as many steps.
 */
static bool do_starts_differ(const struct ranking *ranking, const struct starts *starts, bool said)
{
    if (starts->known < 2) {
        return false;
    }
    const struct start_step *least = &ranking->nodes[starts->first].evidence->start;
    const struct start_step *greatest = &ranking->nodes[starts->last].evidence->start;
    bool alike = least->shown <= greatest->shown + 2 && greatest->shown <= least->shown + 2;
    return greatest->number - least->number > 1 &&
           (said || (least->number <= 1 && alike && do_nodes_wait(ranking)));
}

/* "step 50 on node1", of the nodes that did not start where the first one did. */
static void add_others(const struct ranking *ranking, const struct starts *starts, bool said, struct str *out)
{
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    const struct start_step *last = &ranking->nodes[starts->last].evidence->start;
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct evidence *evidence = ranking->nodes[i].evidence;
        if (evidence && evidence->start.unit && evidence->start.said == said &&
            evidence->start.number == last->number) {
            strlist_add(&hosts, ranking->nodes[i].host);
        }
    }
    hostlist_fold_names(hosts.items, hosts.len, out);
    str_addf(out, " from %s %lld", last->unit, last->number);
}

static void note_starts(struct ranking *ranking)
{
    bool said = true;
    struct starts starts = find_starts(ranking, said);
    if (!do_starts_differ(ranking, &starts, said)) {
        said = false;
        starts = find_starts(ranking, said);
    }
    if (!do_starts_differ(ranking, &starts, said)) {
        return;
    }
    AUTO_STR struct str others = STR_INIT;
    add_others(ranking, &starts, said, &others);
    const long long least = ranking->nodes[starts.first].evidence->start.number;
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct evidence *evidence = ranking->nodes[i].evidence;
        const struct start_step *start = evidence ? &evidence->start : NULL;
        if (start && start->unit && start->said == said && start->number == least) {
            struct event *event = add(ranking, i, "STEPS_DIFFER", LEVEL_STARTS);
            event->line = start->line;
            event->text = xstrdup(start->text);
            event->groups[1] = xasprintf("%s %lld", start->unit, start->number);
            event->groups[2] = xstrdup(str_text(&others));
        }
    }
}

void ranking_infer(struct ranking *ranking)
{
    note_starts(ranking);
    note_unmet(ranking);
    note_same_rank(ranking);
    note_hang(ranking);
    note_uninit(ranking);
    note_ends(ranking);
}
