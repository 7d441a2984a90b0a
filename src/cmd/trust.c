#include "transport/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "base/term.h"
#include "cmd/commands_internal.h"
#include "cmd/trust_internal.h"
#include "model/hostlist.h"
#include "model/kind.h"
#include "report/output.h"
#include "transport/fleet.h"

#define ROUNDS 4 /* behind a jump that is trusted first there may be more to see */

/* One look at all hosts. */
struct look {
    struct cmd_call *call;
    const struct setup *setup;
    struct hostkey_offers offers;
    size_t *hosts; /* the fleet's hosts as indices of the list */
};

static void on_done(void *ctx, size_t host, const struct exec_result *result)
{
    struct look *look = ctx;
    const struct error_kind *kind = result->error.kind;

    /* A key that is not known is shown; whom the host then lets in is another matter. */
    if (kind != NULL && kind != &kind_hostkey_unknown && kind != &kind_auth_failed &&
        kind != &kind_key_encrypted && kind != &kind_key_mode && kind != &kind_key_unusable)
        failures_add(&look->call->failures, look->setup->hosts.items[look->hosts[host]].name, &result->error);
}

static int look_at_hosts(struct look *look, struct error *err)
{
    static const struct exec_handler handler = {.done = on_done};
    const struct cmd_options *options = &look->call->options;
    const struct fleet_options limits = {
        .fanout = options->fanout.given ? (unsigned)options->fanout.value : 0,
        .connect_timeout_ms =
            options->connect_timeout.given ? (unsigned)options->connect_timeout.value * 1000 : 0};
    const struct exec_request request = {.command = "true"};
    struct fleet *fleet = fleet_new(&limits, err);

    if (fleet == NULL)
        return -1;
    for (size_t i = 0; i < look->setup->hosts.len; i++) {
        struct endpoint *endpoint = &look->setup->endpoints[i];
        if (endpoint->name == NULL || endpoint->local || endpoint->openssh)
            continue;
        for (struct endpoint *at = endpoint; at != NULL; at = at->jump) {
            at->offers = &look->offers;
            at->accept_new = false;
        }
        size_t host = fleet_add_host(fleet, endpoint);
        look->hosts[host] = i;
        fleet_exec(fleet, host, &request, &handler, look);
    }
    fleet_run(fleet);
    fleet_free(fleet);
    return 0;
}

/* In the order of the list; a jump that is none of its hosts comes last. */
static void sort_offers(struct look *look)
{
    struct hostkey_offers *offers = &look->offers;
    size_t sorted = 0;

    for (size_t h = 0; h < look->setup->hosts.len; h++) {
        for (size_t i = sorted; i < offers->len; i++) {
            if (strcmp(offers->items[i].host, look->setup->hosts.items[h].name) != 0)
                continue;
            struct hostkey_offer found = offers->items[i];
            offers->items[i] = offers->items[sorted];
            offers->items[sorted++] = found;
        }
    }
}

/* "g[1-3]: ssh-ed25519 SHA256:…": hosts with the same key on one line. */
static void add_offers(const struct hostkey_offers *offers, struct str *out)
{
    for (size_t i = 0; i < offers->len; i++) {
        const struct hostkey_offer *offer = &offers->items[i];
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        bool seen = false;
        for (size_t j = 0; j < offers->len; j++) {
            if (strcmp(offers->items[j].fingerprint, offer->fingerprint) != 0)
                continue;
            seen |= j < i;
            if (!strlist_has(&hosts, offers->items[j].host))
                strlist_add(&hosts, offers->items[j].host);
        }
        if (seen)
            continue;
        hostlist_fold_names(hosts.items, hosts.len, out);
        str_addf(out, ": %s %s\n", offer->type, offer->fingerprint);
    }
}

/* 1: yes; 0: no. */
static int ask(const struct cmd_call *call, struct error *err)
{
    char answer[16] = "";

    if (call->options.yes)
        return 1;
    if (!term_is_tty(STDIN_FILENO)) {
        error_set(err, &kind_usage, "'hosts --trust' asks on a terminal, and standard input is none");
        return error_hint(err, "compare the fingerprints above, then give --yes");
    }
    msg_warn("are these the fingerprints of the hosts themselves? yes or no:");
    if (fgets(answer, sizeof(answer), stdin) == NULL)
        return 0;
    answer[strcspn(answer, "\r\n")] = '\0';
    return strcasecmp(answer, "yes") == 0 || strcasecmp(answer, "y") == 0 ? 1 : 0;
}

static int write_down(const struct hostkey_offers *offers, struct error *err)
{
    for (size_t i = 0; i < offers->len; i++) {
        if (hostkey_offer_accept(&offers->items[i], err) != 0)
            return -1;
    }
    msg_info("%zu host key%s added to %s", offers->len, offers->len == 1 ? "" : "s", offers->items[0].file);
    return 0;
}

static int trust_round(struct look *look, bool first, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    int answer;

    failures_release(&look->call->failures);
    if (look_at_hosts(look, err) != 0)
        return -1;
    if (look->offers.len == 0) {
        if (first)
            msg_info("no host shows a key that is not known");
        return 0;
    }
    sort_offers(look);
    add_offers(&look->offers, &text);
    if (output_print(&text, err) != 0)
        return -1;
    answer = ask(look->call, err);
    if (answer < 0)
        return -1;
    if (answer == 0)
        return error_set(err, &kind_hostkey_unknown, "no host key was added");
    return write_down(&look->offers, err) == 0 ? 1 : -1;
}

int trust_hosts(struct cmd_call *call, struct setup *setup, struct error *err)
{
    AUTO_FREE size_t *hosts = xcalloc(setup->hosts.len + 1, sizeof(*hosts));
    int again = 1;

    for (int round = 0; round < ROUNDS && again == 1; round++) {
        struct look look = {.call = call, .setup = setup, .hosts = hosts};
        again = trust_round(&look, round == 0, err);
        hostkey_offers_release(&look.offers);
    }
    if (again < 0)
        return -1;
    for (size_t i = 0; i < call->failures.len; i++)
        failure_print(&call->failures.items[i].error, &call->failures.items[i].hosts, call->style.color_err);
    return failures_code(&call->failures);
}
