/* How hosts are reached: the settings of the spec, in addition to the host list. A value. */
#ifndef MTLAUNCH_MODEL_REACH_H
#define MTLAUNCH_MODEL_REACH_H

#include "base/json.h"

/* Owned strings; NULL and 0: not given. Paths may start with "~". */
struct reach {
    char *user;
    unsigned port;
    char *identity;    /* private key file */
    char *config;      /* NULL: ~/.ssh/config and /etc/ssh/ssh_config */
    char *known_hosts; /* the only known_hosts file; NULL: the defaults */
    char *client;   /* "builtin": libssh; "openssh": the system's ssh, a process for each command; "auto" or
                       NULL: the built-in one where it can do what the host's configuration asks for */
    char *host_key; /* "strict", "accept-new"; NULL: as ssh_config says */
    char *jump;     /* "[user@]host[:port],…", the nearest hop first; "none"; NULL: as ssh_config says */
};

void reach_init(struct reach *reach);
void reach_copy(struct reach *to, const struct reach *from); /* to is uninitialised or zero */
void reach_release(struct reach *reach);                     /* leaves it as reach_init does */

/* Write reach to members of object, and read it from them. Each key begins with prefix. reach is
 * uninitialised or zero. */
void reach_to_json(const struct reach *reach, json_t *object, const char *prefix);
void reach_from_json(struct reach *reach, const json_t *object, const char *prefix);

#endif
