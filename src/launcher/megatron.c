/*
 * megatron: torchrun around a program that takes Megatron-LM's options (pretrain_gpt.py). The sizes in args
 * are worked out before the start, and zero_stage becomes options. Facts: megatron/training/arguments.py of
 * core_v0.12 to core_v0.19.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "launcher/launcher_internal.h"
#include "model/kind.h"

#define SIZE_MAX_PARALLEL (1u << 20)

static const char connections[] = "CUDA_DEVICE_MAX_CONNECTIONS";
static const char strategy_option[] = "data-parallel-sharding-strategy";

/* Options that shard by FSDP: Megatron's from 0.14 on, its form in 0.12 and 0.13, and torch's. */
static const char *const fsdp_switches[] = {"use-megatron-fsdp", "use-custom-fsdp", "use-torch-fsdp2"};

/* The strategy of each ZeRO stage. All releases that have the option use these names. */
static const char *const strategies[] = {"no_shard", "optim", "optim_grads", "optim_grads_params"};

static bool has(const struct strlist *args, const char *name)
{
    return launcher_find_option(args, name, NULL);
}

static const char *fsdp_switch(const struct strlist *args)
{
    for (size_t i = 0; i < ARRAY_LEN(fsdp_switches); i++) {
        if (has(args, fsdp_switches[i])) {
            return fsdp_switches[i];
        }
    }
    return NULL;
}

/* --- sizes -------------------------------------------------------------------------------------- */

/* The job, and the defaults and spelling of its sizes. */
struct sizes {
    const struct launch_job *in;
    const struct megatron_batch *defaults;
    struct strlist *warnings;
};

/* The name with underscores is read too, with a warning if the program does not take it. */
static int read_size(const struct sizes *sizes, const char *name, unsigned max, unsigned *size, bool *given,
                     struct error *err)
{
    const struct strlist *args = sizes->in->args;
    AUTO_FREE char *other = launcher_respell(name, '-', '_');
    if (has(args, name) || !has(args, other)) {
        return launcher_read_size(args, name, max, size, given, err);
    }
    if (!sizes->defaults->any_spelling) {
        strlist_addf(sizes->warnings, "Megatron-LM knows no '--%s'; it spells it '--%s'", other, name);
    }
    return launcher_read_size(args, other, max, size, given, err);
}

static int read_parallel(const struct sizes *sizes, const char *name, unsigned missing, unsigned *size,
                         struct error *err)
{
    bool given;
    if (read_size(sizes, name, SIZE_MAX_PARALLEL, size, &given, err)) {
        return -1;
    }
    if (!given) {
        *size = missing;
    }
    return 0;
}

/* Options that change what the sizes mean. With one of them nothing is computed, and a warning says so. */
static const char *find_unknown_split(const struct strlist *args)
{
    static const char *const names[] = {
        "yaml-cfg", "tensor-parallel-num-weight-shards", "expert-tensor-parallel-num-weight-shards",
        "encoder-tensor-model-parallel-size", "encoder-pipeline-model-parallel-size"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (has(args, names[i])) {
            return names[i];
        }
    }
    return NULL;
}

static int check_experts(const struct sizes *sizes, const struct topology_split *split, struct error *err)
{
    unsigned experts;
    bool given;
    if (read_size(sizes, "num-experts", SIZE_MAX_PARALLEL, &experts, &given, err)) {
        return -1;
    }
    if (split->expert > 1 && !given && !sizes->defaults->model_elsewhere) {
        error_set(err, &kind_plan, "'--expert-model-parallel-size' is %u without '--num-experts'",
                  split->expert);
        return error_hint(err, "give --num-experts, or leave --expert-model-parallel-size out");
    }
    if (experts && split->expert && experts % split->expert) {
        error_set(err, &kind_plan,
                  "'--num-experts' is %u, not divisible by '--expert-model-parallel-size' %u", experts,
                  split->expert);
        return error_hint(err, "use a multiple of %u experts, or another expert parallel size",
                          split->expert);
    }
    return 0;
}

static int split_world(const struct sizes *sizes, struct topology_batch *batch, struct error *err)
{
    struct topology_split *split = &batch->split;
    if (read_parallel(sizes, "tensor-model-parallel-size", 1, &split->tensor, err) ||
        read_parallel(sizes, "pipeline-model-parallel-size", 1, &split->pipeline, err) ||
        read_parallel(sizes, "context-parallel-size", 1, &split->context, err) ||
        read_parallel(sizes, "expert-model-parallel-size", 1, &split->expert, err) ||
        read_parallel(sizes, "expert-tensor-parallel-size", split->tensor, &split->expert_tensor, err) ||
        check_experts(sizes, split, err)) {
        return -1;
    }
    if (!sizes->in->world_size || !split->tensor || !split->pipeline || !split->context || !split->expert ||
        !split->expert_tensor) {
        return 0;
    }
    batch->data_parallel = topology_split_world(split, sizes->in->world_size, err);
    return batch->data_parallel ? 0 : -1;
}

static int split_batch(const struct sizes *sizes, struct topology_batch *batch, struct error *err)
{
    static const char *const changing[] = {"rampup-batch-size", "step-batch-size-schedule"};
    bool micro_given, global_given;
    if (read_size(sizes, "micro-batch-size", LAUNCHER_BATCH_MAX, &batch->micro, &micro_given, err) ||
        read_size(sizes, "global-batch-size", LAUNCHER_BATCH_MAX, &batch->global, &global_given, err)) {
        return -1;
    }
    for (size_t i = 0; i < ARRAY_LEN(changing); i++) {
        if (has(sizes->in->args, changing[i])) {
            strlist_addf(sizes->warnings,
                         "--%s changes the batch while it trains: whether each step divides is not checked",
                         changing[i]);
            return 0;
        }
    }
    if (!micro_given) {
        batch->micro = sizes->defaults->micro;
    }
    if (!global_given) {
        batch->global = sizes->defaults->global;
    }
    if (!batch->micro || !batch->data_parallel) {
        return 0;
    }
    if (!global_given && !batch->global &&
        (uint64_t)batch->micro * batch->data_parallel <= LAUNCHER_BATCH_MAX) {
        batch->global = batch->micro * batch->data_parallel; /* Megatron's own default */
    }
    if (!batch->global) {
        return 0;
    }
    /* num_microbatches_calculator.py: the batch is rounded down, but never to 0. */
    if (has(sizes->in->args, "decrease-batch-size-if-needed")) {
        batch->accumulation = (unsigned)(batch->global / ((uint64_t)batch->micro * batch->data_parallel));
    }
    if (!batch->accumulation) {
        batch->accumulation = topology_split_batch(batch->global, batch->micro, batch->data_parallel, err);
    }
    return batch->accumulation ? 0 : -1;
}

int launcher_megatron_batch(const struct launch_job *in, const struct megatron_batch *defaults,
                            struct launch_whole *out, struct strlist *warnings, struct error *err)
{
    const struct sizes sizes = {.in = in, .defaults = defaults, .warnings = warnings};
    const char *unknown = find_unknown_split(in->args);
    if (unknown) {
        strlist_addf(warnings, "args have --%s: parallel and batch sizes are not checked", unknown);
        return 0;
    }
    if (split_world(&sizes, &out->batch, err) || split_batch(&sizes, &out->batch, err)) {
        return -1;
    }
    out->has_batch = true;
    return 0;
}

/* --- ZeRO --------------------------------------------------------------------------------------- */

static int refuse_other_switch(const struct job *job, const char *own, struct error *err)
{
    error_set(err, &kind_plan, "zero_stage is %u, but args have '--%s'", job->zero_stage, own);
    if (job->zero_stage == 1) {
        return error_hint(err, "use zero_stage 2 or 3, or leave --%s out", own);
    }
    if (strcmp(own, "use-megatron-fsdp") == 0) {
        return error_hint(err, "leave --%s out, or set megatron.sharding: megatron-fsdp", own);
    }
    if (strcmp(own, "use-custom-fsdp") == 0) {
        return error_hint(err, "leave --%s out, or set megatron.sharding: custom-fsdp", own);
    }
    return error_hint(err, "leave --%s out, or zero_stage at 0", own);
}

/* The sharding options in args must agree with zero_stage. */
static int check_zero(const struct launch_job *in, struct error *err)
{
    const struct job *job = in->job;
    const char *wanted = strategies[job->zero_stage], *own = NULL;
    const char *given = fsdp_switch(in->args);
    bool flags_only = job->megatron_sharding == SHARDING_FLAGS_ONLY;
    if (launcher_find_option(in->args, strategy_option, &own) && (!own || strcmp(own, wanted) != 0)) {
        error_set(err, &kind_plan, "zero_stage %u shards by '%s', but args have '--%s %s'", job->zero_stage,
                  wanted, strategy_option, own ? own : "");
        return error_hint(err, "leave --%s out, or change zero_stage", strategy_option);
    }
    if (has(in->args, "use-torch-fsdp2")) {
        return refuse_other_switch(job, "use-torch-fsdp2", err);
    }
    if (!given || flags_only) {
        return 0;
    }
    /*
     * Without a strategy, the switch has different effects in different releases: stage 1 needs one in args.
     */
    bool fits = strcmp(given, fsdp_switches[job->megatron_sharding == SHARDING_CUSTOM_FSDP]) == 0;
    if (job->zero_stage == 1) {
        fits = own;
    }
    return fits ? 0 : refuse_other_switch(job, given, err);
}

static void add_option(const struct launch_job *in, const char *name, const char *value, struct strlist *out)
{
    if (has(in->args, name)) {
        return;
    }
    strlist_addf(out, "--%s", name);
    if (value) {
        strlist_add(out, value);
    }
}

static void add_zero(const struct launch_job *in, struct strlist *out)
{
    static const char optimizer[] = "use-distributed-optimizer";
    const char *strategy = strategies[in->job->zero_stage];
    if (in->job->megatron_sharding == SHARDING_FLAGS_ONLY) {
        add_option(in, optimizer, NULL, out);
        add_option(in, strategy_option, strategy, out);
    } else if (in->job->zero_stage == 1) {
        add_option(in, optimizer, NULL, out);
    } else if (in->job->megatron_sharding == SHARDING_CUSTOM_FSDP) {
        add_option(in, optimizer, NULL, out);
        add_option(in, "use-custom-fsdp", NULL, out);
        add_option(in, strategy_option, strategy, out);
        add_option(in, "no-gradient-accumulation-fusion", NULL, out);
    } else {
        add_option(in, "use-megatron-fsdp", NULL, out);
        add_option(in, strategy_option, strategy, out);
        add_option(in, "ckpt-format", "fsdp_dtensor", out);
    }
}

/* all: the job's words and those that zero_stage added. */
static void warn_sharding(const struct strlist *all, struct strlist *warnings)
{
    const char *value = NULL;
    if (launcher_find_option(all, strategy_option, &value) && !fsdp_switch(all)) {
        strlist_addf(warnings,
                     "--%s %s has no effect without an FSDP switch (--use-megatron-fsdp, in 0.12 and 0.13 "
                     "--use-custom-fsdp)",
                     strategy_option, value ? value : "");
    }
    if (has(all, "use-megatron-fsdp") && launcher_find_option(all, "ckpt-format", &value) && value &&
        strcmp(value, "fsdp_dtensor") != 0) {
        strlist_addf(warnings, "--ckpt-format is %s; --use-megatron-fsdp takes only fsdp_dtensor", value);
    }
}

/* --- the launcher ------------------------------------------------------------------------------- */

static bool is_split_inside(const struct topology_split *split)
{
    return split->tensor > 1 || split->context > 1;
}

/*
 * Megatron asserts that the variable is 1 with tensor or context parallelism on GPUs before Blackwell. With
 * FSDP it must not be 1.
 */
static void add_connections(const struct topology_split *split, const struct strlist *all,
                            struct env *defaults)
{
    if (fsdp_switch(all)) {
        return;
    }
    if (is_split_inside(split)) {
        env_set(defaults, connections, "1", "launcher megatron (tensor or context parallel)");
    } else if (!split->tensor || !split->context) {
        env_set(defaults, connections, NULL, NULL);
    }
}

static int judge(const struct launch_job *in, struct launch_whole *out, struct strlist *warnings,
                 struct error *err)
{
    static const struct megatron_batch defaults = {0};
    AUTO_STRLIST struct strlist all = STRLIST_INIT;
    if (launcher_torchrun.judge(in, out, warnings, err)) {
        return -1;
    }
    if (in->job->zero_stage) {
        if (check_zero(in, err)) {
            return -1;
        }
        add_zero(in, &out->args);
    }
    strlist_copy(&all, &out->args);
    strlist_copy(&all, in->args);
    warn_sharding(&all, warnings);
    if (launcher_megatron_batch(in, &defaults, out, warnings, err)) {
        return -1;
    }
    if (!out->has_batch) {
        return 0;
    }
    add_connections(&out->batch.split, &all, &out->defaults);
    return 0;
}

static bool is_above_one(const struct strlist *args, const char *name)
{
    const char *text = NULL;
    uint64_t number;
    return launcher_find_option(args, name, &text) && text &&
           text_to_uint(text, 2, SIZE_MAX_PARALLEL, &number);
}

static int check_env(const struct launch_input *in, const struct env *env, struct strlist *warnings,
                     struct error *err)
{
    const struct env_var *var = env_get(env, connections);
    const char *fsdp = fsdp_switch(in->args);
    if (!var || !var->value) {
        return 0;
    }
    bool is_one = strcmp(var->value, "1") == 0;
    if (fsdp && is_one) {
        error_set(err, &kind_plan, "%s is '1' (%s), but '--%s' needs it unset or above 1", connections,
                  var->source, fsdp);
        return error_hint(err, "leave %s out, or shard without FSDP (zero_stage 0 or 1)", connections);
    }
    if (!fsdp && !is_one &&
        (is_above_one(in->args, "tensor-model-parallel-size") ||
         is_above_one(in->args, "context-parallel-size"))) {
        AUTO_FREE char *text = xasprintf(
            "%s is '%s' (%s); with tensor or context parallelism Megatron-LM takes only 1 on GPUs before "
            "Blackwell",
            connections, var->value, var->source);
        if (!strlist_has(warnings, text)) {
            strlist_add(warnings, text);
        }
    }
    return 0;
}

static int build(const struct launch_input *in, struct strlist *argv, struct launch_probe *probe,
                 struct error *err)
{
    return launcher_torchrun.build(in, argv, probe, err);
}

const struct launcher launcher_megatron = {
    .name = "megatron",
    .summary = "torchrun around a script of Megatron-LM",
    .example = {"pretrain_gpt.py",
                "# Megatron-LM's script, in workdir: the clone of Megatron-LM on the nodes.\n",
                "#zero_stage: 0                  # 0..3, said to Megatron-LM by its own options\n"
                "#megatron: {sharding: megatron-fsdp}     # megatron-fsdp | custom-fsdp | flags-only\n"},
    .words = &torchrun_words,
    .judge = judge,
    .check_env = check_env,
    .build = build,
};
