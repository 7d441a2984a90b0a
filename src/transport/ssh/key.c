/* Reads private keys and certificates, each file once, and keeps their errors. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "model/kind.h"
#include "transport/ssh/key_internal.h"
#include "transport/ssh/wire_internal.h"

#define MAX_PUBLIC_BYTES 65536

struct ssh_keys {
    struct ssh_identity **entries;
    size_t len, cap;
};

struct ssh_keys *ssh_keys_new(void)
{
    return xcalloc(1, sizeof(struct ssh_keys));
}

void ssh_keys_free(struct ssh_keys *keys)
{
    if (!keys) {
        return;
    }
    for (size_t i = 0; i < keys->len; i++) {
        struct ssh_identity *identity = keys->entries[i];
        ssh_key_free(identity->key);
        free(identity->path);
        free(identity->certificate);
        free(identity->public_base64);
        free(identity);
    }
    free(keys->entries);
    free(keys);
}

/*
 * Called when libssh asks for a passphrase: the only way to distinguish an encrypted key from a broken one.
 */
static int note_passphrase(const char *prompt, char *buffer, size_t len, int echo, int verify, void *asked)
{
    (void)prompt;
    (void)buffer;
    (void)len;
    (void)echo;
    (void)verify;
    *(bool *)asked = true;
    return -1;
}

/* Like ssh, check the mode only of files that belong to the caller. */
static int check_file(const char *path, bool has_public, struct error *err)
{
    struct stat st;

    if (stat(path, &st) != 0 && errno == ENOENT && has_public) {
        error_set(err, &kind_key_unusable,
                  "only the public half of the key '%s' is here, and no agent has the private half", path);
        return error_hint(err, "give the private key to the ssh agent: ssh-add");
    }
    if (stat(path, &st) != 0) {
        return error_set(err, &kind_identity_missing, "private key '%s' cannot be read: %s", path,
                         strerror(errno));
    }
    if (!S_ISREG(st.st_mode)) {
        return error_set(err, &kind_key_unusable, "private key '%s' is not a file", path);
    }
    if (st.st_uid == geteuid() && (st.st_mode & 077) != 0) {
        error_set(err, &kind_key_mode, "private key '%s' is open to others: mode %04o, allowed is 0600", path,
                  (unsigned)(st.st_mode & 07777));
        return error_hint(err, "chmod 600 %s", path);
    }
    return 0;
}

/*
 * The second word of a line with a public key or a certificate, which is how an agent lists the key. NULL:
 * none.
 */
static char *read_public(const char *path)
{
    AUTO_STR struct str text = STR_INIT;
    const char *at;
    size_t len;

    if (file_read(path, MAX_PUBLIC_BYTES, &text, NULL) != 0) {
        return NULL;
    }
    at = str_text(&text);
    if (strncmp(at, "ssh-", 4) != 0 && strncmp(at, "ecdsa-", 6) != 0 && strncmp(at, "sk-", 3) != 0 &&
        strncmp(at, "rsa-", 4) != 0) {
        return NULL;
    }
    at += strcspn(at, " \t\r\n");
    at += strspn(at, " \t");
    len = strcspn(at, " \t\r\n");
    return len > 0 ? xstrndup(at, len) : NULL;
}

/* Read the public half of a private key, which OpenSSH's format contains unencrypted. */
static char *read_public_half(const char *path)
{
    ssh_key key = NULL;
    char *exported = NULL, *base64 = NULL;

    if (ssh_pki_import_pubkey_file(path, &key) == SSH_OK &&
        ssh_pki_export_pubkey_base64(key, &exported) == SSH_OK) {
        base64 = xstrdup(exported);
        ssh_string_free_char(exported);
    }
    ssh_key_free(key);
    return base64;
}

static void set_encrypted(struct ssh_identity *identity)
{
    if (!identity->public_base64) {
        identity->public_base64 = read_public_half(identity->path);
    }
    error_set(&identity->trouble, &kind_key_encrypted, "private key '%s' is encrypted", identity->path);
    error_hint(&identity->trouble,
               "give it to the ssh agent (ssh-add %s), or name a key without a passphrase (ssh.identity, or"
               " IdentityFile in ssh_config)",
               identity->path);
}

static void set_unusable(struct ssh_identity *identity)
{
    error_set(&identity->trouble, &kind_key_unusable, "'%s' is not a usable private key", identity->path);
    error_hint(&identity->trouble, "look at it with: ssh-keygen -y -f %s", identity->path);
}

/* A file with only the public half: an agent may have the private one. */
static bool take_public_half(struct ssh_identity *identity)
{
    identity->public_base64 = read_public(identity->path);
    if (!identity->public_base64) {
        return false;
    }
    error_set(&identity->trouble, &kind_key_unusable,
              "'%s' is a public key, and no agent has the private one", identity->path);
    error_hint(&identity->trouble, "give the private key to the ssh agent: ssh-add");
    return true;
}

static void import_key(struct ssh_identity *identity)
{
    AUTO_FREE char *public_path = xasprintf("%s.pub", identity->path);
    bool asked = false;
    char *exported = NULL;

    if (access(identity->path, F_OK) == 0 && take_public_half(identity)) {
        return;
    }
    identity->public_base64 = read_public(public_path);
    if (check_file(identity->path, identity->public_base64, &identity->trouble) != 0) {
        return;
    }
    if (ssh_pki_import_privkey_file(identity->path, NULL, note_passphrase, &asked, &identity->key) !=
        SSH_OK) {
        identity->key = NULL;
        if (asked) {
            set_encrypted(identity);
        } else {
            set_unusable(identity);
        }
    } else if (ssh_pki_export_pubkey_base64(identity->key, &exported) == SSH_OK) {
        free(identity->public_base64); /* the .pub file may belong to another key */
        identity->public_base64 = xstrdup(exported);
        ssh_string_free_char(exported);
    }
}

static void decode_base64(const char *text, struct str *out)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned group = 0, bits = 0;

    for (const char *found; *text != '\0' && (found = strchr(letters, *text)); text++) {
        group = (group << 6 | (unsigned)(found - letters)) & 0xffff;
        bits += 6;
        if (bits < 8) {
            continue;
        }
        bits -= 8;
        str_add_char(out, (char)(group >> bits & 255));
    }
}

/*
 * The offset after the wire format's string at this offset; the end of the blob when the string does not fit.
 */
static size_t skip_string(const struct str *blob, size_t at)
{
    size_t len;

    if (blob->len - at < 4) {
        return blob->len;
    }
    len = ssh_wire_uint32(str_text(blob) + at);
    return blob->len - at - 4 < len ? blob->len : at + 4 + len;
}

/*
 * Does the certificate belong to the key? After the type and the nonce it contains what the blob of the key
 * contains after its type (PROTOCOL.certkeys of OpenSSH).
 */
static bool certifies(const char *certificate_base64, const char *key_base64)
{
    AUTO_STR struct str certificate = STR_INIT, key = STR_INIT;
    size_t in_certificate, in_key;

    if (!certificate_base64 || !key_base64) {
        return false;
    }
    decode_base64(certificate_base64, &certificate);
    decode_base64(key_base64, &key);
    in_certificate = skip_string(&certificate, skip_string(&certificate, 0));
    in_key = skip_string(&key, 0);
    return key.len > in_key && certificate.len - in_certificate > key.len - in_key &&
           memcmp(str_text(&certificate) + in_certificate, str_text(&key) + in_key, key.len - in_key) == 0;
}

/* The entry has the key already: replace it by the key with the certificate. */
static void import_certificate(struct ssh_identity *identity)
{
    AUTO_FREE char *key_base64 = identity->public_base64;
    ssh_key certificate = NULL;

    identity->public_base64 = read_public(identity->certificate);
    if (!identity->key) {
        return;
    }
    if (certifies(identity->public_base64, key_base64) &&
        ssh_pki_import_cert_file(identity->certificate, &certificate) == SSH_OK &&
        ssh_pki_copy_cert_to_privkey(certificate, identity->key) == SSH_OK) {
        ssh_key_free(certificate);
        return;
    }
    ssh_key_free(certificate);
    ssh_key_free(identity->key);
    identity->key = NULL;
    error_set(&identity->trouble, &kind_key_unusable, "'%s' is not a certificate for the key '%s'",
              identity->certificate, identity->path);
    error_hint(&identity->trouble, "look at it with: ssh-keygen -L -f %s", identity->certificate);
}

static bool is_same(const struct ssh_identity *identity, const char *path, const char *certificate)
{
    if (strcmp(identity->path, path) != 0 || (!identity->certificate) != (!certificate)) {
        return false;
    }
    return !certificate || strcmp(identity->certificate, certificate) == 0;
}

const struct ssh_identity *ssh_keys_get(struct ssh_keys *keys, const char *path, const char *certificate)
{
    struct ssh_identity *identity;

    for (size_t i = 0; i < keys->len; i++) {
        if (is_same(keys->entries[i], path, certificate)) {
            return keys->entries[i];
        }
    }
    identity = xcalloc(1, sizeof(*identity));
    identity->path = xstrdup(path);
    identity->certificate = xstrdup(certificate);
    import_key(identity);
    if (certificate) {
        import_certificate(identity);
    }
    keys->entries = xgrow(keys->entries, keys->len, &keys->cap, sizeof(*keys->entries));
    keys->entries[keys->len++] = identity;
    return identity;
}
