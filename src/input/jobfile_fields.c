/*
 * The keys of a job file, as tables. To add a key: a line in its table, and a case in
 * tests/unit/input/test_jobfile.c, whose list of keys is compared with these tables.
 */
#include <stddef.h>

#include "base/alloc.h"
#include "input/jobfile_internal.h"

/* clang-format off */
#define JOB(member)   .offset = offsetof(struct job, member)
#define CHOICES(list) .choices = (list), .choices_count = ARRAY_LEN(list)
#define TABLE(list)   {(list), ARRAY_LEN(list)}
/* clang-format on */
#define MAX_PROCESSES    1024
#define MAX_PORT         65535
#define MAX_RESTARTS     1000000
#define MAX_SECONDS      (365UL * 24 * 60 * 60)
#define DURATION_FROM(n) .min = (n), .max = MAX_SECONDS

static const struct choice rendezvous[] = {{"static", RENDEZVOUS_STATIC}, {"c10d", RENDEZVOUS_C10D}};
static const struct choice shardings[] = {{"megatron-fsdp", SHARDING_MEGATRON_FSDP},
                                          {"custom-fsdp", SHARDING_CUSTOM_FSDP},
                                          {"flags-only", SHARDING_FLAGS_ONLY}};
static const struct choice deepspeed_forms[] = {{"torchrun", DEEPSPEED_TORCHRUN},
                                                {"no_ssh", DEEPSPEED_NO_SSH}};
static const struct choice on_failure[] = {
    {"stop", POLICY_STOP}, {"keep", POLICY_KEEP}, {"restart", POLICY_RESTART}};
static const struct choice on_lost[] = {
    {"keep", POLICY_KEEP}, {"stop", POLICY_STOP}, {"restart", POLICY_RESTART}};
static const struct choice finish_on[] = {{"all", POLICY_FINISH_ALL}, {"rank0", POLICY_FINISH_RANK0}};
static const struct choice on_stall[] = {{"keep", POLICY_KEEP}, {"stop", POLICY_STOP}};
static const struct choice clients[] = {{"auto", 0}, {"builtin", 0}, {"openssh", 0}};
static const struct choice host_keys[] = {{"strict", 0}, {"accept-new", 0}};

static const struct field master_fields[] = {
    {.key = "addr",
     .type = FIELD_TEXT,
     JOB(master_addr),
     .auto_ok = true,
     .handle = check_address,
     .doc = {"0.1",
             "The address of node 0 as the other nodes reach it. auto: 127.0.0.1 for one node, else addr= of "
             "the first host, else its HostName in ssh_config, else its name.",
             "auto", "10.0.0.33"}},
    {.key = "port",
     .type = FIELD_COUNT,
     JOB(master_port),
     .min = 1,
     .max = MAX_PORT,
     .auto_ok = true,
     .doc = {"0.1",
             "The port of the rendezvous on node 0. auto: 29500, or the next free one up to 29999. A port "
             "given here that is taken is refused.",
             "auto", "29600"}},
    {.key = "interface",
     .type = FIELD_TEXT,
     JOB(master_interface),
     .auto_ok = true,
     .handle = check_interface,
     .doc = {"0.1",
             "The network interface that NCCL and gloo use between nodes. auto: on each node the one that "
             "routes to the master.",
             "auto", "bond0"}},
};
static const struct field_table master_table = TABLE(master_fields);

static const struct field megatron_fields[] = {
    {.key = "sharding",
     .type = FIELD_CHOICE,
     JOB(megatron_sharding),
     CHOICES(shardings),
     .doc = {"0.1", "How zero_stage 2 and 3 are written as options of Megatron-LM.", "megatron-fsdp",
             "custom-fsdp"}},
};
static const struct field_table megatron_table = TABLE(megatron_fields);

static const struct field deepspeed_fields[] = {
    {.key = "config",
     .type = FIELD_TEXT,
     JOB(deepspeed_config),
     .doc = {"0.1",
             "DeepSpeed's configuration on the nodes, relative to workdir. A copy with zero_stage in it is "
             "written "
             "before each start; ${{deepspeed_config}} in args is its path.",
             "none", "ds.json"}},
    {.key = "form",
     .type = FIELD_CHOICE,
     JOB(deepspeed_form),
     CHOICES(deepspeed_forms),
     .doc = {"0.1",
             "What starts the processes: torchrun, or DeepSpeed's own launcher, which gets a host file and "
             "starts "
             "those of its node alone.",
             "torchrun", "no_ssh"}},
};
static const struct field_table deepspeed_table = TABLE(deepspeed_fields);

static const struct field accelerate_fields[] = {
    {.key = "config_file",
     .type = FIELD_TEXT,
     JOB(accelerate_config),
     .doc = {"0.1",
             "A file of `accelerate config` on the nodes, relative to workdir. Machines, ranks, processes "
             "and the "
             "main process in it are ignored: mtlaunch sets them for each node.",
             "none", "accelerate.yaml"}},
};
static const struct field_table accelerate_table = TABLE(accelerate_fields);

static const struct field ssh_fields[] = {
    {.key = "client",
     .type = FIELD_NAME,
     JOB(reach.client),
     CHOICES(clients),
     .doc = {"0.1",
             "Which SSH client is used. auto: the built-in one wherever it can do what ssh_config asks for, "
             "else the system's ssh.",
             "auto", "openssh"}},
    {.key = "user",
     .type = FIELD_TEXT,
     JOB(reach.user),
     .handle = check_user,
     .doc = {"0.1", "The user on the nodes, unless the host list names one.",
             "from ssh_config, else the caller", "train"}},
    {.key = "port",
     .type = FIELD_COUNT,
     JOB(reach.port),
     .min = 1,
     .max = MAX_PORT,
     .example = "22",
     .doc = {"0.1", "The port of sshd on the nodes, unless the host list names one.",
             "from ssh_config, else 22", "2222"}},
    {.key = "identity",
     .type = FIELD_CUSTOM,
     JOB(reach.identity),
     .handle = read_identity,
     .write = write_text,
     .form = "path (relative to the job file's folder)",
     .doc = {"0.1", "The private key to log in with. A file that is missing is refused.",
             "from ssh_config, else the agent and ~/.ssh/id_*", "~/.ssh/cluster"}},
    {.key = "config",
     .type = FIELD_PATH,
     JOB(reach.config),
     .doc = {"0.1", "Read this file instead of ~/.ssh/config and the system's file.",
             "~/.ssh/config and /etc/ssh/ssh_config", "cluster_ssh_config"}},
    {.key = "known_hosts",
     .type = FIELD_PATH,
     JOB(reach.known_hosts),
     .doc = {"0.1", "The file of known host keys.", "from ssh_config, else ~/.ssh/known_hosts",
             "known_hosts"}},
    {.key = "host_key",
     .type = FIELD_NAME,
     JOB(reach.host_key),
     CHOICES(host_keys),
     .doc = {"0.1",
             "strict refuses an unknown host key, accept-new adds it to known_hosts. A changed key is always "
             "refused.",
             "from ssh_config, else strict", "accept-new"}},
    {.key = "jump",
     .type = FIELD_TEXT,
     JOB(reach.jump),
     .handle = check_jump,
     .doc = {"0.1",
             "The jump hosts on the way to the nodes, [user@]host[:port] separated by commas, the nearest "
             "first. none turns off ProxyJump of ssh_config.",
             "from ssh_config", "\"gate,op@inner:2222\""}},
};
static const struct field_table ssh_table = TABLE(ssh_fields);

static const struct field stop_fields[] = {
    {.key = "signal",
     .type = FIELD_CUSTOM,
     JOB(stop_signal),
     .handle = read_signal,
     .write = write_text,
     .form = "name of a signal, with or without SIG",
     .doc = {"0.1", "The signal that a stop sends to the job's process group first.", "TERM", "INT"}},
    {.key = "grace",
     .type = FIELD_DURATION,
     JOB(stop_grace_s),
     DURATION_FROM(0),
     .example = "40s",
     .doc = {"0.1", "How long the processes have after that signal before they are killed.", "40s", "2m"}},
};
static const struct field_table stop_table = TABLE(stop_fields);

static const struct field sync_fields[] = {
    {.key = "from",
     .type = FIELD_PATH,
     JOB(sync.from),
     .doc =
         {"0.1",
          "A file or folder here, relative to the folder of the job file. With a trailing '/': its contents.",
          NULL, "src/"}},
    {.key = "to",
     .type = FIELD_TEXT,
     JOB(sync.to),
     .empty_ok = true,
     .doc = {"0.1", "The folder on the nodes. A relative path is relative to workdir.", "\"\"",
             "/data/code"}},
    {.key = "exclude",
     .type = FIELD_CUSTOM,
     JOB(sync.exclude),
     .handle = read_exclude,
     .write = write_list,
     .form = "pattern, or a list of patterns",
     .doc =
         {"0.1",
          "What is left alone on both sides: a name, a path from the top ('/data') or a folder ('cache/'). A "
          "list "
          "given here replaces the default.",
          "[.git]", "[.git, \"*.pyc\", /data]"}},
    {.key = "delete",
     .type = FIELD_FLAG,
     JOB(sync.delete_),
     .doc = {"0.1",
             "Remove files there that are not here. Artifacts, and what exclude names, are never removed.",
             "false", "true"}},
    {.key = "git",
     .type = FIELD_FLAG,
     JOB(sync.git),
     .doc = {"0.1", "Leave alone what .gitignore names, on both sides.", "false", "true"}},
};
static const struct field_table sync_table = TABLE(sync_fields);

static const struct field restart_fields[] = {
    {.key = "max",
     .type = FIELD_COUNT,
     JOB(policy.restart_max),
     .min = 0,
     .max = MAX_RESTARTS,
     .example = "3",
     .doc = {"0.1", "The maximum number of restarts of a run. 0: none.", "0", "3"}},
    {.key = "backoff",
     .type = FIELD_DURATION,
     JOB(policy.backoff_s),
     DURATION_FROM(0),
     .example = "10s",
     .doc = {"0.1", "The pause before the first restart; it doubles with each further one.", "10s", "30s"}},
    {.key = "no_restart_on",
     .type = FIELD_LIST,
     JOB(policy.no_restart_on),
     .doc = {"0.1",
             "Texts to search for in the logs of a failed attempt. If one of them is found, the run is not "
             "restarted.",
             "[]", "[\"CUDA out of memory\"]"}},
    {.key = "spares",
     .type = FIELD_CUSTOM,
     JOB(policy.spares),
     .handle = read_spares,
     .write = write_list,
     .form = "host list, or a list of entries",
     .doc = {"0.1", "Hosts that take the place of one that cannot be reached, at a start or a restart.", "[]",
             "[\"g[0037-0038]\"]"}},
};
static const struct field_table restart_table = TABLE(restart_fields);

static const struct field progress_fields[] = {
    {.key = "pattern",
     .type = FIELD_CUSTOM,
     JOB(policy.progress_pattern),
     .handle = read_progress_pattern,
     .write = write_text,
     .form = "regular expression with named groups",
     .doc = {"0.1",
             "What the program's own progress lines look like: a regular expression with the groups "
             "iteration, total, loss, "
             "step_time, samples_per_second, tokens_per_second and tflops_per_gpu, of which iteration is "
             "required. \\d, \\s, \\S and \\w are supported.",
             NULL, "'step (?P<iteration>\\d+)/(?P<total>\\d+) loss (?P<loss>\\S+)'"}},
};
static const struct field_table progress_table = TABLE(progress_fields);

static const struct field top_fields[] = {
    {.key = "job",
     .type = FIELD_CUSTOM,
     JOB(name),
     .handle = read_job_name,
     .write = write_text,
     .form = "string",
     .doc = {"0.1", "The name of the job.", "the file's name without .yaml", "qwen3_1p7b"}},
    {.key = "hosts",
     .type = FIELD_CUSTOM,
     .handle = read_hosts,
     .write = write_hosts,
     .form = "host list, or a list of entries",
     .doc = {"0.1", "Where the job runs, in rank order; see mtlaunch-hosts(5). Not together with hostfile.",
             "see mtlaunch-hosts(5)", "g[0033-0036]"}},
    {.key = "hostfile",
     .type = FIELD_CUSTOM,
     .handle = read_hostfile,
     .write = write_hostfile,
     .form = "path (relative to the job file's folder)",
     .doc = {"0.1", "The file with the host list.", "see mtlaunch-hosts(5)", "hosts.txt"}},
    {.key = "launcher",
     .type = FIELD_CUSTOM,
     JOB(launcher),
     .handle = read_launcher,
     .write = write_text,
     .doc = {"0.1", "How the program is started on each node.", "torchrun", "script"}},
    {.key = "nproc_per_node",
     .type = FIELD_COUNT,
     JOB(nproc_per_node),
     .min = 1,
     .max = MAX_PROCESSES,
     .auto_ok = true,
     .doc =
         {"0.1",
          "Processes on each node. auto: slots or gpus of the host list, else the GPUs found there, else 1.",
          "auto", "8"}},
    {.key = "master",
     .type = FIELD_MAP,
     .table = &master_table,
     .doc = {"0.1", "The rendezvous of the processes.", NULL, "{addr: auto, port: auto, interface: auto}"}},
    {.key = "rendezvous",
     .type = FIELD_CHOICE,
     JOB(rendezvous),
     CHOICES(rendezvous),
     .doc = {"0.1", "How torchrun's agents find each other. c10d takes a store on node 0.", "static",
             "c10d"}},
    {.key = "workdir",
     .type = FIELD_TEXT,
     JOB(workdir),
     .handle = check_placeholders,
     .doc = {"0.1", "The folder on the nodes in which setup and program start.",
             "the login folder, or the container's own", "/data/code"}},
    {.key = "artifacts",
     .type = FIELD_TEXT,
     JOB(artifacts),
     .handle = check_placeholders,
     .doc = {"0.1", "The folder on the nodes for logs and records of runs.", "~/.mtlaunch",
             "/data/artifacts"}},
    {.key = "shell",
     .type = FIELD_CUSTOM,
     JOB(shell),
     .handle = read_shell,
     .write = write_text,
     .form = "auto | bash | sh | an absolute path",
     .doc = {"0.1", "The shell that runs the lines of setup. auto: bash where the node has it, else sh.",
             "auto", "bash"}},
    {.key = "setup",
     .type = FIELD_LIST,
     JOB(setup),
     .doc = {"0.1",
             "Lines of shell that run before the program, in its environment. Each must end with 0; what "
             "they export reaches the program.",
             "[]", "[\". /opt/conda/bin/activate train\"]"}},
    {.key = "python",
     .type = FIELD_TEXT,
     JOB(python),
     .doc = {"0.1",
             "The Python that runs torchrun, and through it the program. none: the program is not Python "
             "(--no_python).",
             "python3", "/opt/venv/bin/python3"}},
    {.key = "launcher_args",
     .type = FIELD_CUSTOM,
     JOB(launcher_args),
     .handle = read_launcher_args,
     .write = write_list,
     .form = "list of strings",
     .doc =
         {"0.1",
          "Further options for the launcher itself: torchrun, accelerate or deepspeed. Those that mtlaunch "
          "sets are refused.",
          "[]", "[--tee, \"3\"]"}},
    {.key = "program",
     .type = FIELD_CUSTOM,
     .handle = read_program,
     .write = write_program,
     .form = "string, or a list of strings",
     .doc =
         {"0.1",
          "What to run: a script, or a module as '-m pkg.mod'. For the launcher script, a string is a line "
          "for /bin/sh and a list is an exact argv; for swift and megatron-swift it is a verb such as sft. "
          "Required.",
          NULL, "train.py"}},
    {.key = "args",
     .type = FIELD_CUSTOM,
     .handle = read_args,
     .write = write_args,
     .form = "mapping, or a list of strings",
     .doc = {"0.1",
             "Arguments of the program. In a mapping 'key: value' becomes --key value, true becomes --key, "
             "false and null are left out, a list becomes --key v1 v2. For swift and megatron-swift true and "
             "false are values.",
             "[]", "{lr: 1e-4, bf16: true}"}},
    {.key = "zero_stage",
     .type = FIELD_COUNT,
     JOB(zero_stage),
     .min = 0,
     .max = 3,
     .doc =
         {"0.1",
          "The ZeRO level. It reaches the program as ZERO_STAGE, and Megatron-LM, DeepSpeed, accelerate and "
          "ms-swift by their own means.",
          "0", "1"}},
    {.key = "megatron",
     .type = FIELD_MAP,
     .table = &megatron_table,
     .doc = {"0.1", "Settings of the launcher megatron.", NULL, "{sharding: megatron-fsdp}"}},
    {.key = "deepspeed",
     .type = FIELD_MAP,
     .table = &deepspeed_table,
     .doc = {"0.1", "Settings of the launcher deepspeed.", NULL, "{config: ds.json, form: torchrun}"}},
    {.key = "accelerate",
     .type = FIELD_MAP,
     .table = &accelerate_table,
     .doc = {"0.1", "Settings of the launcher accelerate.", NULL, "{config_file: accelerate.yaml}"}},
    {.key = "env",
     .type = FIELD_CUSTOM,
     .handle = read_env,
     .write = write_env,
     .form = "mapping of names to strings",
     .doc = {"0.1", "Variables of the program, by name.", "{}", "{NCCL_DEBUG: INFO}"}},
    {.key = "env_file",
     .type = FIELD_CUSTOM,
     .handle = read_env_file,
     .write = write_env_file,
     .form = "path, or a list of paths (relative to the job file's folder)",
     .doc = {"0.1",
             "Files here with NAME=VALUE lines, read into the environment of the program. Later files win.",
             "[]", "[cluster.env]"}},
    {.key = "pass_env",
     .type = FIELD_CUSTOM,
     JOB(pass_env),
     .handle = read_pass_env,
     .write = write_list,
     .form = "pattern, or a list of patterns",
     .doc = {"0.1",
             "Variables of the caller's shell that are passed on to the program. A list given here replaces "
             "the default.",
             "[\"NCCL_*\", \"GLOO_*\", \"UCX_*\", \"TORCH_NCCL_*\"]", "[\"NCCL_*\", \"WANDB_*\"]"}},
    {.key = "secret_env",
     .type = FIELD_CUSTOM,
     .handle = read_secret_env,
     .write = write_secret_env,
     .form = "pattern, or a list of patterns",
     .doc = {"0.1",
             "Variables whose values never appear on a command line and are never printed. A list given here "
             "adds "
             "to the default.",
             "[\"*_TOKEN\", \"*_KEY\", \"*_SECRET\", \"*PASSWORD*\"]", "[\"*_DSN\"]"}},
    {.key = "container",
     .type = FIELD_CUSTOM,
     .table = &container_table,
     .handle = read_container,
     .doc = {"0.1", "The container in which the whole run takes place. null: none.", "null",
             "{name: megatron}"}},
    {.key = "ssh",
     .type = FIELD_MAP,
     .table = &ssh_table,
     .doc = {"0.1", "How the nodes are reached, in addition to ssh_config and the host list.", NULL,
             "{user: train, port: 22}"}},
    {.key = "prepare",
     .type = FIELD_CUSTOM,
     .items = &prepare_table,
     .handle = read_prepare,
     .write = write_prepare,
     .doc = {"0.1",
             "Commands that run before a start, one after the other. One that fails ends the start (exit 4) "
             "with the "
             "last lines of its log.",
             "[]", "[{name: convert, command: [./convert.sh], creates: data/cached, timeout: 6h}]"}},
    {.key = "sync",
     .type = FIELD_MAP,
     .table = &sync_table,
     .doc = {"0.1", "Files here that are pushed to every node before each start; see 'mtlaunch help push'.",
             NULL, "{from: src/}"}},
    {.key = "require",
     .type = FIELD_MAP,
     .table = &require_table,
     .doc = {"0.1", "What every node must have. 'check' and 'start' verify it.", NULL,
             "{gpus: 8, paths: [/data]}"}},
    {.key = "checks",
     .type = FIELD_MAP,
     .table = &checks_table,
     .doc = {"0.1", "Which checks are run on the nodes.", NULL, "{skip: [clock]}"}},
    {.key = "finish_on",
     .type = FIELD_CHOICE,
     JOB(policy.finish_on),
     CHOICES(finish_on),
     .doc =
         {"0.1",
          "When a run has finished. rank0: once node 0 has ended with 0; the other nodes are stopped then.",
          "all", "rank0"}},
    {.key = "time_limit",
     .type = FIELD_CUSTOM,
     JOB(policy.time_limit_s),
     .handle = read_time_limit,
     .write = write_off_or_duration,
     .form = "off, or a duration, 1s to 365d",
     .doc = {"0.1",
             "How long a run may take, counted from its start over all attempts. Then it is stopped, and "
             "'wait' ends with 5.",
             "off", "8h"}},
    {.key = "start_timeout",
     .type = FIELD_DURATION,
     JOB(start_timeout_s),
     DURATION_FROM(1),
     .example = "2m",
     .doc = {"0.1", "How long a node may take to start: the lines of setup and the beginning of the program.",
             "2m", "5m"}},
    {.key = "on_failure",
     .type = FIELD_CHOICE,
     JOB(policy.on_failure),
     CHOICES(on_failure),
     .doc = {"0.1", "What happens when a node fails: stop the others, keep them, or restart the run.", "stop",
             "restart"}},
    {.key = "on_lost",
     .type = FIELD_CHOICE,
     JOB(policy.on_lost),
     CHOICES(on_lost),
     .doc = {"0.1", "What happens when a node has not answered for lost_after.", "keep", "restart"}},
    {.key = "lost_after",
     .type = FIELD_DURATION,
     JOB(policy.lost_after_s),
     DURATION_FROM(1),
     .example = "5m",
     .doc = {"0.1", "How long a node may be silent before on_lost acts.", "5m", "10m"}},
    {.key = "restart",
     .type = FIELD_MAP,
     .table = &restart_table,
     .doc = {"0.1", "How a run is restarted, with on_failure: restart or on_lost: restart.", NULL,
             "{max: 3, backoff: 10s}"}},
    {.key = "stop",
     .type = FIELD_MAP,
     .table = &stop_table,
     .doc = {"0.1", "How a run is stopped.", NULL, "{signal: TERM, grace: 40s}"}},
    {.key = "stall",
     .type = FIELD_CUSTOM,
     JOB(policy.stall_s),
     .handle = read_stall,
     .write = write_off_or_duration,
     .form = "off, or a duration, 1s to 365d",
     .doc = {"0.1", "Report when no node's log has grown for this long.", "off", "20m"}},
    {.key = "on_stall",
     .type = FIELD_CHOICE,
     JOB(policy.on_stall),
     CHOICES(on_stall),
     .doc = {"0.1", "What happens to a run that has stalled.", "keep", "stop"}},
    {.key = "progress",
     .type = FIELD_MAP,
     .table = &progress_table,
     .doc = {"0.1",
             "How the progress of the training is read from the log. Megatron-LM, Hugging Face's Trainer, "
             "ms-swift, "
             "tqdm, DeepSpeed, torchtitan and torchtune need nothing here.",
             NULL, "{pattern: \"step (?P<iteration>\\\\d+)/(?P<total>\\\\d+)\"}"}},
    {.key = "notify",
     .type = FIELD_CUSTOM,
     .items = &notify_table,
     .handle = read_notify,
     .write = write_notify,
     .form = "list of mappings",
     .doc = {"0.1", "Webhooks that are notified of what happens to a run.", "[]",
             "[{url: \"https://hooks.example.org/x\", on: [failed, finished]}]"}},
    {.key = "profiles",
     .type = FIELD_DONE,
     .form = "mapping of names to keys of the job file",
     .doc = {"0.1",
             "Named variants of the job: keys of the job file that --profile NAME merges in. Mappings merge, "
             "lists are replaced.",
             "{}", "{smoke: {args: {train-iters: 20}}}"}},
};
const struct field_table job_fields = TABLE(top_fields);
