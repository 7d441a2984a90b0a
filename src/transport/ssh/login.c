/* The second half of a login: offers keys to the server, and explains its refusal. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "transport/ssh/ssh_internal.h"

static int fail_with(struct ssh_connection *connection, const struct error *err)
{
    struct error told = *err;

    if (told.kind == &kind_auth_failed || told.kind == &kind_connection_lost) {
        ssh_connection_add_banner(connection, &told);
    }
    ssh_connection_fail(connection, SSH_FAILURE_FINAL, &told);
    return -1;
}

/* Fail because there was no key to offer. */
static int fail_without_keys(struct ssh_connection *connection)
{
    const struct endpoint *endpoint = connection->link->endpoint;
    struct error err = ERROR_INIT;

    if (connection->key_trouble.kind && connection->agent_trouble.kind) {
        err = connection->key_trouble;
        error_set(&err, connection->key_trouble.kind, "%s; %s", connection->key_trouble.text,
                  connection->agent_trouble.text);
        error_hint(&err, "%s", connection->key_trouble.hint);
        return fail_with(connection, &err);
    }
    if (connection->key_trouble.kind) {
        return fail_with(connection, &connection->key_trouble);
    }
    if (connection->agent_trouble.kind) {
        return fail_with(connection, &connection->agent_trouble);
    }
    error_set(&err, &kind_auth_failed, "login as '%s' is not possible: no private key was found%s",
              endpoint->user, endpoint->agent ? ", and the ssh agent holds none" : "");
    error_hint(&err,
               endpoint->gssapi
                   ? "make one with ssh-keygen and name it (ssh.identity), or use ssh itself, which may"
                     " log in by Kerberos (ssh.client: openssh)"
                   : "make one with ssh-keygen, or name it (ssh.identity, or IdentityFile in ssh_config)");
    return fail_with(connection, &err);
}

/* Does the server accept no keys? methods: what it accepts instead. Also false when it was not asked yet. */
static bool refuses_keys(const struct ssh_connection *connection, struct str *methods)
{
    static const struct {
        int method;
        const char *name;
    } names[] = {{SSH_AUTH_METHOD_PASSWORD, "password"},
                 {SSH_AUTH_METHOD_INTERACTIVE, "keyboard-interactive"},
                 {SSH_AUTH_METHOD_HOSTBASED, "hostbased"},
                 {SSH_AUTH_METHOD_GSSAPI_MIC, "gssapi-with-mic"}};
    int taken = ssh_userauth_list(connection->session, NULL);

    str_reset(methods);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if ((taken & names[i].method) != 0) {
            str_addf(methods, "%s%s", methods->len > 0 ? ", " : "", names[i].name);
        }
    }
    return methods->len > 0 && (taken & SSH_AUTH_METHOD_PUBLICKEY) == 0;
}

static int fail_keyless(struct ssh_connection *connection, const char *methods)
{
    struct error err = ERROR_INIT;

    error_set(&err, &kind_auth_failed, "login as '%s' is refused: the server accepts no keys, only: %s",
              connection->link->endpoint->user, methods);
    error_hint(&err, "mtlaunch logs in with a key and never prompts: check PubkeyAuthentication and"
                     " AuthenticationMethods in its sshd_config");
    return fail_with(connection, &err);
}

/* Fail because the server has refused all keys. cut: it has closed the connection because of them. */
static int fail_refused(struct ssh_connection *connection, bool cut)
{
    const struct endpoint *endpoint = connection->link->endpoint;
    AUTO_STR struct str more = STR_INIT, methods = STR_INIT;
    struct error err = ERROR_INIT;

    if (refuses_keys(connection, &methods)) {
        return fail_keyless(connection, str_text(&methods));
    }
    if (connection->offered == 0 && !cut) {
        return fail_without_keys(connection);
    }
    if (connection->withheld > 0) {
        str_addf(&more, "; %zu more were not offered", connection->withheld);
    }
    if (connection->key_trouble.kind) {
        str_addf(&more, "; %s", connection->key_trouble.text);
    }
    if (connection->agent_trouble.kind) {
        str_addf(&more, "; %s", connection->agent_trouble.text);
    }
    if (cut || connection->withheld > 0) {
        error_set(&err, &kind_auth_failed,
                  "login as '%s' is refused; tried %s; a server accepts %d keys, or as many as its "
                  "MaxAuthTries says%s",
                  endpoint->user, str_text(&connection->tried), SSH_MAX_OFFERS, str_text(&more));
        error_hint(&err,
                   "name the right key: ssh.identity, or IdentityFile and IdentitiesOnly in ssh_config");
        return fail_with(connection, &err);
    }
    error_set(&err, &kind_auth_failed, "login as '%s' is refused; tried %s%s", endpoint->user,
              str_text(&connection->tried), str_text(&more));
    const struct error *trouble =
        connection->key_trouble.kind ? &connection->key_trouble : &connection->agent_trouble;
    error_hint(
        &err,
        "check the user, and that the key's .pub line is in that user's ~/.ssh/authorized_keys there%s%s%s",
        endpoint->gssapi ? "; ssh itself may log in by Kerberos (ssh.client: openssh)" : "",
        trouble->hint[0] != '\0' ? "; or " : "", trouble->hint);
    return fail_with(connection, &err);
}

static void add_tried(struct ssh_connection *connection, const struct ssh_identity *identity)
{
    str_addf(&connection->tried, "%s'%s'", connection->tried.len > 0 ? ", " : "",
             identity->certificate ? identity->certificate : identity->path);
    connection->offered++;
}

static int fail_login(struct ssh_connection *connection)
{
    AUTO_STR struct str reason = STR_INIT;
    struct error err = ERROR_INIT;

    ssh_connection_reason(connection, &reason);
    /*
     * The answer to the last key may be that MaxAuthTries was exceeded. That message may be lost when the
     * server closes the connection.
     */
    if (strstr(str_text(&reason), "authentication failures") ||
        (connection->tried.len > 0 && !ssh_connection_is_alive(connection))) {
        if (connection->identity < connection->offers_len) {
            add_tried(connection, connection->offers[connection->identity]);
        }
        return fail_refused(connection, true);
    }
    if (connection->agent_trouble.kind && ssh_connection_is_alive(connection)) {
        return fail_with(connection, &connection->agent_trouble);
    }
    if (connection->tried.len > 0) {
        error_set(&err, &kind_auth_failed, "login as '%s' is refused; tried %s: %s",
                  connection->link->endpoint->user, str_text(&connection->tried), str_text(&reason));
    } else {
        error_set(&err, &kind_connection_lost, "connection lost during the login: %s",
                  reason.len > 0 ? str_text(&reason) : "closed by the host");
    }
    return fail_with(connection, &err);
}

static int fail_partial(struct ssh_connection *connection)
{
    struct error err = ERROR_INIT;

    error_set(&err, &kind_auth_failed, "login as '%s' needs more than a key",
              connection->link->endpoint->user);
    error_hint(&err, "a login that asks for a password or a code as well cannot be used here");
    return fail_with(connection, &err);
}

static void add_offer(struct ssh_connection *connection, const char *path, const char *certificate)
{
    connection->offers = xgrow(connection->offers, connection->offers_len, &connection->offers_cap,
                               sizeof(const struct ssh_identity *));
    connection->offers[connection->offers_len++] =
        ssh_keys_get(connection->link->shared->keys, path, certificate);
}

/* Like ssh: each key first with its certificates (the one beside it, and those of CertificateFile), then
 * alone.
 */
static void list_offers(struct ssh_connection *connection)
{
    const struct endpoint *endpoint = connection->link->endpoint;

    for (size_t i = 0; i < endpoint->identities.len; i++) {
        const char *path = endpoint->identities.items[i];
        AUTO_FREE char *beside = xasprintf("%s-cert.pub", path);
        if (access(beside, F_OK) == 0) {
            add_offer(connection, path, beside);
        }
        for (size_t c = 0; c < endpoint->certificates.len; c++) {
            add_offer(connection, path, endpoint->certificates.items[c]);
        }
        add_offer(connection, path, NULL);
    }
}

/* The next identity that can be offered; NULL when none is left. An unusable certificate is ignored: its key
 * is tried alone. */
static const struct ssh_identity *current_offer(struct ssh_connection *connection)
{
    for (; connection->identity < connection->offers_len; connection->identity++) {
        const struct ssh_identity *identity = connection->offers[connection->identity];
        if (identity->key && connection->offered < SSH_MAX_OFFERS) {
            return identity;
        }
        if (identity->key) {
            connection->withheld++;
        } else if (!connection->key_trouble.kind && !identity->certificate) {
            connection->key_trouble = identity->trouble;
        }
    }
    return NULL;
}

/* After the key files, try the keys of the agent. */
static int authenticate_by_agent(struct ssh_connection *connection)
{
    int answer = SSH_AUTH_ERROR;
    bool full = !connection->agent && connection->offered >= SSH_MAX_OFFERS;
    int done = !connection->link->endpoint->agent || full ? -1 : ssh_agent_authenticate(connection, &answer);

    if (done == 0) { /* if the server is gone, the descriptor is closed and must not be watched */
        return connection->lent || ssh_connection_is_alive(connection) ? 0 : fail_login(connection);
    }
    if (done < 0 && connection->agent_trouble.kind == &kind_local) {
        return fail_with(connection, &connection->agent_trouble);
    }
    if (done < 0) {
        return fail_refused(connection, false);
    }
    switch (answer) {
    case SSH_AUTH_SUCCESS:
        return 1;
    case SSH_AUTH_PARTIAL:
        return fail_partial(connection);
    case SSH_AUTH_DENIED:
        return fail_refused(connection, false);
    default:
        return fail_login(connection);
    }
}

int ssh_login_authenticate(struct ssh_connection *connection)
{
    AUTO_STR struct str methods = STR_INIT;

    if (!connection->offers) {
        list_offers(connection);
    }
    for (;;) {
        const struct ssh_identity *identity = current_offer(connection);
        int answer;

        if (!identity) {
            return authenticate_by_agent(connection);
        }
        answer = ssh_userauth_publickey(connection->session, NULL, identity->key);
        if (answer == SSH_AUTH_SUCCESS) {
            return 1;
        }
        if (answer == SSH_AUTH_PARTIAL) {
            return fail_partial(connection);
        }
        if (answer == SSH_AUTH_AGAIN && ssh_connection_is_alive(connection)) {
            return 0;
        }
        if (answer != SSH_AUTH_DENIED) {
            return fail_login(connection);
        }
        if (refuses_keys(connection, &methods)) { /* then it will not accept the next key either */
            return fail_keyless(connection, str_text(&methods));
        }
        add_tried(connection, identity);
        connection->identity++;
    }
}
