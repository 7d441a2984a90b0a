/*
 * The login with keys of an ssh agent. libssh asks an agent with blocking calls. So it gets one end of a
 * socket pair instead of the agent. The list of the keys to offer is ready to be read there. libssh's calls
 * run in the thread pool of the loop; nothing else touches the session meanwhile. When libssh wants a
 * signature, the loop asks the agent. Closing the pair ends a call that waits. When the agent refuses to
 * sign, the login of libssh ends, and starts again with the remaining keys.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "transport/ssh/agent_internal.h"
#include "transport/ssh/ssh_internal.h"
#include "transport/ssh/wire_internal.h"

#define LIST_MS 5000 /* time limit for the agent to list its keys */

struct ssh_agent_login {
    struct ssh_connection *connection;
    enum { AGENT_LISTING, AGENT_LISTED, AGENT_OFFERING } state;
    struct agent_question *question;
    const struct agent_list *list; /* kept by the fleet; NULL: agent_trouble says why */
    const struct agent_key **keys; /* keys of the list that may be offered, in this order */
    size_t keys_len, keys_cap;
    size_t next, with_libssh;        /* the first remaining key, and how many libssh has from there on */
    const struct agent_key *signing; /* what the agent was last asked to sign with */
    const struct agent_key *refused; /* the key that it has refused to sign with */
    struct strlist refusals;         /* all such keys */
    int pair[2];                     /* ours, libssh's; -1: not made */
    uv_poll_t poll;                  /* of ours */
    struct str in;                   /* requests of libssh */
    uv_work_t work;
    bool answered;
    int answer;
    bool running, closed, poll_closed;
};

/* --- lists of agents, kept for all hosts --- */

struct listed {
    char *path;
    struct agent_list list;
};

struct ssh_agents {
    struct listed **items;
    size_t len, cap;
};

struct ssh_agents *ssh_agents_new(void)
{
    return xcalloc(1, sizeof(struct ssh_agents));
}

void ssh_agents_free(struct ssh_agents *agents)
{
    for (size_t i = 0; agents && i < agents->len; i++) {
        agent_list_release(&agents->items[i]->list);
        free(agents->items[i]->path);
        free(agents->items[i]);
    }
    if (agents) {
        free(agents->items);
    }
    free(agents);
}

static const struct agent_list *find_list(const struct ssh_agents *agents, const char *path)
{
    for (size_t i = 0; i < agents->len; i++) {
        if (strcmp(agents->items[i]->path, path) == 0) {
            return &agents->items[i]->list;
        }
    }
    return NULL;
}

static const struct agent_list *keep_list(struct ssh_agents *agents, const char *path,
                                          struct agent_list *list)
{
    const struct agent_list *kept = find_list(agents, path);
    struct listed *listed;

    if (kept) { /* another host has asked at the same time */
        agent_list_release(list);
        return kept;
    }
    listed = xcalloc(1, sizeof(*listed));
    listed->path = xstrdup(path);
    listed->list = *list;
    agents->items = xgrow(agents->items, agents->len, &agents->cap, sizeof(struct listed *));
    agents->items[agents->len++] = listed;
    return &listed->list;
}

/* --- the keys to offer -------- */

/* Was that key offered from its file already? */
static bool is_used_up(const struct ssh_connection *connection, const struct agent_key *key)
{
    for (size_t i = 0; i < connection->offers_len; i++) {
        const struct ssh_identity *identity = connection->offers[i];
        if (identity->key && identity->public_base64 && strcmp(identity->public_base64, key->base64) == 0) {
            return true;
        }
    }
    return false;
}

/* Do the identities name that key, although their files cannot be used? */
static bool is_named(const struct ssh_connection *connection, const struct agent_key *key)
{
    for (size_t i = 0; i < connection->offers_len; i++) {
        const struct ssh_identity *identity = connection->offers[i];
        if (!identity->key && identity->public_base64 && strcmp(identity->public_base64, key->base64) == 0) {
            return true;
        }
    }
    return false;
}

static void add_uint32(struct str *out, size_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        str_add_char(out, (char)(value >> shift & 255));
    }
}

static void add_string(struct str *out, const char *bytes, size_t len)
{
    add_uint32(out, len);
    str_add_mem(out, bytes, len);
}

/* Choose the keys to offer, named keys first. */
static void choose_keys(struct ssh_agent_login *login)
{
    const struct ssh_connection *connection = login->connection;

    for (int named = 1; named >= (connection->link->endpoint->identities_only ? 1 : 0); named--) {
        for (size_t i = 0; i < login->list->len; i++) {
            const struct agent_key *key = &login->list->keys[i];
            if (is_used_up(connection, key) || is_named(connection, key) != (named == 1)) {
                continue;
            }
            login->keys =
                xgrow(login->keys, login->keys_len, &login->keys_cap, sizeof(const struct agent_key *));
            login->keys[login->keys_len++] = key;
        }
    }
}

/* Note that the server has refused this many further keys. */
static void add_tried(struct ssh_agent_login *login, size_t count)
{
    struct ssh_connection *connection = login->connection;

    for (size_t i = 0; i < count; i++) {
        str_addf(&connection->tried, "%s'%s' of the agent", connection->tried.len > 0 ? ", " : "",
                 login->keys[login->next++]->comment);
    }
    connection->offered += count;
}

/* Skip a key with which the agent has refused to sign. The server has refused the keys before it. */
static void pass_over_refused(struct ssh_agent_login *login)
{
    struct ssh_connection *connection = login->connection;
    AUTO_FREE char *names = NULL;

    while (login->keys[login->next] != login->refused) {
        add_tried(login, 1);
    }
    login->next++;
    login->with_libssh = 0;
    strlist_add(&login->refusals, login->refused->comment);
    names = strlist_join(&login->refusals, "', '");
    error_set(&connection->agent_trouble, &kind_auth_failed, "ssh agent '%s' refuses to sign with '%s'",
              connection->link->endpoint->agent, names);
    login->refused = NULL;
}

/* --- the pair --- */

static void free_login(struct ssh_agent_login *login)
{
    if (!login->closed || !login->poll_closed || login->running) {
        return;
    }
    if (login->pair[0] >= 0) {
        close(login->pair[0]);
    }
    strlist_release(&login->refusals);
    free(login->keys);
    str_release(&login->in);
    free(login);
}

static void send_to_libssh(struct ssh_agent_login *login, const char *bytes, size_t len)
{
    AUTO_STR struct str message = STR_INIT;

    add_string(&message, bytes, len);
    if (send(login->pair[0], str_text(&message), message.len, MSG_NOSIGNAL) != (ssize_t)message.len) {
        shutdown(login->pair[0], SHUT_RDWR); /* libssh does not read the answer */
    }
}

static void on_signed(void *ctx, const struct str *answer, const struct error *err)
{
    static const char failure[] = {5}; /* SSH_AGENT_FAILURE */
    struct ssh_agent_login *login = ctx;

    login->question = NULL;
    ssh_link_enter(login->connection->link, SSH_PHASE_LOGIN);
    if (!answer) {
        login->connection->agent_trouble = *err;
    }
    if (answer && str_text(answer)[0] == failure[0]) {
        login->refused = login->signing;
        error_set(&login->connection->agent_trouble, &kind_auth_failed, "ssh agent '%s' refuses to sign",
                  login->connection->link->endpoint->agent);
    }
    send_to_libssh(login, answer ? str_text(answer) : failure, answer ? answer->len : 1);
}

/* The key that the request is about; NULL: it is none of those that libssh has. */
static const struct agent_key *find_key(const struct ssh_agent_login *login, const char *request, size_t len)
{
    for (size_t i = login->next; i < login->next + login->with_libssh; i++) {
        AUTO_STR struct str blob = STR_INIT;
        add_string(&blob, login->keys[i]->blob, login->keys[i]->blob_len);
        if (len > blob.len && memcmp(request + 1, str_text(&blob), blob.len) == 0) {
            return login->keys[i];
        }
    }
    return NULL;
}

/* Serve the requests of libssh. The list was sent before; for a signature the agent is asked. */
static void serve(struct ssh_agent_login *login)
{
    struct ssh_link *link = login->connection->link;

    while (login->in.len >= 5) {
        const char *at = str_text(&login->in);
        size_t len = ssh_wire_uint32(at);
        if (login->in.len < len + 4) {
            return;
        }
        if (at[4] == SSH_AGENT_SIGN && !login->question) {
            login->signing = find_key(login, at + 4, len);
            login->question = agent_ask(
                link->shared->setup.loop, link->shared->setup.deadlines, link->endpoint->agent, at + 4, len,
                transport_connect_ms(&link->shared->setup, link->endpoint), on_signed, login);
            ssh_link_enter(link, SSH_PHASE_AGENT);
        }
        str_consume(&login->in, len + 4);
    }
}

static void on_pair_ready(uv_poll_t *poll, int status, int events)
{
    struct ssh_agent_login *login = poll->data;
    char buffer[4096];
    ssize_t n;

    (void)status;
    (void)events;
    if (login->closed) {
        return;
    }
    n = recv(login->pair[0], buffer, sizeof(buffer), MSG_DONTWAIT);
    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            uv_poll_stop(poll);
        }
        return;
    }
    str_add_mem(&login->in, buffer, (size_t)n);
    serve(login);
}

static void on_pair_closed(uv_handle_t *handle)
{
    struct ssh_agent_login *login = handle->data;

    login->poll_closed = true;
    free_login(login);
}

/* Returns false on failure; agent_trouble says why. */
static bool make_pair(struct ssh_agent_login *login)
{
    struct ssh_connection *connection = login->connection;
    int failed;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, login->pair) != 0) {
        login->pair[0] = login->pair[1] = -1;
        agent_out_of_files(errno, &connection->agent_trouble);
        return false;
    }
    failed = uv_poll_init(connection->loop, &login->poll, login->pair[0]);
    if (failed != 0) {
        close(login->pair[0]);
        close(login->pair[1]);
        login->pair[0] = login->pair[1] = -1;
        agent_out_of_files(-failed, &connection->agent_trouble);
        return false;
    }
    login->poll.data = login;
    login->poll_closed = false;
    ssh_set_agent_socket(connection->session, login->pair[1]); /* owned by libssh from here on */
    uv_poll_start(&login->poll, UV_READABLE, on_pair_ready);
    return true;
}

/* Give libssh the remaining keys, but no more than a server accepts. False: there are none. */
static bool offer(struct ssh_agent_login *login)
{
    size_t count = login->keys_len - login->next, room = SSH_MAX_OFFERS - login->connection->offered;
    AUTO_STR struct str keys = STR_INIT, message = STR_INIT;

    login->with_libssh = count < room ? count : room;
    for (size_t i = login->next; i < login->next + login->with_libssh; i++) {
        add_string(&keys, login->keys[i]->blob, login->keys[i]->blob_len);
        add_string(&keys, login->keys[i]->comment, strlen(login->keys[i]->comment));
    }
    if (login->with_libssh == 0 || (login->pair[0] < 0 && !make_pair(login))) {
        return false;
    }
    str_add_char(&message, SSH_AGENT_LISTED);
    add_uint32(&message, login->with_libssh);
    str_add_mem(&message, str_text(&keys), keys.len);
    send_to_libssh(login, str_text(&message), message.len);
    return true;
}

/* --- the login --- */

static void on_listed(void *ctx, const struct str *answer, const struct error *err)
{
    struct ssh_agent_login *login = ctx;
    struct ssh_connection *connection = login->connection;
    const char *path = connection->link->endpoint->agent;
    struct agent_list list = {0};

    login->question = NULL;
    ssh_link_enter(connection->link, SSH_PHASE_LOGIN);
    login->state = AGENT_LISTED;
    if (!answer) {
        connection->agent_trouble = *err;
    } else if (agent_list_parse(path, answer, &list, &connection->agent_trouble) == 0) {
        login->list = keep_list(connection->link->shared->agents, path, &list);
    }
    ssh_connection_step(connection);
}

static struct ssh_agent_login *start(struct ssh_connection *connection)
{
    static const char request[] = {SSH_AGENT_IDENTITIES};
    struct ssh_agent_login *login = xcalloc(1, sizeof(*login));
    struct ssh_link *link = connection->link;
    unsigned limit = transport_connect_ms(&link->shared->setup, link->endpoint) / 2;

    login->connection = connection;
    login->pair[0] = login->pair[1] = -1;
    login->poll_closed = true;
    login->list = find_list(link->shared->agents, link->endpoint->agent);
    login->state = login->list ? AGENT_LISTED : AGENT_LISTING;
    if (!login->list) {
        login->question =
            agent_ask(link->shared->setup.loop, link->shared->setup.deadlines, link->endpoint->agent, request,
                      sizeof(request), limit < LIST_MS ? limit : LIST_MS, on_listed, login);
        ssh_link_enter(link, SSH_PHASE_AGENT);
    }
    return login;
}

static void work(uv_work_t *request)
{
    struct ssh_agent_login *login = request->data;

    login->answer = ssh_userauth_agent(login->connection->session, NULL);
}

static void after_work(uv_work_t *request, int status)
{
    struct ssh_agent_login *login = request->data;
    struct ssh_connection *connection = login->connection;

    (void)status;
    login->running = false;
    login->answered = true;
    if (login->closed) {
        free_login(login);
    }
    ssh_connection_take_back(connection);
}

/* True: *answer is the result of the last call. False: a call runs. */
static bool call_libssh(struct ssh_agent_login *login, int *answer)
{
    struct ssh_connection *connection = login->connection;

    if (login->running) {
        return false;
    }
    if (login->answered) {
        login->answered = false;
        *answer = login->answer;
        return *answer != SSH_AUTH_AGAIN || !ssh_connection_is_alive(connection);
    }
    login->running = true;
    login->work.data = login;
    ssh_connection_lend(connection);
    uv_queue_work(connection->loop, &login->work, work, after_work);
    return false;
}

int ssh_agent_authenticate(struct ssh_connection *connection, int *answer)
{
    struct ssh_agent_login *login = connection->agent;

    if (!login) {
        login = connection->agent = start(connection);
    }
    if (login->state == AGENT_LISTING) {
        return 0;
    }
    if (login->state == AGENT_LISTED && login->list) {
        choose_keys(login);
    }
    login->state = AGENT_OFFERING;
    while (login->with_libssh > 0 || offer(login)) {
        if (!call_libssh(login, answer)) {
            return 0;
        }
        if (*answer != SSH_AUTH_ERROR || !login->refused) {
            add_tried(login, login->with_libssh);
            connection->withheld += login->keys_len - login->next;
            return 1;
        }
        pass_over_refused(login);
        if (!ssh_connection_is_alive(connection)) {
            return 1;
        }
    }
    connection->withheld += login->keys_len - login->next;
    return -1;
}

void ssh_agent_close(struct ssh_connection *connection)
{
    struct ssh_agent_login *login = connection->agent;

    if (!login) {
        return;
    }
    login->closed = true;
    connection->agent = NULL;
    agent_drop(login->question);
    login->question = NULL;
    if (login->pair[0] >= 0) {
        shutdown(login->pair[0], SHUT_RDWR);
    }
    if (login->pair[1] >= 0 && !login->running) { /* it would stay open as long as the session */
        ssh_set_agent_socket(connection->session, SSH_INVALID_SOCKET);
        close(login->pair[1]);
    }
    if (login->poll_closed) {
        free_login(login);
    } else {
        uv_close((uv_handle_t *)&login->poll, on_pair_closed);
    }
}
