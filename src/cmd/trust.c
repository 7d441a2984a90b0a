/* `hosts --trust`: shows the keys that run/trust finds, asks for confirmation, and prints the outcome. */
#include "run/trust.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/msg.h"
#include "base/term.h"
#include "cmd/commands_internal.h"
#include "cmd/trust_internal.h"
#include "model/kind.h"
#include "report/hostkeys.h"
#include "report/output.h"

struct trust_view {
    struct cmd_call *call;
    const struct hostlist *hosts;
};

static bool is_repeated(const struct hostlist *hosts, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < hosts->len; i++) {
        count += strcmp(hosts->items[i].name, name) == 0;
    }
    return count > 1;
}

/* The offers in the form to show; they borrow from labels. Owned by the caller. */
static struct report_hostkey *to_show(const struct hostlist *hosts, const struct hostkey_offer *offers,
                                      size_t count, struct strlist *labels)
{
    struct report_hostkey *keys = xcalloc(count + 1, sizeof(*keys));
    for (size_t i = 0; i < count; i++) {
        const struct hostkey_offer *offer = &offers[i];
        if (is_repeated(hosts, offer->host)) {
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

/* Ask for confirmation. Returns 1 for yes, 0 for no, -1 with err. */
static int ask(const struct cmd_call *call, struct error *err)
{
    char answer[16] = "";
    if (call->options.yes) {
        return 1;
    }
    if (call->style.json || !term_is_tty(STDIN_FILENO)) {
        error_set(err, &kind_hostkey_unknown,
                  "there are unknown host keys, and no terminal to confirm them on");
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

static int confirm(void *ctx, const struct hostkey_offer *offers, size_t count, struct error *err)
{
    const struct trust_view *view = ctx;
    AUTO_STR struct str text = STR_INIT;
    AUTO_STRLIST struct strlist labels = STRLIST_INIT;
    AUTO_FREE struct report_hostkey *keys = to_show(view->hosts, offers, count, &labels);
    if (!view->call->style.json) {
        report_hostkeys_text(keys, count, &text);
        if (output_print(&text, err) != 0) {
            return -1;
        }
    }
    return ask(view->call, err);
}

static void written(void *ctx, size_t added, const struct strlist *files)
{
    AUTO_FREE char *where = strlist_join(files, ", ");
    (void)ctx;
    msg_info("%zu host key%s added to %s", added, added == 1 ? "" : "s", where);
}

static int answer_json(const struct trust_view *view, const struct run_trust_result *result,
                       const struct error *failure, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    AUTO_STRLIST struct strlist labels = STRLIST_INIT;
    AUTO_FREE struct report_hostkey *keys =
        to_show(view->hosts, result->offers.items, result->offers.len, &labels);
    report_hostkeys_json(keys, labels.len, result->added, &view->call->failures, failure, &text);
    view->call->answered = true;
    return output_print(&text, err);
}

static void print_failures(struct cmd_call *call, const struct run_trust_result *result)
{
    for (size_t i = 0; i < result->failures_len; i++) {
        failures_add(&call->failures, result->failures[i].host, &result->failures[i].error);
    }
    for (size_t i = 0; i < call->failures.len; i++) {
        failure_print(&call->failures.items[i].error, &call->failures.items[i].hosts, call->style.color_err);
    }
}

int trust_hosts(struct cmd_call *call, struct setup *setup, struct error *err)
{
    struct trust_view view = {.call = call, .hosts = &setup->hosts};
    const struct run_trust_observer observer = {.ctx = &view, .confirm = confirm, .written = written};
    const struct run_trust_request request = {
        .hosts = &setup->hosts,
        .endpoints = setup->endpoints,
        .fanout = cmd_fanout(call),
        .connect_timeout_ms = cmd_connect_timeout_ms(call),
        .observer = &observer,
    };
    struct run_trust_result result;
    struct error failure = ERROR_INIT;
    int code = run_trust(&request, &result, &failure);
    print_failures(call, &result);
    if (code == 0 && result.offers.len == 0 && call->failures.len == 0) {
        msg_info("no host has an unknown key");
    }
    if (call->style.json && answer_json(&view, &result, code < 0 ? &failure : NULL, err) != 0) {
        code = -1; /* a failure to print outweighs */
    } else if (code < 0) {
        *err = failure;
    }
    run_trust_result_release(&result);
    return code < 0 ? -1 : failures_code(&call->failures);
}
