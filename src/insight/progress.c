/* Reads the progress of a training from its log. */
#include "insight/progress.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "insight/lines.h"
#include "progress_internal.h"

#define TIMES 20 /* recent steps whose median is taken */

/* A count that grows line by line. The part of the log that is read may overlap the part before. */
struct tally {
    int64_t earlier; /* as counted up to the iteration that was seen already */
    int64_t here;    /* in this part of the log */
    int64_t later;   /* of these, after that iteration */
};

struct progress_reader {
    struct lines lines;
    struct training_progress progress;
    struct progress_pattern pattern;
    bool has_pattern;
    regex_t compiled;
    unsigned long world_size;
    double times[TIMES];                    /* a ring */
    size_t times_len;                       /* taken in total */
    int64_t first;                          /* iteration whose time was left out; -1: none yet */
    double samples;                         /* of one iteration, by the log; -1: unknown */
    int64_t sequence;                       /* tokens of one sample, by the log; -1: unknown */
    unsigned known_samples, known_sequence; /* the same by the job's arguments; 0: unknown */
    int64_t seen;                           /* last iteration that was counted already; -1: none */
    struct tally nan, skipped;
    struct clean_line line;
    struct samples *series; /* NULL: not kept */
    unsigned attempt;
};

struct progress_reader *progress_reader_new(const char *pattern, unsigned long world_size)
{
    struct progress_reader *reader = xcalloc(1, sizeof(*reader));
    reader->progress = PROGRESS_NONE;
    reader->world_size = world_size;
    reader->first = reader->sequence = reader->seen = -1;
    reader->samples = -1;
    lines_init(&reader->lines);
    if (pattern && progress_pattern_parse(pattern, &reader->pattern, NULL) == 0) {
        reader->has_pattern = regcomp(&reader->compiled, reader->pattern.posix, REG_EXTENDED) == 0;
    }
    return reader;
}

void progress_reader_set_step(struct progress_reader *reader, unsigned global_batch, unsigned sequence)
{
    reader->known_samples = global_batch;
    reader->known_sequence = sequence;
}

void progress_reader_set_seen(struct progress_reader *reader, const struct training_progress *seen)
{
    reader->seen = seen->iteration;
    reader->nan.earlier = seen->nan > 0 ? seen->nan : 0;
    reader->skipped.earlier = seen->skipped > 0 ? seen->skipped : 0;
}

void progress_reader_keep(struct progress_reader *reader, struct samples *series, unsigned attempt)
{
    reader->series = series;
    reader->attempt = attempt;
}

static double samples_of_step(const struct progress_reader *reader)
{
    return reader->samples > 0 ? reader->samples : (double)reader->known_samples;
}

/* -1: unknown. */
static int64_t tokens_of_sample(const struct progress_reader *reader)
{
    if (reader->sequence <= 0 && reader->known_sequence == 0) {
        return -1;
    }
    return reader->sequence > 0 ? reader->sequence : (int64_t)reader->known_sequence;
}

/* --- steps -------------------------------------------------------------------------------------- */

/*
 * The first iteration seen includes the start-up, or the time before this part of the log: it does not count
 * towards the median.
 */
static void take_time(struct progress_reader *reader, const struct step *step)
{
    if (step->time_is_mean) {
        reader->progress.step_time_s = step->time_s;
        return;
    }
    if (reader->first < 0) {
        reader->first = step->iteration;
        reader->progress.step_time_s = step->time_s;
        return;
    }
    if (step->iteration > reader->first) {
        reader->times[reader->times_len++ % TIMES] = step->time_s;
    }
}

/* Count more of something, and set total to the whole. */
static void count(const struct progress_reader *reader, struct tally *tally, int64_t more, int64_t *total)
{
    tally->here += more;
    tally->later += reader->progress.iteration > reader->seen ? more : 0;
    int64_t whole = tally->earlier + tally->later;
    *total = whole > tally->here ? whole : tally->here;
}

static void count_failed(struct progress_reader *reader, const struct step *step)
{
    struct training_progress *progress = &reader->progress;
    if (step->nan >= 0 || step->loss_is_nan) {
        count(reader, &reader->nan, step->nan >= 0 ? step->nan : 1, &progress->nan);
    }
    if (step->newly_skipped >= 0) {
        count(reader, &reader->skipped, step->newly_skipped, &progress->skipped);
    } else if (step->skipped >= 0) {
        progress->skipped = step->skipped;
    }
}

static void take_step(struct progress_reader *reader, const struct step *step)
{
    struct training_progress *progress = &reader->progress;
    bool bar_of_other = step->total >= 0 && progress->total > step->total &&
                        step->iteration < progress->iteration && !step->has_loss;
    if (bar_of_other) {
        return; /* an evaluation within the training */
    }
    progress->known = true;
    progress->iteration = step->iteration >= 0 ? step->iteration : progress->iteration;
    progress->total = step->total >= 0 ? step->total : progress->total;
    progress->checkpoint = step->checkpoint >= 0 ? step->checkpoint : progress->checkpoint;
    progress->world_size = step->world_size >= 0 ? step->world_size : progress->world_size;
    progress->tflops_per_gpu = step->tflops_per_gpu >= 0 ? step->tflops_per_gpu : progress->tflops_per_gpu;
    count_failed(reader, step);
    if (step->has_loss) {
        progress->has_loss = true;
        progress->loss = step->loss;
    }
    if (step->time_s >= 0) {
        take_time(reader, step);
    }
    progress->samples_per_second =
        step->samples_per_second >= 0 ? step->samples_per_second : progress->samples_per_second;
    progress->tokens_per_second =
        step->tokens_per_second >= 0 ? step->tokens_per_second : progress->tokens_per_second;
    if (step->tokens_per_second_per_gpu >= 0 && reader->world_size > 0) {
        progress->tokens_per_second = step->tokens_per_second_per_gpu * (double)reader->world_size;
    }
    reader->samples = step->samples >= 0 ? step->samples : reader->samples;
    reader->sequence = step->sequence >= 0 ? step->sequence : reader->sequence;
    if (reader->series) {
        struct sample point =
            progress_point(step, samples_of_step(reader), tokens_of_sample(reader), reader->world_size);
        if (step->iteration == reader->first) {
            point.numbers[SAMPLE_STEP_TIME] = (double)NAN; /* it includes the start-up */
        }
        point.iteration = progress->iteration;
        point.attempt = reader->attempt;
        progress_series_add(reader->series, &point);
    }
}

/* --- the program's own pattern ------------------------------------------------------------------ */

static double group_number(const struct progress_reader *reader, const regmatch_t *groups,
                           enum progress_field field)
{
    unsigned group = reader->pattern.groups[field];
    if (group == 0 || groups[group].rm_so < 0) {
        return (double)NAN;
    }
    AUTO_FREE char *text = xstrndup(reader->line.text + groups[group].rm_so,
                                    (size_t)(groups[group].rm_eo - groups[group].rm_so));
    char *end = NULL;
    double value = strtod(text, &end);
    return end == text ? (double)NAN : value;
}

static double positive(double value)
{
    return isfinite(value) && value >= 0 ? value : -1;
}

static bool parse_own(const struct progress_reader *reader, struct step *step)
{
    regmatch_t groups[24];
    if (regexec(&reader->compiled, reader->line.text, ARRAY_LEN(groups), groups, 0) != 0) {
        return false;
    }
    double loss = group_number(reader, groups, PROGRESS_LOSS);
    double iteration = positive(group_number(reader, groups, PROGRESS_ITERATION));
    double total = positive(group_number(reader, groups, PROGRESS_TOTAL));
    step->iteration = iteration < 1e15 ? (int64_t)iteration : -1;
    step->total = total < 1e15 ? (int64_t)total : -1;
    step->has_loss = isfinite(loss);
    step->loss_is_nan = !step->has_loss && reader->pattern.groups[PROGRESS_LOSS] > 0;
    step->loss = step->has_loss ? loss : 0;
    step->time_s = positive(group_number(reader, groups, PROGRESS_STEP_TIME));
    step->samples_per_second = positive(group_number(reader, groups, PROGRESS_SAMPLES));
    step->tokens_per_second = positive(group_number(reader, groups, PROGRESS_TOKENS));
    step->tflops_per_gpu = positive(group_number(reader, groups, PROGRESS_TFLOPS));
    return step->iteration >= 0;
}

/* --- lines -------------------------------------------------------------------------------------- */

static void read_stretch(struct progress_reader *reader, const char *bytes, size_t len)
{
    struct step step = STEP_NONE;
    bool cleaned = false;
    for (size_t i = 0; i < progress_formats_len; i++) {
        const struct progress_format *format = &progress_formats[i];
        if ((format->guess && reader->has_pattern) ||
            !memmem(bytes, len, format->literal, strlen(format->literal))) {
            continue;
        }
        if (!cleaned) {
            clean_line(bytes, len, &reader->line);
            cleaned = true;
        }
        step = STEP_NONE;
        if (format->parse(reader->line.text, &step)) {
            take_step(reader, &step);
            return;
        }
    }
    if (reader->has_pattern && len > 0) {
        clean_line(bytes, len, &reader->line);
        step = STEP_NONE;
        if (parse_own(reader, &step)) {
            take_step(reader, &step);
        }
    }
}

static void take_piece(void *ctx, const struct line_piece *piece)
{
    struct progress_reader *reader = ctx;
    const char *at = piece->bytes;
    const char *end = at + piece->len;
    while (at < end) {
        const char *cr = memchr(at, '\r', (size_t)(end - at));
        size_t len = cr ? (size_t)(cr - at) : (size_t)(end - at);
        read_stretch(reader, at, len);
        at += len + 1;
    }
}

void progress_list_said_once(struct strlist *literals)
{
    for (size_t i = 0; i < progress_formats_len; i++) {
        if (progress_formats[i].said_once) {
            strlist_add(literals, progress_formats[i].literal);
        }
    }
}

void progress_reader_feed(struct progress_reader *reader, const char *bytes, size_t len)
{
    lines_feed(&reader->lines, bytes, len, take_piece, reader);
}

static int compare_times(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static double median_time(struct progress_reader *reader)
{
    size_t len = reader->times_len < TIMES ? reader->times_len : TIMES;
    if (len == 0) {
        return reader->progress.step_time_s;
    }
    qsort(reader->times, len, sizeof(reader->times[0]), compare_times);
    return len % 2 ? reader->times[len / 2] : (reader->times[len / 2 - 1] + reader->times[len / 2]) / 2;
}

/* Derive the rates from the duration of a step, its samples and their tokens. */
static void derive_rates(const struct progress_reader *reader, struct training_progress *progress)
{
    double samples = samples_of_step(reader);
    progress->global_batch = samples > 0 ? (int64_t)samples : -1;
    progress->sequence = tokens_of_sample(reader);
    if (samples > 0 && progress->step_time_s > 0 && progress->samples_per_second < 0) {
        progress->samples_per_second = samples / progress->step_time_s;
    } else if (samples > 0 && progress->step_time_s < 0 && progress->samples_per_second > 0) {
        progress->step_time_s = samples / progress->samples_per_second;
    }
    if (progress->tokens_per_second < 0 && progress->sequence > 0 && progress->samples_per_second > 0) {
        progress->tokens_per_second = progress->samples_per_second * (double)progress->sequence;
    }
}

void progress_reader_end(struct progress_reader *reader, struct training_progress *out)
{
    struct training_progress *progress = &reader->progress;
    lines_end(&reader->lines, true, take_piece, reader);
    progress->step_time_s = median_time(reader);
    derive_rates(reader, progress);
    progress_estimate(progress);
    *out = *progress;
    lines_release(&reader->lines);
    if (reader->has_pattern) {
        regfree(&reader->compiled);
    }
    progress_pattern_release(&reader->pattern);
    free(reader);
}
