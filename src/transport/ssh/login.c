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

#define HANDSHAKE_BYTES                                                                                      \
    262144 /* a handshake takes some 2,000: whoever sends so much has something else in mind */

/* What libssh 0.10 offers by default, in its order; the types known for a host come before them. */
static const char *const hostkey_algorithms[] = {
    "ssh-ed25519",         "ecdsa-sha2-nistp521", "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp256", "rsa-sha2-512",        "rsa-sha2-256",
};

static bool is_known_algorithm(const struct strlist *types, const char *algorithm)
{
    return strlist_has(types, algorithm) || (text_starts(algorithm, "rsa-") && strlist_has(types, "ssh-rsa"));
}

/* The server picks by the client's order: a key type that is known for the host must stand first. */
static int set_hostkey_order(struct ssh_connection *connection, struct error *err)
{
    struct known_name name = known_name_of(connection->link->endpoint);
    AUTO_STRLIST struct strlist types = STRLIST_INIT, order = STRLIST_INIT;
    AUTO_FREE char *joined = NULL;

    if (known_hosts_types(connection->link->shared->known, &name, connection->link->exact_types, &types,
                          err) != 0) {
        return -1;
    }
    for (int known = 1; known >= 0; known--) {
        for (size_t i = 0; i < ARRAY_LEN(hostkey_algorithms); i++) {
            if (is_known_algorithm(&types, hostkey_algorithms[i]) == (known == 1)) {
                strlist_add(&order, hostkey_algorithms[i]);
            }
        }
    }
    joined = strlist_join(&order, ",");
    ssh_options_set(connection->session, SSH_OPTIONS_HOSTKEYS, joined);
    return 0;
}

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
    /* With a descriptor given the name serves nothing; known hosts are ours, libssh must not read them again.
     */
    ssh_options_set(connection->session, SSH_OPTIONS_HOST, "node");
    ssh_options_set(connection->session, SSH_OPTIONS_KNOWNHOSTS, "/dev/null");
    ssh_options_set(connection->session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
    ssh_options_set(connection->session, SSH_OPTIONS_USER, endpoint->user);
    ssh_options_set(connection->session, SSH_OPTIONS_FD, &connection->fd);
    if (set_hostkey_order(connection, &err) != 0) {
        ssh_connection_fail(connection, SSH_FAILURE_FINAL, &err);
        return -1;
    }
    ssh_set_blocking(connection->session, 0);
    ssh_set_counters(connection->session, &connection->bytes, &connection->packets);
    return 0;
}

/* Of "A,B,ext-info-s,kex-strict-s-v00@openssh.com]": what stands behind the algorithms are none. */
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

/* OpenSSH says why in a line of its own and hangs up; to be told when the tries are used up. */
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
        error_set(&err, &kind_connection_lost, "%s closes the connection before the login", str_text(&where));
        ssh_connection_fail(connection, SSH_FAILURE_EARLY, &err);
        return;
    }
    error_set(&err, &kind_connection_lost, "%s: no ssh handshake: %s", str_text(&where), str_text(&reason));
    error_hint(&err, "is it an ssh server that listens there");
    ssh_connection_fail(connection, SSH_FAILURE_FINAL, &err);
}

static void fail_flooded(struct ssh_connection *connection)
{
    AUTO_STR struct str where = STR_INIT;
    struct error err = ERROR_INIT;

    ssh_link_where(connection->link, &where);
    error_set(&err, &kind_connection_lost, "%s: no ssh handshake in the first %d bytes", str_text(&where),
              HANDSHAKE_BYTES);
    error_hint(&err, "is it an ssh server that listens there");
    ssh_connection_fail(connection, SSH_FAILURE_FINAL, &err);
}

/*
 * 0; -1: not the host's; 1: try again, asking for a type that is known. A host of which nothing is known may
 * be taken at its word (accept-new); one that shows a key of another type than the known ones is not.
 */
static int judge_key(struct ssh_connection *connection, const struct known_name *name,
                     const struct known_key *key, struct error *err)
{
    struct ssh_link *link = connection->link;
    struct known_hosts *known = link->shared->known;
    bool other_type;

    if (known_hosts_check(known, name, key, err) == 0) {
        return 0;
    }
    other_type = err->line > 0;
    if (err->kind != &kind_hostkey_unknown) {
        return -1;
    }
    if (other_type && !link->exact_types) {
        link->exact_types = true;
        return 1;
    }
    if (link->endpoint->offers && link->endpoint->trust_file) {
        known_hosts_offer(link->endpoint->offers, link->endpoint->name, name, key,
                          link->endpoint->trust_file);
    }
    if (other_type || !link->endpoint->accept_new) {
        return -1;
    }
    return link->endpoint->trust_file ? known_hosts_add(known, name, key, link->endpoint->trust_file, err)
                                      : 0;
}

static int check_hostkey(struct ssh_connection *connection)
{
    struct known_name name = known_name_of(connection->link->endpoint);
    struct known_key shown = {0};
    struct error err = ERROR_INIT;
    ssh_key key = NULL;
    char *blob = NULL, *fingerprint = NULL;
    unsigned char *hash = NULL;
    size_t hash_len = 0;
    int failed = -1;

    if (ssh_get_server_publickey(connection->session, &key) == SSH_OK &&
        ssh_pki_export_pubkey_base64(key, &blob) == SSH_OK &&
        ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &hash_len) == SSH_OK) {
        fingerprint = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, hash_len);
        shown.type = ssh_key_type_to_char(ssh_key_type(key));
        shown.blob = blob;
        shown.fingerprint = fingerprint ? fingerprint : "";
        failed = judge_key(connection, &name, &shown, &err);
    } else {
        error_set(&err, &kind_connection_lost, "the server's host key cannot be read");
    }
    ssh_clean_pubkey_hash(&hash);
    ssh_string_free_char(fingerprint);
    ssh_string_free_char(blob);
    ssh_key_free(key);
    if (failed != 0) {
        ssh_connection_fail(connection, failed > 0 ? SSH_FAILURE_EARLY : SSH_FAILURE_FINAL, &err);
    }
    return failed;
}

int ssh_login_handshake(struct ssh_connection *connection)
{
    int answer, fd;

    ssh_connection_peek(connection);
    answer = ssh_connect(connection->session);
    fd = ssh_get_fd(connection->session);
    connection->fd = -1; /* libssh's from the first call on */
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
        return 0;
    }
    return check_hostkey(connection) == 0 ? 1 : -1;
}

static int fail_with(struct ssh_connection *connection, const struct error *err)
{
    struct error told = *err;

    if (told.kind == &kind_auth_failed || told.kind == &kind_connection_lost) {
        ssh_connection_add_banner(connection, &told);
    }
    ssh_connection_fail(connection, SSH_FAILURE_FINAL, &told);
    return -1;
}

/* Nothing could be offered at all. */
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

/* What the server takes in place of keys; false: it takes keys, or has not been asked yet. */
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

    error_set(&err, &kind_auth_failed, "login as '%s' is refused: the server takes no keys, only: %s",
              connection->link->endpoint->user, methods);
    error_hint(&err, "a login needs a key here, nothing is ever asked: look at PubkeyAuthentication and"
                     " AuthenticationMethods in its sshd_config");
    return fail_with(connection, &err);
}

/* The server has refused all it was offered; cut: and has ended the connection over it. */
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
                  "login as '%s' is refused; tried %s; a server takes %d keys, or as its MaxAuthTries says%s",
                  endpoint->user, str_text(&connection->tried), SSH_MAX_OFFERS, str_text(&more));
        error_hint(&err,
                   "name the right key: ssh.identity, or IdentityFile and IdentitiesOnly in ssh_config");
        return fail_with(connection, &err);
    }
    error_set(&err, &kind_auth_failed, "login as '%s' is refused; tried %s%s", endpoint->user,
              str_text(&connection->tried), str_text(&more));
    const struct error *trouble =
        connection->key_trouble.kind ? &connection->key_trouble : &connection->agent_trouble;
    error_hint(&err,
               "is the user right, and the key's .pub line in that user's ~/.ssh/authorized_keys there%s%s%s",
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
    /* MaxAuthTries is the last one's answer. The server's words may be lost behind its hanging up. */
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

/* As ssh: each key with its certificates first, the one beside it and those of CertificateFile, then alone.
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

/* The next identity that can be offered; NULL when none is left. Trouble with a certificate is no trouble:
 * its key is tried alone. */
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

/* The files are used up: what the agent has. */
static int authenticate_by_agent(struct ssh_connection *connection)
{
    int answer = SSH_AUTH_ERROR;
    bool full = !connection->agent && connection->offered >= SSH_MAX_OFFERS;
    int done = !connection->link->endpoint->agent || full ? -1 : ssh_agent_authenticate(connection, &answer);

    if (done == 0) { /* a server that goes away meanwhile has closed what must not be watched */
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
        if (refuses_keys(connection, &methods)) { /* so the next one is none for it either */
            return fail_keyless(connection, str_text(&methods));
        }
        add_tried(connection, identity);
        connection->identity++;
    }
}
