/*
 * known_hosts files (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"). Each file is read once for all hosts. Supported
 * are hashed names, patterns, "[host]:port", several keys for a host, and @revoked; authority.c reads
 * @cert-authority lines.
 */
#ifndef MTLAUNCH_REACH_KNOWN_HOSTS_H
#define MTLAUNCH_REACH_KNOWN_HOSTS_H

#include "base/error.h"
#include "base/strlist.h"
#include "reach/endpoint.h"
#include "reach/trust.h"

#define KNOWN_HOSTS_MAX_BYTES ((size_t)64 << 20)

struct known_hosts; /* the files read so far */

struct known_hosts *known_hosts_new(void);
void known_hosts_free(struct known_hosts *known); /* NULL accepted */

/* The host whose key is looked up. */
struct known_name {
    const char *alias;    /* HostKeyAlias: looked up alone, without port; NULL: none */
    const char *hostname; /* case does not matter */
    unsigned port;
    const struct strlist *files; /* a missing file counts as empty */
};

/* The result borrows from the endpoint. */
struct known_name known_name_of(const struct endpoint *endpoint);

/*
 * Append the names to look a host up by: the alias alone; the bare name for port 22; for another port
 * "[host]:port" and then, as ssh does, the bare name. A key of the bare name belongs to port 22: it can
 * confirm or revoke the key of another port, but it does not contradict it.
 */
void known_name_forms(const struct known_name *name, struct strlist *forms);

/* The key a server showed. */
struct known_key {
    const char *type;        /* "ssh-ed25519" … */
    const char *blob;        /* base64, as the files have it */
    const char *fingerprint; /* "SHA256:…", for messages */
};

/*
 * Check that the key belongs to the host. 0, or -1 with kind_hostkey_unknown (nothing known, or only keys of
 * other types), kind_hostkey_changed (file and line of the key that differs) or kind_hostkey_revoked (file
 * and line). A file that exists and cannot be read: kind_local.
 */
int known_hosts_check(struct known_hosts *known, const struct known_name *name, const struct known_key *key,
                      struct error *err);

/*
 * Append the types of the keys known for the host, so that the server is asked for one of these first.
 * exactly: also search hashed names, which takes some 0.3 us a line; otherwise, if no other name matches,
 * their key type is added when all of them have the same one.
 */
int known_hosts_types(struct known_hosts *known, const struct known_name *name, bool exactly,
                      struct strlist *types, struct error *err);

/*
 * Accept the key for the host: append a line to that file, under a lock, unless the file has it. A new file
 * has mode 0600, and ~/.ssh is created if it is missing; nothing is written to a file that is not regular
 * (/dev/null). If the caller cannot write there, or the folder is missing, the key is accepted for the life
 * of this process. Errors: kind_local.
 */
int known_hosts_add(struct known_hosts *known, const struct known_name *name, const struct known_key *key,
                    const char *path, struct error *err);

/* "name type key" with its line end, as ssh writes it; the caller frees. */
char *known_hosts_line(const struct known_name *name, const struct known_key *key);
/* Append such a line to a file, as known_hosts_add does, but a file that cannot be written is an error. errno
 * is kept. added (may be NULL): false when the file has the line already, or is not regular. */
int known_hosts_append(const char *path, const char *text, bool *added, struct error *err);
/* Does this errno mean that the caller may not write there, or that the folder does not exist? */
bool known_hosts_is_unwritable(int code);
/* Will the next command find a key that is added to this file? Not in /dev/null, nor in a file that the
 * caller cannot write. */
bool known_hosts_keeps(const char *path);

/* trust.c: collect the key that a host has shown. */
void known_hosts_offer(struct hostkey_offers *offers, const char *host, const struct known_name *name,
                       const struct known_key *key, const char *file);

#endif
