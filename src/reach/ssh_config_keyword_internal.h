/*
 * The keywords of ssh_config as a table: how many arguments each takes, how they are checked when a file is
 * read, and what they do in a lookup. A keyword of OpenSSH without an apply function is accepted and ignored.
 * Source of the names: ssh_config(5) of OpenSSH 9.2 and the deprecated ones of its readconf.c.
 */
#ifndef MTLAUNCH_REACH_SSH_CONFIG_KEYWORD_INTERNAL_H
#define MTLAUNCH_REACH_SSH_CONFIG_KEYWORD_INTERNAL_H

#include "base/error.h"
#include "base/strlist.h"
#include "reach/ssh_config.h"

struct ssh_directive;

struct ssh_keyword {
    const char *name;
    size_t max_args;                                             /* 0: any number, but at least one */
    int (*check)(const struct strlist *args, struct error *err); /* NULL: any value is valid */
    void (*apply)(struct ssh_config_values *values, const struct ssh_directive *directive);
};

/* One line of a file, other than Host, Match and Include. */
struct ssh_directive {
    const struct ssh_keyword *keyword; /* NULL: a block begins here */
    struct strlist args;
    char *rest; /* the line after the keyword, unchanged */
    size_t block;
    const char *file; /* borrowed from the configuration */
    unsigned line;
};

/* The port given as a number or as the name of a TCP service (services(5)). 0: it is neither. */
unsigned ssh_port_read(const char *text);

/* NULL when OpenSSH has no such keyword. Case does not matter. */
const struct ssh_keyword *ssh_keyword_find(const char *name);

#endif
