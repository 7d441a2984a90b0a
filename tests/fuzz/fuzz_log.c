/* A log in whatever pieces it comes gives the same evidence, diagnosis and progress, within their bounds. */
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "insight/diagnosis.h"
#include "insight/progress.h"
#include "pieces.h"

#define PATTERN "step (?P<iteration>\\d+)/(?P<total>\\d+) loss (?P<loss>\\S+)"

static void add_event(const struct event *event, struct str *out)
{
    str_addf(out, "%s %lu %ld %d %s %s\n", event->signature->id, event->line, event->rank, event->fatal,
             event->text, event->place ? event->place : "-");
}

/* Everything that is known of the log, as text. */
static void run(const struct str *in, struct pieces *pieces, struct scanner *scanner, struct str *out)
{
    struct evidence evidence;
    struct training_progress progress;
    struct diagnosis diagnosis;
    evidence_init(&evidence);
    struct evidence_reader *reader = evidence_reader_new(scanner, &evidence);
    struct progress_reader *steps = progress_reader_new(PATTERN, 4);
    for (size_t at = 0, len; at < in->len; at += len) {
        len = pieces_next(pieces, in->len - at);
        AUTO_FREE char *piece = piece_copy(in->data + at, len);
        evidence_reader_feed(reader, piece, len);
        progress_reader_feed(steps, piece, len);
    }
    evidence_reader_end(reader);
    progress_reader_end(steps, &progress);
    CHECK(evidence.events_len <= EVIDENCE_EVENTS && evidence.children_len <= EVIDENCE_CHILDREN);
    CHECK(evidence.ranks_len <= EVIDENCE_RANKS && evidence.enqueued_len <= EVIDENCE_RANKS);
    CHECK(evidence.faults_len <= EVIDENCE_CHILDREN);
    for (size_t i = 0; i < evidence.faults_len; i++) {
        const struct fault *fault = &evidence.faults[i];
        str_addf(out, "%s %lu %ld %s\n", fault->signal, fault->line, fault->rank,
                 fault->place ? fault->place : "-");
    }
    for (size_t i = 0; i < evidence.events_len; i++) {
        add_event(&evidence.events[i], out);
    }
    const struct node_end nodes[] = {
        {.host = "a", .file = "a.log", .evidence = &evidence, .exit_status = -1, .ended = -1},
        {.rank = 1, .host = "b", .exit_status = 1, .ended = 2},
    };
    diagnosis_make(&diagnosis, nodes, 2, 0);
    CHECK(!diagnosis.cause.signature || (diagnosis.cause.summary && diagnosis.cause.nodes_len > 0));
    diagnosis_add_reason(&diagnosis, nodes, out);
    str_addf(out, "\n%lld/%lld %d %g %g %g\n", (long long)progress.iteration, (long long)progress.total,
             progress.has_loss, progress.loss, progress.step_time_s, progress.tokens_per_second);
    diagnosis_release(&diagnosis);
    evidence_release(&evidence);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct scanner *scanner; /* made once: it takes longer than a short log */
    AUTO_STR struct str in = STR_INIT;
    AUTO_STR struct str whole = STR_INIT;
    AUTO_STR struct str pieced = STR_INIT;
    if (!stream_make(data, size, &in)) {
        return 0;
    }
    if (!scanner) {
        scanner = scanner_new();
    }
    struct pieces pieces = pieces_begin(data[0], in.len);
    run(&in, NULL, scanner, &whole);
    run(&in, &pieces, scanner, &pieced);
    CHECK(same_bytes(&whole, &pieced));
    return 0;
}
