/* Collects the unknown host keys of a list, and adds them once they are confirmed. */
#include "run/trust.h"

#include <stdlib.h>
#include <string.h>

#include "ask_internal.h"
#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"

#define ROUNDS 9 /* a jump host that was just trusted may give access to further hosts */

struct trust {
    const struct run_trust_request *request;
    struct run_trust_result *result;
    struct fleet *fleet;
    struct visit *visits; /* one per host of the list */
    size_t round_from;    /* index of the first offer of this round */
};

/* A login to one host of the list. */
struct visit {
    struct ask ask;
    struct trust *trust;
};

static void add_failure(struct trust *trust, const char *host, const struct error *error)
{
    struct run_trust_result *result = trust->result;
    result->failures =
        xgrow(result->failures, result->failures_len, &result->failures_cap, sizeof(*result->failures));
    result->failures[result->failures_len++] =
        (struct run_trust_failure){.host = xstrdup(host), .error = *error};
}

static void forget_failures(struct run_trust_result *result)
{
    for (size_t i = 0; i < result->failures_len; i++) {
        free(result->failures[i].host);
    }
    result->failures_len = 0;
}

/* Whether the host, or a jump host before it, has presented a key that can be added. */
static bool has_offer(const struct trust *trust, const struct endpoint *endpoint)
{
    const struct hostkey_offers *offers = &trust->result->offers;
    for (; endpoint; endpoint = endpoint->jump) {
        for (size_t i = trust->round_from; i < offers->len; i++) {
            if (offers->items[i].port == endpoint->port &&
                strcmp(offers->items[i].host, endpoint->name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/*
 * Whether an error means that a host's key could not be read. Once the key is known, a refused login does not
 * matter here. But a jump host must accept the login, or the host behind it cannot be reached.
 */
static bool hides_key(const struct error *error)
{
    const struct error_kind *kind = error->kind;
    if (!kind || kind == &kind_time_limit) {
        return false;
    }
    return text_starts(error->text, "jump host ") ||
           (kind != &kind_auth_failed && kind != &kind_key_encrypted && kind != &kind_key_mode &&
            kind != &kind_key_unusable);
}

static bool on_build(void *ctx, const char *nonce, struct node_call *call)
{
    (void)ctx;
    (void)nonce;
    node_request_ping(call);
    return true;
}

static void on_done(void *ctx, const struct exec_result *result)
{
    const struct visit *visit = ctx;
    struct trust *trust = visit->trust;
    size_t index = (size_t)(visit - trust->visits);
    fleet_close_idle(trust->fleet, visit->ask.host);
    if (result->error.kind == &kind_hostkey_unknown && has_offer(trust, &trust->request->endpoints[index])) {
        return;
    }
    if (hides_key(&result->error)) {
        add_failure(trust, trust->request->hosts->items[index].name, &result->error);
    }
}

static int visit_hosts(struct trust *trust, struct error *err)
{
    static const struct ask_handler handler = {.build = on_build, .done = on_done};
    static const struct ask_options visit_options = {.timeout_ms = FLEET_CONNECT_MS};
    const struct run_trust_request *request = trust->request;
    const struct fleet_options options = {.fanout = request->fanout,
                                          .hosts = request->hosts->len,
                                          .connect_timeout_ms = request->connect_timeout_ms};
    trust->fleet = fleet_new(&options, err);
    if (!trust->fleet) {
        return -1;
    }
    for (size_t i = 0; i < request->hosts->len; i++) {
        struct endpoint *endpoint = &request->endpoints[i];
        if (endpoint->local) {
            continue;
        }
        for (struct endpoint *at = endpoint; at; at = at->jump) {
            at->offers = &trust->result->offers;
            at->accept_new = false;
        }
        struct visit *visit = &trust->visits[i];
        visit->trust = trust;
        ask_init(&visit->ask, trust->fleet, fleet_add_host(trust->fleet, endpoint), &handler, &visit_options,
                 visit);
        ask_send(&visit->ask);
    }
    fleet_run(trust->fleet);
    fleet_free(trust->fleet);
    for (size_t i = 0; i < request->hosts->len; i++) {
        ask_release(&trust->visits[i].ask);
    }
    return 0;
}

/* Sort by the order of the host list; jump hosts that are not in it come last. */
static void sort_offers(const struct trust *trust)
{
    struct hostkey_offers *offers = &trust->result->offers;
    size_t sorted = trust->round_from;
    for (size_t h = 0; h < trust->request->hosts->len; h++) {
        for (size_t i = sorted; i < offers->len; i++) {
            if (strcmp(offers->items[i].host, trust->request->hosts->items[h].name) != 0) {
                continue;
            }
            struct hostkey_offer found = offers->items[i];
            offers->items[i] = offers->items[sorted];
            offers->items[sorted++] = found;
        }
    }
}

/* Whether the offer was added in an earlier round. */
static bool is_repeated(const struct trust *trust, const struct hostkey_offer *offer)
{
    const struct hostkey_offers *offers = &trust->result->offers;
    for (size_t i = 0; i < trust->round_from; i++) {
        if (strcmp(offers->items[i].line, offer->line) == 0 &&
            strcmp(offers->items[i].file, offer->file) == 0) {
            return true;
        }
    }
    return false;
}

/*
 * Drop keys whose file stores nothing (/dev/null), because the next command would not know them, and keys
 * that were already added but are presented again.
 */
static void drop_unkept(struct trust *trust)
{
    struct hostkey_offers *offers = &trust->result->offers;
    for (size_t i = trust->round_from; i < offers->len;) {
        struct hostkey_offer *offer = &offers->items[i];
        if (!is_repeated(trust, offer) && hostkey_offer_can_stay(offer)) {
            i++;
            continue;
        }
        struct error error = ERROR_INIT;
        error_set(&error, &kind_hostkey_unknown, "its key is not kept: '%s' stores nothing", offer->file);
        error_hint(&error, "name a file that you can write: UserKnownHostsFile in ssh_config, or"
                           " ssh: {known_hosts: FILE} in the spec");
        add_failure(trust, offer->host, &error);
        hostkey_offer_release(offer);
        offers->len--;
        memmove(offer, offer + 1, (offers->len - i) * sizeof(*offer));
    }
}

static int write_down(const struct trust *trust, struct error *err)
{
    AUTO_STRLIST struct strlist files = STRLIST_INIT;
    const struct run_trust_observer *observer = trust->request->observer;
    const struct hostkey_offers *offers = &trust->result->offers;
    const size_t before = trust->result->added;
    for (size_t i = trust->round_from; i < offers->len; i++) {
        bool added = false;
        if (hostkey_offer_accept(&offers->items[i], &added, err) != 0) {
            return -1;
        }
        /* counts only new lines, not those that another host of the list has added */
        trust->result->added += added;
        if (!strlist_has(&files, offers->items[i].file)) {
            strlist_add(&files, offers->items[i].file);
        }
    }
    observer->written(observer->ctx, trust->result->added - before, &files);
    return 0;
}

/* One round. 1: keys were added, so further hosts may be reachable; 0: there are no more. */
static int trust_round(struct trust *trust, struct error *err)
{
    const struct run_trust_observer *observer = trust->request->observer;
    struct hostkey_offers *offers = &trust->result->offers;
    forget_failures(trust->result);
    trust->round_from = offers->len;
    if (visit_hosts(trust, err) != 0) {
        return -1;
    }
    sort_offers(trust);
    drop_unkept(trust);
    if (offers->len == trust->round_from) {
        return 0;
    }
    int confirmed = observer->confirm(observer->ctx, offers->items + trust->round_from,
                                      offers->len - trust->round_from, err);
    if (confirmed == 0) {
        return error_set(err, &kind_hostkey_unknown, "no %shost key was added",
                         trust->result->added > 0 ? "further " : "");
    }
    return confirmed > 0 && write_down(trust, err) == 0 ? 1 : -1;
}

int run_trust(const struct run_trust_request *request, struct run_trust_result *result, struct error *err)
{
    AUTO_FREE struct visit *visits = xcalloc(request->hosts->len + 1, sizeof(*visits));
    struct trust trust = {.request = request, .result = result, .visits = visits};
    int more = 1;
    *result = (struct run_trust_result){0};
    for (int round = 0; round < ROUNDS && more == 1; round++) {
        more = trust_round(&trust, err);
    }
    return more < 0 ? -1 : 0;
}

void run_trust_result_release(struct run_trust_result *result)
{
    hostkey_offers_release(&result->offers);
    forget_failures(result);
    free(result->failures);
    *result = (struct run_trust_result){0};
}
