/* Reads the progress of a run's training from the ends of its logs. */
#include <string.h>

#include "insight/progress.h"
#include "node/answer.h"
#include "node_target_internal.h"
#include "read_progress_internal.h"
#include "round_internal.h"

#define READ_TIMEOUT_MS 5000
#define BYTES_READ      ((uint64_t)96 * 1024)

struct reading {
    struct run *run;
    struct training_progress seen; /* before this round: the same for both nodes, whichever answers first */
    /* literals to search the whole logs for; NULL: read the ends of the logs */
    const struct strlist *said_once;
};

static bool reading_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    const struct reading *reading = ctx;
    const struct run *run = reading->run;
    const struct run_node *asked = &run->nodes[node];
    if ((node != 0 && node != run->nodes_len - 1) || asked->state == NODE_LOST || asked->started_ms == 0) {
        return false;
    }
    const struct node_target target = run_node_target(run, node);
    if (reading->said_once) {
        node_request_grep(&target, 0, reading->said_once, NULL, nonce, call);
        return true;
    }
    const struct node_tail_options options = {.from = NODE_TAIL_BYTES, .count = BYTES_READ};
    node_request_tail(&target, &options, nonce, call);
    return true;
}

/* Feed the end of a log, or the records "NUMBER TEXT" of a search. */
static void feed(const struct reading *reading, struct progress_reader *reader, const char *text, size_t len)
{
    if (!reading->said_once) {
        progress_reader_feed(reader, text, len);
        return;
    }
    for (const char *at = text, *end = text + len; at < end;) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const char *next = line_end ? line_end + 1 : end;
        const char *blank = memchr(at, ' ', (size_t)(next - at));
        const char *line = blank ? blank + 1 : next;
        if (at[0] >= '0' && at[0] <= '9') { /* the others are not lines of the log */
            progress_reader_feed(reader, line, (size_t)(next - line));
        }
        at = next;
    }
}

static int reading_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                        struct error *err)
{
    const struct reading *reading = ctx;
    struct run *run = reading->run;
    AUTO_NODE_LOG struct node_log log;
    int result = node_answer_log(bytes, len, nonce, &log, err);
    if (result == 0 && log.path) {
        struct training_progress progress;
        unsigned long world = (unsigned long)run->nodes_len * run->nproc_per_node;
        struct progress_reader *reader = progress_reader_new(run->policy.progress_pattern, world);
        progress_reader_set_step(reader, run->global_batch, run->sequence);
        progress_reader_set_seen(reader, &reading->seen);
        feed(reading, reader, log.text, log.text_len);
        progress_reader_end(reader, &progress);
        progress.updated_ms = run->nodes[node].last_output_ms;
        if (reading->said_once) {
            progress.iteration = -1; /* it may come from unrelated lines nearby */
        }
        progress_merge(&run->progress, &progress);
    }
    return result;
}

static void reading_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    (void)ctx; /* what is known is kept */
    (void)node;
    (void)error;
    (void)started;
}

static int ask(struct node_set *set, struct reading *reading)
{
    const struct node_question question = {
        .ctx = reading,
        .timeout_ms = READ_TIMEOUT_MS,
        .build = reading_build,
        .take = reading_take,
        .failed = reading_failed,
    };
    reading->seen = reading->run->progress;
    return node_set_ask(set, &question);
}

int run_read_progress(struct node_set *set, struct run *run)
{
    struct reading reading = {.run = run};
    int result = ask(set, &reading);
    if (result == 0 && run->progress.iteration >= 0 && run->progress.sequence < 0 && run->sequence == 0) {
        AUTO_STRLIST struct strlist literals = STRLIST_INIT;
        progress_list_said_once(&literals);
        reading.said_once = &literals;
        result = ask(set, &reading);
        run->progress.sequence =
            run->progress.sequence < 0 ? 0 : run->progress.sequence; /* search only once */
    }
    return result;
}
