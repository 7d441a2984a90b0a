/*
 * Host keys of the built-in client: the types that the server is asked for, and whether the key that it shows
 * belongs to the host.
 */
#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "transport/ssh/ssh_internal.h"

/* What libssh 0.10 offers by default, in its order; the types known for a host come before them. */
static const char *const hostkey_algorithms[] = {
    "ssh-ed25519",         "ecdsa-sha2-nistp521", "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp256", "rsa-sha2-512",        "rsa-sha2-256",
};

static bool is_known_algorithm(const struct strlist *types, const char *algorithm)
{
    return strlist_has(types, algorithm) || (text_starts(algorithm, "rsa-") && strlist_has(types, "ssh-rsa"));
}

/*
 * The server picks the first key type of the client's order, so the types that are known for the host come
 * first.
 */
int ssh_hostkey_order(struct ssh_connection *connection, struct error *err)
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

/*
 * Returns 0: accepted; -1: refused; 1: connect again and ask for a key type that is known. The key of an
 * unknown host may be accepted (accept-new), but not a key of another type when keys of the host are known.
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

int ssh_hostkey_check(struct ssh_connection *connection)
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
