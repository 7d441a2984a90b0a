/* `help TOPIC`: what is not of one command. Texts; the exit codes come from their table. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cmd/exits_internal.h"
#include "cmd/topics_internal.h"
#include "input/jobfile.h"
#include "launcher/launcher.h"

#define LINE_COLUMNS 80

static const char job_text[] =
    "A job is a YAML file: what runs, where, and what happens when something fails.\n"
    "\n"
    "    job: train                   # default: the file's name\n"
    "    hosts: g[0033-0036]          # or hostfile: hosts.txt (relative to this file)\n"
    "    launcher: torchrun           # one of those below\n"
    "    nproc_per_node: auto         # GPUs of each node\n"
    "    workdir: /apps/train         # default: the login folder\n"
    "    setup: [\". /opt/conda/etc/profile.d/conda.sh\", \"conda activate train\"]\n"
    "    program: train.py            # a script, or \"-m package.module\"\n"
    "    args: {lr: 3e-4, bf16: true} # or a list of words\n"
    "    env: {NCCL_DEBUG: INFO}\n"
    "    on_failure: stop             # stop, keep or restart\n"
    "    profiles: {smoke: {args: {steps: 20}}}\n"
    "\n"
    "Required: program. A value is text until its key asks for a number. Unknown keys,\n"
    "duplicate keys and wrong types are errors with file, line and column.\n"
    "\n"
    "${{name}} stands for a value of the run inside program, args, env, workdir and\n"
    "artifacts: job, run, run_id, node_rank, nnodes, nproc_per_node, world_size,\n"
    "master_addr, master_port, host, attempt, zero_stage, artifacts, rendezvous_id.\n"
    "$HOME, * and quotes reach the program as they are written: put shell lines into\n"
    "setup.\n"
    "\n"
    "JOB on the command line is a path that ends in .yaml or .yml, or a name looked up\n"
    "as NAME.yaml in ./, ./jobs/, the folders of $MTLAUNCH_JOBS and\n"
    "~/.config/mtlaunch/jobs/. Later wins: spec, profiles, variables of the shell, --set\n"
    "in order, named options.\n"
    "\n"
    "  mtlaunch init train          write a first job file with comments\n"
    "  mtlaunch start train r1 --dry-run   see what it would run\n";

static const char hosts_text[] =
    "A host list names the machines in rank order. A file has one entry a line; a list\n"
    "on the command line or in the spec separates entries by commas.\n"
    "\n"
    "    g0033                        a name, an IPv4 or an IPv6 address\n"
    "    g[0033-0036,0040]            ranges; several groups multiply\n"
    "    train@g0033:2222             user and port\n"
    "    g0033 slots=8                GPUs of the node, as in DeepSpeed's host files\n"
    "    g0033 gpus=0-3               the GPUs to use; sets CUDA_VISIBLE_DEVICES\n"
    "    g0033 addr=10.0.0.33 ifname=ib0   address and interface for the other nodes\n"
    "    ^g0034                       leave this host out\n"
    "    # a comment\n"
    "\n"
    "The first source that is given wins: --hosts or --hostfile, the spec,\n"
    "$MTLAUNCH_HOSTFILE, the Slurm allocation of this shell, else this machine alone.\n"
    "--exclude LIST leaves hosts out and --nodes N keeps the first N.\n"
    "\n"
    "How a host is reached (user, port, keys, jump hosts) comes from the entry, the spec's\n"
    "ssh section and ~/.ssh/config, in this order.\n"
    "\n"
    "  mtlaunch hosts --hostfile hosts.txt   print the list as it is understood\n"
    "  mtlaunch hosts --hostfile hosts.txt --trust   take over unknown host keys\n";

static const char environment_text[] =
    "Every node's job finds in its environment:\n"
    "\n"
    "    NNODES NPROC_PER_NODE NODE_RANK MASTER_ADDR MASTER_PORT ZERO_STAGE\n"
    "    MTLAUNCH_RUN MTLAUNCH_RUN_ID MTLAUNCH_JOB MTLAUNCH_HOST MTLAUNCH_ATTEMPT\n"
    "    MTLAUNCH_ARTIFACTS MTLAUNCH_MARK\n"
    "\n"
    "and, unless they are set: PYTHONUNBUFFERED=1, LANG=C.UTF-8, OMP_NUM_THREADS. RANK,\n"
    "LOCAL_RANK and WORLD_SIZE are given to each process by its launcher.\n"
    "\n"
    "Later wins: the node's own, defaults, env_file, env, variables passed from here\n"
    "(pass_env: NCCL_*, GLOO_*, UCX_*, TORCH_NCCL_*), env. and ifname of the host list,\n"
    "-e NAME=VALUE. Names of the first list cannot be set otherwise.\n"
    "\n"
    "With several nodes NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME name the interface that\n"
    "routes to MASTER_ADDR, unless something sets them.\n"
    "\n"
    "Variables of the shell that act as options: ZERO_STAGE, CONTAINER_NAME,\n"
    "NPROC_PER_NODE, MASTER_ADDR, MASTER_PORT, ARTIFACT_ROOT. Others mtlaunch reads:\n"
    "MTLAUNCH_HOSTFILE, MTLAUNCH_JOBS, SLURM_JOB_NODELIST, XDG_STATE_HOME, NO_COLOR,\n"
    "COLUMNS, SSH_AUTH_SOCK.\n"
    "\n"
    "  mtlaunch start JOB RUN --dry-run   print each variable with where it comes from\n";

static const char json_text[] =
    "With --json a command prints one object on standard output with\n"
    "\"schema\": \"mtlaunch/1\"; 'logs' prints one object a line. Keys are in snake_case,\n"
    "times RFC 3339 in UTC, durations in seconds, sizes in bytes. What is unknown is null\n"
    "and never left out.\n"
    "\n"
    "  status RUN    run, job, run_id, state, attempt, reason, exit_status, started, ended,\n"
    "                supervisor, nodes, progress, left_over, attempts, events\n"
    "  status, list  runs: the same without nodes, attempts and events\n"
    "  start, stop, wait   the object of status; stop adds survivors\n"
    "  show RUN      run, job, spec, plan, events\n"
    "  hosts         hosts, folded\n"
    "  exec          hosts: exit_status, signal, error, stdout, stderr, truncated, seconds\n"
    "  logs          host, rank, text\n"
    "  errors        error: kind, code, message, hint, hosts, file, line, column\n"
    "\n"
    "\"rank\" is the number of the node in every object. In options and texts \"rank\" alone\n"
    "is the global rank of a process, as torch counts it. exit_status of a run is that of\n"
    "the node that failed first; 0 when finished, null while it lives and when it was\n"
    "stopped.\n"
    "\n"
    "  mtlaunch status RUN --json | jq '.nodes[] | select(.state != \"running\")'\n";

static const char troubleshooting_text[] =
    "A start fails: read the message and its hint first; each names the host and what to\n"
    "do. Then:\n"
    "\n"
    "  mtlaunch start JOB RUN --dry-run   what would run, without contacting a node\n"
    "  mtlaunch exec --job JOB hostname   is every host reached, and who answers\n"
    "  mtlaunch hosts JOB --trust         unknown host keys: compare, then take them over\n"
    "  mtlaunch start JOB RUN -v          more of what is done\n"
    "\n"
    "A run failed:\n"
    "\n"
    "  mtlaunch status RUN                which node failed first, and how\n"
    "  mtlaunch logs RUN --node N -n 200  the end of that node's log\n"
    "  mtlaunch show RUN --events         what happened, in order\n"
    "\n"
    "A run hangs: see what its processes wait for, then set NCCL_DEBUG=INFO:\n"
    "\n"
    "  mtlaunch exec --run RUN 'ps -o pid,stat,wchan:20,args'\n"
    "  mtlaunch start JOB RUN -e NCCL_DEBUG=INFO\n"
    "\n"
    "A node does not answer: its processes go on or are gone; nothing is known. The state\n"
    "is 'lost' until it answers. 'stop' ends 7 as long as a node cannot prove that\n"
    "everything is gone: repeat it later, or write the node off with --give-up.\n"
    "\n"
    "The record of a run, its events and the supervisor's log are in\n"
    "~/.local/state/mtlaunch/runs/RUN/ on this machine.\n";

static void add_job(struct str *out)
{
    AUTO_STRLIST struct strlist keys = STRLIST_INIT;
    size_t column = LINE_COLUMNS;
    jobfile_key_names(&keys);
    str_add(out, job_text);
    str_add(out, "\nLaunchers:\n");
    for (size_t i = 0; launchers_all[i]; i++) {
        if (launchers_all[i]->build) {
            str_addf(out, "    %-16s %s\n", launchers_all[i]->name, launchers_all[i]->summary);
        }
    }
    str_add(out, "\nEvery key:");
    for (size_t i = 0; i < keys.len; i++) {
        size_t len = strlen(keys.items[i]) + 1;
        if (column + len > LINE_COLUMNS) {
            str_add(out, "\n   ");
            column = 3;
        }
        str_addf(out, " %s", keys.items[i]);
        column += len;
    }
    str_add_char(out, '\n');
}

static void add_exit_codes(struct str *out)
{
    str_add(out, "What the exit code of a command says:\n\n");
    for (size_t i = 0; i < exit_meanings_count; i++) {
        str_addf(out, "  %3d  %s\n", exit_meanings[i].code, exit_meanings[i].meaning);
    }
    str_add(out, "\nSeveral at once: 7, 8, 3, 4, 5, 6, 1, the first of these that fits. 'exec' ends\n"
                 "with the largest exit status of a host, 3 when a host never ran the command, 5\n"
                 "when one ran out of time.\n");
}

/* One row a topic: a text, or a function that makes it from a table. */
static const struct {
    const char *name, *summary, *text;
    void (*add)(struct str *out);
} topics[] = {
    {"job", "the job file", NULL, add_job},
    {"hosts", "host lists", hosts_text, NULL},
    {"environment", "the environment of a job, and of mtlaunch", environment_text, NULL},
    {"exit-codes", "what exit codes mean", NULL, add_exit_codes},
    {"json", "what --json prints", json_text, NULL},
    {"troubleshooting", "what to do when something fails", troubleshooting_text, NULL},
};

bool help_topic(const char *name, struct str *out)
{
    for (size_t i = 0; i < ARRAY_LEN(topics); i++) {
        if (strcmp(topics[i].name, name) != 0) {
            continue;
        }
        if (topics[i].add) {
            topics[i].add(out);
        } else {
            str_add(out, topics[i].text);
        }
        return true;
    }
    return false;
}

void help_topic_names(struct strlist *names)
{
    for (size_t i = 0; i < ARRAY_LEN(topics); i++) {
        strlist_add(names, topics[i].name);
    }
}

void help_topics(struct str *out)
{
    for (size_t i = 0; i < ARRAY_LEN(topics); i++) {
        str_addf(out, "  %-15s %s\n", topics[i].name, topics[i].summary);
    }
}
