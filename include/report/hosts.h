/* The resolved host list, as `mtlaunch hosts` shows it. */
#ifndef MTLAUNCH_REPORT_HOSTS_H
#define MTLAUNCH_REPORT_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "model/hostlist.h"
#include "report/style.h"

/* What is known of how a host is reached, beside its entry. */
struct report_host {
    const struct host *host;
    const char *user; /* effective; NULL: as listed */
    unsigned port;    /* effective */
    bool local;       /* runs without ssh */
};

void report_hosts_text(const struct report_host *hosts, size_t count, const struct report_style *style,
                       struct str *out);
/* {schema, hosts: [{rank, name, user, port, addr, slots, ifname, local, env}], folded} */
void report_hosts_json(const struct report_host *hosts, const struct hostlist *list, struct str *out);

#endif
