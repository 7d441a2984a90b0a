/* Reads the progress of a training over time from its logs, and merges it with the supervisor's samples. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "history_internal.h"
#include "insight/progress.h"
#include "tails_internal.h"

#define BYTES_READ ((uint64_t)16 << 20)
#define READ_MS    60000
#define TICK_MS    500

/* The logs of two nodes: in Megatron-LM the last rank prints the progress, in other frameworks rank 0. */
struct reading {
    const struct run *run;
    struct {
        size_t node;
        uint64_t from;
        struct progress_reader *reader;
        struct samples series;
    } logs[2];
    size_t len;
};

static size_t log_of(const struct reading *reading, size_t node)
{
    return reading->len > 1 && reading->logs[1].node == node ? 1 : 0;
}

static uint64_t on_offset(void *ctx, size_t node)
{
    const struct reading *reading = ctx;
    return reading->logs[log_of(reading, node)].from;
}

static int on_begin(void *ctx, size_t node, uint64_t size, struct error *err)
{
    struct reading *reading = ctx;
    size_t log = log_of(reading, node);
    (void)err;
    if (reading->logs[log].from == 0 && size > BYTES_READ) {
        reading->logs[log].from = size - BYTES_READ;
        return 1;
    }
    return 0;
}

static int on_body(void *ctx, size_t node, const char *bytes, size_t len, struct error *err)
{
    struct reading *reading = ctx;
    (void)err;
    progress_reader_feed(reading->logs[log_of(reading, node)].reader, bytes, len);
    return 0;
}

static int on_end(void *ctx, size_t node, struct error *err)
{
    (void)ctx; /* history_read_series ends the readers */
    (void)node;
    (void)err;
    return 0;
}

static void open_readers(struct reading *reading, bool *selected)
{
    const struct run *run = reading->run;
    const unsigned long world = (unsigned long)run->nodes_len * run->nproc_per_node;
    reading->len = run->nodes_len > 1 ? 2 : 1;
    for (size_t i = 0; i < reading->len; i++) {
        size_t node = i == 0 ? 0 : run->nodes_len - 1;
        selected[node] = true;
        reading->logs[i].node = node;
        reading->logs[i].series = (struct samples){.kind = SAMPLES_TRAINING, .step_ms = 1};
        reading->logs[i].reader = progress_reader_new(run->policy.progress_pattern, world);
        progress_reader_set_step(reading->logs[i].reader, run->global_batch, run->sequence);
        progress_reader_keep(reading->logs[i].reader, &reading->logs[i].series, run->attempt);
    }
}

/* --- merging ---------------------------------------------------------------------------------------- */

static bool is_of(const struct sample *sample, unsigned attempt)
{
    return sample->attempt == attempt;
}

/* Give each point of the log the time of a sample. Both are sorted by iteration. */
static void give_times(const struct samples *samples, struct samples *log, unsigned attempt)
{
    size_t at = 0;
    for (size_t i = 0; i < log->len; i++) {
        while (at < samples->len && (!is_of(&samples->items[at], attempt) ||
                                     samples->items[at].iteration < log->items[i].iteration)) {
            at++;
        }
        log->items[i].time_ms = at < samples->len ? samples->items[at].time_ms : 0;
    }
}

void history_merge_series(struct samples *samples, struct samples *log, unsigned attempt)
{
    size_t kept = 0;
    if (log->len > 0) {
        give_times(samples, log, attempt);
    }
    for (size_t i = 0; i < samples->len; i++) {
        bool replaced = log->len > 0 && is_of(&samples->items[i], attempt) &&
                        samples->items[i].iteration >= log->items[0].iteration;
        if (!replaced) {
            samples->items[kept++] = samples->items[i];
        }
    }
    samples->len = kept;
    for (size_t i = 0; i < log->len; i++) {
        samples_add(samples, &log->items[i]);
    }
    samples_release(log);
}

/* The log with more points; the other one is not used. */
static size_t better_log(const struct reading *reading)
{
    return reading->len > 1 && reading->logs[1].series.len > reading->logs[0].series.len ? 1 : 0;
}

int history_read_series(struct node_set *set, struct run_history *history)
{
    struct reading reading = {.run = &history->run};
    const struct tails_sink sink = {
        .ctx = &reading, .offset = on_offset, .begin = on_begin, .body = on_body, .end = on_end};
    const struct node_tail_options options = {.from = NODE_TAIL_OFFSET};
    AUTO_FREE bool *selected = xcalloc(history->run.nodes_len, sizeof(bool));
    const int64_t until = clock_mono_ms() + READ_MS;
    open_readers(&reading, selected);
    struct tails *tails = tails_open(set, &history->run, selected, &options, &sink);
    while (tails_left(tails) > 0 && !node_set_is_interrupted(set) && clock_mono_ms() < until) {
        node_set_pause(set, TICK_MS);
    }
    bool interrupted = node_set_is_interrupted(set);
    node_set_close(set);
    tails_free(tails);
    for (size_t i = 0; i < reading.len; i++) {
        struct training_progress ignored;
        progress_reader_end(reading.logs[i].reader, &ignored);
    }
    size_t better = better_log(&reading);
    history_merge_series(&history->training, &reading.logs[better].series, history->run.attempt);
    samples_release(&reading.logs[1 - better].series);
    return interrupted ? -1 : 0;
}
