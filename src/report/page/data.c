/* Puts the values of a report, what was gathered about a run, into one JSON object. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "data_internal.h"
#include "report/values_internal.h"

#define ODD_PERCENT 5.0 /* percentage points below the mean of all nodes that make a node odd */

const char *const data_training_keys[SAMPLE_NUMBERS] = {
    [SAMPLE_LOSS] = "loss",
    [SAMPLE_STEP_TIME] = "step_time",
    [SAMPLE_SAMPLES] = "samples_per_second",
    [SAMPLE_TOKENS] = "tokens_per_second",
    [SAMPLE_TFLOPS] = "tflops_per_gpu",
};

/* --- writing ---------------------------------------------------------------------------------------- */

/*
 * Six significant digits are as exact as a log, and keep the object small. Large numbers, such as bytes, are
 * whole.
 */
static json_t *number(double value)
{
    char text[32];
    if (!isfinite(value)) {
        return json_null();
    }
    if (fabs(value) >= 1e6 && fabs(value) < 1e15) {
        return json_integer(llround(value));
    }
    snprintf(text, sizeof text, "%.6g", value);
    return json_real(strtod(text, NULL));
}

/* Make a copy with at most DATA_POINTS samples; its nodes are copied too. */
static void copy_thinned(const struct samples *from, struct samples *to)
{
    *to = (struct samples){.kind = from->kind, .step_ms = from->step_ms};
    for (size_t i = 0; i < from->len; i++) {
        struct sample copy = from->items[i];
        if (copy.nodes_len > 0) {
            copy.nodes = xcalloc(copy.nodes_len, sizeof(*copy.nodes));
            memcpy(copy.nodes, from->items[i].nodes, copy.nodes_len * sizeof(*copy.nodes));
        }
        samples_add(to, &copy);
    }
    while (to->len > DATA_POINTS) {
        samples_thin(to);
    }
}

static void put_places(json_t *object, const struct samples *samples)
{
    json_t *attempts = json_array(), *times = json_array();
    for (size_t i = 0; i < samples->len; i++) {
        json_array_append_new(attempts, json_integer(samples->items[i].attempt));
        json_array_append_new(times, js_time(samples->items[i].time_ms));
    }
    json_object_set_new(object, "attempt", attempts);
    json_object_set_new(object, "time", times);
}

static json_t *training_value(const struct samples *all)
{
    struct samples samples;
    json_t *object = json_object(), *iterations = json_array();
    copy_thinned(all, &samples);
    put_places(object, &samples);
    for (size_t i = 0; i < samples.len; i++) {
        json_array_append_new(iterations, js_integer(samples.items[i].iteration, -1));
    }
    json_object_set_new(object, "iteration", iterations);
    for (size_t n = 0; n < SAMPLE_NUMBERS; n++) {
        json_t *values = json_array();
        for (size_t i = 0; i < samples.len; i++) {
            json_array_append_new(values, number(samples.items[i].numbers[n]));
        }
        json_object_set_new(object, data_training_keys[n], values);
    }
    samples_release(&samples);
    return object;
}

/* --- GPUs ------------------------------------------------------------------------------------------- */

static double utilization_of(const struct gpu_sample *node)
{
    return node->utilization_mean == SAMPLE_PERCENT_UNKNOWN ? (double)NAN : node->utilization_mean;
}

static double memory_of(const struct gpu_sample *node)
{
    int64_t bytes = gpu_sample_bytes(node->memory_max);
    return bytes < 0 ? (double)NAN : (double)bytes;
}

/* {mean, least, most} over the nodes of each sample. */
static json_t *spread_value(const struct samples *samples, double (*value_of)(const struct gpu_sample *node))
{
    json_t *object = json_object();
    json_t *means = json_array(), *least = json_array(), *most = json_array();
    for (size_t i = 0; i < samples->len; i++) {
        const struct sample *sample = &samples->items[i];
        double sum = 0, low = (double)INFINITY, high = -(double)INFINITY;
        size_t count = 0;
        for (size_t n = 0; n < sample->nodes_len; n++) {
            double value = value_of(&sample->nodes[n]);
            if (isfinite(value)) {
                sum += value;
                low = fmin(low, value);
                high = fmax(high, value);
                count++;
            }
        }
        json_array_append_new(means, number(count > 0 ? sum / (double)count : (double)NAN));
        json_array_append_new(least, number(low));
        json_array_append_new(most, number(high));
    }
    json_object_set_new(object, "mean", means);
    json_object_set_new(object, "least", least);
    json_object_set_new(object, "most", most);
    return object;
}

/* The mean utilization of a node over all samples; NAN: unknown. */
static double mean_of_node(const struct samples *samples, size_t node)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < samples->len; i++) {
        const struct sample *sample = &samples->items[i];
        double value = node < sample->nodes_len ? utilization_of(&sample->nodes[node]) : (double)NAN;
        if (isfinite(value)) {
            sum += value;
            count++;
        }
    }
    return count > 0 ? sum / (double)count : (double)NAN;
}

/* Choose the nodes with their own line: all, or of many those whose GPUs are less busy than the others'. */
static size_t choose_nodes(const struct samples *samples, size_t nodes, size_t *chosen)
{
    AUTO_FREE double *means = xcalloc(nodes > 0 ? nodes : 1, sizeof(*means));
    size_t known = 0, len = 0;
    double sum = 0;
    for (size_t n = 0; n < nodes; n++) {
        means[n] = mean_of_node(samples, n);
        known += isfinite(means[n]) != 0;
        sum += isfinite(means[n]) ? means[n] : 0;
    }
    for (size_t n = 0; n < nodes && known <= DATA_HOSTS; n++) {
        if (isfinite(means[n])) {
            chosen[len++] = n;
        }
    }
    while (known > DATA_HOSTS && len < DATA_HOSTS_ODD) {
        size_t least = 0;
        for (size_t n = 1; n < nodes; n++) {
            if (isfinite(means[n]) && (!isfinite(means[least]) || means[n] < means[least])) {
                least = n;
            }
        }
        if (means[least] > sum / (double)known - ODD_PERCENT) {
            break;
        }
        means[least] = (double)NAN;
        chosen[len++] = least;
    }
    return len;
}

static json_t *node_series(const struct samples *samples, const struct run *run, size_t node)
{
    json_t *object = json_object(), *utilization = json_array(), *memory = json_array();
    json_object_set_new(object, "host", js_text(run->nodes[node].label));
    json_object_set_new(object, "rank", json_integer(run->nodes[node].rank));
    for (size_t i = 0; i < samples->len; i++) {
        const struct sample *sample = &samples->items[i];
        const struct gpu_sample none = GPU_SAMPLE_NONE;
        const struct gpu_sample *at = node < sample->nodes_len ? &sample->nodes[node] : &none;
        json_array_append_new(utilization, number(utilization_of(at)));
        json_array_append_new(memory, number(memory_of(at)));
    }
    json_object_set_new(object, "utilization", utilization);
    json_object_set_new(object, "memory", memory);
    return object;
}

static int64_t largest_gpu(const struct samples *samples)
{
    int64_t largest = -1;
    for (size_t i = 0; i < samples->len; i++) {
        for (size_t n = 0; n < samples->items[i].nodes_len; n++) {
            int64_t bytes = gpu_sample_bytes(samples->items[i].nodes[n].memory_total);
            largest = bytes > largest ? bytes : largest;
        }
    }
    return largest;
}

static json_t *gpus_value(const struct samples *all, const struct run *run)
{
    struct samples samples;
    size_t chosen[DATA_HOSTS];
    if (all->len == 0) {
        return json_null();
    }
    copy_thinned(all, &samples);
    json_t *object = json_object(), *nodes = json_array();
    put_places(object, &samples);
    json_object_set_new(object, "step", json_real((double)samples.step_ms / 1000));
    json_object_set_new(object, "utilization", spread_value(&samples, utilization_of));
    json_object_set_new(object, "memory", spread_value(&samples, memory_of));
    json_object_set_new(object, "memory_total", js_integer(largest_gpu(&samples), -1));
    size_t len = choose_nodes(&samples, run->nodes_len, chosen);
    for (size_t i = 0; i < len; i++) {
        json_array_append_new(nodes, node_series(&samples, run, chosen[i]));
    }
    json_object_set_new(object, "nodes", nodes);
    samples_release(&samples);
    return object;
}

/* --- the run ---------------------------------------------------------------------------------------- */

/* What the nodes have, and what NCCL chose of it. */
static json_t *inventory_value(const struct inventory *inventory)
{
    if (!inventory->known) {
        return json_null();
    }
    json_t *object = json_object(), *links = json_array();
    json_object_set_new(object, "gpus", js_list(&inventory->gpus));
    json_object_set_new(object, "nccl_version", js_text(inventory->nccl_version));
    json_object_set_new(object, "networks", js_list(&inventory->networks));
    json_object_set_new(object, "interfaces", js_list(&inventory->interfaces));
    json_object_set_new(object, "gpu_direct",
                        inventory->direct == INVENTORY_DIRECT_UNKNOWN
                            ? json_null()
                            : json_boolean(inventory->direct == INVENTORY_DIRECT_YES));
    for (size_t i = 0; i < inventory->links_len; i++) {
        json_t *link = json_object();
        json_object_set_new(link, "name", js_text(inventory->links[i].name));
        json_object_set_new(link, "rdma", json_boolean(inventory->links[i].rdma));
        json_object_set_new(link, "gigabits_per_second", number(inventory->links[i].gbps));
        json_array_append_new(links, link);
    }
    json_object_set_new(object, "links", links);
    return object;
}

static json_t *logs_value(const struct run_history *history)
{
    json_t *array = json_array();
    for (size_t i = 0; i < history->logs_len; i++) {
        const struct run_node *node = &history->run.nodes[history->logs[i].node];
        json_t *object = json_object();
        json_object_set_new(object, "host", js_text(node->label));
        json_object_set_new(object, "rank", json_integer(node->rank));
        json_object_set_new(object, "file", js_text(node->log));
        json_object_set_new(object, "text", js_text(history->logs[i].text));
        json_array_append_new(array, object);
    }
    return array;
}

json_t *data_of_run(const struct report_run *view, const struct run_history *history)
{
    json_t *object = report_run_value(view);
    report_diagnosis_put(object, &history->explanation);
    report_recorded_put(object, &history->run);
    json_object_set_new(object, "training", training_value(&history->training));
    json_object_set_new(object, "gpus", gpus_value(&history->gpus, &history->run));
    json_object_set_new(object, "peak_memory",
                        js_integer(samples_peak_memory(&history->gpus, history->run.attempt), -1));
    json_object_set_new(object, "inventory", inventory_value(&history->run.inventory));
    json_object_set_new(object, "logs", logs_value(history));
    json_object_set_new(object, "notes", js_list(&history->notes));
    return object;
}

/* --- reading ---------------------------------------------------------------------------------------- */

const char *data_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

double data_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

int64_t data_time_of(const json_t *value)
{
    struct tm parts = {0};
    const char *text = json_string_value(value);
    if (!text || !strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts)) {
        return 0;
    }
    return (int64_t)timegm(&parts) * 1000;
}

int64_t data_time(const json_t *object, const char *key)
{
    return data_time_of(json_object_get(object, key));
}

size_t data_len(const json_t *object, const char *key)
{
    return json_array_size(json_object_get(object, key));
}

double *data_numbers(const json_t *object, const char *key, size_t *len)
{
    const json_t *array = json_object_get(object, key);
    *len = json_array_size(array);
    double *numbers = xcalloc(*len > 0 ? *len : 1, sizeof(*numbers));
    for (size_t i = 0; i < *len; i++) {
        const json_t *value = json_array_get(array, i);
        numbers[i] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
    return numbers;
}
