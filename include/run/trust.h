/* Unknown host keys: collects the keys that hosts present, and adds those that the user confirms. */
#ifndef MTLAUNCH_RUN_TRUST_H
#define MTLAUNCH_RUN_TRUST_H

#include <stddef.h>

#include "base/error.h"
#include "base/strlist.h"
#include "model/hostlist.h"
#include "reach/endpoint.h"
#include "reach/trust.h"

/* None may be NULL. */
struct run_trust_observer {
    void *ctx;
    /*
     * New keys, in the order of the host list; those of jump hosts that are not in it come last. 1: they are
     * confirmed and may be added; 0: they are not; -1 with err.
     */
    int (*confirm)(void *ctx, const struct hostkey_offer *offers, size_t count, struct error *err);
    /* The keys were added: the number of new lines in these files. */
    void (*written)(void *ctx, size_t added, const struct strlist *files);
};

/* All borrowed. */
struct run_trust_request {
    const struct hostlist *hosts;
    struct endpoint *endpoints; /* one per host; run_trust sets their list of offers */
    unsigned fanout;
    unsigned connect_timeout_ms; /* 0: ssh_config's, else 10 s */
    const struct run_trust_observer *observer;
};

/* A host whose key could not be read, or whose known_hosts file stores nothing. */
struct run_trust_failure {
    char *host; /* owned */
    struct error error;
};

struct run_trust_result {
    struct hostkey_offers offers; /* all keys that were new */
    size_t added;                 /* lines written */
    struct run_trust_failure *failures;
    size_t failures_len, failures_cap;
};

/*
 * Ask the hosts for their keys, and add the keys that the observer confirms. Repeat this as long as newly
 * trusted jump hosts make further hosts reachable. On error, result holds what was done before it; the caller
 * releases it in any case. Errors: kind_hostkey_unknown (not confirmed), kind_local, the observer's.
 */
int run_trust(const struct run_trust_request *request, struct run_trust_result *result, struct error *err);
void run_trust_result_release(struct run_trust_result *result);

#endif
