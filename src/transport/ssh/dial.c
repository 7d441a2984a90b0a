/*
 * Makes a logged-in connection from a host's name: addresses, login slots, the way through a jump host,
 * retries.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "model/login_words.h"
#include "transport/ssh/ssh_internal.h"

#define PATIENCE_MS 2000 /* wait this long for a silent server; then others may have the login slot */
/* If this process was stopped for this long, it is not the server's fault that a login broke off. */
#define ABSENCE_MS 1000

static void try_address(struct ssh_link *link);

static struct deadlines *deadlines_of(const struct ssh_link *link)
{
    return link->shared->setup.deadlines;
}

/* --- phases and their time --- */

static unsigned connect_ms(const struct ssh_link *link)
{
    return transport_connect_ms(&link->shared->setup, link->endpoint);
}

/* What is left of the connect time, in milliseconds. */
static uint64_t time_left(const struct ssh_link *link)
{
    int64_t took = deadlines_now(deadlines_of(link)) - link->phase_began_ms;

    if (ssh_phase_row(link->phase)->limit == SSH_LIMIT_NONE || took <= 0) {
        return link->left_ms;
    }
    return link->left_ms > (uint64_t)took ? link->left_ms - (uint64_t)took : 0;
}

static unsigned count_addresses_left(const struct ssh_link *link)
{
    unsigned count = 0;

    for (const struct addrinfo *at = link->address; at; at = at->ai_next) {
        count++;
    }
    return count;
}

/* The share of the connect time for the current address: a dead one must leave time for the next. */
static uint64_t address_share(const struct ssh_link *link)
{
    unsigned count = count_addresses_left(link);

    return count > 1 ? link->left_ms / count : link->left_ms;
}

void ssh_link_enter(struct ssh_link *link, enum ssh_phase phase)
{
    if (phase == link->phase) {
        return;
    }
    link->left_ms = time_left(link);
    link->phase_began_ms = deadlines_now(deadlines_of(link));
    link->phase = phase;
    switch (ssh_phase_row(phase)->limit) {
    case SSH_LIMIT_CONNECT:
        deadline_set(deadlines_of(link), &link->limit, link->left_ms);
        break;
    case SSH_LIMIT_ADDRESS:
        deadline_set(deadlines_of(link), &link->limit, address_share(link));
        break;
    case SSH_LIMIT_PAUSE:
        deadline_set(deadlines_of(link), &link->limit, link->pause_ms);
        break;
    case SSH_LIMIT_NONE:
    case SSH_LIMIT_ANSWER:
        deadline_clear(deadlines_of(link), &link->limit);
        break;
    }
}

void ssh_link_leave_login_limit(struct ssh_link *link)
{
    deadline_clear(deadlines_of(link), &link->patience);
    login_limit_leave(&link->slot);
}

static void close_connection(struct ssh_link *link)
{
    passage_stop(&link->passage);
    if (link->connection) {
        ssh_connection_close(link->connection);
    }
    link->connection = NULL;
}

static void stop(struct ssh_link *link)
{
    deadline_clear(deadlines_of(link), &link->limit);
    ssh_link_leave_login_limit(link);
    if (link->lookup) {
        lookup_cancel(link->lookup);
    }
    link->lookup = NULL;
    close_connection(link);
}

/* End the link: it never opened, or was lost. */
static void break_link(struct ssh_link *link, const struct error *err)
{
    if (link->phase == SSH_PHASE_BROKEN) {
        return;
    }
    ssh_link_enter(link, SSH_PHASE_BROKEN);
    stop(link);
    link->events->broken(link->owner, err);
}

static void on_limit(void *ctx)
{
    struct ssh_link *link = ctx;
    struct error err = ERROR_INIT;
    AUTO_STR struct str where = STR_INIT;

    if (link->phase == SSH_PHASE_RETRY) {
        try_address(link);
        return;
    }
    ssh_link_where(link, &where);
    if (link->phase == SSH_PHASE_CONNECT && count_addresses_left(link) > 1) {
        ssh_phase_time_out(link->phase, str_text(&where), (unsigned)address_share(link), &err);
        ssh_link_on_failure(link, SSH_FAILURE_ADDRESS, &err);
        return;
    }
    ssh_phase_time_out(link->phase, str_text(&where), connect_ms(link), &err);
    break_link(link, &err);
}

/* --- events of the connection --- */

void ssh_link_on_open(struct ssh_link *link)
{
    ssh_link_enter(link, SSH_PHASE_OPEN);
    link->events->opened(link->owner);
}

/* Keep the error. An answer from one address outweighs the missing route to another. */
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
        error_set(&told, err->kind, "%s, repeatedly", err->text);
    }
    error_hint(
        &told,
        "check that an ssh server listens there, and that its MaxStartups allows this many logins at once");
    login_words_explain(&told, "the server says", link->greeting, strlen(link->greeting));
    break_link(link, &told);
}

static int64_t lost_ms(const struct ssh_link *link)
{
    return loop_clock_lost(&link->shared->setup.deadlines->clock);
}

/* Servers end logins that take too long (LoginGraceTime). Did this process fail to answer in time? */
static bool is_own_absence(const struct ssh_link *link, const struct error *err)
{
    return err->kind == &kind_connection_lost && link->connection &&
           lost_ms(link) - link->lost_ms >= ABSENCE_MS;
}

/* The server dropped the connection before the key exchange, perhaps because it is busy: try again later. */
static void try_again(struct ssh_link *link, const struct error *err)
{
    uint64_t pause = login_pause_after(link->tries++, link->greeting);

    if (pause == 0 || pause >= time_left(link)) {
        give_up_early(link, err);
        return;
    }
    link->pause_ms = pause;
    ssh_link_enter(link, SSH_PHASE_RETRY);
}

void ssh_link_on_failure(struct ssh_link *link, enum ssh_failure failure, const struct error *err)
{
    bool opened = link->phase == SSH_PHASE_OPEN;

    if (!opened && failure == SSH_FAILURE_FINAL && is_own_absence(link, err)) {
        failure = SSH_FAILURE_EARLY;
    }
    if (opened || failure == SSH_FAILURE_FINAL) {
        break_link(link, err);
        return;
    }
    close_connection(link);
    ssh_link_leave_login_limit(link);
    if (failure == SSH_FAILURE_EARLY) {
        try_again(link, err);
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
    struct error err = ERROR_INIT;

    link->lost_ms = lost_ms(link);
    deadline_set(deadlines_of(link), &link->patience, PATIENCE_MS);
    ssh_link_enter(link, SSH_PHASE_CONNECT);
    link->connection = ssh_connection_open(link, link->address, &err);
    if (!link->connection) {
        ssh_link_on_failure(link, err.kind == &kind_local ? SSH_FAILURE_FINAL : SSH_FAILURE_ADDRESS, &err);
    }
}

static void on_granted(void *ctx)
{
    struct ssh_link *link = ctx;

    if (link->via) {
        passage_start(link->shared->setup.fleet, link->endpoint->jump, &link->passage);
    } else {
        connect_address(link);
    }
}

static void try_address(struct ssh_link *link)
{
    struct login_limits *limits = link->shared->setup.login_limits;
    const struct endpoint *endpoint = link->endpoint;
    bool granted;

    ssh_link_enter(link, SSH_PHASE_SLOT);
    granted = link->via ? login_limit_enter_by_name(limits, link->via, endpoint->hostname, endpoint->port,
                                                    &link->slot)
                        : login_limit_enter(limits, link->address->ai_addr, &link->slot);
    if (granted) {
        on_granted(link);
    }
}

/*
 * A server that has sent nothing yet does not count this connection as a login in progress. Nor does one
 * whose login is complete.
 */
static void on_patience(void *ctx)
{
    struct ssh_link *link = ctx;

    if (link->phase == SSH_PHASE_OPEN || !link->connection || link->connection->bytes.in_bytes == 0) {
        ssh_link_leave_login_limit(link);
    } else {
        deadline_set(deadlines_of(link), &link->patience, PATIENCE_MS);
    }
}

/* --- through a jump host --- */

static void on_passage_asked(void *ctx, bool asked)
{
    struct ssh_link *link = ctx;

    ssh_link_enter(link, asked ? SSH_PHASE_PASSAGE : SSH_PHASE_SLOT);
    if (asked) {
        link->lost_ms = lost_ms(link);
        deadline_set(deadlines_of(link), &link->patience, PATIENCE_MS);
    }
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

    ssh_link_enter(link, SSH_PHASE_CONNECT);
    link->connection = ssh_connection_adopt(link, fd, &err);
    if (!link->connection) {
        ssh_link_on_failure(link, SSH_FAILURE_FINAL, &err);
    }
}

/* --- the beginning and the end --- */

/* Keep only the addresses that AddressFamily allows; NULL: none is left. */
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
    /* Do not repeat the name, so that many hosts can share the text. */
    if (strcmp(link->endpoint->name, link->endpoint->hostname) == 0) {
        error_set(&err, &kind_name_not_resolved, "the name cannot be resolved: %s", gai_strerror(code));
    } else {
        error_set(&err, &kind_name_not_resolved, "name '%s' cannot be resolved: %s", link->endpoint->hostname,
                  gai_strerror(code));
    }
    error_hint(&err, "check the spelling: DNS, /etc/hosts or a HostName in ssh_config must have the name");
    break_link(link, &err);
}

static void arm(struct deadline *deadline, void (*fire)(void *ctx), struct ssh_link *link)
{
    deadline->fire = fire;
    deadline->ctx = link;
}

void ssh_link_dial(struct ssh_link *link)
{
    const struct endpoint *endpoint = link->endpoint;

    link->passage = (struct passage){.asked = on_passage_asked,
                                     .opened = on_passage_opened,
                                     .failed = on_passage_failed,
                                     .ctx = link,
                                     .host = endpoint->hostname,
                                     .port = endpoint->port};
    link->slot.granted = on_granted;
    link->slot.ctx = link;
    arm(&link->limit, on_limit, link);
    arm(&link->patience, on_patience, link);
    link->left_ms = connect_ms(link);
    link->phase = SSH_PHASE_SLOT; /* the connect time does not run in this phase */
    if (endpoint->jump) {         /* the jump host looks up the name */
        link->via = endpoint_login_key(endpoint->jump);
        try_address(link);
        return;
    }
    link->addresses = lookup_numeric(endpoint->hostname, endpoint->port);
    link->address = link->addresses;
    if (link->addresses) {
        try_address(link);
        return;
    }
    ssh_link_enter(link, SSH_PHASE_LOOKUP);
    link->lookup =
        lookup_start(link->shared->resolver, endpoint->hostname, endpoint->port, on_addresses, link);
}

void ssh_link_hang_up(struct ssh_link *link)
{
    stop(link);
    if (link->addresses) {
        freeaddrinfo(link->addresses);
    }
    link->addresses = link->address = NULL;
}
