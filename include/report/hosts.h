/* The resolved host list, as `mtlaunch hosts` shows it. */
#ifndef MTLAUNCH_REPORT_HOSTS_H
#define MTLAUNCH_REPORT_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "model/hostlist.h"
#include "report/style.h"

/* An entry and how it is reached. Borrowed. */
struct report_host {
    const struct host *host;
    const char *hostname; /* the name or address to connect to */
    const char *user;
    unsigned port;
    bool local; /* runs without ssh */
};

/* A table; the column VIA says how a host is reached after ssh_config was read. */
void report_hosts_text(const struct report_host *hosts, size_t count, const struct report_style *style,
                       struct str *out);
/* The entries as written, null for what they do not give: {schema, hosts: [{rank, name, user, port, addr,
 * slots, ifname, local, env}], folded} */
void report_hosts_json(const struct report_host *hosts, const struct hostlist *list, struct str *out);

#endif
