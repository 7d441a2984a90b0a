/* `mtlaunch metrics`: metrics of the runs of this machine, for Prometheus. No node is asked. */
#include "report/metrics.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/msg.h"
#include "base/text.h"
#include "cmd/collector_internal.h"
#include "cmd/commands_internal.h"
#include "cmd/session_internal.h"
#include "model/kind.h"
#include "report/answer.h"
#include "report/output.h"
#include "transport/http.h"

#define LOOPBACK  "127.0.0.1"
#define FRESH_MS  1000 /* ms; scrapes within this time get the same text */
#define TEXT_MODE 0644 /* the collector that reads the file runs as another user */

/* --- a server ----------------------------------------------------------------------------------------- */

struct serving {
    struct cmd_call *call;
    struct collector collector;
    struct str text;
    int64_t made_ms; /* monotonic; 0: never */
};

static void answer(void *ctx, const struct http_request *request, struct http_answer *out)
{
    struct serving *serving = ctx;
    int64_t now = clock_mono_ms();
    if (strcmp(request->path, "/metrics") != 0) {
        bool top = strcmp(request->path, "/") == 0;
        out->status = top ? 200 : 404;
        str_add(&out->text, top ? "mtlaunch: see /metrics\n" : "404 Not Found: see /metrics\n");
        return;
    }
    if (serving->made_ms == 0 || now - serving->made_ms >= FRESH_MS) {
        str_reset(&serving->text);
        collector_text(&serving->collector, &serving->text);
        serving->made_ms = now;
    }
    out->type =
        strstr(request->accept, "application/openmetrics-text") ? METRICS_TYPE_OPEN : METRICS_TYPE_PLAIN;
    str_add_mem(&out->text, str_text(&serving->text), serving->text.len);
}

static void listening(void *ctx, const char *address, unsigned port)
{
    struct serving *serving = ctx;
    if (!text_starts(address, "127.") && strcmp(address, "::1") != 0) {
        msg_warn("anyone who can reach %s can read the names of runs, jobs and hosts", address);
    }
    AUTO_FREE char *url =
        xasprintf(strchr(address, ':') ? "http://[%s]:%u/metrics" : "http://%s:%u/metrics", address, port);
    if (serving->call->style.json) {
        AUTO_STR struct str text = STR_INIT;
        struct error ignored = ERROR_INIT;
        report_url_json(url, &text);
        (void)output_print(&text, &ignored);
        serving->call->answered = true;
        return;
    }
    msg_info("serving %s", url);
}

/* Read "ADDR:PORT", "[ADDR]:PORT", ":PORT" or "PORT"; without an address, the loopback address is used. */
static int read_listen(const char *text, char **address, unsigned *port, struct error *err)
{
    const char *colon = strrchr(text, ':');
    const char *digits = colon ? colon + 1 : text;
    size_t len = colon ? (size_t)(colon - text) : 0;
    bool bracketed = len > 1 && text[0] == '[' && text[len - 1] == ']';
    uint64_t number = 0;
    if (!text_to_uint(digits, 0, 65535, &number) || (!bracketed && memchr(text, ':', len))) {
        error_set(err, &kind_usage, "'%s' for --listen is not ADDR:PORT with a port from 0 to 65535", text);
        return error_hint(err,
                          "write --listen 127.0.0.1:9464, or --listen 9464; an IPv6 address in brackets");
    }
    *port = (unsigned)number;
    *address = bracketed ? xstrndup(text + 1, len - 2) : len > 0 ? xstrndup(text, len) : xstrdup(LOOPBACK);
    if (strcmp(*address, "localhost") == 0) {
        free(*address);
        *address = xstrdup(LOOPBACK);
    }
    return 0;
}

static int serve(struct cmd_call *call, struct session *session, struct error *err)
{
    struct serving serving = {.call = call, .collector = {.session = session}};
    AUTO_FREE char *address = NULL;
    struct http_server server = {.ctx = &serving, .listening = listening, .answer = answer};
    if (read_listen(call->options.listen, &address, &server.port, err) != 0) {
        return -1;
    }
    server.address = address;
    http_serve(&server, err);
    collector_release(&serving.collector);
    str_release(&serving.text);
    return -1;
}

/* --- once --------------------------------------------------------------------------------------------- */

static int write_once(struct cmd_call *call, struct session *session, struct error *err)
{
    struct collector collector = {.session = session, .tell = true};
    AUTO_STR struct str text = STR_INIT;
    const char *path = call->options.textfile;
    if (call->style.json && !path) {
        collector_json(&collector, &text);
    } else {
        collector_text(&collector, &text);
    }
    collector_release(&collector);
    if (path && file_write_atomic(path, str_text(&text), text.len, TEXT_MODE, err) != 0) {
        return -1;
    }
    if (path) {
        str_reset(&text);
        if (call->style.json) {
            report_init_json(path, &text);
        }
    }
    int result = output_print(&text, err);
    return result == 0 ? failures_code(&call->failures) : result;
}

static int run_metrics(struct cmd_call *call, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    if (call->options.textfile &&
        (*call->options.textfile == '\0' || strcmp(call->options.textfile, "-") == 0)) {
        error_set(err, &kind_usage, "'%s' for --textfile names no file", call->options.textfile);
        return error_hint(err, "name a file; without --textfile, the metrics are printed");
    }
    if (call->options.listen && call->options.textfile) {
        error_set(err, &kind_usage, "'--listen' and '--textfile' cannot be used together");
        return error_hint(err, "leave out one of the two");
    }
    if (session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    return call->options.listen ? serve(call, &session, err) : write_once(call, &session, err);
}

static const char *const usage[] = {"metrics [--listen ADDR:PORT|--textfile FILE]", NULL};
static const struct option own_options[] = {
    {.name = "listen",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, listen),
     .value = "ADDR:PORT",
     .help = "serve them at http://ADDR:PORT/metrics; without ADDR: 127.0.0.1; port 0: any"},
    {.name = "textfile",
     .type = OPTION_TEXT,
     .offset = offsetof(struct cmd_options, textfile),
     .value = "FILE",
     .help = "write them atomically to a file, for node_exporter"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] =
    "The output is in OpenMetrics and Prometheus format: the number of runs in each\n"
    "state; and the nodes, progress and GPUs of runs that are live or ended within a\n"
    "day. It comes from the records and from what supervisors last saw; no node is\n"
    "contacted. Without an option it is printed. --listen serves it until Ctrl-C.\n"
    "examples/grafana contains a dashboard.\n";
const struct command command_metrics = {
    .name = "metrics",
    .summary = "export metrics of runs for Prometheus",
    .usage = usage,
    .notes = notes,
    .own = &own,
    .run = run_metrics,
};
