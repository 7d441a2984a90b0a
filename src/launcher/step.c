/* The samples and tokens of a training step, as far as the job's arguments state them exactly. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "launcher/launcher_internal.h"

#define SEQUENCE_MAX (1u << 30)

/* --NAME with underscores or dashes. */
static bool find(const struct strlist *args, const char *name, const char **value)
{
    AUTO_FREE char *dashed = launcher_respell(name, '_', '-');
    return launcher_find_option(args, name, value) || launcher_find_option(args, dashed, value);
}

/* 0: it is not given, or not a number. Nothing is refused here. */
static unsigned number(const struct strlist *args, const char *name, unsigned max)
{
    const char *text = NULL;
    uint64_t value = 0;
    return find(args, name, &text) && text && text_to_uint(text, 1, max, &value) ? (unsigned)value : 0;
}

/* For programs that cut texts into samples of one length, and for ms-swift when it packs samples. */
static unsigned read_sequence(const struct strlist *args)
{
    static const char *const names[] = {"seq_length", "sequence_length", "seq_len", "block_size"};
    const char *packing = NULL;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        unsigned length = number(args, names[i], SEQUENCE_MAX);
        if (length) {
            return length;
        }
    }
    bool packed = find(args, "packing", &packing) && (!packing || strcmp(packing, "true") == 0);
    return packed ? number(args, "max_length", SEQUENCE_MAX) : 0;
}

void launcher_read_step(const struct launch_job *in, const struct launch_whole *whole,
                        struct launch_step *out)
{
    *out = (struct launch_step){.sequence = read_sequence(in->args)};
    if (whole->has_batch) {
        out->global_batch = whole->batch.global;
        return;
    }
    /* A program of the Hugging Face Trainer under a launcher that does not know it. */
    uint64_t micro = number(in->args, "per_device_train_batch_size", LAUNCHER_BATCH_MAX);
    uint64_t accumulation = number(in->args, "gradient_accumulation_steps", LAUNCHER_BATCH_MAX);
    bool open = find(in->args, "gradient_accumulation_steps", NULL) && accumulation == 0;
    uint64_t step = micro * (accumulation ? accumulation : 1);
    if (!open && step > 0 && in->world_size > 0 && step <= LAUNCHER_BATCH_MAX / in->world_size) {
        out->global_batch = (unsigned)step * in->world_size;
    }
}
