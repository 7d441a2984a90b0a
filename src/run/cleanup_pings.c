/* Pings the nodes with pending cleanups until one answers, beside all other work. */
#include <stdlib.h>

#include "base/alloc.h"
#include "cleanup_pings_internal.h"
#include "model/policy.h"
#include "node_set_internal.h"
#include "pending_cleanup_internal.h"

#define PING_TIMEOUT_MS 30000

struct cleanup_ping {
    struct cleanup_pings *pings;
    size_t host;            /* in the node set's fleet */
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

static void send_ping(void *ctx);

static void on_answer(void *ctx, size_t host, const struct exec_result *result)
{
    struct cleanup_ping *ping = ctx;
    struct node_set *set = ping->pings->set;
    (void)host;
    if (node_set_is_interrupted(set)) {
        return;
    }
    if (!result->error.kind) {
        ping->answered = true;
        ping->pings->answers = true;
        fleet_stop(set->fleet);
        return;
    }
    fleet_timer(set->fleet, policy_retry_ms(++ping->tries, UINT32_MAX / 2), send_ping, ping);
}

static void send_ping(void *ctx)
{
    static const struct exec_handler handler = {.done = on_answer};
    static const struct exec_request request = {.command = "true", .timeout_ms = PING_TIMEOUT_MS};
    struct cleanup_ping *ping = ctx;
    fleet_exec(ping->pings->set->fleet, ping->host, &request, &handler, ping);
}

struct cleanup_pings *cleanup_pings_open(struct node_set *set, const struct run *run)
{
    struct cleanup_pings *pings = xcalloc(1, sizeof(*pings));
    pings->set = set;
    pings->run = run;
    pings->len = run->cleanups_len;
    pings->items = xcalloc(pings->len + 1, sizeof(*pings->items));
    for (size_t i = 0; i < pings->len; i++) {
        pings->items[i] = (struct cleanup_ping){
            .pings = pings,
            .host = set->cleanup_hosts[i],
            .rank = run->cleanups[i].rank,
            .attempt = run->cleanups[i].attempt,
        };
        if (pings->items[i].host != NODE_SET_NO_HOST && pending_cleanup_can_try(run, &run->cleanups[i])) {
            send_ping(&pings->items[i]);
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
            fleet_timer(pings->set->fleet, policy_retry_ms(++ping->tries, UINT32_MAX / 2), send_ping, ping);
        }
    }
}

void cleanup_pings_free(struct cleanup_pings *pings)
{
    if (pings) {
        free(pings->items);
        free(pings);
    }
}

bool cleanup_pings_answered(const struct cleanup_pings *pings)
{
    return pings->answers;
}
