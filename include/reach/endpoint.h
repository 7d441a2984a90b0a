/*
 * How a host is reached: one value that combines an entry of the host list, the spec's ssh options and
 * ssh_config. No network access, no name look-up. Precedence: entry, spec, ssh_config, defaults.
 */
#ifndef MTLAUNCH_REACH_ENDPOINT_H
#define MTLAUNCH_REACH_ENDPOINT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/strlist.h"
#include "model/host.h"
#include "model/reach.h"
#include "reach/ssh_config.h"
#include "reach/trust.h"

/* This machine and the caller, read once per command. */
struct machine {
    char *name;               /* uname -n */
    char *user;               /* the caller's login name */
    char *home;               /* absolute */
    bool moved;               /* home differs from the user database, which OpenSSH's client uses */
    char *agent;              /* socket of the caller's ssh agent (SSH_AUTH_SOCK); NULL: none */
    struct strlist addresses; /* of its real interfaces: text without zone, no loopback addresses */
    struct ssh_authorities
        *authorities; /* in the known_hosts files read so far; NULL: certificate authorities are ignored */
};

/* home: the caller's $HOME, used when it is absolute; NULL: take it from the user database. Errors:
 * kind_local. */
int machine_read(struct machine *machine, const char *home, struct error *err);
void machine_release(struct machine *machine);

struct endpoint {
    char *name;                    /* as in the host list, for messages */
    char *hostname;                /* the address to connect to: HostName of ssh_config, else name */
    char *user;                    /* never NULL */
    unsigned port;                 /* never 0 */
    bool local;                    /* runs on this machine without ssh */
    char *why_local;               /* "this machine's name", … for people; NULL when not local */
    char *home;                    /* the caller's; commands on a local host start there, as after a login */
    char *key_name;                /* the HostKeyAlias to look up in known_hosts; NULL: hostname and port */
    struct strlist identities;     /* private key files, in the order they are tried; absolute */
    struct strlist certificates;   /* CertificateFile of ssh_config; absolute */
    char *agent;                   /* socket of the ssh agent; NULL: no agent is used */
    bool identities_only;          /* use only the agent's keys that are in identities */
    struct strlist known_hosts;    /* files, absolute */
    char *trust_file;              /* where new keys go; NULL: nowhere */
    bool accept_new;               /* accept the key of an unknown host and save it */
    bool accept_by_spec;           /* accept_new was set by the spec, not by ssh_config */
    struct hostkey_offers *offers; /* collects unknown host keys; borrowed; NULL: they are not collected */
    unsigned connect_timeout_ms;   /* of ssh_config; 0: not given */
    unsigned alive_interval_ms;    /* of ssh_config; 0: not given */
    unsigned alive_count_max;      /* of ssh_config; 0: not given */
    int address_family;            /* AF_INET, AF_INET6, AF_UNSPEC */
    bool compression;              /* ask the server for it: less on the wire, more time and memory here */
    bool gssapi;                   /* the caller has a Kerberos ticket, so ssh itself could log in with it */
    /* The last jump host before this host, which may have jumps itself; owned; NULL: reached directly. */
    struct endpoint *jump;
    bool openssh; /* use the system's ssh, which is given name */
    struct strlist
        openssh_args; /* options of the host list and the spec for its command line; of a jump, too */
};

/*
 * Fill out (uninitialised or zero). A host is local when its hostname is localhost, 127.0.0.1, ::1, this
 * machine's name or an address of one of its real interfaces, and the port is 22 and the user the caller,
 * unless ssh=always is set. options and config may be NULL. notes (may be NULL) gets lines for -v: identity
 * files of ssh_config that are missing. Errors: kind_identity_missing (the spec's identity), kind_ssh_config
 * (a variable in a path is not set, a jump that leads to itself or cannot be parsed, a ProxyCommand with the
 * built-in client).
 */
int endpoint_resolve(const struct host *host, const struct reach *options, const struct machine *machine,
                     const struct ssh_config *config, struct endpoint *out, struct strlist *notes,
                     struct error *err);
void endpoint_release(struct endpoint *endpoint);
void endpoint_copy(struct endpoint *to, const struct endpoint *from); /* to is uninitialised or zero */

/*
 * What a login depends on, as text that can be compared: user, address, credentials, known hosts, and the
 * same for each jump. Endpoints with the same key may share a login. The caller frees.
 */
char *endpoint_login_key(const struct endpoint *endpoint);

#endif
