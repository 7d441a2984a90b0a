/*
 * swift and megatron-swift: the commands of ms-swift (swift/cli/main.py of 2.6 to 4.6). They start torchrun
 * themselves when NNODES or NPROC_PER_NODE is set and pass five variables on as options; torchrun's other
 * options reach it as PET_<OPTION> (torch/distributed/argparse_util.py).
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"
#include "launcher/launcher_internal.h"
#include "model/host.h"
#include "model/kind.h"

/* One of the two commands. */
struct swift_command {
    const char *launcher, *name, *module;
    const char *const *verbs; /* those that run under torchrun, ended by NULL */
};

static const char *const swift_verbs[] = {"pt", "sft", "rlhf", "infer", NULL};
static const char *const megatron_verbs[] = {"pt", "sft", "rlhf", "export", NULL};

static const struct swift_command commands[] = {
    {"swift", "swift", "swift.cli.main", swift_verbs},
    {"megatron-swift", "megatron", "swift.cli._megatron.main", megatron_verbs},
};

static const struct swift_command *command_of(const struct job *job)
{
    return &commands[strcmp(job->launcher, commands[1].launcher) == 0];
}

/* --- the command -------------------------------------------------------------------------------- */

static int check_verb(const char *verb, struct error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    if (*verb && *verb != '-' && verb[strspn(verb, letters)] == '\0') {
        return 0;
    }
    error_set(err, &kind_plan, "program '%.80s' is not a verb of ms-swift", verb);
    return error_hint(err, "name one, such as 'program: sft', and put its options into args");
}

/* The command comes from PATH, unless the job names another interpreter, which then runs its module. */
static int build(const struct launch_input *in, struct strlist *argv, struct launch_probe *probe,
                 struct error *err)
{
    const struct swift_command *command = command_of(in->job);
    const char *python = launcher_python(in);
    const char *verb = in->program->items[0];
    if (check_verb(verb, err)) {
        return -1;
    }
    if (strcmp(python, "python3") == 0) {
        strlist_add(argv, command->name);
        probe->program_type = LAUNCH_PROGRAM_COMMAND;
        probe->program = xstrdup(command->name);
    } else {
        launcher_add_named(argv, python, probe);
        strlist_add(argv, "-m");
        strlist_add(argv, command->module);
        probe->program_type = LAUNCH_PROGRAM_MODULE;
        probe->program = xstrdup(command->module);
        probe->interpreter = xstrdup(python);
        probe->module = xstrdup("swift");
    }
    strlist_add(argv, verb);
    strlist_copy(argv, in->args);
    return 0;
}

/* --- torchrun's options ------------------------------------------------------------------------- */

/* Set the variable for one of torchrun's options, unless the job sets it. */
static void set_option(const struct launch_input *in, struct env *env, const char *option, const char *value)
{
    AUTO_STR struct str name = STR_INIT;
    str_add(&name, "PET_");
    for (const char *at = option; *at; at++) {
        str_add_char(&name, (char)(*at == '-' ? '_' : *at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at));
    }
    if (!env_get(env, str_text(&name))) {
        AUTO_FREE char *source = xasprintf("launcher %s", in->job->launcher);
        env_set(env, str_text(&name), value, value ? source : "on start");
    }
}

/* The option's long name; word is "-r", "-t" or "--name", perhaps with "=value". Caller frees. */
static char *option_name(const char *word)
{
    if (word[1] != '-') {
        return xstrdup(word[1] == 'r' ? "redirects" : "tee");
    }
    return xstrndup(word + 2, strcspn(word + 2, "="));
}

static void set_launcher_args(const struct launch_input *in, struct env *env)
{
    const struct strlist *words = &in->job->launcher_args;
    for (size_t i = 0; i < words->len; i++) {
        const char *word = words->items[i], *equals = strchr(word, '=');
        AUTO_FREE char *option = option_name(word);
        if (word[1] != '-' && word[2]) {
            set_option(in, env, option, word + 2); /* -t3 */
        } else if (equals) {
            set_option(in, env, option, equals + 1);
        } else if (launcher_is_flag(&torchrun_words, word)) {
            set_option(in, env, option, "1");
        } else if (i + 1 < words->len) {
            set_option(in, env, option, words->items[++i]);
        }
    }
}

static void add_env(const struct launch_input *in, struct env *env)
{
    bool is_static = in->job->rendezvous == RENDEZVOUS_STATIC;
    AUTO_FREE char *conf = is_static
                               ? xasprintf("timeout=%d", LAUNCHER_RENDEZVOUS_TIMEOUT_S)
                               : xasprintf("is_host=%s,join_timeout=%d", in->rank == 0 ? "true" : "false",
                                           LAUNCHER_RENDEZVOUS_TIMEOUT_S);
    set_option(in, env, "rdzv_backend", is_static ? "static" : "c10d");
    set_option(in, env, "rdzv_conf", conf);
    set_option(in, env, "rdzv_id", strstr(in->rendezvous_id, "${{") ? NULL : in->rendezvous_id);
    if (!is_static) {
        AUTO_FREE char *endpoint = host_join_port(in->master_addr, in->master_port);
        set_option(in, env, "rdzv_endpoint", endpoint);
    }
    set_launcher_args(in, env);
}

static int check_launcher_args(const struct strlist *words, struct error *err)
{
    static const char *const plain[] = {"logs_specs", "numa_binding"};
    for (size_t i = 0; i < words->len; i++) {
        AUTO_FREE char *given = words->items[i][0] == '-' ? option_name(words->items[i]) : xstrdup("");
        AUTO_FREE char *name = launcher_respell(given, '-', '_');
        bool is_short = words->items[i][0] == '-' && words->items[i][1] != '-';
        bool refused = is_short && words->items[i][1] != 'r' && words->items[i][1] != 't';
        for (size_t k = 0; k < ARRAY_LEN(plain); k++) {
            refused = refused || strcmp(name, plain[k]) == 0;
        }
        if (refused) {
            error_set(err, &kind_plan,
                      "launcher_args contain '%.80s', which ms-swift cannot hand on to torchrun",
                      words->items[i]);
            return error_hint(err,
                              "leave it out, or use 'launcher: torchrun' with 'program: -m swift.cli.sft'");
        }
    }
    return 0;
}

/* --- the job as a whole ------------------------------------------------------------------------- */

static bool has(const struct strlist *args, const char *name)
{
    AUTO_FREE char *dashed = launcher_respell(name, '_', '-');
    return launcher_find_option(args, name, NULL) || launcher_find_option(args, dashed, NULL);
}

static int judge_common(const struct launch_job *in, struct launch_whole *out, struct strlist *warnings,
                        struct error *err)
{
    const struct swift_command *command = command_of(in->job);
    const char *verb = in->job->program.items[0];
    bool spread = false;
    if (check_launcher_args(&in->job->launcher_args, err) ||
        launcher_torchrun.judge(in, out, warnings, err)) {
        return -1;
    }
    for (size_t i = 0; command->verbs[i]; i++) {
        spread = spread || strcmp(command->verbs[i], verb) == 0;
    }
    if (!spread && in->world_size != 1) {
        strlist_addf(warnings,
                     "'%s %s' does not use torchrun: each node runs one process by itself (a step before the "
                     "start is done once with 'prepare')",
                     command->name, verb);
    }
    return 0;
}

/* ms-swift has a configuration of DeepSpeed for each stage (swift/arguments/sft_args.py). */
static int judge_swift(const struct launch_job *in, struct launch_whole *out, struct strlist *warnings,
                       struct error *err)
{
    static const struct device_batch defaults = {.micro = 1, .fill = 16};
    unsigned stage = in->job->zero_stage;
    if (judge_common(in, out, warnings, err)) {
        return -1;
    }
    if (stage && (has(in->args, "deepspeed") || has(in->args, "fsdp"))) {
        error_set(err, &kind_plan, "zero_stage is %u, but args have '--%s'", stage,
                  has(in->args, "deepspeed") ? "deepspeed" : "fsdp");
        return error_hint(err, "leave one of the two out");
    }
    if (stage) {
        strlist_add(&out->args, "--deepspeed");
        strlist_addf(&out->args, "zero%u", stage);
    }
    return launcher_device_batch(in, &defaults, out, err);
}

static void add_value(const struct launch_job *in, const char *name, const char *value, struct strlist *out)
{
    if (!has(in->args, name)) {
        strlist_addf(out, "--%s", name);
        strlist_add(out, value);
    }
}

/* swift/megatron/arguments/megatron_args.py: the distributed optimizer is on unless it is switched off. */
static int judge_megatron(const struct launch_job *in, struct launch_whole *out, struct strlist *warnings,
                          struct error *err)
{
    static const char strategy[] = "data_parallel_sharding_strategy";
    static const struct megatron_batch defaults = {
        .micro = 1, .global = 16, .any_spelling = true, .model_elsewhere = true};
    unsigned stage = in->job->zero_stage;
    if (judge_common(in, out, warnings, err)) {
        return -1;
    }
    if (in->job->zero_stage_given) {
        add_value(in, "use_distributed_optimizer", stage ? "true" : "false", &out->args);
    }
    if (stage >= 2) { /* ms-swift sets the variable to 1 unless it is set, and then refuses to shard */
        AUTO_FREE char *source = xasprintf("launcher %s (FSDP)", in->job->launcher);
        env_set(&out->defaults, "CUDA_DEVICE_MAX_CONNECTIONS", "8", source);
        add_value(in, "use_megatron_fsdp", "true", &out->args);
        add_value(in, strategy, stage == 2 ? "optim_grads" : "optim_grads_params", &out->args);
    }
    return launcher_megatron_batch(in, &defaults, out, warnings, err);
}

const struct launcher launcher_swift = {
    .name = "swift",
    .summary = "ms-swift's command swift",
    .example = {"sft", "# The verb of ms-swift: pt, sft, rlhf ... It runs as swift VERB ARGS.\n",
                "#zero_stage: 0                  # 0..3, as --deepspeed zero1, zero2, zero3\n"},
    .program = LAUNCHER_PROGRAM_VERB,
    .bool_values = true,
    .words = &torchrun_words,
    .judge = judge_swift,
    .add_env = add_env,
    .build = build,
};

const struct launcher launcher_megatron_swift = {
    .name = "megatron-swift",
    .summary = "ms-swift's command megatron",
    .example = {"sft",
                "# The verb of ms-swift's megatron: pt, sft, rlhf ... It runs as megatron VERB ARGS.\n",
                "#zero_stage: 1                  # 0..3, by the options of ms-swift's Megatron\n"},
    .program = LAUNCHER_PROGRAM_VERB,
    .bool_values = true,
    .words = &torchrun_words,
    .judge = judge_megatron,
    .add_env = add_env,
    .build = build,
};
