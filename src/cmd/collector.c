/* Collects the values of which metrics are made. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/collector_internal.h"
#include "report/metrics.h"
#include "run/samples.h"
#include "run/supervisor.h"

#define DAY_MS     (24 * 3600 * INT64_C(1000)) /* a run is shown for this long after its end */
#define ENDED_MAX  200                         /* at most this many ended runs, the latest ones */
#define RECENT_MS  (5 * 60 * INT64_C(1000))    /* older samples of GPUs are not shown */
#define RECENT_TWO 2                           /* unless samples are rarer: then two intervals */

static void drop_gpus(struct collected_gpus *gpus)
{
    free(gpus->run);
    samples_release(&gpus->samples);
}

void collector_release(struct collector *collector)
{
    for (size_t i = 0; i < collector->gpus_len; i++) {
        drop_gpus(&collector->gpus[i]);
    }
    free(collector->gpus);
    *collector = (struct collector){0};
}

/* --- GPUs --------------------------------------------------------------------------------------------- */

static struct collected_gpus *gpus_of(struct collector *collector, const char *run)
{
    for (size_t i = 0; i < collector->gpus_len; i++) {
        if (strcmp(collector->gpus[i].run, run) == 0) {
            return &collector->gpus[i];
        }
    }
    collector->gpus =
        xgrow(collector->gpus, collector->gpus_len, &collector->gpus_cap, sizeof(collector->gpus[0]));
    collector->gpus[collector->gpus_len] = (struct collected_gpus){.run = xstrdup(run)};
    return &collector->gpus[collector->gpus_len++];
}

/* Keep the newest sample alone: a long run has megabytes of them. */
static void keep_newest(struct samples *samples)
{
    for (size_t i = 0; i + 1 < samples->len; i++) {
        free(samples->items[i].nodes);
    }
    if (samples->len > 1) {
        samples->items[0] = samples->items[samples->len - 1];
        samples->len = 1;
    }
}

/* Forget the runs that the last collection did not show. */
static void forget_unused(struct collector *collector)
{
    size_t kept = 0;
    for (size_t i = 0; i < collector->gpus_len; i++) {
        if (collector->gpus[i].used) {
            collector->gpus[kept] = collector->gpus[i];
            collector->gpus[kept++].used = false;
        } else {
            drop_gpus(&collector->gpus[i]);
        }
    }
    collector->gpus_len = kept;
}

/* The newest sample of a live run; NULL: it is of another attempt, or too old. */
static const struct sample *newest_gpus(struct collector *collector, const struct run *run, int64_t now)
{
    const struct run_store *store = &collector->session->store;
    struct collected_gpus *known = gpus_of(collector, run->name);
    int64_t stamp = run_samples_stamp(store, run->name, SAMPLES_GPUS);
    known->used = true;
    if (stamp != known->stamp) {
        samples_release(&known->samples);
        known->stamp = stamp;
        if (run_samples_load(store, run->name, SAMPLES_GPUS, &known->samples, NULL) != 0) {
            samples_release(&known->samples);
        }
        keep_newest(&known->samples);
    }
    const struct samples *samples = &known->samples;
    const struct sample *last = samples->len > 0 ? &samples->items[samples->len - 1] : NULL;
    int64_t recent = RECENT_TWO * samples->step_ms > RECENT_MS ? RECENT_TWO * samples->step_ms : RECENT_MS;
    return last && last->attempt == run->attempt && now - last->time_ms <= recent ? last : NULL;
}

/* --- runs --------------------------------------------------------------------------------------------- */

/* Runs that are shown. Owned. */
struct shown {
    struct run *items;
    size_t len, cap;
};

static int compare_ends(const void *a, const void *b)
{
    const struct run *left = a, *right = b;
    bool left_live = run_state_is_live(left->state), right_live = run_state_is_live(right->state);
    if (left_live != right_live) {
        return left_live ? -1 : 1;
    }
    if (!left_live && left->ended_ms != right->ended_ms) {
        return left->ended_ms > right->ended_ms ? -1 : 1;
    }
    return strcmp(left->name, right->name);
}

static void tell(struct collector *collector, const struct error *err)
{
    struct cmd_call *call = collector->session->call;
    if (collector->tell) {
        failures_add(&call->failures, NULL, err);
        failure_print(err, NULL, call->style.color_err);
    }
}

/* Count all runs. Keep those that are live or ended a short time ago, for now only by their headings. */
static void list_runs(struct collector *collector, int64_t now, struct metrics *metrics, struct shown *shown)
{
    AUTO_STRLIST struct strlist names = STRLIST_INIT;
    struct error err = ERROR_INIT;
    if (run_store_names(&collector->session->store, &names, &err) != 0) {
        tell(collector, &err);
        return;
    }
    for (size_t i = 0; i < names.len; i++) {
        struct run run;
        size_t nodes = 0;
        run_init(&run);
        err = ERROR_INIT;
        if (run_store_load_heading(&collector->session->store, names.items[i], &run, &nodes, &err) != 0) {
            tell(collector, &err);
            continue;
        }
        metrics->states[run.state]++;
        if (!run_state_is_live(run.state) && now - run.ended_ms > DAY_MS) {
            run_release(&run);
            continue;
        }
        shown->items = xgrow(shown->items, shown->len, &shown->cap, sizeof(shown->items[0]));
        shown->items[shown->len++] = run;
    }
    if (shown->len > 0) {
        qsort(shown->items, shown->len, sizeof(shown->items[0]), compare_ends);
    }
}

/* Replace a heading by the whole record. If the run is gone meanwhile, its heading stays. */
static void load_whole(const struct collector *collector, struct run *run)
{
    struct run whole;
    if (run_store_load(&collector->session->store, run->name, &whole, NULL) == 0) {
        run_release(run);
        *run = whole;
    }
}

static void collect(struct collector *collector,
                    void (*report)(const struct metrics *metrics, struct str *out), struct str *out)
{
    struct metrics metrics = {.version = MTLAUNCH_VERSION};
    struct shown shown = {0};
    int64_t now = clock_real_ms();
    list_runs(collector, now, &metrics, &shown);
    AUTO_FREE struct metrics_run *items = xcalloc(shown.len + 1, sizeof(items[0]));
    for (size_t i = 0, ended = 0; i < shown.len; i++) {
        struct run *run = &shown.items[i];
        bool live = run_state_is_live(run->state);
        ended += live ? 0 : 1;
        if (ended > ENDED_MAX) {
            break;
        }
        load_whole(collector, run);
        struct run_supervisor supervisor;
        run_supervisor_find(&collector->session->store, run->name, &supervisor);
        items[metrics.len++] = (struct metrics_run){.run = run, .supervised = supervisor.alive};
        run_supervisor_release(&supervisor);
    }
    for (size_t i = 0; i < metrics.len; i++) {
        bool live = run_state_is_live(items[i].run->state);
        items[i].gpus = live ? newest_gpus(collector, items[i].run, now) : NULL;
    }
    metrics.runs = items;
    report(&metrics, out);
    forget_unused(collector);
    for (size_t i = 0; i < shown.len; i++) {
        run_release(&shown.items[i]);
    }
    free(shown.items);
}

void collector_text(struct collector *collector, struct str *out)
{
    collect(collector, report_metrics_text, out);
}

void collector_json(struct collector *collector, struct str *out)
{
    collect(collector, report_metrics_json, out);
}
