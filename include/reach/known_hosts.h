/*
 * known_hosts files (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"): each is read once for all hosts; hashed names,
 * patterns, "[host]:port", several keys of a host and @revoked are understood. @cert-authority lines are for
 * authority.c.
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
    const char *hostname; /* in any case of letters */
    unsigned port;
    const struct strlist *files; /* those that are missing count as empty */
};

/* It borrows from the endpoint. */
struct known_name known_name_of(const struct endpoint *endpoint);

/*
 * Append the forms a host is looked up by: the alias alone; the bare name for port 22; "[host]:port" for
 * another port, and then, as ssh does, the bare name. Other keys of the bare name are those of port 22: it
 * can vouch for the key of another port or revoke it, no more.
 */
void known_name_forms(const struct known_name *name, struct strlist *forms);

/* The key a server showed. */
struct known_key {
    const char *type;        /* "ssh-ed25519" … */
    const char *blob;        /* base64, as the files have it */
    const char *fingerprint; /* "SHA256:…", for messages */
};

/*
 * Is that key the host's? 0, or -1 with kind_hostkey_unknown (nothing known, or only keys of other types),
 * kind_hostkey_changed (file and line of the key that differs) or kind_hostkey_revoked (file and line).
 * Errors of reading a file that is there: kind_local.
 */
int known_hosts_check(struct known_hosts *known, const struct known_name *name, const struct known_key *key,
                      struct error *err);

/*
 * Append the types of the keys known for the host, so that the server is asked for one of them first. Not
 * exactly: hashed names are not looked for, which costs some 0.3 us a line; their type is added when
 * all of them have the same.
 */
int known_hosts_types(struct known_hosts *known, const struct known_name *name, bool exactly,
                      struct strlist *types, struct error *err);

/*
 * The key is the host's from now on: a line is added to that file, under a lock, unless it stands there. The
 * file is made with mode 0600, the caller's ~/.ssh too; nothing is written to what is no regular file
 * (/dev/null). Where the caller may not write, or the folder is missing, the key counts all the same, as long
 * as this process lives. Errors: kind_local.
 */
int known_hosts_add(struct known_hosts *known, const struct known_name *name, const struct known_key *key,
                    const char *path, struct error *err);

/* "name type key" with its line end, as ssh writes it; the caller frees. */
char *known_hosts_line(const struct known_name *name, const struct known_key *key);
/* Add such a line to a file, as known_hosts_add does; what cannot be written is an error here. errno is kept.
 * added (may be NULL): false when the line stood there already, or the file is no regular one. */
int known_hosts_append(const char *path, const char *text, bool *added, struct error *err);
/* Does this errno say that the caller may not write there, or that there is no such place? */
bool known_hosts_is_unwritable(int code);
/* Would a key that is added to this file be found there by the next command? Not in /dev/null, nor where the
 * caller may not write. */
bool known_hosts_keeps(const char *path);

/* trust.c: note what a host shows. */
void known_hosts_offer(struct hostkey_offers *offers, const char *host, const struct known_name *name,
                       const struct known_key *key, const char *file);

#endif
