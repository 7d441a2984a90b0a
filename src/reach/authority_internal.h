/*
 * Certificate authorities for host keys: the @cert-authority lines of known_hosts files (sshd(8)). The
 * built-in client negotiates no host certificates; OpenSSH's does.
 */
#ifndef MTLAUNCH_REACH_AUTHORITY_INTERNAL_H
#define MTLAUNCH_REACH_AUTHORITY_INTERNAL_H

#include "reach/known_hosts.h"

struct ssh_authorities; /* of the files read so far, each read once */

struct ssh_authorities *ssh_authorities_new(void);
void ssh_authorities_free(struct ssh_authorities *authorities); /* NULL accepted */

/* "file:line" of the first one that speaks for the host; NULL: none does, or authorities is NULL. Hashed
 * names do not count; nor does a file that cannot be read, which the login will say. The caller frees. */
char *ssh_authorities_find(struct ssh_authorities *authorities, const struct known_name *name);

#endif
