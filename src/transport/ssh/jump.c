#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "transport/ssh/ssh_internal.h"

#define MAX_SESSIONS 8   /* to one jump */
#define MAX_FORWARDS 256 /* of one session: each takes a descriptor of the server's process */

struct ssh_jump_session {
    struct ssh_jump_session *next;
    struct ssh_jump *jump;
    struct ssh_link *link;
    enum { SESSION_OPENING, SESSION_OPEN, SESSION_BROKEN } state;
    bool was_open;
    unsigned forwards, room;
    struct error error; /* SESSION_BROKEN */
};

struct ssh_jump {
    struct ssh_jump *next;
    struct ssh_shared *shared;
    struct endpoint endpoint;
    char *key;
    struct ssh_jump_session *sessions;
    struct ssh_passage *waiting;
    struct deadline turn; /* what events ask for is done outside of them */
};

static void wake(struct ssh_jump *jump)
{
    if (!deadline_is_set(&jump->turn)) {
        deadline_set(jump->shared->setup.deadlines, &jump->turn, 0);
    }
}

/* Each item with its length before it: no two lists make the same text. */
static void add_key_list(struct str *out, const struct strlist *list)
{
    for (size_t i = 0; i < list->len; i++) {
        str_addf(out, "%zu:%s", strlen(list->items[i]), list->items[i]);
    }
    str_add_char(out, ';');
}

static void add_key_text(struct str *out, const char *text)
{
    if (text) {
        str_addf(out, "%zu:%s", strlen(text), text);
    }
    str_add_char(out, ';');
}

char *ssh_jump_key(const struct endpoint *jump)
{
    struct str out = STR_INIT;

    for (; jump; jump = jump->jump) {
        str_addf(&out, "%s@%s:%u ", jump->user, jump->hostname, jump->port);
        add_key_text(&out, jump->key_name);
        add_key_list(&out, &jump->known_hosts);
        add_key_list(&out, &jump->identities);
        add_key_list(&out, &jump->certificates);
        add_key_text(&out, jump->agent);
        str_addf(&out, "%d%d ", jump->identities_only, jump->accept_new);
    }
    return str_detach(&out);
}

/* --- sessions --- */

static void on_opened(void *owner)
{
    struct ssh_jump_session *session = owner;

    session->state = SESSION_OPEN;
    session->was_open = true;
    wake(session->jump);
}

static void on_broken(void *owner, const struct error *err)
{
    struct ssh_jump_session *session = owner;

    session->state = SESSION_BROKEN;
    session->error = *err;
    wake(session->jump);
}

/* A jump runs no commands: the other events never come. */
static const struct transport_events events = {.opened = on_opened, .broken = on_broken};

static void open_session(struct ssh_jump *jump)
{
    struct ssh_jump_session *session = xcalloc(1, sizeof(*session)), **at = &jump->sessions;

    session->jump = jump;
    session->room = MAX_FORWARDS;
    while (*at) {
        at = &(*at)->next;
    }
    *at = session;
    session->link = ssh_link_open(jump->shared, &jump->endpoint, &events, session, true);
}

static void drop_session(struct ssh_jump_session *session)
{
    struct ssh_jump_session **at = &session->jump->sessions;

    while (*at != session) {
        at = &(*at)->next;
    }
    *at = session->next;
    ssh_link_close(session->link);
    free(session);
}

static void append(struct ssh_jump *jump, struct ssh_passage *passage)
{
    struct ssh_passage **at = &jump->waiting;

    while (*at) {
        at = &(*at)->next;
    }
    *at = passage;
    passage->next = NULL;
    passage->jump = jump;
}

static void take_out(struct ssh_passage *passage)
{
    struct ssh_passage **at = &passage->jump->waiting;

    while (*at != passage) {
        at = &(*at)->next;
    }
    *at = passage->next;
    passage->next = NULL;
    passage->jump = NULL;
}

/* The same words for every host behind the jump, so that they are said once. */
static void explain(const struct ssh_jump *jump, const struct error *from, struct error *to)
{
    static const struct error_kind *const out_of_reach[] = {
        &kind_name_not_resolved, &kind_refused, &kind_timed_out, &kind_unreachable, &kind_connection_lost};

    *to = *from;
    for (size_t i = 0; i < ARRAY_LEN(out_of_reach); i++) {
        if (from->kind == out_of_reach[i]) {
            to->kind = &kind_jump_unreachable;
        }
    }
    error_prefix(to, "jump host '%s'", jump->endpoint.name);
}

static void fail_waiting(struct ssh_jump *jump, const struct error *err)
{
    while (jump->waiting) {
        struct ssh_passage *passage = jump->waiting;
        take_out(passage);
        passage->failed(passage->ctx, err);
    }
}

/* Where one could not be opened, those who waited share the reason, unless another one serves them. */
static void clear_broken(struct ssh_jump *jump)
{
    struct ssh_jump_session *next;
    struct error err = ERROR_INIT;
    bool other = false;

    for (struct ssh_jump_session *session = jump->sessions; session; session = next) {
        next = session->next;
        if (session->state != SESSION_BROKEN) {
            other = true;
            continue;
        }
        if (!session->was_open) {
            explain(jump, &session->error, &err);
        }
        drop_session(session);
    }
    if (err.kind && !other) {
        fail_waiting(jump, &err);
    }
}

/* An open one with room; *coming: one is on its way. */
static struct ssh_jump_session *find_room(struct ssh_jump *jump, bool *coming, unsigned *count)
{
    for (struct ssh_jump_session *at = jump->sessions; at; at = at->next) {
        (*count)++;
        if (at->state == SESSION_OPEN && at->forwards < at->room) {
            return at;
        }
        if (at->state == SESSION_OPENING) {
            *coming = true;
        }
    }
    return NULL;
}

static void start_waiting(struct ssh_jump *jump)
{
    while (jump->waiting) {
        bool coming = false;
        unsigned count = 0;
        struct ssh_jump_session *session = find_room(jump, &coming, &count);
        struct ssh_passage *passage = jump->waiting;
        if (!session) {
            if (!coming && count < MAX_SESSIONS) {
                open_session(jump);
            }
            return; /* else until one has ended */
        }
        take_out(passage);
        session->forwards++;
        passage->begun(passage->ctx);
        ssh_forward_open(session->link->connection, session, passage);
    }
}

static void on_turn(void *ctx)
{
    struct ssh_jump *jump = ctx;

    clear_broken(jump);
    start_waiting(jump);
    for (struct ssh_jump_session *at = jump->sessions; at; at = at->next) {
        if (at->state == SESSION_OPEN) {
            ssh_connection_step(at->link->connection);
        }
    }
}

/* --- for those who go through --- */

static struct ssh_jump *find_jump(struct ssh_shared *shared, const struct endpoint *endpoint)
{
    AUTO_FREE char *key = ssh_jump_key(endpoint);
    struct ssh_jump *jump;

    for (jump = shared->jumps.first; jump; jump = jump->next) {
        if (strcmp(jump->key, key) == 0) {
            return jump;
        }
    }
    jump = xcalloc(1, sizeof(*jump));
    jump->shared = shared;
    endpoint_copy(&jump->endpoint, endpoint);
    jump->key = xstrdup(key);
    jump->turn.fire = on_turn;
    jump->turn.ctx = jump;
    jump->next = shared->jumps.first;
    shared->jumps.first = jump;
    return jump;
}

void ssh_passage_start(struct ssh_shared *shared, const struct endpoint *endpoint,
                       struct ssh_passage *passage)
{
    struct ssh_jump *jump = find_jump(shared, endpoint);

    append(jump, passage);
    wake(jump);
}

void ssh_passage_stop(struct ssh_passage *passage)
{
    if (passage->jump) {
        take_out(passage);
    }
    if (passage->forward) {
        ssh_forward_leave(passage->forward);
    }
    passage->forward = NULL;
}

/* With others open in the session it is full; alone, the server forwards nothing of the kind. */
void ssh_jump_on_refusal(struct ssh_jump_session *session, struct ssh_passage *passage, const char *reason)
{
    struct error err = ERROR_INIT;

    if (session->forwards > 1) {
        session->room = session->forwards - 1;
        append(session->jump, passage);
        wake(session->jump);
        return;
    }
    error_set(&err, &kind_jump_unreachable, "jump host '%s' does not forward: %s",
              session->jump->endpoint.name, reason);
    error_hint(&err, "look at AllowTcpForwarding and PermitOpen in its sshd_config");
    passage->failed(passage->ctx, &err);
}

void ssh_jump_on_end(struct ssh_jump_session *session)
{
    session->forwards--;
    if (session->jump->waiting) {
        wake(session->jump);
    }
}

void ssh_jump_explain_loss(const struct ssh_jump_session *session, struct error *err)
{
    error_prefix(err, "jump host '%s'", session->jump->endpoint.name);
}

void ssh_jumps_close(struct ssh_shared *shared)
{
    struct ssh_jump *next;

    for (struct ssh_jump *jump = shared->jumps.first; jump; jump = next) {
        struct ssh_jump_session *next_session;
        next = jump->next;
        deadline_clear(shared->setup.deadlines, &jump->turn);
        for (struct ssh_jump_session *session = jump->sessions; session; session = next_session) {
            next_session = session->next;
            drop_session(session);
        }
    }
    for (struct ssh_jump *jump = shared->jumps.first; jump; jump = next) {
        next = jump->next;
        deadline_clear(shared->setup.deadlines, &jump->turn); /* a session may have set it at its end */
        endpoint_release(&jump->endpoint);
        free(jump->key);
        free(jump);
    }
    shared->jumps.first = NULL;
}
