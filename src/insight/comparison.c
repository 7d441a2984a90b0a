/* Compares the figures of runs. */
#include "insight/comparison.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "comparison_internal.h"
#include "insight/gpu_peak.h"
#include "model/throughput.h"

double comparison_size(const struct comparison_row *row, const struct comparison_row *reference)
{
    if (row->gpus > 0 && reference->gpus > 0) {
        return (double)row->gpus / (double)reference->gpus;
    }
    return (double)row->nodes / (double)reference->nodes;
}

/* Only for a single GPU model: for a mix of models the figure would mean nothing. */
static double utilization(const struct run *run)
{
    const struct strlist *gpus = &run->inventory.gpus;
    double peak = gpus->len == 1 ? gpu_peak_tflops(gpus->items[0]) : -1;
    return throughput_utilization(run->progress.tflops_per_gpu, peak);
}

static double hours(const struct comparison_row *row, const struct comparison_goal *goal)
{
    if (goal->tokens > 0) {
        return throughput_hours(goal->tokens, row->tokens_per_second);
    }
    return goal->samples > 0 ? throughput_hours(goal->samples, row->samples_per_second) : -1;
}

static void fill_row(struct comparison_row *row, const struct comparison_input *input,
                     const struct comparison_goal *goal)
{
    const struct run *run = input->run;
    const struct training_progress *progress = &run->progress;
    const struct strlist *networks = &run->inventory.networks;
    int64_t planned = run->global_batch > 0 ? (int64_t)run->global_batch : -1;
    *row = (struct comparison_row){
        .run = run,
        .nodes = run->nodes_len,
        .gpus = run->nproc_per_node > 0 ? (int64_t)run->nodes_len * run->nproc_per_node : -1,
        .global_batch = progress->global_batch > 0 ? progress->global_batch : planned,
        .step_time_s = progress->step_time_s,
        .samples_per_second = progress->samples_per_second,
        .tokens_per_second = progress->tokens_per_second,
        .tflops_per_gpu = progress->tflops_per_gpu,
        .mfu = utilization(run),
        .speedup = -1,
        .efficiency = -1,
        .network = networks->len > 0 ? strlist_join(networks, ", ") : NULL,
        .peak_memory = input->peak_memory,
        .has_loss = progress->has_loss,
        .loss = progress->loss,
    };
    row->hours = hours(row, goal);
}

/* The index of the smallest run with a rate, the first of equals; sound: without a flaw. -1: there is none.
 */
static long find_smallest(const struct comparison *comparison, bool sound)
{
    long best = -1;
    for (size_t i = 0; i < comparison->len; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        bool rated = sound ? !comparison_flaw(row) : row->samples_per_second > 0;
        if (rated && (best < 0 || comparison_size(row, &comparison->rows[best]) < 1)) {
            best = (long)i;
        }
    }
    return best;
}

/* Runs that failed are compared with only where there are no others. */
static long find_reference(const struct comparison *comparison)
{
    long sound = find_smallest(comparison, true);
    return sound >= 0 ? sound : find_smallest(comparison, false);
}

void comparison_make(struct comparison *out, const struct comparison_input *inputs, size_t len,
                     const struct comparison_goal *goal)
{
    AUTO_FREE const struct run **runs = xcalloc(len + 1, sizeof(*runs));
    *out = (struct comparison){.rows = xcalloc(len + 1, sizeof(out->rows[0])), .len = len};
    for (size_t i = 0; i < len; i++) {
        fill_row(&out->rows[i], &inputs[i], goal);
        runs[i] = inputs[i].run;
    }
    out->reference = find_reference(out);
    for (size_t i = 0; i < len && out->reference >= 0; i++) {
        struct comparison_row *row = &out->rows[i];
        const struct comparison_row *reference = &out->rows[out->reference];
        row->speedup = throughput_speedup(row->samples_per_second, reference->samples_per_second);
        row->efficiency = throughput_efficiency(row->speedup, comparison_size(row, reference));
    }
    differences_find(&out->differences, runs, len);
    out->verdict = comparison_verdict(out);
}

void comparison_release(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->len; i++) {
        free(comparison->rows[i].network);
    }
    free(comparison->rows);
    differences_release(&comparison->differences);
    free(comparison->verdict);
    *comparison = (struct comparison){0};
}
