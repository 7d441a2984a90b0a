/*
 * Drives a notifier on a fleet's loop, as a supervisor does, and prints what the tests ask about:
 *     notify_drive [OPTION VALUE]... URL...
 * One JSON object on stdout: {send_us: the longest notifier_send, gap_ms: the longest the loop stood still,
 * run_ms: how long the loop was run, drain_ms, left, problems: […]}.
 */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "report/notify.h"
#include "transport/fleet.h"

#define TICK_MS 10

struct drive {
    struct fleet *fleet;
    struct notifier *notifier;
    json_t *problems;
    int64_t last_tick_ms, until_ms, gap_ms;
    bool run_until_delivered;
};

struct words {
    const char *event, *format, *reason, *ca_file, *http, *count;
    const char *run_ms, *drain_ms, *try_ms, *total_ms, *backoff_ms, *retry_after_max_ms;
    struct strlist secrets, lines;
};

static unsigned number(const char *text, unsigned otherwise)
{
    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void on_problem(void *ctx, const char *text)
{
    json_array_append_new(ctx, json_string(text));
}

static void on_tick(void *ctx)
{
    struct drive *drive = ctx;
    int64_t now = clock_mono_ms();
    if (now - drive->last_tick_ms > drive->gap_ms) {
        drive->gap_ms = now - drive->last_tick_ms;
    }
    drive->last_tick_ms = now;
    if (now < drive->until_ms && !(drive->run_until_delivered && notifier_waiting(drive->notifier) == 0)) {
        fleet_timer(drive->fleet, TICK_MS, on_tick, drive);
    }
}

static unsigned find_name(const char *name, const char *const *names, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    fprintf(stderr, "notify_drive: unknown word '%s'\n", name);
    exit(2);
}

static int read_words(struct words *words, int argc, char **argv)
{
    const struct {
        const char *name;
        const char **value;
    } options[] = {
        {"--event", &words->event},           {"--format", &words->format},
        {"--reason", &words->reason},         {"--ca", &words->ca_file},
        {"--allow-http", &words->http},       {"--count", &words->count},
        {"--run-ms", &words->run_ms},         {"--drain-ms", &words->drain_ms},
        {"--try-ms", &words->try_ms},         {"--total-ms", &words->total_ms},
        {"--backoff-ms", &words->backoff_ms}, {"--cap-ms", &words->retry_after_max_ms},
    };
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "--secret") == 0) {
            strlist_add(&words->secrets, argv[at + 1]);
        }
        if (strcmp(argv[at], "--line") == 0) {
            strlist_add(&words->lines, argv[at + 1]);
        }
        for (size_t i = 0; i < ARRAY_LEN(options); i++) {
            if (strcmp(argv[at], options[i].name) == 0) {
                *options[i].value = argv[at + 1];
            }
        }
    }
    return at;
}

static int64_t send_all(const struct drive *drive, const struct words *words)
{
    int64_t longest_us = 0;
    for (unsigned i = 0; i < number(words->count, 1); i++) {
        AUTO_FREE char *run = xasprintf("r%u", i);
        const struct notify_event event = {
            .kind = (enum notify_event_kind)find_name(words->event ? words->event : "failed",
                                                      notify_event_names, NOTIFY_EVENTS),
            .time_ms = clock_real_ms(),
            .run = run,
            .job = "job",
            .run_id = "r-0123abcd",
            .attempt = 1,
            .reason = words->reason,
            .exit_status = 3,
            .lines = &words->lines,
        };
        struct timespec before, after;
        clock_gettime(CLOCK_MONOTONIC, &before);
        notifier_send(drive->notifier, &event);
        clock_gettime(CLOCK_MONOTONIC, &after);
        int64_t us = (after.tv_sec - before.tv_sec) * 1000000 + (after.tv_nsec - before.tv_nsec) / 1000;
        longest_us = us > longest_us ? us : longest_us;
    }
    return longest_us;
}

static void run_it(struct drive *drive, const struct words *words)
{
    struct error err = ERROR_INIT;
    unsigned run_ms = number(words->run_ms, 0);
    drive->run_until_delivered = run_ms > 0;
    if (fleet_background(drive->fleet, notifier_fd(drive->notifier), notifier_ready, drive->notifier, &err) !=
        0) {
        fprintf(stderr, "notify_drive: %s\n", err.text);
        exit(2);
    }
    int64_t send_us = send_all(drive, words);
    int64_t begin_ms = clock_mono_ms();
    drive->last_tick_ms = begin_ms;
    drive->until_ms = begin_ms + run_ms;
    on_tick(drive);
    fleet_run(drive->fleet); /* returns although notifications wait */
    int64_t ran_ms = clock_mono_ms() - begin_ms;
    fleet_background_end(drive->fleet, notifier_fd(drive->notifier));
    begin_ms = clock_mono_ms();
    size_t left = notifier_drain(drive->notifier, number(words->drain_ms, NOTIFIER_DRAIN_MS));
    json_t *answer = json_pack("{s:I, s:I, s:I, s:I, s:I, s:O}", "send_us", (json_int_t)send_us, "gap_ms",
                               (json_int_t)drive->gap_ms, "run_ms", (json_int_t)ran_ms, "drain_ms",
                               (json_int_t)(clock_mono_ms() - begin_ms), "left", (json_int_t)left, "problems",
                               drive->problems);
    json_dumpf(answer, stdout, JSON_COMPACT);
    json_decref(answer);
}

int main(int argc, char **argv)
{
    struct words words = {0};
    struct notify_targets targets = {0};
    struct error err = ERROR_INIT;
    struct drive drive = {.problems = json_array(), .fleet = fleet_new(NULL, &err)};
    for (int i = read_words(&words, argc, argv); i < argc; i++) {
        struct notify_target *target = notify_targets_add(&targets, argv[i]);
        target->on = ~0U;
        target->allow_http = words.http != NULL;
        target->format = (enum notify_format_id)find_name(words.format ? words.format : "json",
                                                          notify_format_names, NOTIFY_FORMATS);
    }
    const struct notifier_options options = {
        .secrets = &words.secrets,
        .ca_file = words.ca_file,
        .problem = on_problem,
        .ctx = drive.problems,
        .try_ms = number(words.try_ms, 0),
        .total_ms = number(words.total_ms, 0),
        .backoff_ms = number(words.backoff_ms, 0),
        .retry_after_max_ms = number(words.retry_after_max_ms, 0),
    };
    drive.notifier = notifier_new(&targets, &options, &err);
    if (!drive.notifier || !drive.fleet) {
        fprintf(stderr, "notify_drive: %s\n", err.text);
        return 2;
    }
    run_it(&drive, &words);
    notifier_free(drive.notifier);
    fleet_free(drive.fleet);
    notify_targets_release(&targets);
    strlist_release(&words.secrets);
    strlist_release(&words.lines);
    json_decref(drive.problems);
    return 0;
}
