/* The first half of a login: a libssh session on a connected socket, as far as the host key. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "model/login_words.h"
#include "transport/ssh/ssh_internal.h"

#define HANDSHAKE_BYTES 262144 /* a handshake takes about 2,000: with more, it is not an ssh server */

int ssh_login_start(struct ssh_connection *connection)
{
    const struct endpoint *endpoint = connection->link->endpoint;
    struct error err = ERROR_INIT;
    bool no = false;

    connection->session = ssh_new();
    if (!connection->session) {
        abort(); /* out of memory */
    }
    ssh_options_set(connection->session, SSH_OPTIONS_PROCESS_CONFIG, &no);
    /*
     * The descriptor is given, so the name is not used. Known hosts are checked by our own code; libssh must
     * not read them again.
     */
    ssh_options_set(connection->session, SSH_OPTIONS_HOST, "node");
    ssh_options_set(connection->session, SSH_OPTIONS_KNOWNHOSTS, "/dev/null");
    ssh_options_set(connection->session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
    ssh_options_set(connection->session, SSH_OPTIONS_USER, endpoint->user);
    ssh_options_set(connection->session, SSH_OPTIONS_FD, &connection->fd);
    if (endpoint->compression) {
        ssh_options_set(connection->session, SSH_OPTIONS_COMPRESSION, "yes");
    }
    if (ssh_hostkey_order(connection, &err) != 0) {
        ssh_connection_fail(connection, SSH_FAILURE_FINAL, &err);
        return -1;
    }
    ssh_set_blocking(connection->session, 0);
    ssh_set_counters(connection->session, &connection->bytes, &connection->packets);
    return 0;
}

/*
 * The length of the algorithms in "A,B,ext-info-s,kex-strict-s-v00@openssh.com]": the other entries are not
 * algorithms.
 */
static size_t len_of_algorithms(const char *list)
{
    static const char *const marks[] = {",ext-info-", ",kex-strict-"};
    size_t len = strcspn(list, "]");

    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        const char *mark = strstr(list, marks[i]);
        if (mark && (size_t)(mark - list) < len) {
            len = (size_t)(mark - list);
        }
    }
    return len;
}

/* libssh: "kex error : no match for method mac algo client->server: server [a,b], client [c]". */
static bool explain_mismatch(const char *reason, const char *where, struct error *err)
{
    static const struct {
        const char *method, *words, *keyword;
    } methods[] = {{"kex", "key exchange algorithm", "KexAlgorithms"},
                   {"server host key", "host key algorithm", "HostKeyAlgorithms"},
                   {"encryption", "cipher", "Ciphers"},
                   {"mac", "MAC", "MACs"}};
    static const char begin[] = "no match for method ", list[] = "server [";
    const char *method = strstr(reason, begin);
    const char *theirs = method ? strstr(method, list) : NULL;
    size_t len = theirs ? len_of_algorithms(theirs + strlen(list)) : 0;

    for (size_t i = 0; theirs && i < ARRAY_LEN(methods); i++) {
        if (!text_starts(method + strlen(begin), methods[i].method)) {
            continue;
        }
        error_set(err, &kind_connection_lost,
                  "%s: the built-in client and the server have no %s in common; the server has %.*s%s", where,
                  methods[i].words, len < 120 ? (int)len : 120, theirs + strlen(list),
                  len < 120 ? "" : "...");
        error_hint(err,
                   "use the system's ssh: ssh: {client: openssh} in the spec, or '%s +NAME' for the host in"
                   " ssh_config",
                   methods[i].keyword);
        return true;
    }
    return false;
}

/* OpenSSH sends the reason as a line and closes the connection. The error quotes it when no try is left. */
static void keep_greeting(struct ssh_connection *connection)
{
    const char *greeting = connection->greeting;

    snprintf(connection->link->greeting, sizeof(connection->link->greeting), "%s",
             text_starts(greeting, "SSH-") ? "" : greeting);
}

static void fail_handshake(struct ssh_connection *connection)
{
    static const char *const dropped[] = {"reset by peer", "disconnected", "Broken pipe", "closed"};
    AUTO_STR struct str reason = STR_INIT, where = STR_INIT;
    struct error err = ERROR_INIT;

    ssh_connection_reason(connection, &reason);
    ssh_link_where(connection->link, &where);
    keep_greeting(connection);
    if (explain_mismatch(str_text(&reason), str_text(&where), &err)) {
        ssh_connection_fail(connection, SSH_FAILURE_FINAL, &err);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(dropped); i++) {
        if (!strstr(str_text(&reason), dropped[i]) && reason.len > 0 &&
            !strstr(connection->greeting, LOGIN_WORDS_PENALTY)) {
            continue;
        }
        error_set(&err, &kind_connection_lost, "%s closed the connection before the login", str_text(&where));
        ssh_connection_fail(connection, SSH_FAILURE_EARLY, &err);
        return;
    }
    error_set(&err, &kind_connection_lost, "%s: no ssh handshake: %s", str_text(&where), str_text(&reason));
    error_hint(&err, "check that an ssh server listens there");
    ssh_connection_fail(connection, SSH_FAILURE_FINAL, &err);
}

static void fail_flooded(struct ssh_connection *connection)
{
    AUTO_STR struct str where = STR_INIT;
    struct error err = ERROR_INIT;

    ssh_link_where(connection->link, &where);
    error_set(&err, &kind_connection_lost, "%s: no ssh handshake in the first %d bytes", str_text(&where),
              HANDSHAKE_BYTES);
    error_hint(&err, "check that an ssh server listens there");
    ssh_connection_fail(connection, SSH_FAILURE_FINAL, &err);
}

static enum ssh_phase phase_of_handshake(const struct ssh_connection *connection)
{
    if (connection->bytes.in_bytes == 0) {
        return SSH_PHASE_GREETING;
    }
    return ssh_get_serverbanner(connection->session) ? SSH_PHASE_KEY_EXCHANGE : SSH_PHASE_VERSION;
}

int ssh_login_handshake(struct ssh_connection *connection)
{
    int answer, fd;

    ssh_connection_peek(connection);
    answer = ssh_connect(connection->session);
    fd = ssh_get_fd(connection->session);
    connection->fd = -1; /* owned by libssh from the first call on */
    if (fd >= 0) {
        fcntl(fd, F_SETFL, O_NONBLOCK);
    }
    if (answer == SSH_ERROR || fd < 0) {
        fail_handshake(connection);
        return -1;
    }
    if (!connection->event) {
        connection->event = ssh_event_new();
        if (!connection->event || ssh_event_add_session(connection->event, connection->session) != SSH_OK) {
            abort(); /* out of memory */
        }
    }
    if (answer == SSH_AGAIN && connection->bytes.in_bytes > HANDSHAKE_BYTES) {
        fail_flooded(connection);
        return -1;
    }
    if (answer == SSH_AGAIN) {
        ssh_link_enter(connection->link, phase_of_handshake(connection));
        return 0;
    }
    ssh_link_enter(connection->link, SSH_PHASE_HOST_KEY);
    return ssh_hostkey_check(connection) == 0 ? 1 : -1;
}
