/*
 * The reader of OpenSSH's client configuration (ssh_config(5)), resolved as `ssh -G` of OpenSSH 9.2 does.
 * Files are read once. A lookup walks the directives that apply to one name, twice if a Match final asks for
 * it. Match exec is never run: its block is skipped, and the values say that the host needs OpenSSH's own
 * client. Keywords with an apply function in src/reach/ssh_config_keyword.c have an effect; OpenSSH's other
 * keywords are accepted and ignored; a keyword unknown to OpenSSH causes one warning. To add a keyword: one
 * line there; tests/unit/reach/test_ssh_config.c checks that every keyword with an effect is read, and
 * tests/cli/test_ssh_config.py compares with the real ssh over tests/data/ssh_config.
 */
#ifndef MTLAUNCH_REACH_SSH_CONFIG_H
#define MTLAUNCH_REACH_SSH_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"

struct ssh_config; /* opaque: directives in file order */

/*
 * Read the configuration. path NULL: <home>/.ssh/config, then /etc/ssh/ssh_config, each if it is there;
 * "none": nothing; else only that file, which must be there. "~" in Include stands for home; relative Include
 * patterns stand for <home>/.ssh (or /etc/ssh in the system's file). Warnings (unknown keywords, one each)
 * and notes (for -v) are appended when not NULL. Returns NULL with kind_ssh_config and file:line for a
 * malformed line, for a file of <home>/.ssh that others may write to, or for a named file that is missing.
 */
struct ssh_config *ssh_config_load(const char *path, const char *home, struct strlist *warnings,
                                   struct strlist *notes, struct error *err);
void ssh_config_free(struct ssh_config *config); /* NULL accepted */

/* What is asked for; borrowed. */
struct ssh_config_query {
    const char *name;       /* as ssh would be given it */
    const char *user;       /* given separately, as by ssh -l; NULL: not given */
    const char *local_user; /* the caller's login name */
};

/* A yes or no that may be missing. */
enum ssh_config_flag { SSH_CONFIG_ABSENT, SSH_CONFIG_NO, SSH_CONFIG_YES };

/* StrictHostKeyChecking; off: "no", which accepts new keys. */
enum ssh_config_strict {
    SSH_STRICT_ABSENT,
    SSH_STRICT_ASK,
    SSH_STRICT_YES,
    SSH_STRICT_ACCEPT_NEW,
    SSH_STRICT_OFF
};

/* Where a value was set. */
struct ssh_config_place {
    const char *file; /* borrowed from the configuration; NULL: nowhere */
    unsigned line;
};

/* What the configuration says about one name. Owned; "~" and tokens are not expanded, except in HostName. */
struct ssh_config_values {
    char *hostname; /* lower case; an address in its canonical form; NULL: the name of the query */
    struct ssh_config_place hostname_place;
    char *user;                       /* the query's, else the configuration's; NULL: not given */
    unsigned port;                    /* 0: not given */
    char *host_key_alias;             /* lower case; NULL: not given */
    struct strlist identity_files;    /* all that apply, in order */
    struct strlist certificate_files; /* the same */
    char *identity_agent;             /* a path, "none", "SSH_AUTH_SOCK" or "$NAME"; NULL: not given */
    enum ssh_config_flag identities_only;
    enum ssh_config_flag compression;
    enum ssh_config_strict strict;
    struct strlist user_known_hosts;   /* empty: not given */
    struct strlist global_known_hosts; /* empty: not given */
    int connect_timeout_s;             /* -1: not given, or none */
    int alive_interval_s;              /* ServerAliveInterval; -1: not given */
    int alive_count_max;               /* ServerAliveCountMax; -1: not given */
    int address_family;                /* AF_INET, AF_INET6; AF_UNSPEC: any */
    enum ssh_config_flag gssapi;       /* GSSAPIAuthentication */
    /* At most one of these two is not NULL. */
    char *proxy_jump;                    /* "[user@]host[:port],…" or "ssh://…", the nearest hop first */
    char *proxy_command;                 /* the rest of the line, including quotes */
    struct ssh_config_place proxy_place; /* of the one that is set */
    char *control_path;                  /* NULL: not given */
    /* A setting for this name that only OpenSSH's own client supports ("Match exec", "PKCS11Provider" …). */
    const char *openssh_only; /* NULL: nothing; static */
    struct ssh_config_place openssh_place;
};

/*
 * The first value wins; identity files add up. config NULL: nothing is given, except the user of the query.
 * -1 with kind_ssh_config and file:line, and nothing in out: a HostName with a token other than %h and %%.
 */
int ssh_config_lookup(const struct ssh_config *config, const struct ssh_config_query *query,
                      struct ssh_config_values *out, struct error *err);
void ssh_config_values_release(struct ssh_config_values *values);

#endif
