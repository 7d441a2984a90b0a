#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "model/login_words.h"
#include "transport/ssh/ssh_internal.h"

#define PATIENCE_MS 2000
#define ABSENCE_MS  1000 /* of this process, for a login that breaks to be our fault */

static void try_address(struct ssh_link *link);

static void *ssh_begin(const struct transport_setup *setup, struct error *err)
{
    struct ssh_shared *shared = xcalloc(1, sizeof(*shared));

    shared->setup = *setup;
    shared->resolver = resolver_new(setup->loop, err);
    if (!shared->resolver) {
        free(shared);
        return NULL;
    }
    shared->keys = ssh_keys_new();
    shared->agents = ssh_agents_new();
    shared->known = known_hosts_new();
    return shared;
}

static void ssh_end(void *arg)
{
    struct ssh_shared *shared = arg;

    resolver_close(shared->resolver);
    ssh_keys_free(shared->keys);
    ssh_agents_free(shared->agents);
    known_hosts_free(shared->known);
    free(shared);
}

/* The socket; through a jump a pair of them. */
static size_t ssh_files(const struct endpoint *endpoint)
{
    return endpoint->jump ? 2 : 1;
}

static bool ssh_serves(const struct endpoint *endpoint)
{
    return !endpoint->local;
}

void ssh_link_where(const struct ssh_link *link, struct str *out)
{
    if (strcmp(link->endpoint->name, link->endpoint->hostname) != 0) {
        str_addf(out, "'%s' ", link->endpoint->hostname);
    }
    str_addf(out, "port %u", link->endpoint->port);
    if (link->endpoint->jump) {
        str_addf(out, " through '%s'", link->endpoint->jump->name);
    }
}

static void stop_waiting(struct ssh_link *link)
{
    struct deadlines *deadlines = link->shared->setup.deadlines;

    deadline_clear(deadlines, &link->total);
    deadline_clear(deadlines, &link->part);
    deadline_clear(deadlines, &link->again);
}

void ssh_link_leave_login_limit(struct ssh_link *link)
{
    deadline_clear(link->shared->setup.deadlines, &link->patience);
    login_limit_leave(&link->turn);
}

static void close_connection(struct ssh_link *link)
{
    passage_stop(&link->passage);
    if (link->connection) {
        ssh_connection_close(link->connection);
    }
    link->connection = NULL;
}

/* The end of the link: it never opened, or was lost. */
static void break_link(struct ssh_link *link, const struct error *err)
{
    if (link->broken) {
        return;
    }
    link->broken = true;
    stop_waiting(link);
    ssh_link_leave_login_limit(link);
    if (link->lookup) {
        lookup_cancel(link->lookup);
    }
    link->lookup = NULL;
    close_connection(link);
    link->events->broken(link->owner, err);
}

void ssh_link_on_open(struct ssh_link *link)
{
    stop_waiting(link);
    link->opened = true;
    link->events->opened(link->owner);
}

/* Of several addresses, what one said itself counts more than that another one has no route. */
static void keep_trouble(struct ssh_link *link, const struct error *err)
{
    if (!link->trouble.kind || link->trouble.kind == &kind_unreachable || err->kind != &kind_unreachable) {
        link->trouble = *err;
    }
}

static void give_up_early(struct ssh_link *link, const struct error *err)
{
    struct error told = *err;

    if (link->tries > 1) {
        error_set(&told, err->kind, "%s, again and again", err->text);
    }
    error_hint(&told,
               "is an ssh server listening there, and does its MaxStartups allow this many logins at once");
    login_words_explain(&told, "the server says", link->greeting, strlen(link->greeting));
    break_link(link, &told);
}

static int64_t lost_ms(const struct ssh_link *link)
{
    return loop_clock_lost(&link->shared->setup.deadlines->clock);
}

/* Servers end logins that take long (LoginGraceTime): was it this process that did not answer? */
static bool is_own_absence(const struct ssh_link *link, const struct error *err)
{
    return err->kind == &kind_connection_lost && link->connection &&
           lost_ms(link) - link->lost_ms >= ABSENCE_MS;
}

void ssh_link_on_failure(struct ssh_link *link, enum ssh_failure failure, const struct error *err)
{
    struct deadlines *deadlines = link->shared->setup.deadlines;

    if (!link->opened && failure == SSH_FAILURE_FINAL && is_own_absence(link, err)) {
        failure = SSH_FAILURE_EARLY;
    }
    if (link->opened || failure == SSH_FAILURE_FINAL) {
        break_link(link, err);
        return;
    }
    close_connection(link);
    ssh_link_leave_login_limit(link);
    deadline_clear(deadlines, &link->part);
    if (failure == SSH_FAILURE_EARLY) {
        uint64_t pause = login_pause_after(link->tries++, link->greeting);
        if (pause == 0 || pause >= deadline_left(deadlines, &link->total)) {
            give_up_early(link, err);
        } else {
            deadline_set(deadlines, &link->again, pause);
        }
        return;
    }
    keep_trouble(link, err);
    link->address = link->address->ai_next;
    if (link->address) {
        try_address(link);
    } else {
        break_link(link, &link->trouble);
    }
}

static void connect_address(struct ssh_link *link)
{
    struct deadlines *deadlines = link->shared->setup.deadlines;
    struct error err = ERROR_INIT;
    unsigned left = 0;

    link->lost_ms = lost_ms(link);
    for (const struct addrinfo *at = link->address; at; at = at->ai_next) {
        left++;
    }
    deadline_set(deadlines, &link->patience, PATIENCE_MS);
    if (left > 1) { /* a dead address must leave time for the next one */
        deadline_set(deadlines, &link->part, deadline_left(deadlines, &link->total) / left);
    }
    link->connection = ssh_connection_open(link, link->address, &err);
    if (!link->connection) {
        ssh_link_on_failure(link, err.kind == &kind_local ? SSH_FAILURE_FINAL : SSH_FAILURE_ADDRESS, &err);
    }
}

/* Its time stands still while it waits for others: a turn, or the jump. */
static void pause_total(struct ssh_link *link)
{
    link->total_left_ms = deadline_left(link->shared->setup.deadlines, &link->total);
    deadline_clear(link->shared->setup.deadlines, &link->total);
}

static void go_on_total(struct ssh_link *link)
{
    deadline_set(link->shared->setup.deadlines, &link->total, link->total_left_ms);
}

static void try_address(struct ssh_link *link)
{
    struct login_limits *limits = link->shared->setup.login_limits;
    const struct endpoint *endpoint = link->endpoint;

    pause_total(link);
    if (!link->via && login_limit_enter(limits, link->address->ai_addr, &link->turn)) {
        go_on_total(link);
        connect_address(link);
    } else if (link->via && login_limit_enter_by_name(limits, link->via, endpoint->hostname, endpoint->port,
                                                      &link->turn)) {
        passage_start(link->shared->setup.fleet, endpoint->jump, &link->passage);
    }
}

static void on_passage_asked(void *ctx, bool asked)
{
    struct ssh_link *link = ctx;

    if (!asked) {
        pause_total(link);
        return;
    }
    link->lost_ms = lost_ms(link);
    go_on_total(link);
    deadline_set(link->shared->setup.deadlines, &link->patience, PATIENCE_MS);
}

static void on_passage_failed(void *ctx, const struct error *err)
{
    struct ssh_link *link = ctx;

    if (link->connection) {
        ssh_connection_fail(link->connection, SSH_FAILURE_FINAL, err);
    } else {
        ssh_link_on_failure(link, SSH_FAILURE_FINAL, err);
    }
}

static void on_passage_opened(void *ctx, int fd)
{
    struct ssh_link *link = ctx;
    struct error err = ERROR_INIT;

    link->connection = ssh_connection_adopt(link, fd, &err);
    if (!link->connection) {
        ssh_link_on_failure(link, SSH_FAILURE_FINAL, &err);
    }
}

static void on_granted(void *ctx)
{
    struct ssh_link *link = ctx;

    if (link->via) {
        passage_start(link->shared->setup.fleet, link->endpoint->jump, &link->passage);
        return;
    }
    go_on_total(link);
    connect_address(link);
}

static void on_again(void *ctx)
{
    try_address(ctx);
}

/* A server that has said nothing yet counts nobody as logging in; one that is logged in and idle neither. */
static void on_patience(void *ctx)
{
    struct ssh_link *link = ctx;

    if (link->opened || !link->connection || link->connection->bytes.in_bytes == 0) {
        ssh_link_leave_login_limit(link);
    } else {
        deadline_set(link->shared->setup.deadlines, &link->patience, PATIENCE_MS);
    }
}

static void on_part(void *ctx)
{
    struct ssh_link *link = ctx;
    struct error err = ERROR_INIT;
    AUTO_STR struct str where = STR_INIT;

    ssh_link_where(link, &where);
    error_set(&err, &kind_timed_out, "no answer from %s", str_text(&where));
    ssh_link_on_failure(link, SSH_FAILURE_ADDRESS, &err);
}

static unsigned timeout_ms(const struct ssh_link *link)
{
    return transport_connect_ms(&link->shared->setup, link->endpoint);
}

/* AddressFamily: leave only such addresses; NULL when there is none. */
static struct addrinfo *keep_family(struct addrinfo *list, int family)
{
    struct addrinfo **at = &list;

    while (family != AF_UNSPEC && *at) {
        struct addrinfo *here = *at;
        if (here->ai_family == family) {
            at = &here->ai_next;
            continue;
        }
        *at = here->ai_next;
        here->ai_next = NULL;
        freeaddrinfo(here);
    }
    return list;
}

static const char *describe_wait(const struct ssh_link *link)
{
    if (link->lookup) {
        return "the name was not resolved";
    }
    if (!link->connection && link->passage.request) {
        return "the jump host has not connected to it";
    }
    if (!link->connection) {
        return "the server keeps dropping connections";
    }
    if (link->connection->stage == SSH_STAGE_CONNECT) {
        return "no answer";
    }
    if (link->connection->stage == SSH_STAGE_LOGIN && ssh_agent_is_awaited(link->connection)) {
        return "the ssh agent has not answered";
    }
    if (link->connection->stage == SSH_STAGE_LOGIN) {
        return "the login was not answered";
    }
    if (link->connection->bytes.in_bytes == 0) {
        return "it accepts connections and says nothing";
    }
    return !ssh_get_serverbanner(link->connection->session) ? "it does not speak ssh"
                                                            : "the key exchange was not finished";
}

static void on_total(void *ctx)
{
    struct ssh_link *link = ctx;
    struct error err = ERROR_INIT;
    AUTO_STR struct str where = STR_INIT;

    ssh_link_where(link, &where);
    error_set(&err, link->lookup ? &kind_name_not_resolved : &kind_timed_out, "%s: %s within %g s",
              str_text(&where), describe_wait(link), timeout_ms(link) / 1000.0);
    error_hint(&err, "is the host up and reachable from here; --connect-timeout gives it more time");
    break_link(link, &err);
}

static void on_addresses(void *ctx, int code, struct addrinfo *list)
{
    struct ssh_link *link = ctx;
    struct error err = ERROR_INIT;

    link->lookup = NULL;
    if (code == 0 && list) {
        list = keep_family(list, link->endpoint->address_family);
        code = EAI_ADDRFAMILY;
    }
    if (list) {
        link->addresses = link->address = list;
        try_address(link);
        return;
    }
    if (strcmp(link->endpoint->name, link->endpoint->hostname) == 0) { /* not named: many may share this */
        error_set(&err, &kind_name_not_resolved, "the name is not resolved: %s", gai_strerror(code));
    } else {
        error_set(&err, &kind_name_not_resolved, "name '%s' is not resolved: %s", link->endpoint->hostname,
                  gai_strerror(code));
    }
    error_hint(&err, "is the name spelled as DNS, /etc/hosts or a HostName in ssh_config has it");
    break_link(link, &err);
}

static void arm(struct deadline *deadline, void (*fire)(void *ctx), struct ssh_link *link)
{
    deadline->fire = fire;
    deadline->ctx = link;
}

struct ssh_link *ssh_link_open(struct ssh_shared *shared, const struct endpoint *endpoint,
                               const struct transport_events *events, void *owner)
{
    struct ssh_link *link = xcalloc(1, sizeof(*link));

    link->shared = shared;
    link->endpoint = endpoint;
    link->events = events;
    link->owner = owner;
    link->passage = (struct passage){.asked = on_passage_asked,
                                     .opened = on_passage_opened,
                                     .failed = on_passage_failed,
                                     .ctx = link,
                                     .host = endpoint->hostname,
                                     .port = endpoint->port};
    link->turn.granted = on_granted;
    link->turn.ctx = link;
    arm(&link->total, on_total, link);
    arm(&link->part, on_part, link);
    arm(&link->again, on_again, link);
    arm(&link->patience, on_patience, link);
    deadline_set(shared->setup.deadlines, &link->total, timeout_ms(link));
    if (endpoint->jump) { /* which looks the name up */
        link->via = endpoint_login_key(endpoint->jump);
        try_address(link);
        return link;
    }
    link->addresses = lookup_numeric(endpoint->hostname, endpoint->port);
    link->address = link->addresses;
    if (link->addresses) {
        try_address(link);
    } else {
        link->lookup = lookup_start(shared->resolver, endpoint->hostname, endpoint->port, on_addresses, link);
    }
    return link;
}

static void *ssh_open(void *shared, const struct endpoint *endpoint, const struct transport_events *events,
                      void *owner)
{
    return ssh_link_open(shared, endpoint, events, owner);
}

static void ssh_run(void *arg, struct transport_job *job)
{
    struct ssh_link *link = arg;

    if (job->command) {
        ssh_command_run(link->connection, job);
    } else {
        ssh_forward_start(link->connection, job);
    }
}

static void ssh_input(void *arg, struct transport_job *job)
{
    (void)arg;
    ssh_command_input(job);
}

static void ssh_pause(void *arg)
{
    struct ssh_link *link = arg;

    if (link->connection) {
        ssh_connection_watch(link->connection);
    }
}

static void ssh_cancel(void *arg, struct transport_job *job)
{
    (void)arg;
    if (job->command) {
        ssh_command_cancel(job);
    } else {
        ssh_forward_stop(job);
    }
}

void ssh_link_close(struct ssh_link *link)
{
    stop_waiting(link);
    ssh_link_leave_login_limit(link);
    if (link->lookup) {
        lookup_cancel(link->lookup);
    }
    close_connection(link);
    if (link->addresses) {
        freeaddrinfo(link->addresses);
    }
    free(link->via);
    free(link);
}

static void ssh_close(void *link)
{
    ssh_link_close(link);
}

const struct transport_ops transport_ssh = {
    .name = "ssh",
    .serves = ssh_serves,
    .carries = true,
    .files = ssh_files,
    .begin = ssh_begin,
    .end = ssh_end,
    .open = ssh_open,
    .run = ssh_run,
    .input = ssh_input,
    .pause = ssh_pause,
    .cancel = ssh_cancel,
    .close = ssh_close,
};
