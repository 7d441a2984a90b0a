#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "transport/ssh_key_internal.h"

struct key_entry {
    char *path;
    ssh_key key; /* NULL: unusable, for the reason in trouble */
    struct error trouble;
};

struct ssh_keys {
    struct key_entry *entries;
    size_t len, cap;
};

struct ssh_keys *ssh_keys_new(void)
{
    return xcalloc(1, sizeof(struct ssh_keys));
}

void ssh_keys_free(struct ssh_keys *keys)
{
    if (keys == NULL)
        return;
    for (size_t i = 0; i < keys->len; i++) {
        ssh_key_free(keys->entries[i].key);
        free(keys->entries[i].path);
    }
    free(keys->entries);
    free(keys);
}

/* Called for a passphrase: the only way libssh tells an encrypted key from a broken one. */
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

/* As ssh: only the mode of a file of the caller's own is judged. */
static int check_mode(const char *path, struct error *err)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return error_set(err, &kind_identity_missing, "private key '%s' cannot be read: %s", path,
                         strerror(errno));
    if (st.st_uid == geteuid() && (st.st_mode & 077) != 0) {
        error_set(err, &kind_key_mode, "private key '%s' is open to others: mode %04o, allowed is 0600", path,
                  (unsigned)(st.st_mode & 07777));
        return error_hint(err, "chmod 600 %s", path);
    }
    return 0;
}

static void import_key(struct key_entry *entry)
{
    bool asked = false;

    if (check_mode(entry->path, &entry->trouble) != 0)
        return;
    if (ssh_pki_import_privkey_file(entry->path, NULL, note_passphrase, &asked, &entry->key) == SSH_OK)
        return;
    entry->key = NULL;
    if (asked) {
        error_set(&entry->trouble, &kind_key_encrypted, "private key '%s' is encrypted", entry->path);
        error_hint(&entry->trouble,
                   "name a key without a passphrase (ssh.identity, or IdentityFile in ssh_config)");
    } else {
        error_set(&entry->trouble, &kind_key_unusable, "'%s' is no private key that can be used",
                  entry->path);
        error_hint(&entry->trouble, "look at it with: ssh-keygen -y -f %s", entry->path);
    }
}

ssh_key ssh_keys_get(struct ssh_keys *keys, const char *path, struct error *err)
{
    struct key_entry *entry = NULL;

    for (size_t i = 0; i < keys->len && entry == NULL; i++) {
        if (strcmp(keys->entries[i].path, path) == 0)
            entry = &keys->entries[i];
    }
    if (entry == NULL) {
        keys->entries = xgrow(keys->entries, keys->len, &keys->cap, sizeof(*keys->entries));
        entry = &keys->entries[keys->len++];
        *entry = (struct key_entry){.path = xstrdup(path)};
        import_key(entry);
    }
    if (entry->key == NULL && err != NULL)
        *err = entry->trouble;
    return entry->key;
}
