/* The progress of a training: merging what several logs report, and the pattern of a program's own lines. */
#include "model/progress.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"

#define GROUPS_MAX 20

const char *const progress_field_names[PROGRESS_FIELDS] = {
    [PROGRESS_ITERATION] = "iteration",
    [PROGRESS_TOTAL] = "total",
    [PROGRESS_LOSS] = "loss",
    [PROGRESS_STEP_TIME] = "step_time",
    [PROGRESS_SAMPLES] = "samples_per_second",
    [PROGRESS_TOKENS] = "tokens_per_second",
    [PROGRESS_TFLOPS] = "tflops_per_gpu",
};

static void take_number(int64_t *to, int64_t from, bool newer)
{
    if (from >= 0 && (newer || *to < 0)) {
        *to = from;
    }
}

static void take_figure(double *to, double from, bool newer)
{
    if (from >= 0 && (newer || *to < 0)) {
        *to = from;
    }
}

/* Tokens are computed from samples if no log reports them: the length of a sample may be in another node's
 * log. */
static void derive_tokens(struct training_progress *to, const struct training_progress *from, bool newer)
{
    bool stale = newer && from->samples_per_second >= 0 && from->tokens_per_second < 0;
    if (to->sequence > 0 && to->samples_per_second >= 0 && (to->tokens_per_second < 0 || stale)) {
        to->tokens_per_second = to->samples_per_second * (double)to->sequence;
    }
}

void progress_merge(struct training_progress *to, const struct training_progress *from)
{
    bool newer = from->iteration >= to->iteration;
    if (!from->known) {
        return;
    }
    to->known = true;
    take_number(&to->iteration, from->iteration, newer);
    take_number(&to->total, from->total, newer);
    take_number(&to->nan, from->nan, from->nan > to->nan);
    take_number(&to->skipped, from->skipped, from->skipped > to->skipped);
    take_number(&to->checkpoint, from->checkpoint, from->checkpoint > to->checkpoint);
    take_number(&to->world_size, from->world_size, newer);
    take_number(&to->global_batch, from->global_batch, newer);
    take_number(&to->sequence, from->sequence, newer);
    take_figure(&to->step_time_s, from->step_time_s, newer);
    take_figure(&to->tokens_per_second, from->tokens_per_second, newer);
    take_figure(&to->samples_per_second, from->samples_per_second, newer);
    take_figure(&to->tflops_per_gpu, from->tflops_per_gpu, newer);
    derive_tokens(to, from, newer);
    if (from->has_loss && (newer || !to->has_loss)) {
        to->has_loss = true;
        to->loss = from->loss;
    }
    to->updated_ms = from->updated_ms > to->updated_ms ? from->updated_ms : to->updated_ms;
    progress_estimate(to);
}

void progress_estimate(struct training_progress *progress)
{
    bool known =
        progress->iteration >= 0 && progress->total >= progress->iteration && progress->step_time_s >= 0;
    progress->eta_s = known ? (double)(progress->total - progress->iteration) * progress->step_time_s : -1;
}

/* --- patterns ----------------------------------------------------------------------------------- */

static int find_field(const char *name, size_t len)
{
    for (int i = 0; i < PROGRESS_FIELDS; i++) {
        if (strlen(progress_field_names[i]) == len && strncmp(progress_field_names[i], name, len) == 0) {
            return i;
        }
    }
    return -1;
}

static int unknown_field(const char *name, size_t len, struct error *err)
{
    AUTO_FREE char *word = xstrndup(name, len);
    const char *nearest = text_nearest(word, progress_field_names, PROGRESS_FIELDS);
    error_set(err, &kind_usage, "unknown group '%s' in a progress pattern", word);
    if (nearest) {
        return error_hint(err, "did you mean '%s'?", nearest);
    }
    return error_hint(
        err, "known groups are iteration, total, loss, step_time, samples_per_second, tokens_per_second and "
             "tflops_per_gpu");
}

/* "(?P<name>" or "(?<name>" at text, which begins with "(?". Returns its length or -1. */
static int take_group(const char *text, unsigned group, struct progress_pattern *out, struct error *err)
{
    const char *name = strncmp(text, "(?P<", 4) == 0  ? text + 4
                       : strncmp(text, "(?<", 3) == 0 ? text + 3
                                                      : NULL;
    const char *end = name ? strchr(name, '>') : NULL;
    if (!end) {
        error_set(err, &kind_usage, "'%.12s' in a progress pattern is not supported", text);
        return error_hint(err, "groups are written (?P<iteration>...) or (...)");
    }
    int field = find_field(name, (size_t)(end - name));
    if (field < 0) {
        return unknown_field(name, (size_t)(end - name), err);
    }
    out->groups[field] = group;
    return (int)(end - text) + 1;
}

/* A backslash and what follows it. False: it is not known. */
static bool add_escape(char c, struct str *posix)
{
    static const struct {
        char letter;
        const char *class;
    } classes[] = {{'d', "[0-9]"}, {'s', "[[:space:]]"}, {'S', "[^[:space:]]"}, {'w', "[A-Za-z0-9_]"}};
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        if (classes[i].letter == c) {
            str_add(posix, classes[i].class);
            return true;
        }
    }
    if (isalnum((unsigned char)c) || c == '\0') {
        return false;
    }
    str_add_char(posix, '\\');
    str_add_char(posix, c);
    return true;
}

static int translate(const char *text, struct progress_pattern *out, struct str *posix, struct error *err)
{
    unsigned groups = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (at[0] == '\\') {
            if (!add_escape(at[1], posix)) {
                error_set(err, &kind_usage, "'%.2s' in a progress pattern is not supported", at);
                return error_hint(err,
                                  "known are \\d, \\s, \\S, \\w and a backslash before a special character");
            }
            at++;
        } else if (at[0] == '(' && ++groups && at[1] == '?') {
            int len = take_group(at, groups, out, err);
            if (len < 0) {
                return -1;
            }
            str_add_char(posix, '(');
            at += len - 1;
        } else {
            str_add_char(posix, *at);
        }
    }
    if (groups > GROUPS_MAX) {
        return error_set(err, &kind_usage, "a progress pattern has %u groups, at most %d", groups,
                         GROUPS_MAX);
    }
    return 0;
}

int progress_pattern_parse(const char *text, struct progress_pattern *out, struct error *err)
{
    AUTO_STR struct str posix = STR_INIT;
    regex_t compiled;
    *out = (struct progress_pattern){0};
    if (translate(text, out, &posix, err) != 0) {
        return -1;
    }
    if (out->groups[PROGRESS_ITERATION] == 0) {
        error_set(err, &kind_usage, "the progress pattern '%s' has no group iteration", text);
        return error_hint(err, "for example: 'step (?P<iteration>\\d+)/(?P<total>\\d+) loss (?P<loss>\\S+)'");
    }
    int code = regcomp(&compiled, str_text(&posix), REG_EXTENDED);
    if (code != 0) {
        char reason[200];
        regerror(code, NULL, reason, sizeof reason);
        error_set(err, &kind_usage, "'%s' is not a valid regular expression: %s", text, reason);
        return error_hint(err, "put a backslash before characters meant as themselves: '\\[', '\\('");
    }
    regfree(&compiled);
    out->posix = str_detach(&posix);
    return 0;
}

void progress_pattern_release(struct progress_pattern *pattern)
{
    free(pattern->posix);
    *pattern = (struct progress_pattern){0};
}
