/* Private keys of the caller: each file is read once and shared by all sessions. Never a prompt. */
#ifndef MTLAUNCH_TRANSPORT_SSH_KEY_INTERNAL_H
#define MTLAUNCH_TRANSPORT_SSH_KEY_INTERNAL_H

#include <libssh/libssh.h>

#include "base/error.h"

struct ssh_keys; /* those read so far */

struct ssh_keys *ssh_keys_new(void);
void ssh_keys_free(struct ssh_keys *keys); /* NULL accepted */

/*
 * The key of a file, owned by keys; NULL with kind_key_encrypted, kind_key_mode (others may read it),
 * kind_key_unusable (no private key that is understood) or kind_identity_missing.
 */
ssh_key ssh_keys_get(struct ssh_keys *keys, const char *path, struct error *err);

#endif
