/* The formats of progress lines, one row each. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "progress_internal.h"

/*
 * Read the number at text, after blanks and quotes, without thousands separators. Returns false if there is
 * none, or if it is not a number (nan is set).
 */
static bool read_number(const char *text, double *value, bool *nan)
{
    char digits[40];
    size_t len = 0;
    text += strspn(text, " :='\"");
    for (; *text != '\0' && len < sizeof digits - 1; text++) {
        if (isalnum((unsigned char)*text) || *text == '.' || *text == '-' || *text == '+') {
            digits[len++] = *text;
        } else if (*text != ',' || !isdigit((unsigned char)text[1])) {
            break;
        }
    }
    digits[len] = '\0';
    char *end = NULL;
    double number = strtod(digits, &end);
    if (end == digits) {
        return false;
    }
    if (!isfinite(number)) {
        *nan = true;
        return false;
    }
    *value = number;
    return true;
}

static bool number_after(const char *text, const char *key, double *value)
{
    bool nan = false;
    const char *at = strstr(text, key);
    return at && read_number(at + strlen(key), value, &nan);
}

static bool whole_after(const char *text, const char *key, int64_t *value)
{
    double number = 0;
    if (!number_after(text, key, &number) || number < 0 || number > 1e15) {
        return false;
    }
    *value = (int64_t)number;
    return true;
}

static void take_loss(const char *at, struct step *step)
{
    step->has_loss = read_number(at, &step->loss, &step->loss_is_nan);
}

/* "5/  20" or "'5/20'" */
static bool read_fraction(const char *text, struct step *step)
{
    char *end = NULL;
    text += strspn(text, " '\":");
    long long iteration = strtoll(text, &end, 10);
    if (end == text || *end != '/') {
        return false;
    }
    const char *total_text = end + 1;
    long long total = strtoll(total_text, &end, 10);
    if (end == total_text || iteration < 0 || total < 0) {
        return false;
    }
    step->iteration = iteration;
    step->total = total;
    return true;
}

/*
 * megatron/training/training.py, training_log. Fields come and go with versions and options, so each is found
 * by name.
 */
static bool parse_megatron(const char *text, struct step *step)
{
    const char *at = strstr(text, "iteration ");
    double ms = 0;
    if (!at || !read_fraction(at + strlen("iteration "), step)) {
        return false;
    }
    if (number_after(text, "elapsed time per iteration (ms): ", &ms)) {
        step->time_s = ms / 1000;
    }
    number_after(text, "throughput per GPU (TFLOP/s/GPU): ", &step->tflops_per_gpu);
    number_after(text, "global batch size: ", &step->samples);
    whole_after(text, "number of skipped iterations: ", &step->newly_skipped);
    whole_after(text, "number of nan iterations: ", &step->nan);
    const char *loss = strstr(text, "lm loss: ");
    if (loss) {
        take_loss(loss + strlen("lm loss: "), step);
    } else {
        step->loss_is_nan = strstr(text, "learning rate: ") && !strstr(text, "loss: ");
    }
    return true;
}

static bool parse_megatron_saved(const char *text, struct step *step)
{
    return whole_after(text, "successfully saved checkpoint from iteration ", &step->checkpoint);
}

static bool parse_megatron_world(const char *text, struct step *step)
{
    return whole_after(text, "using world size: ", &step->world_size);
}

static bool parse_megatron_sequence(const char *text, struct step *step)
{
    const char *at = text + strspn(text, " ");
    if (!text_starts(at, "seq_length .")) {
        return false;
    }
    return whole_after(at + strlen("seq_length "), " ", &step->sequence);
}

/*
 * The dict of transformers' Trainer and ms-swift, with values bare or quoted. Durations ("4m 6s") are not
 * read.
 */
static bool parse_dict(const char *text, struct step *step)
{
    const char *at = strstr(text, "'loss': ");
    double rate = 0;
    if (!at || !strchr(text, '{')) {
        return false;
    }
    take_loss(at + strlen("'loss': "), step);
    const char *fraction = strstr(text, "'global_step/max_steps': ");
    if (fraction) {
        read_fraction(fraction + strlen("'global_step/max_steps': "), step);
    }
    fraction = strstr(text, "'iteration': ");
    if (fraction) {
        read_fraction(fraction + strlen("'iteration': "), step);
    }
    if (number_after(text, "'train_speed(s/it)': ", &rate)) {
        step->time_s = rate;
        step->time_is_mean = true;
    } else if (number_after(text, "'train_speed(iter/s)': ", &rate) && rate > 0) {
        step->time_s = 1 / rate;
        step->time_is_mean = true;
    }
    return true;
}

/* The two rates of the whole training give the samples of a step, apart from rounding. */
static bool parse_dict_end(const char *text, struct step *step)
{
    double steps = 0;
    if (!number_after(text, "'train_samples_per_second': ", &step->samples_per_second)) {
        return false;
    }
    if (number_after(text, "'train_steps_per_second': ", &steps) && steps > 0) {
        double samples = step->samples_per_second / steps;
        double whole = samples < 1e9 ? (double)(int64_t)(samples + 0.5) : 0;
        bool near = samples < whole * 1.01 && samples > whole * 0.99;
        step->samples = near ? whole : -1;
    }
    return true;
}

/* Is the description before the bar empty, or does it name the training? */
static bool is_training_bar(const char *text, const char *percent)
{
    size_t len = (size_t)(percent - text);
    while (len > 0 && (text[len - 1] == ' ' || isdigit((unsigned char)text[len - 1]))) {
        len--;
    }
    text += strspn(text, " ");
    if (len == 0 || text >= percent || isdigit((unsigned char)*text)) {
        return len == 0 || strchr(text, '|'); /* "1|10|Loss: 1.2:   5%|" as torchtune has it */
    }
    AUTO_FREE char *name = xstrndup(text, len);
    text_lower(name);
    return strstr(name, "epoch") || strstr(name, "train") || strstr(name, "step") || strstr(name, "iter");
}

/* tqdm: "  5%|▌         | 50/1000 [04:06<1:18:08,  4.94s/it, loss=1.2]" */
static bool parse_tqdm(const char *text, struct step *step)
{
    const char *percent = strstr(text, "%|");
    const char *bar = percent ? strchr(percent + 2, '|') : NULL;
    const char *times = bar ? strchr(bar, '[') : NULL;
    double rate = 0;
    if (!times || !is_training_bar(text, percent) || !read_fraction(bar + 1, step)) {
        return false;
    }
    const char *comma = strchr(times, ',');
    const char *unit = comma ? comma + 1 + strspn(comma + 1, " 0123456789.") : "";
    bool nan = false;
    if (comma && read_number(comma + 1, &rate, &nan) && rate > 0) {
        step->time_s = text_starts(unit, "s/it") ? rate : text_starts(unit, "it/s") ? 1 / rate : -1;
    }
    const char *loss = strstr(times, "loss=");
    loss = loss                     ? loss + strlen("loss=")
           : strstr(text, "Loss: ") ? strstr(text, "Loss: ") + strlen("Loss: ")
                                    : NULL;
    if (loss) {
        take_loss(loss, step);
    }
    return true;
}

/* deepspeed/runtime/engine.py, utils/timer.py */
static bool parse_deepspeed_step(const char *text, struct step *step)
{
    const char *at = strstr(text, "] step=");
    if (!at || !strstr(text, "lr=")) {
        return false;
    }
    whole_after(text, "skipped=", &step->skipped);
    return whole_after(at, "step=", &step->iteration);
}

static bool parse_deepspeed_rate(const char *text, struct step *step)
{
    whole_after(text, "global_step=", &step->iteration);
    return number_after(text, "CurrSamplesPerSec=", &step->samples_per_second);
}

/* torchtitan/components/metrics.py: "step: 10  loss:  4.1  grad_norm: …  memory: …  tps: 5,123  tflops:
 * 300.10  mfu: …" */
static bool parse_torchtitan(const char *text, struct step *step)
{
    const char *loss = strstr(text, "loss: ");
    if (!loss || !whole_after(text, "step: ", &step->iteration)) {
        return false;
    }
    take_loss(loss + strlen("loss: "), step);
    if (!number_after(text, "tps: ", &step->tokens_per_second_per_gpu)) {
        number_after(text, "wps: ", &step->tokens_per_second_per_gpu);
    }
    number_after(text, "tflops: ", &step->tflops_per_gpu);
    return true;
}

static bool parse_torchtitan_start(const char *text, struct step *step)
{
    number_after(text, "global batch size ", &step->samples);
    whole_after(text, "sequence length ", &step->sequence);
    return whole_after(text, "total steps ", &step->total);
}

/* torchtune/training/metric_logging.py: "Step 10 | loss:1.23 lr:0.0003 tokens_per_second_per_gpu:1234.5" */
static bool parse_torchtune(const char *text, struct step *step)
{
    const char *at = strstr(text, "Step ");
    const char *loss = strstr(text, "loss:");
    if (!at || !loss || !whole_after(at, "Step ", &step->iteration)) {
        return false;
    }
    take_loss(loss + strlen("loss:"), step);
    number_after(text, "tokens_per_second_per_gpu:", &step->tokens_per_second_per_gpu);
    return true;
}

/* Hand-written training loops often print "step 31/60 loss 0.3406 0.050 s/step". */
static bool parse_plain(const char *text, struct step *step)
{
    const char *at = strcasestr(text, "step ");
    const char *loss = strcasestr(text, "loss");
    const char *rate = strstr(text, " s/step");
    if (!at || !loss || !read_fraction(at + strlen("step "), step)) {
        return false;
    }
    take_loss(loss + strlen("loss"), step);
    if (rate) {
        while (rate > text && (isdigit((unsigned char)rate[-1]) || rate[-1] == '.')) {
            rate--;
        }
        step->time_s = strtod(rate, NULL);
    }
    return true;
}

const struct progress_format progress_formats[] = {
    {"megatron", "elapsed time per iteration (ms): ", parse_megatron, false, false},
    {"megatron-saved", "successfully saved checkpoint from iteration ", parse_megatron_saved, false, false},
    {"megatron-world", "using world size: ", parse_megatron_world, true, false},
    {"megatron-sequence", "seq_length .", parse_megatron_sequence, true, false},
    {"dict", "'loss': ", parse_dict, false, false},
    {"dict-end", "'train_samples_per_second': ", parse_dict_end, false, false},
    {"tqdm", "%|", parse_tqdm, false, false},
    {"deepspeed-step", "] step=", parse_deepspeed_step, false, false},
    {"deepspeed-rate", "CurrSamplesPerSec=", parse_deepspeed_rate, false, false},
    {"torchtitan", "step: ", parse_torchtitan, false, false},
    {"torchtitan-start", "total steps ", parse_torchtitan_start, true, false},
    {"plain", "step ", parse_plain, false, true},
    {"plain-title", "Step ", parse_plain, false, true},
    {"torchtune", "Step ", parse_torchtune, false, false},
};
const size_t progress_formats_len = ARRAY_LEN(progress_formats);
