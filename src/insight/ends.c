/* Turns the ends of processes into events for the ranker. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "diagnosis_internal.h"

struct signal_name {
    int number;
    const char *name;
};

/* signal(7), Linux on x86, ARM and most others */
static const struct signal_name signal_names[] = {
    {1, "HUP"},   {2, "INT"},   {3, "QUIT"},  {4, "ILL"},   {5, "TRAP"},  {6, "ABRT"},
    {7, "BUS"},   {8, "FPE"},   {9, "KILL"},  {10, "USR1"}, {11, "SEGV"}, {12, "USR2"},
    {13, "PIPE"}, {14, "ALRM"}, {15, "TERM"}, {24, "XCPU"}, {25, "XFSZ"}, {31, "SYS"},
};

const char *ranking_signal_name(int number)
{
    for (size_t i = 0; i < ARRAY_LEN(signal_names); i++) {
        if (signal_names[i].number == number) {
            return signal_names[i].name;
        }
    }
    return NULL;
}

/* The row for a signal, by its name. */
static const struct signature *signal_row(const char *name)
{
    AUTO_FREE char *id = xasprintf("EXIT_SIG%s", name);
    const struct signature *row = signature_find(id);
    return row ? row : signature_find("EXIT_SIGNAL");
}

static struct event *add(struct ranking *ranking, size_t node, const struct signature *signature)
{
    struct event *event = evidence_add_event(&ranking->made[node], signature);
    event->fatal = true;
    event->steps = ranking->nodes[node].evidence ? ranking->nodes[node].evidence->steps : 0;
    return event;
}

static struct event *add_signal(struct ranking *ranking, size_t node, const char *name)
{
    struct event *event = add(ranking, node, signal_row(name));
    event->groups[1] = xstrdup(name);
    return event;
}

/* Does the report of a fault belong to the process? A report without a rank may belong to any. */
static bool is_of(const struct fault *fault, const char *signal, long rank, long local_rank)
{
    bool named = fault->rank >= 0 || fault->local_rank >= 0;
    bool same = (fault->rank >= 0 && fault->rank == rank) ||
                (fault->local_rank >= 0 && fault->local_rank == local_rank);
    return strcmp(fault->signal, signal) == 0 && (same || !named || (rank < 0 && local_rank < 0));
}

/* Add to the event what the fault's report contains. */
static void take_fault(struct event *event, const struct fault *fault)
{
    free(event->text);
    event->text = xstrdup(fault->text);
    event->line = fault->line;
    event->place = fault->place ? xstrdup(fault->place) : NULL;
    event->rank = event->rank >= 0 ? event->rank : fault->rank;
    event->local_rank = event->local_rank >= 0 ? event->local_rank : fault->local_rank;
}

/* Add the first matching report that no other process has. Each report belongs to one process. */
static void match_fault(struct ranking *ranking, size_t node, struct event *event)
{
    const struct evidence *evidence = ranking->nodes[node].evidence;
    for (size_t i = 0; evidence && i < evidence->faults_len; i++) {
        if (!ranking->matched[node][i] &&
            is_of(&evidence->faults[i], event->groups[1], event->rank, event->local_rank)) {
            ranking->matched[node][i] = true;
            take_fault(event, &evidence->faults[i]);
            return;
        }
    }
}

/* Add the reports of faults that no end of a process matches. */
static void add_faults(struct ranking *ranking, size_t node)
{
    const struct evidence *evidence = ranking->nodes[node].evidence;
    for (size_t i = 0; evidence && i < evidence->faults_len && !ranking->nodes[node].stopped; i++) {
        if (!ranking->matched[node][i]) {
            take_fault(add_signal(ranking, node, evidence->faults[i].signal), &evidence->faults[i]);
        }
    }
}

/* megatron/core/rerun_state_machine.py */
#define MEGATRON_RERUN     16
#define MEGATRON_NOT_VALID 17

static struct event *add_status(struct ranking *ranking, size_t node, int status)
{
    const struct evidence *evidence = ranking->nodes[node].evidence;
    bool rerun = evidence && evidence->megatron && (status == MEGATRON_RERUN || status == MEGATRON_NOT_VALID);
    struct event *event = add(ranking, node, signature_find(rerun ? "RERUN_EXIT" : "EXIT_STATUS"));
    event->groups[1] = xasprintf("%d", status);
    return event;
}

/* Add a worker whose end torchrun reported, unless torchrun itself ended it after another one. */
static void add_child(struct ranking *ranking, size_t node, const struct child_end *child)
{
    bool ended_by_agent = !child->first && (child->exit_code == -15 || child->exit_code == -9);
    const char *name = child->exit_code < 0 ? ranking_signal_name(-child->exit_code) : NULL;
    if (child->exit_code == 0 || ended_by_agent) {
        return;
    }
    struct event *event =
        name ? add_signal(ranking, node, name) : add_status(ranking, node, child->exit_code);
    event->rank = child->rank;
    event->local_rank = child->local_rank;
    event->line = child->line;
    event->text = xstrdup(child->text);
    event->time = child->time;
    if (name) {
        match_fault(ranking, node, event);
    }
}

/*
 * Add the end of the job's command. torchrun exits with 1 whatever its workers did, so a worker's end says
 * more.
 */
static void add_command(struct ranking *ranking, size_t node)
{
    const struct node_end *end = &ranking->nodes[node];
    bool told = end->evidence && end->evidence->children_len > 0;
    struct event *event = NULL;
    if (end->unreachable) {
        event = add(ranking, node, signature_find("NODE_UNREACHABLE"));
    } else if (end->stopped || end->exit_status <= 0) {
        return;
    } else if (end->signal && strcmp(end->signal, "TERM") != 0) {
        event = add_signal(ranking, node, end->signal);
        match_fault(ranking, node, event);
    } else if (!told && !end->signal) {
        event = add_status(ranking, node, end->exit_status);
    }
    if (event) {
        event->command = true;
    }
}

void ranking_add_ends(struct ranking *ranking)
{
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct evidence *evidence = ranking->nodes[i].evidence;
        for (size_t j = 0; evidence && j < evidence->children_len; j++) {
            add_child(ranking, i, &evidence->children[j]);
        }
        add_command(ranking, i);
        add_faults(ranking, i);
    }
}

bool ranking_has_ended_badly(const struct ranking *ranking)
{
    for (size_t i = 0; i < ranking->nodes_len; i++) {
        const struct node_end *end = &ranking->nodes[i];
        if (end->unreachable || (!end->stopped && end->exit_status > 0)) {
            return true;
        }
        for (size_t j = 0; end->evidence && j < end->evidence->children_len; j++) {
            if (end->evidence->children[j].exit_code != 0) {
                return true;
            }
        }
    }
    return false;
}

bool ranking_has_failure(const struct ranking *ranking)
{
    bool failed = ranking_has_ended_badly(ranking);
    for (size_t i = 0; i < ranking->nodes_len && !failed; i++) {
        const struct evidence *evidence = ranking->nodes[i].evidence;
        failed = evidence && (evidence->faults_len > 0 || evidence->signalled != 0);
        for (size_t j = 0; evidence && j < evidence->events_len; j++) {
            const struct event *event = &evidence->events[j];
            failed = failed || (event_is_consequence(event) && !event->warning);
        }
    }
    return failed;
}

long ranking_rank(const struct ranking *ranking, size_t node, const struct event *event)
{
    const struct node_end *end = &ranking->nodes[node];
    if (event->rank >= 0 || event->command || event->signature->rankless) {
        return event->rank;
    }
    for (size_t i = 0; end->evidence && event->local_rank >= 0 && i < end->evidence->children_len; i++) {
        const struct child_end *child = &end->evidence->children[i];
        if (child->local_rank == event->local_rank && child->rank >= 0) {
            return child->rank;
        }
    }
    if (event->local_rank >= 0 && ranking->nproc > 0) {
        return (long)end->rank * ranking->nproc + event->local_rank;
    }
    long found = -1;
    for (size_t i = 0; end->evidence && i < end->evidence->children_len; i++) {
        const struct child_end *child = &end->evidence->children[i];
        if (child->first && child->rank >= 0) {
            found = found < 0 ? child->rank : found;
        }
    }
    return found >= 0 || ranking->nproc != 1 ? found : (long)end->rank;
}
