/* Pings the nodes with pending cleanups until one answers, alongside all other work. */
#include <stdlib.h>

#include "ask_internal.h"
#include "base/alloc.h"
#include "cleanup_pings_internal.h"
#include "model/policy.h"
#include "node_set_internal.h"
#include "pending_cleanup_internal.h"

#define PING_TIMEOUT_MS 30000

struct cleanup_ping {
    struct ask ask;
    struct cleanup_pings *pings;
    unsigned rank, attempt; /* of the pending cleanup */
    unsigned tries;
    bool answered;
};

struct cleanup_pings {
    struct node_set *set;
    const struct run *run;
    struct cleanup_ping *items;
    size_t len;
    bool answers;
};

static bool on_build(void *ctx, const char *nonce, struct node_call *call)
{
    (void)ctx;
    (void)nonce;
    node_request_ping(call);
    return true;
}

static void try_later(struct cleanup_ping *ping)
{
    ask_retry(&ping->ask, policy_retry_ms(++ping->tries, UINT32_MAX / 2));
}

static void on_done(void *ctx, const struct exec_result *result)
{
    struct cleanup_ping *ping = ctx;
    struct node_set *set = ping->pings->set;
    if (node_set_is_interrupted(set)) {
        return;
    }
    if (!result->error.kind) {
        ping->answered = true;
        ping->pings->answers = true;
        fleet_stop(set->fleet);
        return;
    }
    try_later(ping);
}

struct cleanup_pings *cleanup_pings_open(struct node_set *set, const struct run *run)
{
    static const struct ask_handler handler = {.build = on_build, .done = on_done};
    static const struct ask_options options = {.timeout_ms = PING_TIMEOUT_MS};
    struct cleanup_pings *pings = xcalloc(1, sizeof(*pings));
    pings->set = set;
    pings->run = run;
    pings->len = run->cleanups_len;
    pings->items = xcalloc(pings->len + 1, sizeof(*pings->items));
    for (size_t i = 0; i < pings->len; i++) {
        struct cleanup_ping *ping = &pings->items[i];
        ping->pings = pings;
        ping->rank = run->cleanups[i].rank;
        ping->attempt = run->cleanups[i].attempt;
        ask_init(&ping->ask, set->fleet, set->cleanup_hosts[i], &handler, &options, ping);
        if (ping->ask.host != NODE_SET_NO_HOST && pending_cleanup_can_try(run, &run->cleanups[i])) {
            ask_send(&ping->ask);
        }
    }
    return pings;
}

static bool is_pending(const struct cleanup_ping *ping, const struct run *run)
{
    for (size_t i = 0; i < run->cleanups_len; i++) {
        if (run->cleanups[i].rank == ping->rank && run->cleanups[i].attempt == ping->attempt) {
            return true;
        }
    }
    return false;
}

void cleanup_pings_resume(struct cleanup_pings *pings)
{
    pings->answers = false;
    for (size_t i = 0; i < pings->len; i++) {
        struct cleanup_ping *ping = &pings->items[i];
        if (ping->answered && is_pending(ping, pings->run)) {
            ping->answered = false;
            try_later(ping);
        }
    }
}

void cleanup_pings_free(struct cleanup_pings *pings)
{
    if (pings) {
        for (size_t i = 0; i < pings->len; i++) {
            ask_release(&pings->items[i].ask);
        }
        free(pings->items);
        free(pings);
    }
}

bool cleanup_pings_answered(const struct cleanup_pings *pings)
{
    return pings->answers;
}
