/*
 * deepspeed: a program that uses DeepSpeed, started by torchrun or by DeepSpeed's own launcher without ssh
 * (deepspeed/launcher/runner.py, launch.py of 0.19). The configuration is read on the node and a copy with
 * zero_stage in it is written beside the run's state; the original is not changed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "launcher/launcher_internal.h"
#include "model/kind.h"

#define CONFIG_SUFFIX   ".deepspeed.json"
#define HOSTFILE_SUFFIX ".hostfile"

/*
 * Arguments: the configuration and its copy, the stage ("": unchanged), the processes of all nodes, the host
 * file and its text; an empty path skips its part. DeepSpeed reads its configuration with hjson and wants
 * train_batch_size = micro batch x accumulation x data-parallel size (runtime/config.py).
 */
static const char copy_files[] =
    "import os, sys\n"
    "source, copy, stage, world, hostfile, hosts = sys.argv[1:7]\n"
    "def stop(why):\n"
    "    sys.exit(\"mtlaunch: deepspeed.config '%s': %s\" % (source, why))\n"
    "def write(path, text):\n"
    "    with open(path + '.new', 'w', encoding='utf-8') as file:\n"
    "        file.write(text)\n"
    "    os.replace(path + '.new', path)\n"
    "if hostfile:\n"
    "    write(hostfile, hosts)\n"
    "if not source:\n"
    "    sys.exit(0)\n"
    "import json\n"
    "try:\n"
    "    from hjson import load\n"
    "except ImportError:\n"
    "    from json import load\n"
    "try:\n"
    "    with open(source, encoding='utf-8') as file:\n"
    "        config = load(file)\n"
    "except (OSError, ValueError) as error:\n"
    "    stop(getattr(error, 'strerror', None) or error)\n"
    "if not isinstance(config, dict):\n"
    "    stop('it is not a JSON object')\n"
    "if stage:\n"
    "    zero = config.setdefault('zero_optimization', {})\n"
    "    if not isinstance(zero, dict):\n"
    "        stop('zero_optimization is not a JSON object')\n"
    "    zero['stage'] = int(stage)\n"
    "names = 'train_batch_size', 'train_micro_batch_size_per_gpu', 'gradient_accumulation_steps'\n"
    "total, micro, steps = [config.get(name) for name in names]\n"
    "split = 'tensor_parallel' in config or 'sequence_parallel_size' in config\n"
    "if type(total) is type(micro) is int and not split:\n"
    "    unit = micro * (steps if type(steps) is int else 1) * int(world)\n"
    "    right = total == unit if type(steps) is int else total % unit == 0\n"
    "    if not right:\n"
    "        stop('%s %d does not fit %s %d%s on %s processes; %d would'\n"
    "             % (names[0], total, names[1], micro,\n"
    "                ' with %s %d' % (names[2], steps) if type(steps) is int else '', world,\n"
    "                unit if type(steps) is int else max(1, round(total / unit)) * unit))\n"
    "write(copy, json.dumps(config, indent=2) + '\\n')\n";

static bool is_no_ssh(const struct job *job)
{
    return job->deepspeed_form == DEEPSPEED_NO_SSH;
}

/* A line per node, in rank order. Names only tell the nodes apart, so a name that repeats is replaced by
 * "node" and the rank. */
static char *hostfile_text(const struct launch_input *in)
{
    AUTO_STR struct str text = STR_INIT;
    for (size_t i = 0; i < in->labels->len; i++) {
        const char *label = in->labels->items[i];
        bool repeats = false;
        for (size_t other = 0; other < in->labels->len; other++) {
            repeats = repeats || (other != i && strcmp(in->labels->items[other], label) == 0);
        }
        if (repeats) {
            str_addf(&text, "node%zu slots=%s\n", i, in->nproc);
        } else {
            str_addf(&text, "%s slots=%s\n", label, in->nproc);
        }
    }
    return str_detach(&text);
}

static void describe_ready(const struct launch_input *in, struct str *about)
{
    const struct job *job = in->job;
    if (job->deepspeed_config) {
        str_addf(about, "copy '%s' to %s" CONFIG_SUFFIX, job->deepspeed_config, in->state_base);
        if (job->zero_stage_given) {
            str_addf(about, " with ZeRO stage %u", job->zero_stage);
        }
    }
    if (is_no_ssh(job)) {
        str_addf(about, "%swrite %s" HOSTFILE_SUFFIX, about->len ? ", " : "", in->state_base);
    }
}

static void ready(const struct launch_input *in, struct strlist *argv, struct str *about)
{
    const struct job *job = in->job;
    if (!job->deepspeed_config && !is_no_ssh(job)) {
        return;
    }
    AUTO_FREE char *hosts = hostfile_text(in);
    AUTO_FREE char *stage = job->zero_stage_given ? xasprintf("%u", job->zero_stage) : xstrdup("");
    AUTO_FREE char *hostfile = is_no_ssh(job) ? xasprintf("%s" HOSTFILE_SUFFIX, in->state_base) : xstrdup("");
    describe_ready(in, about);
    strlist_add(argv, launcher_python(in));
    strlist_add(argv, "-c");
    strlist_add(argv, copy_files);
    strlist_add(argv, job->deepspeed_config ? job->deepspeed_config : "");
    strlist_addf(argv, "%s" CONFIG_SUFFIX, in->state_base);
    strlist_add(argv, stage);
    strlist_add(argv, in->world);
    strlist_add(argv, hostfile);
    strlist_add(argv, hosts);
}

static int build_no_ssh(const struct launch_input *in, struct strlist *argv, struct launch_probe *probe,
                        struct error *err)
{
    if (launcher_begin_module(in, "deepspeed.launcher.runner", argv, probe, err)) {
        return -1;
    }
    strlist_addf(argv, "--hostfile=%s" HOSTFILE_SUFFIX, in->state_base);
    strlist_add(argv, "--no_ssh");
    strlist_addf(argv, "--node_rank=%u", in->rank);
    strlist_addf(argv, "--master_addr=%s", in->master_addr);
    strlist_addf(argv, "--master_port=%u", in->master_port);
    strlist_copy(argv, &in->job->launcher_args);
    launcher_add_program(in, "--module", argv, probe);
    return 0;
}

static int build(const struct launch_input *in, struct strlist *argv, struct launch_probe *probe,
                 struct error *err)
{
    int result = is_no_ssh(in->job) ? build_no_ssh(in, argv, probe, err)
                                    : launcher_torchrun.build(in, argv, probe, err);
    if (result == 0) {
        free(probe->module);
        probe->module = xstrdup("deepspeed");
        launcher_reads(probe, "deepspeed.config", in->job->deepspeed_config);
    }
    return result;
}

static bool names_config(const struct launch_job *in)
{
    for (size_t i = 0; i < in->args->len; i++) {
        if (strstr(in->args->items[i], "${{deepspeed_config}}")) {
            return true;
        }
    }
    return false;
}

static int judge(const struct launch_job *in, struct launch_whole *out, struct strlist *warnings,
                 struct error *err)
{
    static const struct device_batch defaults = {.micro = 8};
    const struct job *job = in->job;
    if (job->zero_stage && !job->deepspeed_config) {
        error_set(err, &kind_plan, "zero_stage is %u, but there is no DeepSpeed configuration to put it into",
                  job->zero_stage);
        return error_hint(err, "name it: 'deepspeed: {config: ds.json}', and give the program "
                               "\"${{deepspeed_config}}\"");
    }
    if (is_no_ssh(job) && job->rendezvous == RENDEZVOUS_C10D) {
        error_set(err, &kind_plan, "rendezvous c10d is torchrun's; deepspeed.form no_ssh has none");
        return error_hint(err, "leave rendezvous out, or use 'deepspeed: {form: torchrun}'");
    }
    if (job->deepspeed_config && !names_config(in)) {
        strlist_add(warnings, "args do not contain ${{deepspeed_config}}: the program does not know where "
                              "the copy of deepspeed.config is");
    }
    if (launcher_torchrun.judge(in, out, warnings, err)) {
        return -1;
    }
    return launcher_device_batch(in, &defaults, out, err);
}

/* DeepSpeed's launcher assigns GPUs to processes by number, from 0 (launch.py: CUDA_VISIBLE_DEVICES). */
static int check_env(const struct launch_input *in, const struct env *env, struct strlist *warnings,
                     struct error *err)
{
    const struct env_var *var = env_get(env, "CUDA_VISIBLE_DEVICES");
    (void)warnings;
    if (!is_no_ssh(in->job) || !var || !var->value || !*var->value) {
        return 0;
    }
    error_set(err, &kind_plan,
              "CUDA_VISIBLE_DEVICES is '%s' (%s), but deepspeed.form no_ssh always takes the first GPUs",
              var->value, var->source);
    return error_hint(err, "use 'deepspeed: {form: torchrun}', or leave CUDA_VISIBLE_DEVICES and gpus= out");
}

static const struct launcher_option owned[] = {
    {"hostfile", "mtlaunch writes it from the host list: leave it out"},
    {"include", "change the host list, or use --exclude"},
    {"exclude", "change the host list, or use --exclude of mtlaunch"},
    {"num_nodes", "it is the number of hosts: use --nodes or change the host list"},
    {"num_gpus", "use 'nproc_per_node' of the spec or --nproc-per-node"},
    {"num_accelerators", "use 'nproc_per_node' of the spec or --nproc-per-node"},
    {"node_rank", "it is the place in the host list: change the order there"},
    {"master_addr", "use 'master.addr' of the spec or --master-addr"},
    {"master_port", "use 'master.port' of the spec or --master-port"},
    {"no_ssh", "it is what 'form: no_ssh' says"},
    {"no_ssh_check", "mtlaunch starts every node itself: leave it out"},
    {"launcher", "mtlaunch starts every node itself: leave it out"},
    {"force_multi", "mtlaunch starts every node itself: leave it out"},
    {"ssh_port", "mtlaunch starts every node itself: leave it out"},
    {"no_python", "use 'python: none'"},
    {"module", "use 'program: -m pkg.mod'"},
    {"H", "mtlaunch writes the host file from the host list: leave it out"},
    {"i", "change the host list, or use --exclude"},
    {"e", "change the host list, or use --exclude of mtlaunch"},
    {NULL, NULL},
};

static const char *const flags[] = {"no_local_rank", "save_pid", "bind_cores_to_rank", "quiet", "q", NULL};

static const struct launcher_words no_ssh_words = {owned, flags};

static const struct launcher_words *choose_words(const struct job *job)
{
    return is_no_ssh(job) ? &no_ssh_words : &torchrun_words;
}

const struct launcher launcher_deepspeed = {
    .name = "deepspeed",
    .summary = "DeepSpeed with its configuration, by torchrun or its own launcher",
    .key = "deepspeed",
    .config = CONFIG_SUFFIX,
    .example =
        {"train.py",
         "# A script, or a module: \"-m pkg.train\". It gets ZeRO's stage from zero_stage through the copy "
         "of "
         "the\n# configuration that \"${{deepspeed_config}}\" names.\n",
         "#zero_stage: 2                  # 0..3\n"
         "#deepspeed: {config: ds.json, form: torchrun}   # on the nodes, relative to workdir; torchrun | "
         "no_ssh\n"},
    .words = &torchrun_words,
    .choose_words = choose_words,
    .judge = judge,
    .check_env = check_env,
    .ready = ready,
    .build = build,
};
