/*
 * accelerate: accelerate launch on every node (accelerate/commands/launch.py, utils/launch.py of 1.15). It
 * runs torchrun in its own process. Options on the command line win over its configuration file, so a file
 * that was copied unchanged to every node does not give a node the rank of another.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "launcher/launcher_internal.h"
#include "model/host.h"

/* Options that say how processes are distributed; accelerate takes at most one of them. */
static const char *const kinds[] = {"multi_gpu",     "cpu",      "tpu",
                                    "use_deepspeed", "use_fsdp", "use_megatron_lm"};

/* Refuses a configuration that silently starts independent processes, one per node. */
static const char check_config[] =
    "import os, sys\n"
    "path, world = sys.argv[1], sys.argv[2]\n"
    "def stop(why):\n"
    "    sys.exit(\"mtlaunch: accelerate.config_file '%s': %s\" % (path, why))\n"
    "try:\n"
    "    import json, yaml\n"
    "    with open(path, encoding='utf-8') as file:\n"
    "        config = json.load(file) if path.endswith('.json') else yaml.safe_load(file)\n"
    "except Exception as error:\n"
    "    stop(getattr(error, 'strerror', None) or error)\n"
    "if not isinstance(config, dict):\n"
    "    stop('it is not a mapping')\n"
    "place = config.get('compute_environment', 'LOCAL_MACHINE')\n"
    "kind = str(config.get('distributed_type', 'NO'))\n"
    "if place != 'LOCAL_MACHINE':\n"
    "    stop('compute_environment is %s, and nodes need LOCAL_MACHINE' % place)\n"
    "if world != '1' and kind in ('NO', 'MULTI_CPU', 'False'):\n"
    "    stop('distributed_type is %s, which starts one process on each node by itself; '\n"
    "         'use MULTI_GPU, FSDP or DEEPSPEED' % kind)\n";

static bool names_kind(const struct job *job)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        AUTO_FREE char *dashed = launcher_respell(kinds[i], '_', '-');
        if (launcher_find_option(&job->launcher_args, kinds[i], NULL) ||
            launcher_find_option(&job->launcher_args, dashed, NULL)) {
            return true;
        }
    }
    return false;
}

/* Without a configuration, several processes need an option. One process is started without torchrun. */
static void add_kind(const struct launch_input *in, struct strlist *argv)
{
    const struct job *job = in->job;
    bool one = in->nnodes == 1 && strcmp(in->world, "1") == 0;
    if (job->zero_stage) {
        strlist_addf(argv, "--zero_stage=%u", job->zero_stage);
    }
    if (names_kind(job) || job->accelerate_config) {
        return;
    }
    if (job->zero_stage) {
        strlist_add(argv, "--use_deepspeed");
    } else if (!one) {
        strlist_add(argv, "--multi_gpu");
    }
}

static void add_rendezvous(const struct launch_input *in, struct strlist *argv)
{
    bool is_static = in->job->rendezvous == RENDEZVOUS_STATIC;
    bool bracket = !is_static && strchr(in->master_addr, ':');
    strlist_addf(argv, "--num_machines=%u", in->nnodes);
    strlist_addf(argv, "--num_processes=%s", in->world);
    strlist_addf(argv, "--machine_rank=%u", in->rank);
    strlist_addf(argv, "--main_process_ip=%s%s%s", bracket ? "[" : "", in->master_addr, bracket ? "]" : "");
    strlist_addf(argv, "--main_process_port=%u", in->master_port);
    if (is_static) {
        strlist_add(argv, "--same_network");
        strlist_add(argv, "--rdzv_backend=static");
        strlist_addf(argv, "--rdzv_conf=timeout=%d", LAUNCHER_RENDEZVOUS_TIMEOUT_S);
    } else {
        strlist_add(argv, "--rdzv_backend=c10d");
        strlist_addf(argv, "--rdzv_conf=is_host=%s,join_timeout=%d", in->rank == 0 ? "true" : "false",
                     LAUNCHER_RENDEZVOUS_TIMEOUT_S);
    }
    /* accelerate's default for DeepSpeed is pdsh: each node would start processes on the others. */
    strlist_add(argv, "--deepspeed_multinode_launcher=standard");
}

static int build(const struct launch_input *in, struct strlist *argv, struct launch_probe *probe,
                 struct error *err)
{
    if (launcher_begin_module(in, "accelerate.commands.launch", argv, probe, err)) {
        return -1;
    }
    if (in->job->accelerate_config) {
        strlist_addf(argv, "--config_file=%s", in->job->accelerate_config);
    }
    add_kind(in, argv);
    add_rendezvous(in, argv);
    strlist_copy(argv, &in->job->launcher_args);
    launcher_add_program(in, "-m", argv, probe);
    probe->module = xstrdup("accelerate");
    launcher_reads(probe, "accelerate.config_file", in->job->accelerate_config);
    return 0;
}

static void ready(const struct launch_input *in, struct strlist *argv, struct str *about)
{
    if (!in->job->accelerate_config || names_kind(in->job)) {
        return;
    }
    str_addf(about, "check that '%s' starts processes on all nodes", in->job->accelerate_config);
    strlist_add(argv, launcher_python(in));
    strlist_add(argv, "-c");
    strlist_add(argv, check_config);
    strlist_add(argv, in->job->accelerate_config);
    strlist_add(argv, in->world);
}

static int judge(const struct launch_job *in, struct launch_whole *out, struct strlist *warnings,
                 struct error *err)
{
    static const struct device_batch defaults = {.micro = 8};
    if (in->job->zero_stage && in->job->accelerate_config) {
        strlist_addf(
            warnings,
            "zero_stage %u counts only when distributed_type is DEEPSPEED in accelerate.config_file, "
            "without a deepspeed_config_file",
            in->job->zero_stage);
    }
    if (launcher_torchrun.judge(in, out, warnings, err)) {
        return -1;
    }
    return launcher_device_batch(in, &defaults, out, err);
}

static const struct launcher_option owned[] = {
    {"config_file", "use 'accelerate: {config_file: FILE}'"},
    {"num_machines", "it is the number of hosts: use --nodes or change the host list"},
    {"num_processes", "it is hosts x 'nproc_per_node': use that key or --nproc-per-node"},
    {"machine_rank", "it is the place in the host list: change the order there"},
    {"main_process_ip", "use 'master.addr' of the spec or --master-addr"},
    {"main_process_port", "use 'master.port' of the spec or --master-port"},
    {"same_network", "mtlaunch sets it with 'rendezvous': leave it out"},
    {"rdzv_backend", "use 'rendezvous: static' or 'rendezvous: c10d'"},
    {"rdzv_conf", "mtlaunch sets it with 'rendezvous': leave it out"},
    {"zero_stage", "use 'zero_stage' of the spec or --zero-stage"},
    {"deepspeed_multinode_launcher", "mtlaunch starts every node itself: leave it out"},
    {"deepspeed_hostfile", "mtlaunch starts every node itself: leave it out"},
    {"no_python", "use 'python: none'"},
    {"module", "use 'program: -m pkg.mod'"},
    {"m", "use 'program: -m pkg.mod'"},
    {NULL, NULL},
};

static const char *const flags[] = {
    "quiet",
    "q",
    "cpu",
    "multi_gpu",
    "tpu",
    "enable_cpu_affinity",
    "use_deepspeed",
    "dynamo_use_fullgraph",
    "use_fsdp",
    "dynamo_use_dynamic",
    "debug",
    "dynamo_use_regional_compilation",
    "tpu_cluster",
    "use_parallelism_config",
    "tpu_use_sudo",
    "use_megatron_lm",
    "downcast_bf16",
    "no_tpu_cluster",
    NULL,
};

static const struct launcher_words words = {owned, flags};

const struct launcher launcher_accelerate = {
    .name = "accelerate",
    .summary = "accelerate launch on every node",
    .key = "accelerate",
    .example =
        {"train.py",
         "# A script, or a module: \"-m pkg.train\". It runs as PYTHON -m accelerate.commands.launch ... "
         "PROGRAM ARGS.\n",
         "#accelerate: {config_file: accelerate.yaml}     # on the nodes, relative to workdir\n"
         "#launcher_args: [--mixed_precision=bf16]\n"},
    .words = &words,
    .judge = judge,
    .ready = ready,
    .build = build,
};
