/* One node of the all-reduce test: starts its program, sends it orders and reads its reports. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check/check.h"
#include "comm_internal.h"
#include "model/kind.h"
#include "node/answer.h"
#include "observer_internal.h"
#include "preflight_internal.h"

#define LOGS_MAX 512
/* beyond the setup lines; after this time the node ends the test, whatever happens here */
#define NODE_LIMIT_S 1200
#define NO_RUN       "check"

struct node_target comm_target(const struct comm *comm, size_t node)
{
    return (struct node_target){
        .run = NO_RUN,
        .run_id = comm->run_id,
        .rank = comm->plan->nodes[node].rank,
        .attempt = 1,
        .artifacts = comm->plan->nodes[node].artifacts,
        .place = comm->job->place,
    };
}

static void set_problem(struct comm_member *member, const char *problem, const char *remedy)
{
    struct comm_node *node = &member->comm->result->nodes[member->node];
    if (!node->problem && !member->comm->ending) {
        node->problem = xstrdup(problem);
        run_mask(member->comm->set->context, &node->problem);
        node->remedy = xstrdup(remedy);
    }
}

static void wake(const struct comm_member *member)
{
    fleet_stop(member->comm->set->fleet); /* callers that wait check again */
}

/* --- orders ------------------------------------------------------------------------------------- */

static void send_waiting(struct comm_member *member)
{
    if (member->takes_input && member->input.len == 0 && member->waiting.len > 0) {
        str_release(&member->input);
        member->input = member->waiting;
        member->waiting = (struct str)STR_INIT;
        fleet_input(member->ask.fleet, member->ask.exec, member->input.data, member->input.len);
    }
}

static void on_drained(void *ctx)
{
    struct comm_member *member = ctx;
    member->takes_input = true;
    str_reset(&member->input);
    send_waiting(member);
}

static void send_order(struct comm_member *member, unsigned port, unsigned limit_s)
{
    const struct comm *comm = member->comm;
    const struct comm_group *group = member->group;
    const struct node_comm_round round = {
        .round = group->round,
        .nodes = (unsigned)group->len,
        .node = (unsigned)member->place,
        .processes = comm->processes,
        .backend = comm->result->backend,
        .address = comm->plan->nodes[group->places[0]].addr,
        .port = port,
        .limit_s = limit_s,
    };
    node_comm_add_round(&member->waiting, &round);
    member->told = true;
    send_waiting(member);
}

void comm_member_join(struct comm *comm, size_t node, const struct comm_group *group, size_t place,
                      unsigned limit_s)
{
    struct comm_member *member = &comm->members[node];
    node_comm_event_release(&member->result);
    member->group = group;
    member->place = place;
    member->told = false;
    member->limit_s = limit_s;
    member->state = COMM_BUSY;
    if (place == 0) {
        send_order(member, 0, limit_s);
    }
}

void comm_member_end(struct comm_member *member)
{
    if (member->ask.state == ASK_OPEN) {
        node_comm_add_end(&member->waiting);
        send_waiting(member);
    }
}

/* --- events ------------------------------------------------------------------------------------- */

static void take_hello(struct comm_member *member, struct node_comm_event *event)
{
    if (event->error) {
        AUTO_FREE char *text =
            xasprintf("torch cannot be used by '%s': %s", member->interpreter, event->error);
        AUTO_FREE char *remedy = xasprintf("install torch there for the job's interpreter: %s -m pip install "
                                           "torch, or name another one with 'python' or in 'setup'",
                                           member->interpreter);
        set_problem(member, text, remedy);
        return;
    }
    node_comm_event_release(&member->hello);
    member->hello = *event;
    *event = (struct node_comm_event){0};
    member->state = COMM_READY;
}

static void order_rest(const struct comm_member *leader, unsigned port)
{
    const struct comm_group *group = leader->group;
    for (size_t i = 1; group && i < group->len; i++) {
        struct comm_member *member = &leader->comm->members[group->places[i]];
        if (member->group == group && member->state == COMM_BUSY && !member->told) {
            send_order(member, port, member->limit_s);
        }
    }
}

/* The first node of a group is done, or gone: nodes that still wait for its store have nothing to do. */
static void excuse_rest(const struct comm_member *leader)
{
    const struct comm_group *group = leader->group;
    for (size_t i = 1; group && leader->place == 0 && i < group->len; i++) {
        struct comm_member *member = &leader->comm->members[group->places[i]];
        if (member->group == group && member->state == COMM_BUSY && !member->told) {
            member->state = COMM_READY;
        }
    }
}

static void take_lines(struct comm_member *member, const struct strlist *lines)
{
    for (size_t i = 0; i < lines->len && member->logs.len < LOGS_MAX; i++) {
        strlist_add(&member->logs, lines->items[i]);
    }
}

static void take_done(struct comm_member *member, struct node_comm_event *event)
{
    if (member->state != COMM_BUSY || event->round != member->group->round) {
        return;
    }
    take_lines(member, &event->logs);
    node_comm_event_release(&member->result);
    member->result = *event;
    *event = (struct node_comm_event){0};
    member->state = COMM_READY;
    excuse_rest(member);
}

static void take_ended(struct comm_member *member, const struct node_comm_event *event)
{
    AUTO_STR struct str text = STR_INIT;
    const struct comm *comm = member->comm;
    const struct preflight preflight = {.context = comm->set->context, .job = comm->job, .plan = comm->plan};
    if (event->setup_line > 0) {
        AUTO_FREE char *setup = preflight_setup_line(&preflight, event->setup_line);
        str_addf(&text, "the setup line %s failed", setup);
    } else if (event->no_folder) {
        str_add(&text, "the working folder cannot be entered");
    } else {
        str_addf(&text, "the all-reduce test ended with status %d", event->status);
    }
    AUTO_FREE char *output = xstrdup(event->output ? event->output : "");
    node_drop_shell_place(output);
    const char *last = strrchr(output, '\n');
    while (last && last[1] == '\0') {
        output[last - output] = '\0';
        last = strrchr(output, '\n');
    }
    if (output[0] != '\0') {
        str_addf(&text, ": %s", last ? last + 1 : output);
    }
    set_problem(member, str_text(&text), "look at the job's setup lines and its interpreter there");
    fleet_input_end(member->ask.fleet, member->ask.exec);
}

static void take_event(struct comm_member *member, struct node_comm_event *event)
{
    switch (event->type) {
    case NODE_COMM_HELLO:
        take_hello(member, event);
        break;
    case NODE_COMM_PORT:
        if (member->state == COMM_BUSY && event->round == member->group->round && event->port != 0) {
            order_rest(member, event->port);
        }
        break;
    case NODE_COMM_DONE:
        take_done(member, event);
        break;
    case NODE_COMM_ENDED:
        take_ended(member, event);
        break;
    }
    wake(member);
}

static void on_data(void *ctx, int stream, const char *bytes, size_t len)
{
    struct comm_member *member = ctx;
    struct error error = ERROR_INIT;
    struct node_comm_event event;
    int result = 1;
    if (stream != 1) {
        return;
    }
    while (len > 0 && result == 1) {
        result = node_comm_take(&member->stream, &bytes, &len, &event, &error);
        if (member->stream.begun) {
            ask_begun(&member->ask);
        }
        if (result == 1) {
            take_event(member, &event);
            node_comm_event_release(&event);
        }
    }
    if (result < 0) {
        set_problem(member, error.text, error.hint);
        ask_cancel(&member->ask);
    }
}

static void on_done(void *ctx, const struct exec_result *result)
{
    struct comm_member *member = ctx;
    struct error error = result->error;
    if (!error.kind && !member->stream.begun) {
        error_set(&error, &kind_node_answer, "the login ended with status %d before the all-reduce test ran",
                  result->exit_status);
    }
    ask_explain(&member->ask, &error);
    if (error.kind) {
        set_problem(member, error.text, error.hint);
    } else {
        set_problem(member, "the all-reduce test ended before it was over", NULL);
    }
    excuse_rest(member);
    member->state = COMM_ABSENT;
    wake(member);
}

void comm_member_give_up(struct comm_member *member, const char *problem, const char *remedy)
{
    set_problem(member, problem, remedy);
    ask_cancel(&member->ask);
}

/* --- the call ----------------------------------------------------------------------------------- */

static bool build(void *ctx, const char *nonce, struct node_call *call)
{
    struct comm_member *member = ctx;
    const struct comm *comm = member->comm;
    AUTO_STRLIST struct strlist argv = STRLIST_INIT;
    const struct node_target target = comm_target(comm, member->node);
    struct node_job job = preflight_node_job(comm->plan, member->node);
    static const size_t first = 0;
    const struct node_comm_options options = {
        .limit_s = comm->job->start_timeout_s + NODE_LIMIT_S,
        .mark = comm->mark,
    };
    strlist_add(&argv, member->interpreter);
    job.argv = &argv;
    job.home_words = &first;
    job.home_words_len = text_starts(member->interpreter, "~/") ? 1 : 0;
    member->stream.nonce = nonce;
    node_request_comm(&target, &job, &options, nonce, call);
    return true;
}

/*
 * The job's Python: that of the launcher, else the first word of the command if it is one, else the default.
 */
static const char *find_interpreter(const struct comm *comm, size_t node)
{
    const struct plan_node *plan = &comm->plan->nodes[node];
    const char *word = plan->argv.len > 0 ? plan->argv.items[0] : "";
    const char *slash = strrchr(word, '/');
    if (plan->probe.interpreter) {
        return plan->probe.interpreter;
    }
    if (text_starts(slash ? slash + 1 : word, "python")) {
        return word;
    }
    return comm->job->python && strcmp(comm->job->python, "none") != 0 ? comm->job->python : "python3";
}

void comm_member_begin(struct comm *comm, size_t node)
{
    static const struct ask_handler handler = {
        .build = build, .data = on_data, .done = on_done, .drained = on_drained};
    const struct ask_options options = {
        .begin_ms = ask_begin_ms(comm->set->context->connect_timeout_ms), .follow = true, .hold_input = true};
    struct comm_member *member = &comm->members[node];
    member->interpreter = find_interpreter(comm, node);
    member->state = COMM_STARTING;
    ask_init(&member->ask, comm->set->fleet, node, &handler, &options, member);
    ask_send(&member->ask);
}

void comm_member_release(struct comm_member *member)
{
    strlist_release(&member->logs);
    node_comm_release(&member->stream);
    node_comm_event_release(&member->hello);
    node_comm_event_release(&member->result);
    str_release(&member->input);
    str_release(&member->waiting);
    ask_release(&member->ask);
}
