/* The parts of an endpoint: endpoint.c resolves names and what is local, endpoint_login.c logins and trust.
 */
#ifndef MTLAUNCH_REACH_ENDPOINT_INTERNAL_H
#define MTLAUNCH_REACH_ENDPOINT_INTERNAL_H

#include "reach/endpoint.h"

/*
 * Fill keys, agent, known hosts and time limits of an endpoint whose name, user and port are known. Errors:
 * kind_identity_missing (the spec's identity), kind_ssh_config (a variable that is not set).
 */
int endpoint_fill_login(struct endpoint *endpoint, const struct reach *options, const struct machine *machine,
                        const struct ssh_config_values *values, struct strlist *notes, struct error *err);

/* "~", the tokens of ssh_config(5) and ${VARIABLES}; unknown tokens are kept. NULL with kind_ssh_config.
 * Caller frees. */
char *endpoint_expand(const char *text, struct endpoint *endpoint, const struct machine *machine,
                      struct error *err);

/* Does the caller have Kerberos tickets, in the cache that is configured or in the default one
 * (krb5.conf(5))? */
bool endpoint_has_ticket(void);

#endif
