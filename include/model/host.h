/* One entry of a host list, ranges already expanded. */
#ifndef MTLAUNCH_MODEL_HOST_H
#define MTLAUNCH_MODEL_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "model/env.h"

/*
 * May these bytes be a user? Text without blanks, '@', ':', control characters and shell metacharacters that
 * does not begin with '-' or end in a backslash: OpenSSH's client hands a user to shells (%r).
 */
bool host_user_is_valid(const char *user, size_t len);
#define HOST_USER_HINT                                                                                       \
    "a user is text without blanks, '@', ':' and shell characters such as $ ; & | that does not start with " \
    "'-'"

struct host {
    char *name;      /* as written, without user, port and brackets; IPv6 bare (with %zone when given) */
    char *user;      /* NULL: not given */
    unsigned port;   /* 0: not given */
    char *addr;      /* addr=: the address for other nodes; NULL: not given */
    char *ifname;    /* NULL: not given */
    char *workdir;   /* NULL: not given */
    char *python;    /* interpreter of this host; NULL: the job's */
    unsigned slots;  /* slots=, or the count of gpus=; 0: not given */
    char *gpus;      /* gpus= as a list for CUDA_VISIBLE_DEVICES ("0,2,3"); NULL: not given */
    struct env env;  /* env.NAME= */
    bool ssh_always; /* ssh=always */
    bool here;       /* this machine, because no host list was given: never through ssh */
    char *file;      /* where the entry is; NULL for a list on the command line */
    unsigned line;   /* 0: none */
    unsigned column;
};

void host_release(struct host *host);
void host_copy(struct host *to, const struct host *from); /* to is uninitialised or zero */

/* The same host: user, name and port equal. */
bool host_is_same(const struct host *a, const struct host *b);

/* An address of 127/8 or ::1, or the name "localhost". */
bool host_name_is_loopback(const char *name);

/* "addr:port", IPv6 in brackets. Caller frees. */
char *host_join_port(const char *addr, unsigned port);

#endif
