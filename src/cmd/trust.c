#include "reach/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "base/term.h"
#include "base/text.h"
#include "cmd/commands_internal.h"
#include "cmd/trust_internal.h"
#include "model/hostlist.h"
#include "model/kind.h"
#include "report/hostkeys.h"
#include "report/output.h"
#include "transport/fleet.h"

#define ROUNDS 9 /* behind a jump that is trusted first there may be more to see */

struct trust {
    struct cmd_call *call;
    const struct setup *setup;
    struct fleet *fleet;
    struct hostkey_offers offers; /* of all rounds */
    size_t round_from;            /* the first of this round */
    size_t added;
    size_t *hosts; /* the fleet's hosts as indices of the list */
};

/* Did the host, or a jump before it, show a key that can be written down? */
static bool has_offer(const struct trust *trust, const struct endpoint *endpoint)
{
    for (; endpoint; endpoint = endpoint->jump) {
        for (size_t i = trust->round_from; i < trust->offers.len; i++) {
            const struct hostkey_offer *offer = &trust->offers.items[i];
            if (offer->port == endpoint->port && strcmp(offer->host, endpoint->name) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void on_done(void *ctx, size_t host, const struct exec_result *result)
{
    struct trust *trust = ctx;
    const struct error_kind *kind = result->error.kind;
    size_t index = trust->hosts[host];

    fleet_close_idle(trust->fleet, host);
    if (kind == &kind_hostkey_unknown && has_offer(trust, &trust->setup->endpoints[index])) {
        return;
    }
    /* The key is known; whom the host then lets in, and what the login does, is another matter. A jump has to
     * let us in. */
    if (kind && kind != &kind_time_limit &&
        (text_starts(result->error.text, "jump host ") ||
         (kind != &kind_auth_failed && kind != &kind_key_encrypted && kind != &kind_key_mode &&
          kind != &kind_key_unusable))) {
        failures_add(&trust->call->failures, trust->setup->hosts.items[index].name, &result->error);
    }
}

static int look_at_hosts(struct trust *trust, struct error *err)
{
    static const struct exec_handler handler = {.done = on_done};
    const struct fleet_options limits = {.fanout = cmd_fanout(trust->call),
                                         .hosts = trust->setup->hosts.len,
                                         .connect_timeout_ms = cmd_connect_timeout_ms(trust->call)};
    const struct exec_request request = {.command = "true", .timeout_ms = FLEET_CONNECT_MS};

    trust->fleet = fleet_new(&limits, err);
    if (!trust->fleet) {
        return -1;
    }
    for (size_t i = 0; i < trust->setup->hosts.len; i++) {
        struct endpoint *endpoint = &trust->setup->endpoints[i];
        if (endpoint->local) {
            continue;
        }
        for (struct endpoint *at = endpoint; at; at = at->jump) {
            at->offers = &trust->offers;
            at->accept_new = false;
        }
        size_t host = fleet_add_host(trust->fleet, endpoint);
        trust->hosts[host] = i;
        fleet_exec(trust->fleet, host, &request, &handler, trust);
    }
    fleet_run(trust->fleet);
    fleet_free(trust->fleet);
    return 0;
}

/* In the order of the list; a jump that is none of its hosts comes last. */
static void sort_offers(struct trust *trust)
{
    struct hostkey_offers *offers = &trust->offers;
    size_t sorted = trust->round_from;

    for (size_t h = 0; h < trust->setup->hosts.len; h++) {
        for (size_t i = sorted; i < offers->len; i++) {
            if (strcmp(offers->items[i].host, trust->setup->hosts.items[h].name) != 0) {
                continue;
            }
            struct hostkey_offer found = offers->items[i];
            offers->items[i] = offers->items[sorted];
            offers->items[sorted++] = found;
        }
    }
}

/* A key that its file does not keep (/dev/null) is not offered: the next command would not know it. Nor is
 * one that was written down and is shown again. */
static void drop_unkept(struct trust *trust)
{
    struct hostkey_offers *offers = &trust->offers;

    for (size_t i = trust->round_from; i < offers->len;) {
        struct hostkey_offer *offer = &offers->items[i];
        bool again = false;
        for (size_t j = 0; j < trust->round_from && !again; j++) {
            again = strcmp(offers->items[j].line, offer->line) == 0 &&
                    strcmp(offers->items[j].file, offer->file) == 0;
        }
        if (!again && hostkey_offer_can_stay(offer)) {
            i++;
            continue;
        }
        struct error error = ERROR_INIT;
        error_set(&error, &kind_hostkey_unknown, "its key does not stay in '%s', which keeps nothing",
                  offer->file);
        error_hint(&error, "name a file that you can write: UserKnownHostsFile in ssh_config, or"
                           " ssh: {known_hosts: FILE} in the spec");
        failures_add(&trust->call->failures, offer->host, &error);
        hostkey_offer_release(offer);
        offers->len--;
        memmove(offer, offer + 1, (offers->len - i) * sizeof(*offer));
    }
}

static bool is_repeated(const struct trust *trust, const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < trust->setup->hosts.len; i++) {
        count += strcmp(trust->setup->hosts.items[i].name, name) == 0;
    }
    return count > 1;
}

/* The offers from that index on, to be shown; they borrow from labels. Owned by the caller. */
static struct report_hostkey *to_show(const struct trust *trust, size_t from, struct strlist *labels)
{
    size_t count = trust->offers.len - from;
    struct report_hostkey *keys = xcalloc(count + 1, sizeof(*keys));

    for (size_t i = 0; i < count; i++) {
        const struct hostkey_offer *offer = &trust->offers.items[from + i];
        if (is_repeated(trust, offer->host)) {
            strlist_addf(labels, "%s:%u", offer->host, offer->port);
        } else {
            strlist_add(labels, offer->host);
        }
        keys[i] = (struct report_hostkey){.host = labels->items[i],
                                          .type = offer->type,
                                          .fingerprint = offer->fingerprint,
                                          .file = offer->file};
    }
    return keys;
}

static int show_round(const struct trust *trust, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    AUTO_STRLIST struct strlist labels = STRLIST_INIT;
    AUTO_FREE struct report_hostkey *keys = to_show(trust, trust->round_from, &labels);

    report_hostkeys_text(keys, labels.len, &text);
    return output_print(&text, err);
}

/* 1: yes; 0: no. */
static int ask(const struct cmd_call *call, struct error *err)
{
    char answer[16] = "";

    if (call->options.yes) {
        return 1;
    }
    if (call->style.json || !term_is_tty(STDIN_FILENO)) {
        error_set(err, &kind_hostkey_unknown, "there are host keys that are not known, and nobody to ask");
        return error_hint(err, "compare the fingerprints, then give --yes");
    }
    fputs("Are these the fingerprints of the hosts themselves? yes or no: ", stderr);
    fflush(stderr);
    if (!fgets(answer, sizeof(answer), stdin)) {
        return 0;
    }
    answer[strcspn(answer, "\r\n")] = '\0';
    return strcasecmp(answer, "yes") == 0 || strcasecmp(answer, "y") == 0 ? 1 : 0;
}

static int write_down(struct trust *trust, struct error *err)
{
    AUTO_STRLIST struct strlist files = STRLIST_INIT;
    const struct hostkey_offers *offers = &trust->offers;
    size_t before = trust->added;

    for (size_t i = trust->round_from; i < offers->len; i++) {
        bool added = false;
        if (hostkey_offer_accept(&offers->items[i], &added, err) != 0) {
            return -1;
        }
        trust->added += added; /* not a line that another host of the list had added */
        if (!strlist_has(&files, offers->items[i].file)) {
            strlist_add(&files, offers->items[i].file);
        }
    }
    AUTO_FREE char *where = strlist_join(&files, ", ");
    size_t added = trust->added - before;
    msg_info("%zu host key%s added to %s", added, added == 1 ? "" : "s", where);
    return 0;
}

/* 1: keys were added, there may be more to see now; 0: no more. */
static int trust_round(struct trust *trust, struct error *err)
{
    failures_release(&trust->call->failures);
    trust->round_from = trust->offers.len;
    if (look_at_hosts(trust, err) != 0) {
        return -1;
    }
    sort_offers(trust);
    drop_unkept(trust);
    if (trust->offers.len == trust->round_from) {
        return 0;
    }
    if (!trust->call->style.json && show_round(trust, err) != 0) {
        return -1;
    }
    switch (ask(trust->call, err)) {
    case 0:
        return error_set(err, &kind_hostkey_unknown, "no %shost key was added",
                         trust->added > 0 ? "further " : "");
    case 1:
        return write_down(trust, err) == 0 ? 1 : -1;
    default:
        return -1;
    }
}

static int answer_json(struct trust *trust, const struct error *failure, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    AUTO_STRLIST struct strlist labels = STRLIST_INIT;
    AUTO_FREE struct report_hostkey *keys = to_show(trust, 0, &labels);

    report_hostkeys_json(keys, labels.len, trust->added, &trust->call->failures, failure, &text);
    trust->call->answered = true;
    return output_print(&text, err);
}

int trust_hosts(struct cmd_call *call, struct setup *setup, struct error *err)
{
    AUTO_FREE size_t *hosts = xcalloc(setup->hosts.len + 1, sizeof(*hosts));
    struct trust trust = {.call = call, .setup = setup, .hosts = hosts};
    struct error failure = ERROR_INIT;
    int result = 1;

    for (int round = 0; round < ROUNDS && result == 1; round++) {
        result = trust_round(&trust, &failure);
    }
    if (trust.offers.len == 0 && result == 0 && call->failures.len == 0) {
        msg_info("no host shows a key that is not known");
    }
    for (size_t i = 0; i < call->failures.len; i++) {
        failure_print(&call->failures.items[i].error, &call->failures.items[i].hosts, call->style.color_err);
    }
    if (call->style.json && answer_json(&trust, result < 0 ? &failure : NULL, err) != 0) {
        result = -1; /* what cannot be printed outweighs */
    } else if (result < 0) {
        *err = failure;
    }
    hostkey_offers_release(&trust.offers);
    return result < 0 ? -1 : failures_code(&call->failures);
}
