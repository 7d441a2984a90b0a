/*
 * The all-reduce test over a job's nodes: starts its program everywhere, lets the nodes meet in pairs and
 * then all together, and verifies that no process of it is left.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "comm_internal.h"
#include "insight/evidence.h"
#include "model/kind.h"
#include "node/answer.h"
#include "observer_internal.h"
#include "round_internal.h"

#define HELLO_MS     150000 /* beyond the setup lines; loading torch from a busy share may take a minute */
#define PAIRS_MS     300000 /* rounds that have not begun by then are left out */
#define GLOO_S       25     /* time limit of a round of pairs */
#define NCCL_S       45     /* the same; CUDA contexts and connections take seconds */
#define WHOLE_TIMES  2      /* the limit of the round of all nodes, in limits of a pair */
#define ANSWER_MS    8000   /* beyond the limit, which the node enforces itself */
#define END_MS       10000
#define STOP_GRACE_S 2
#define STOP_MS      60000
#define REPEATS_MAX  4 /* how often slow pairs are tried again */
#define GIVEN_UP     2 /* a node whose first pairs all failed is given up after this many */

/* --- waiting ------------------------------------------------------------------------------------ */

static size_t count_state(const struct comm *comm, enum comm_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < comm->count; i++) {
        count += comm->members[i].state == state;
    }
    return count;
}

struct deadline {
    struct fleet *fleet;
    bool passed;
};

static void on_deadline(void *ctx)
{
    struct deadline *deadline = ctx;
    deadline->passed = true;
    fleet_stop(deadline->fleet);
}

static void show_progress(const struct comm *comm, const char *what, size_t done, size_t total)
{
    const struct run_observer *observer = comm->set->context->observer;
    if (observer->progress) {
        observer->progress(observer->ctx, what, done, total);
    }
}

/* Wait until no node is in this state any more, or the time is up. */
static void wait_while(const struct comm *comm, enum comm_state state, unsigned ms, const char *what)
{
    struct deadline deadline = {.fleet = comm->set->fleet};
    size_t total = count_state(comm, state), left = total;
    uint64_t timer = fleet_timer(comm->set->fleet, ms, on_deadline, &deadline);
    while (left > 0 && !deadline.passed && !node_set_is_interrupted(comm->set)) {
        show_progress(comm, what, total - left, total);
        fleet_run(comm->set->fleet);
        left = count_state(comm, state);
    }
    fleet_timer_cancel(comm->set->fleet, timer);
    show_progress(comm, what, total - left, total);
}

/* Exclude all nodes that are still in this state. */
static void give_up(struct comm *comm, enum comm_state state, const char *problem)
{
    for (size_t i = 0; i < comm->count && !node_set_is_interrupted(comm->set); i++) {
        if (comm->members[i].state == state) {
            comm_member_give_up(
                &comm->members[i], problem,
                "look there for a process or a file system that hangs (`ps -eo pid,stat,args | grep ' D'`)");
        }
    }
}

/* --- the beginning ------------------------------------------------------------------------------ */

static void begin(struct comm *comm, const bool *asked)
{
    for (size_t i = 0; i < comm->count; i++) {
        if (asked[i]) {
            comm_member_begin(comm, i);
        }
    }
    wait_while(comm, COMM_STARTING, (unsigned)comm->job->start_timeout_s * 1000 + HELLO_MS, "loading torch");
    give_up(comm, COMM_STARTING, "torch did not load in time");
}

/* Use NCCL if there are GPUs, else gloo. A node without GPUs is excluded if other nodes have some. */
static void choose_backend(struct comm *comm)
{
    unsigned fewest = 0;
    for (size_t i = 0; i < comm->count; i++) {
        const struct node_comm_event *hello = &comm->members[i].hello;
        if (comm->members[i].state == COMM_READY && hello->gpus > 0 && hello->nccl) {
            fewest = fewest == 0 || hello->gpus < fewest ? hello->gpus : fewest;
        }
    }
    for (size_t i = 0; fewest > 0 && i < comm->count; i++) {
        const struct node_comm_event *hello = &comm->members[i].hello;
        if (comm->members[i].state == COMM_READY && (hello->gpus == 0 || !hello->nccl)) {
            comm_member_give_up(
                &comm->members[i],
                hello->nccl ? "torch sees no GPU there, but does on other nodes"
                            : "torch has no NCCL there, but has it on other nodes",
                "look at the driver (`nvidia-smi`), CUDA_VISIBLE_DEVICES and torch's build there");
        }
    }
    unsigned wanted = comm->plan->nproc_per_node;
    comm->result->backend = fewest > 0 ? "nccl" : "gloo";
    comm->processes = fewest == 0 ? 1 : wanted > 0 && wanted < fewest ? wanted : fewest;
    comm->result->processes = comm->processes;
}

static unsigned limit_s(const struct comm *comm)
{
    return strcmp(comm->result->backend, "nccl") == 0 ? NCCL_S : GLOO_S;
}

/* --- a round ------------------------------------------------------------------------------------ */

/* The bus bandwidth as nccl-tests computes it: the bytes that each process must send, divided by the time. */
static double bus_rate(const struct comm *comm, const struct comm_group *group,
                       const struct node_comm_event *event)
{
    double processes = (double)(group->len * comm->processes);
    return event->seconds > 0 ? (double)event->bytes / event->seconds * 2 * (processes - 1) / processes : 0;
}

/* Why a group has no result. An error that a node reported is preferred to a timeout. The caller frees it. */
static char *explain_failure(const struct comm *comm, const struct comm_group *group)
{
    const struct comm_member *best = NULL;
    for (size_t i = 0; i < group->len; i++) {
        const struct comm_member *member = &comm->members[group->places[i]];
        if (comm->result->nodes[member->node].problem) {
            return xasprintf("%s: %s", comm->plan->nodes[member->node].label,
                             comm->result->nodes[member->node].problem);
        }
        if (member->result.error && (!best || (best->result.late && !member->result.late))) {
            best = member;
        }
    }
    if (!best) {
        return xstrdup("no node said why");
    }
    char *text = xasprintf("%s: %s", comm->plan->nodes[best->node].label, best->result.error);
    run_mask(comm->set->context, &text);
    return text;
}

/* The bus bandwidth that a group has reached; 0: it failed. */
static double take_rate(const struct comm *comm, const struct comm_group *group)
{
    for (size_t i = 0; i < group->len; i++) {
        const struct comm_member *member = &comm->members[group->places[i]];
        if (member->result.round != group->round || member->result.error) {
            return 0;
        }
    }
    return bus_rate(comm, group, &comm->members[group->places[0]].result);
}

static void make_groups(struct comm *comm, const struct comm_group *groups, size_t count, unsigned limit,
                        const char *what)
{
    for (size_t g = 0; g < count; g++) {
        for (size_t i = 0; i < groups[g].len; i++) {
            comm_member_join(comm, groups[g].places[i], &groups[g], i, limit);
        }
    }
    wait_while(comm, COMM_BUSY, limit * 1000 + ANSWER_MS, what);
    give_up(comm, COMM_BUSY, "its part of the all-reduce test does not answer");
    for (size_t i = 0; i < comm->count; i++) {
        comm->members[i].group = NULL;
    }
}

/* The pairs of a round: two entries of places per pair. */
struct pairing {
    size_t *places;
    struct comm_group *groups;
    size_t len;
};

static void pairing_release(struct pairing *pairing)
{
    free(pairing->places);
    free(pairing->groups);
}

static void pairing_init(struct pairing *pairing, const struct comm *comm)
{
    pairing->places = xcalloc(comm->count + 1, sizeof(*pairing->places));
    pairing->groups = xcalloc(comm->count + 1, sizeof(*pairing->groups));
    pairing->len = 0;
}

static void pairing_add(struct pairing *pairing, struct comm *comm, size_t one, size_t other)
{
    size_t *places = &pairing->places[2 * pairing->len];
    places[0] = one < other ? one : other;
    places[1] = one < other ? other : one;
    pairing->groups[pairing->len++] = (struct comm_group){.round = ++comm->round, .places = places, .len = 2};
}

static void try_pairs(struct comm *comm, const struct pairing *pairing, const char *what)
{
    make_groups(comm, pairing->groups, pairing->len, limit_s(comm), what);
    for (size_t i = 0; i < pairing->len && !node_set_is_interrupted(comm->set); i++) {
        const struct comm_group *group = &pairing->groups[i];
        struct comm_pair *pair = comm_get_pair(comm->result, group->places[0], group->places[1]);
        double rate = take_rate(comm, group);
        pair->rate = rate > pair->rate ? rate : pair->rate;
        if (pair->rate <= 0 && !pair->error) {
            pair->error = explain_failure(comm, group);
        }
    }
}

static bool goes_on(const struct comm *comm, size_t node)
{
    return comm->members[node].state == COMM_READY && !comm_fails_always(comm->result, node, GIVEN_UP);
}

static void try_all_pairs(struct comm *comm)
{
    AUTO_FREE size_t *nodes = xcalloc(comm->count + 1, sizeof(*nodes));
    AUTO_FREE size_t *partner = xcalloc(comm->count + 1, sizeof(*partner));
    size_t count = 0;
    int64_t began_ms = clock_mono_ms();
    for (size_t i = 0; i < comm->count; i++) {
        if (comm->members[i].state == COMM_READY) {
            nodes[count++] = i;
        }
    }
    size_t all = comm_count_rounds(count);
    size_t rounds = all < COMM_ROUNDS_MAX ? all : COMM_ROUNDS_MAX;
    comm->result->rounds_all = all;
    for (size_t r = 0;
         r < rounds && clock_mono_ms() - began_ms < PAIRS_MS && !node_set_is_interrupted(comm->set); r++) {
        struct pairing pairing;
        AUTO_FREE char *what = xasprintf("all-reduce in pairs, round %zu of %zu", r + 1, rounds);
        pairing_init(&pairing, comm);
        comm_find_partners(count, comm_choose_round(count, rounds, r), partner);
        for (size_t i = 0; i < count; i++) {
            if (partner[i] > i && goes_on(comm, nodes[i]) && goes_on(comm, nodes[partner[i]])) {
                pairing_add(&pairing, comm, nodes[i], nodes[partner[i]]);
            }
        }
        try_pairs(comm, &pairing, what);
        pairing_release(&pairing);
        comm->result->rounds++;
    }
}

/* A slow pair may have met other traffic on the network, so slow pairs are tried again in a few rounds. */
static void try_slow_pairs_again(struct comm *comm)
{
    AUTO_FREE bool *taken = xcalloc(comm->count + 1, sizeof(*taken));
    double usual = comm_median(comm->result);
    for (unsigned turn = 0; turn < REPEATS_MAX && !node_set_is_interrupted(comm->set); turn++) {
        struct pairing pairing;
        pairing_init(&pairing, comm);
        memset(taken, 0, comm->count * sizeof(*taken));
        for (size_t i = 0; i < comm->result->pairs_len; i++) {
            struct comm_pair *pair = &comm->result->pairs[i];
            if (comm_is_slow(pair->rate, usual) && pair->repeats <= turn && !taken[pair->first] &&
                !taken[pair->second] && goes_on(comm, pair->first) && goes_on(comm, pair->second)) {
                taken[pair->first] = taken[pair->second] = true;
                pair->repeats++;
                pairing_add(&pairing, comm, pair->first, pair->second);
            }
        }
        size_t len = pairing.len;
        if (len > 0) {
            try_pairs(comm, &pairing, "all-reduce of slow pairs again");
        }
        pairing_release(&pairing);
        if (len == 0) {
            return;
        }
    }
}

static void try_whole(struct comm *comm)
{
    AUTO_FREE size_t *places = xcalloc(comm->count + 1, sizeof(*places));
    struct comm_group group = {.round = ++comm->round, .places = places};
    for (size_t i = 0; i < comm->count; i++) {
        if (goes_on(comm, i) && !(comm->result->pairs_len > 0 && comm_fails_always(comm->result, i, 1))) {
            places[group.len++] = i;
        }
    }
    if (group.len * comm->processes < 2) {
        return;
    }
    make_groups(comm, &group, 1, limit_s(comm) * WHOLE_TIMES, "all-reduce over all nodes");
    if (node_set_is_interrupted(comm->set)) {
        return;
    }
    comm->result->whole_nodes = group.len;
    comm->result->whole_rate = take_rate(comm, &group);
    if (comm->result->whole_rate <= 0) {
        comm->result->whole_error = explain_failure(comm, &group);
    }
}

/* --- the transport ------------------------------------------------------------------------------ */

static void read_transport(const struct comm_member *member, struct scanner *scanner, struct comm_node *node)
{
    struct evidence evidence;
    evidence_init(&evidence);
    struct evidence_reader *reader = evidence_reader_new(scanner, &evidence);
    for (size_t i = 0; i < member->logs.len; i++) {
        evidence_reader_line(reader, i + 1, member->logs.items[i], strlen(member->logs.items[i]));
    }
    evidence_reader_end(reader);
    bool over_ib = evidence.network && strcmp(evidence.network, "IB") == 0;
    node->transport = xstrdup(over_ib && evidence.ib_link ? evidence.ib_link : evidence.network);
    node->interface = xstrdup(evidence.interface ? evidence.interface : member->hello.interface);
    evidence_release(&evidence);
}

static void read_transports(struct comm *comm)
{
    struct scanner *scanner = scanner_new();
    for (size_t i = 0; i < comm->count; i++) {
        read_transport(&comm->members[i], scanner, &comm->result->nodes[i]);
    }
    scanner_free(scanner);
}

/* --- the end ------------------------------------------------------------------------------------ */

static size_t count_open(const struct comm *comm)
{
    size_t open = 0;
    for (size_t i = 0; i < comm->count; i++) {
        open += comm->members[i].ask.state == ASK_OPEN;
    }
    return open;
}

/* Programs end by themselves. One that does not is disconnected, and its watchdog on the node ends it. */
static void end_programs(struct comm *comm)
{
    struct deadline deadline = {.fleet = comm->set->fleet};
    comm->ending = true;
    for (size_t i = 0; i < comm->count; i++) {
        comm_member_end(&comm->members[i]);
    }
    uint64_t timer = fleet_timer(comm->set->fleet, END_MS, on_deadline, &deadline);
    while (count_open(comm) > 0 && !deadline.passed && !node_set_is_interrupted(comm->set)) {
        fleet_run(comm->set->fleet);
    }
    fleet_timer_cancel(comm->set->fleet, timer);
    for (size_t i = 0; i < comm->count; i++) {
        if (comm->members[i].ask.state == ASK_OPEN) {
            ask_cancel(&comm->members[i].ask);
        }
    }
    while (count_open(comm) > 0 && fleet_run(comm->set->fleet) != 0) {
    }
}

static bool proof_wanted(void *ctx, size_t node)
{
    const struct comm *comm = ctx;
    return comm->members[node].comm; /* the test was started there */
}

static bool proof_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct comm *comm = ctx;
    const struct node_target target = comm_target(comm, node);
    const struct node_stop_options options = {.signal = "TERM", .grace_s = STOP_GRACE_S};
    node_request_stop(&target, &options, nonce, call);
    return true;
}

static void add_left(const struct comm *comm, size_t node, const char *why)
{
    struct finding *finding = findings_fail(&comm->result->left, COMM_ID, &kind_not_proven,
                                            "could not verify that the all-reduce test has ended: %s", why);
    finding_set_remedy(
        finding,
        "look there for processes with MTLAUNCH_MARK=%s in their environment; they end by themselves "
        "within half an hour",
        comm->run_id);
    strlist_add(&finding->hosts, comm->plan->nodes[node].label);
}

static int proof_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                      struct error *err)
{
    const struct comm *comm = ctx;
    struct node_stop stop;
    int result = node_answer_stop(bytes, len, nonce, &stop, err);
    if (result == 0 && stop.survivors.total > 0) {
        const struct node_process *process = &stop.survivors.items[0];
        AUTO_FREE char *why = xasprintf("pid %lld lives, state %c", (long long)process->pid, process->state);
        add_left(comm, node, why);
    } else if (result == 0 && stop.unproven) {
        add_left(comm, node, stop.unproven);
    }
    node_stop_release(&stop);
    return result;
}

static void proof_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    (void)started;
    add_left(ctx, node, error->text);
}

/* Verify that no process with the test's mark is alive on any node, even after an interruption. */
static void prove(struct comm *comm)
{
    const struct node_question question = {
        .what = "ending the all-reduce test",
        .ctx = comm,
        .timeout_ms = STOP_MS,
        .wanted = proof_wanted,
        .build = proof_build,
        .take = proof_take,
        .failed = proof_failed,
    };
    node_set_ask(comm->set, &question);
}

static void end(struct comm *comm)
{
    unsigned patience = comm->set->patience;
    comm->set->patience = comm->set->signals; /* the next signal cuts this short */
    end_programs(comm);
    prove(comm);
    comm->set->patience = patience;
}

int comm_run(struct node_set *set, const struct comm_request *request, struct comm_result *result,
             struct error *err)
{
    struct comm comm = {
        .set = set,
        .plan = request->plan,
        .job = request->job,
        .run_id = request->run_id,
        .count = request->plan->nnodes,
        .result = result,
    };
    int64_t began_ms = clock_mono_ms();
    if (node_set_hold(set, err) != 0) {
        return -1;
    }
    ask_make_nonce(comm.mark);
    comm.members = xcalloc(comm.count + 1, sizeof(*comm.members));
    result->nodes = xcalloc(comm.count + 1, sizeof(*result->nodes));
    result->count = comm.count;
    for (size_t i = 0; i < comm.count; i++) {
        comm.members[i].comm = request->asked[i] ? &comm : NULL;
        comm.members[i].node = i;
        result->nodes[i].label = xstrdup(comm.plan->nodes[i].label);
        result->nodes[i].fast_ports = request->fast_ports[i];
    }
    begin(&comm, request->asked);
    choose_backend(&comm);
    try_all_pairs(&comm);
    try_slow_pairs_again(&comm);
    try_whole(&comm);
    end(&comm);
    read_transports(&comm);
    result->elapsed_ms = (unsigned)(clock_mono_ms() - began_ms);
    for (size_t i = 0; i < comm.count; i++) {
        comm_member_release(&comm.members[i]);
    }
    free(comm.members);
    return node_set_is_interrupted(set) ? node_set_interrupted_error(set, err) : 0;
}
