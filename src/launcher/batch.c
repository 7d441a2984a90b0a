/* Reads batch sizes from args for programs with the options of the Hugging Face Trainer: batch size per
 * device and gradient accumulation. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "launcher/launcher_internal.h"
#include "model/kind.h"

char *launcher_respell(const char *name, char from, char to)
{
    char *other = xstrdup(name);
    for (char *c = other; *c; c++) {
        *c = *c == from ? to : *c;
    }
    return other;
}

int launcher_read_size(const struct strlist *args, const char *name, unsigned max, unsigned *size,
                       bool *given, struct error *err)
{
    const char *text = NULL;
    uint64_t number = 0;
    *size = 0;
    *given = launcher_find_option(args, name, &text);
    if (!*given) {
        return 0;
    }
    if (!text) {
        error_set(err, &kind_plan, "'--%s' has no value", name);
        return error_hint(err, "give it a whole number from 1 to %u, or leave it out", max);
    }
    if (strstr(text, "${{")) {
        return 0;
    }
    if (!text_to_uint(text, 1, max, &number)) {
        error_set(err, &kind_plan, "'--%s' is '%.80s', allowed: 1 to %u", name, text, max);
        return error_hint(err, "give it a whole number");
    }
    *size = (unsigned)number;
    return 0;
}

/* The name may have underscores or dashes: transformers' parser takes both. */
static int read_any(const struct launch_job *in, const char *name, unsigned *size, bool *given,
                    struct error *err)
{
    AUTO_FREE char *dashed = launcher_respell(name, '_', '-');
    if (launcher_read_size(in->args, name, LAUNCHER_BATCH_MAX, size, given, err)) {
        return -1;
    }
    return *given ? 0 : launcher_read_size(in->args, dashed, LAUNCHER_BATCH_MAX, size, given, err);
}

static int split_sequence(const struct launch_job *in, struct topology_batch *batch, struct error *err)
{
    unsigned sequence;
    bool given;
    batch->split = (struct topology_split){.tensor = 1, .pipeline = 1, .context = 1}; /* no experts */
    if (read_any(in, "sequence_parallel_size", &sequence, &given, err)) {
        return -1;
    }
    if (!in->world_size || (given && !sequence)) {
        return 0;
    }
    unsigned ranks = given ? sequence : 1;
    if (in->world_size % ranks) {
        error_set(err, &kind_plan, "world size %u is not divisible by '--sequence_parallel_size' %u",
                  in->world_size, ranks);
        return error_hint(err, "use a number of processes that %u divides", ranks);
    }
    batch->data_parallel = in->world_size / ranks;
    return 0;
}

int launcher_device_batch(const struct launch_job *in, const struct device_batch *defaults,
                          struct launch_whole *out, struct error *err)
{
    struct topology_batch *batch = &out->batch;
    bool micro_given, accumulation_given;
    if (read_any(in, "per_device_train_batch_size", &batch->micro, &micro_given, err) ||
        read_any(in, "gradient_accumulation_steps", &batch->accumulation, &accumulation_given, err)) {
        return -1;
    }
    if (!micro_given && !accumulation_given) {
        return 0;
    }
    out->has_batch = true;
    if (split_sequence(in, batch, err)) {
        return -1;
    }
    if (!micro_given) {
        batch->micro = defaults->micro;
    }
    if (!accumulation_given && batch->micro && in->world_size) {
        uint64_t step = (uint64_t)batch->micro * in->world_size;
        batch->accumulation = defaults->fill ? (unsigned)((defaults->fill + step - 1) / step) : 1;
    }
    uint64_t global = (uint64_t)batch->micro * batch->accumulation * batch->data_parallel;
    batch->global = global <= LAUNCHER_BATCH_MAX ? (unsigned)global : 0;
    return 0;
}
