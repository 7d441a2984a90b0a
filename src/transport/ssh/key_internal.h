/*
 * Private keys, read once for all hosts of a fleet. An error with a key is kept, so that every host that
 * needs the key gets the same error. A passphrase is never asked for.
 */
#ifndef MTLAUNCH_TRANSPORT_SSH_KEY_INTERNAL_H
#define MTLAUNCH_TRANSPORT_SSH_KEY_INTERNAL_H

#include <libssh/libssh.h>

#include "base/error.h"

struct ssh_keys;

/* One identity: a key file, alone or with a certificate. All owned by the keys. */
struct ssh_identity {
    char *path;
    char *certificate;   /* NULL: none */
    ssh_key key;         /* NULL: it cannot be used; trouble says why */
    char *public_base64; /* how an agent lists the certificate or the key; NULL: not known */
    struct error trouble;
};

struct ssh_keys *ssh_keys_new(void);
void ssh_keys_free(struct ssh_keys *keys); /* NULL accepted */

/*
 * The identity in that file, with that certificate (NULL: without one). Its trouble: kind_identity_missing,
 * kind_key_mode, kind_key_encrypted or kind_key_unusable; also set when the certificate is not valid or
 * belongs to another key.
 */
const struct ssh_identity *ssh_keys_get(struct ssh_keys *keys, const char *path, const char *certificate);

#endif
