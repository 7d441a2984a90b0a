/* The sections of mtlaunch(1) that are also topics of `help`. */
#include "base/alloc.h"
#include "cmd/exits_internal.h"
#include "cmd/reference_internal.h"

struct term {
    const char *name, *meaning;
};

static void add_terms(struct page *page, const struct term *terms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        page_item(page, terms[i].name, terms[i].meaning);
    }
}

/* --- environment -------------------------------------------------------------------------------- */

static const struct term job_variables[] = {
    {"NNODES, NODE_RANK", "The number of nodes, and the rank of this node, from 0."},
    {"NPROC_PER_NODE", "Processes on each node."},
    {"MASTER_ADDR, MASTER_PORT", "Where node 0 is reached for the rendezvous."},
    {"ZERO_STAGE", "zero_stage of the job file."},
    {"MTLAUNCH_RUN, MTLAUNCH_RUN_ID, MTLAUNCH_ATTEMPT",
     "The run's name, its id, and the number of this attempt, from 1."},
    {"MTLAUNCH_JOB, MTLAUNCH_HOST, MTLAUNCH_ARTIFACTS",
     "The job's name, this host's name, and the folder for logs."},
    {"MTLAUNCH_MARK", "The mark by which a process of the run is found. Keep it."},
    {"PYTHONUNBUFFERED, LANG, OMP_NUM_THREADS",
     "1, C.UTF-8, and cores divided by processes (1 to 16), unless something sets them."},
    {"PYTHONFAULTHANDLER, TORCH_NCCL_DUMP_ON_TIMEOUT",
     "1 for launchers that run Python, unless something sets them."},
    {"TORCH_FR_BUFFER_SIZE, TORCH_FR_DUMP_TEMP_FILE, TORCH_NCCL_DEBUG_INFO_PIPE_FILE",
     "For launchers that run Python: NCCL's flight recorder of the last 2000 collectives, with its files in "
     "ARTIFACTS/run_state/RUN_node<rank>.fr/, unless something sets them."},
    {"TORCH_NCCL_TRACE_BUFFER_SIZE, TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
     "The names of the first two before torch 2.9."},
    {"TORCH_NCCL_EXTRA_DUMP_ON_EXEC, TORCH_INCLUDE_ONLY_ACTIVE, TORCH_INCLUDE_STACK_TRACE",
     "For launchers that run Python: torch's own values (0, 0, 1), unless something sets them, because "
     "Megatron-LM otherwise changes them for the flight recorder, and its ranks then hang when they end."},
    {"NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME",
     "With several nodes: the interface that routes to MASTER_ADDR, unless something sets them."},
};

static const struct term own_variables[] = {
    {"MTLAUNCH_HOSTFILE", "The host file, when neither the command line nor the job file names hosts."},
    {"MTLAUNCH_JOBS", "Folders in which JOB is looked up, separated by colons."},
    {"ZERO_STAGE, CONTAINER_NAME, NPROC_PER_NODE, MASTER_ADDR, MASTER_PORT, ARTIFACT_ROOT",
     "Act as the job options of those names. An empty one is unset. CONTAINER_NAME only renames a container "
     "that the "
     "job file has."},
    {"SLURM_JOB_NODELIST", "The hosts of a Slurm allocation."},
    {"SSH_AUTH_SOCK", "The ssh agent whose keys are used."},
    {"XDG_STATE_HOME", "Where records of runs are kept, in mtlaunch/runs. Default: ~/.local/state."},
    {"CURL_CA_BUNDLE, SSL_CERT_FILE", "Certificate authorities for notifications."},
    {"NO_COLOR", "When set and not empty: no colour and no bars."},
    {"COLUMNS", "The width of tables."},
};

void reference_environment(struct page *page)
{
    page_section(page, "Environment of a job");
    page_text(page,
              "The program of a job finds these variables on every node. RANK, LOCAL_RANK and WORLD_SIZE are "
              "set for each process by its launcher.");
    add_terms(page, job_variables, ARRAY_LEN(job_variables));
    page_text(
        page,
        "Later values win: the node's own, defaults, env_file, env, variables passed on from here (pass_env),"
        " ifname and env. of the host list, -e NAME=VALUE. Variables that mtlaunch computes cannot be "
        "set otherwise. 'start JOB RUN --dry-run' prints each variable with where it comes from.");
    page_section(page, "Environment");
    page_text(page, "mtlaunch itself reads these variables:");
    add_terms(page, own_variables, ARRAY_LEN(own_variables));
}

/* --- exit codes --------------------------------------------------------------------------------- */

void reference_exit_codes(struct page *page)
{
    page_section(page, "Exit status");
    for (size_t i = 0; i < exit_meanings_count; i++) {
        AUTO_FREE char *code = xasprintf("%d", exit_meanings[i].code);
        page_item(page, code, exit_meanings[i].meaning);
    }
    page_text(page,
              "If several apply, the first of 7, 8, 3, 4, 5, 6, 1 is used. 'exec' ends with the "
              "largest exit status of a host, with 3 when a host never ran the command, with 5 when one ran "
              "out of time.");
}

/* --- JSON --------------------------------------------------------------------------------------- */

void reference_json(struct page *page)
{
    page_section(page, "JSON output");
    page_text(page, "With --json, a command prints one object on standard output ('logs': one per line) with "
                    "\"schema\": \"mtlaunch/1\". Keys are in snake_case, times are RFC 3339 in UTC, "
                    "durations are in seconds, and sizes are in bytes. Unknown values are null, never left "
                    "out. An error is an object with the key \"error\", also on standard output, and the "
                    "exit status gives its class.");
    page_text(page, "'mtlaunch help json' prints a JSON Schema (2020-12) that describes the output of every "
                    "command. 'help' and 'completion' have no JSON form.");
    page_text(page,
              "\"rank\" is the number of a node in every object. In options and texts \"rank\" alone is the "
              "global rank of a process, as torch counts it. \"exit_status\" of a run is that of the node "
              "that failed first; 0 when finished, null while it lives and when it was stopped.");
    page_lines(page, "mtlaunch status RUN --json | jq '.nodes[] | select(.state != \"running\")'\n"
                     "mtlaunch help json >mtlaunch.schema.json\n");
}

/* --- troubleshooting ---------------------------------------------------------------------------- */

static const struct term troubles[] = {
    {"A start fails.",
     "Read the message and its hint: it names the hosts and what to do. 'mtlaunch check JOB' "
     "looks for more problems, and 'start JOB RUN --dry-run' shows what would run without "
     "contacting a node."},
    {"A host cannot be reached.",
     "'mtlaunch exec --job JOB hostname' tries each host. 'ssh -v HOST' shows what an ssh "
     "client sees."},
    {"A host key is unknown.",
     "'mtlaunch hosts JOB --trust' shows the unknown keys and adds them after you confirm. "
     "Compare the fingerprints first."},
    {"A run failed.",
     "'mtlaunch diagnose RUN' names the cause, its node and a remedy. 'mtlaunch logs RUN "
     "--node N -n 200' shows the end of a node's log, and 'mtlaunch show RUN --events' shows "
     "what happened in order."},
    {"A run hangs.",
     "'mtlaunch stacks RUN' shows what each rank is doing, outliers first. Set 'stall' in the "
     "job file to be notified, and start again with -e NCCL_DEBUG=INFO if the stacks point to "
     "NCCL."},
    {"A node is lost.",
     "Its state is unknown until it answers. 'stop' exits with 7 as long as it cannot verify "
     "that everything on a node has stopped: repeat it later, or give the node up with "
     "--give-up."},
    {"A run says that it has no supervisor.",
     "'mtlaunch supervise RUN' starts a new one. The run itself does not need one."},
    {"The master port is taken.", "Leave 'master.port' out: the next free one up to 29999 is used."},
    {"Processes of an earlier run are in the way.",
     "'mtlaunch stop RUN' ends them and verifies it. This also works on a run that has ended."},
};

void reference_troubleshooting(struct page *page)
{
    page_section(page, "Troubleshooting");
    add_terms(page, troubles, ARRAY_LEN(troubles));
    page_text(page, "The record of a run, its events and the supervisor's log are in "
                    "~/.local/state/mtlaunch/runs/RUN/ on the machine it was started from.");
}
