/* Searches the logs of a run's nodes for the cause of its failure. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "explain_internal.h"
#include "lastlines_internal.h"
#include "model/policy.h"
#include "node/answer.h"
#include "node_target_internal.h"
#include "observer_internal.h"
#include "round_internal.h"

#define SEARCH_TIMEOUT_MS 60000 /* enough for a log of gigabytes on a slow disk */
#define LINES_READ        40    /* of the log of one node, for the reason */

struct search {
    const struct run *run;
    unsigned attempt;
    const bool *wanted;
    struct scanner *scanner;
    struct strlist literals;
    const char *python;             /* the job's interpreter; NULL: unknown */
    struct node_failures *failures; /* NULL: not wanted */
    struct explanation *out;
};

static bool search_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct search *search = ctx;
    if (search->wanted && !search->wanted[node]) {
        return false;
    }
    const struct node_target target = run_node_target(search->run, node);
    node_request_grep(&target, search->attempt, &search->literals, search->python, nonce, call);
    return true;
}

/* "LOCAL-RANK TIME PATH JSON" */
static void take_error_file(struct evidence_reader *reader, const char *record, size_t len)
{
    AUTO_FREE char *copy = xstrndup(record, len);
    char *rest = NULL;
    const char *local_rank = strtok_r(copy, " ", &rest);
    const char *when = strtok_r(NULL, " ", &rest);
    const char *path = strtok_r(NULL, " ", &rest);
    if (path) {
        evidence_reader_error_file(reader, path, strtol(local_rank, NULL, 10), when, rest);
    }
}

/*
 * Parse a record: "NUMBER TEXT"; number 0: TEXT is the number of lines of the log. "e …": an error file; "d
 * …": a dump; "s NUMBER TEXT": a line near the start of the log that names a step.
 */
static void take_record(struct evidence_reader *reader, struct evidence *evidence, const char *line,
                        size_t len)
{
    char *text = NULL;
    if (len > 2 && line[0] == 'e' && line[1] == ' ') {
        take_error_file(reader, line + 2, len - 2);
        return;
    }
    if (len > 2 && line[0] == 'd' && line[1] == ' ') {
        AUTO_FREE char *dump = xstrndup(line + 2, len - 2);
        evidence_add_dump(evidence, dump);
        return;
    }
    const bool start = len > 2 && line[0] == 's' && line[1] == ' ';
    line += start ? 2 : 0;
    len -= start ? 2 : 0;
    unsigned long number = strtoul(line, &text, 10);
    if (text == line || (size_t)(text - line) >= len || *text != ' ') {
        return;
    }
    text++;
    if (start) {
        start_step_note(evidence, number, text, len - (size_t)(text - line));
    } else if (number == 0) {
        evidence->lines = strtoul(text, NULL, 10);
    } else {
        evidence_reader_line(reader, number, text, len - (size_t)(text - line));
    }
}

static void read_records(struct search *search, size_t node, const char *text, size_t len)
{
    struct evidence *evidence = &search->out->evidence[node];
    struct evidence_reader *reader = evidence_reader_new(search->scanner, evidence);
    const struct policy *policy = &search->run->policy;
    const char *forbidden = policy_forbids_restart(policy, text);
    search->out->forbidden = search->out->forbidden ? search->out->forbidden : forbidden;
    for (const char *at = text; at < text + len;) {
        const char *end = memchr(at, '\n', (size_t)(text + len - at));
        size_t line_len = end ? (size_t)(end - at) : (size_t)(text + len - at);
        take_record(reader, evidence, at, line_len);
        at += line_len + 1;
    }
    evidence_reader_end(reader);
}

static int search_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                       struct error *err)
{
    struct search *search = ctx;
    AUTO_NODE_LOG struct node_log log;
    int result = node_answer_log(bytes, len, nonce, &log, err);
    if (result == 0 && log.path) {
        search->out->files[node] = xstrdup(log.path);
        search->out->ends[node].file = search->out->files[node];
        search->out->ends[node].evidence = &search->out->evidence[node];
        read_records(search, node, log.text, log.text_len);
    }
    return result;
}

static void search_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    const struct search *search = ctx;
    (void)started;
    if (search->failures) {
        node_failures_set(search->failures, node, error);
    }
}

/* How a node ended. For an earlier attempt only the logs are left. */
static struct node_end node_end_of(const struct run_node *node, bool current)
{
    struct node_end end = {.rank = node->rank, .exit_status = -1, .ended = -1};
    if (current) {
        end.running = node->state == NODE_RUNNING;
        end.unreachable = node->state == NODE_LOST;
        end.stopped = node->signalled;
        end.exit_status = node->exit_status;
        end.signal = node->signal;
        end.ended = node->ended_ms > 0 ? (double)policy_end_ms(node) / 1000 : -1;
        end.clock_ahead = node->ended_ms > 0 ? (double)(node->ended_ms - policy_end_ms(node)) / 1000 : 0;
    }
    return end;
}

/* Processes on each node; 0 if they have no torch ranks. */
static unsigned ranks_on_node(const struct run *run, const json_t *spec)
{
    const char *launcher = json_string_value(json_object_get(spec, "launcher"));
    bool ranked = launcher && strcmp(launcher, "script") != 0;
    return ranked ? run->nproc_per_node : 0;
}

void explanation_init(struct explanation *explanation, size_t nodes_len)
{
    *explanation = (struct explanation){.nodes_len = nodes_len, .progress = PROGRESS_NONE};
    explanation->evidence = xcalloc(nodes_len, sizeof(*explanation->evidence));
    explanation->ends = xcalloc(nodes_len, sizeof(*explanation->ends));
    explanation->files = xcalloc(nodes_len, sizeof(*explanation->files));
    explanation->hosts = xcalloc(nodes_len, sizeof(*explanation->hosts));
    for (size_t i = 0; i < nodes_len; i++) {
        evidence_init(&explanation->evidence[i]);
    }
}

int run_explain(struct node_set *set, const struct run *run, unsigned attempt, const bool *wanted,
                struct node_failures *failures, struct explanation *out)
{
    explanation_init(out, run->nodes_len);
    bool current = attempt == 0 || attempt == run->attempt;
    for (size_t i = 0; i < run->nodes_len; i++) {
        out->ends[i] = node_end_of(&run->nodes[i], current);
        out->hosts[i] = xstrdup(run->nodes[i].label);
        out->ends[i].host = out->hosts[i];
    }
    json_t *spec = run->spec ? json_loads(run->spec, 0, NULL) : NULL;
    struct search search = {
        .run = run,
        .attempt = attempt,
        .wanted = wanted,
        .scanner = scanner_new(),
        .python = json_string_value(json_object_get(spec, "python")),
        .failures = failures,
        .out = out,
    };
    scanner_list_literals(search.scanner, &search.literals);
    strlist_copy(&search.literals, &run->policy.no_restart_on);
    const struct node_question question = {
        .ctx = &search,
        .timeout_ms = SEARCH_TIMEOUT_MS,
        .build = search_build,
        .take = search_take,
        .failed = search_failed,
    };
    int result = node_set_ask(set, &question);
    strlist_release(&search.literals);
    scanner_free(search.scanner);
    diagnosis_make(&out->diagnosis, out->ends, out->nodes_len, ranks_on_node(run, spec));
    json_decref(spec);
    return result;
}

void explanation_release(struct explanation *explanation)
{
    diagnosis_release(&explanation->diagnosis);
    for (size_t i = 0; i < explanation->nodes_len; i++) {
        evidence_release(&explanation->evidence[i]);
        free(explanation->files[i]);
        free(explanation->hosts[i]);
    }
    free(explanation->evidence);
    free(explanation->ends);
    free(explanation->files);
    free(explanation->hosts);
    *explanation = (struct explanation){0};
}

/* Take the first remedy as the hint, masked. */
static void set_hint(const struct node_set *set, struct run *run, const struct cause *cause)
{
    if (cause->remedies.len > 0) {
        run->cause.hint = xstrdup(cause->remedies.items[0]);
        run_mask(set->context, &run->cause.hint);
    }
}

void run_set_end_reason(struct node_set *set, struct run *run, size_t node,
                        const struct explanation *explanation)
{
    const struct cause *cause = &explanation->diagnosis.cause;
    AUTO_FREE bool *wanted = xcalloc(run->nodes_len, sizeof(bool));
    AUTO_FREE char **texts = xcalloc(run->nodes_len, sizeof(*texts));
    wanted[node] = true;
    run_fetch_lines(set, run, wanted, LINES_READ, texts);
    AUTO_FREE char *text = texts[node];
    run_set_reason(run, run_failure_text(&run->nodes[node], text));
    if (cause->signature && cause->node == node) {
        strlist_add(&run->cause.hosts, run->nodes[node].label);
        set_hint(set, run, cause);
    }
}

void run_set_explained_reason(struct node_set *set, struct run *run, const struct explanation *explanation)
{
    const struct cause *cause = &explanation->diagnosis.cause;
    long first = run_first_failure(run);
    if (!cause->signature || cause->command) {
        if (cause->signature || first >= 0) {
            run_set_end_reason(set, run, cause->signature ? cause->node : (size_t)first, explanation);
        }
        return;
    }
    struct str text = STR_INIT;
    diagnosis_add_reason(&explanation->diagnosis, explanation->ends, &text);
    char *reason = str_detach(&text);
    run_mask(set->context, &reason);
    run_set_reason(run, reason);
    for (size_t i = 0; i < cause->nodes_len; i++) {
        strlist_add(&run->cause.hosts, explanation->ends[cause->nodes[i]].host);
    }
    set_hint(set, run, cause);
}

void run_hint_from_log(struct error *err, const char *text)
{
    struct evidence evidence;
    struct diagnosis diagnosis;
    struct scanner *scanner = scanner_new();
    evidence_init(&evidence);
    struct evidence_reader *reader = evidence_reader_new(scanner, &evidence);
    evidence_reader_feed(reader, text, strlen(text));
    evidence_reader_end(reader);
    const struct node_end end = {.host = "", .evidence = &evidence, .exit_status = -1, .ended = -1};
    diagnosis_make(&diagnosis, &end, 1, 0);
    if (diagnosis.cause.remedies.len > 0) {
        error_hint(err, "%s", diagnosis.cause.remedies.items[0]);
    }
    diagnosis_release(&diagnosis);
    evidence_release(&evidence);
    scanner_free(scanner);
}

bool explanation_is_open(const struct explanation *explanation)
{
    const struct diagnosis *diagnosis = &explanation->diagnosis;
    bool weak = !diagnosis->cause.signature || diagnosis->cause.confidence != CONFIDENCE_HIGH;
    for (size_t i = 0; i < explanation->nodes_len; i++) {
        const struct evidence *evidence = &explanation->evidence[i];
        if (weak && (evidence->events_len > 0 || evidence->children_len > 0)) {
            return true;
        }
    }
    return false;
}
