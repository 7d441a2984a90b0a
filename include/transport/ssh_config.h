/*
 * The reader of OpenSSH's client configuration (ssh_config(5)). Files are read once; a lookup walks the
 * directives that apply to one name. This version acts on Host, Match all, Match final all, Include,
 * HostName, User, Port, IdentityFile, HostKeyAlias, UserKnownHostsFile and GlobalKnownHostsFile; ProxyJump
 * and ProxyCommand are recognised so that a host behind one is refused rather than missed. The other keywords
 * of OpenSSH are read and have no effect here; a keyword that OpenSSH does not know either is one warning. To
 * add a keyword: one line in src/transport/ssh_keyword.c; tests/unit/transport/test_ssh_config.c checks that
 * every keyword with an effect is read.
 */
#ifndef MTLAUNCH_TRANSPORT_SSH_CONFIG_H
#define MTLAUNCH_TRANSPORT_SSH_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"

struct ssh_config; /* opaque: directives in file order */

/*
 * Read the configuration. path NULL: <home>/.ssh/config, then /etc/ssh/ssh_config, each if it is there;
 * "none": nothing; else only that file, which must be there. "~" in Include stands for home; relative Include
 * patterns stand for <home>/.ssh (or /etc/ssh in the system's file). Warnings (unknown keywords, one each)
 * and notes (for -v: Match blocks passed over) are appended when not NULL. Returns NULL with kind_ssh_config
 * and file:line for a malformed line, for a file of <home>/.ssh that others may write to, or for a named file
 * that is missing.
 */
struct ssh_config *ssh_config_load(const char *path, const char *home, struct strlist *warnings,
                                   struct strlist *notes, struct error *err);
void ssh_config_free(struct ssh_config *config); /* NULL accepted */

/* What the configuration says about one name. Owned; "~" and tokens are not expanded but for HostName's %h.
 */
struct ssh_config_values {
    char *hostname;                    /* NULL: not given */
    char *user;                        /* NULL: not given */
    unsigned port;                     /* 0: not given */
    char *host_key_alias;              /* NULL: not given */
    struct strlist identity_files;     /* all that apply, in order */
    struct strlist user_known_hosts;   /* empty: not given */
    struct strlist global_known_hosts; /* empty: not given */
    char *unsupported;            /* "ProxyJump", "ProxyCommand": applies and is not supported; NULL: none */
    const char *unsupported_file; /* borrowed from the configuration */
    unsigned unsupported_line;
};

/* The first value wins (identity files add up). config NULL: everything is "not given". */
void ssh_config_lookup(const struct ssh_config *config, const char *name, struct ssh_config_values *out);
void ssh_config_values_release(struct ssh_config_values *values);

#endif
