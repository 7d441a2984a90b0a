/*
 * Certificate authorities for host keys: the @cert-authority lines of known_hosts files (sshd(8)). The
 * built-in client does not support host certificates; OpenSSH's client does.
 */
#ifndef MTLAUNCH_REACH_AUTHORITY_INTERNAL_H
#define MTLAUNCH_REACH_AUTHORITY_INTERNAL_H

#include "reach/known_hosts.h"

struct ssh_authorities; /* the files read so far; each is read once */

struct ssh_authorities *ssh_authorities_new(void);
void ssh_authorities_free(struct ssh_authorities *authorities); /* NULL accepted */

/* "file:line" of the first authority for the host; NULL: there is none, or authorities is NULL. Hashed names
 * are ignored, and so is a file that cannot be read: the login reports it. The caller frees. */
char *ssh_authorities_find(struct ssh_authorities *authorities, const struct known_name *name);

#endif
