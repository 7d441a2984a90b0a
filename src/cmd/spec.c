/* Writes the text of a first job file, with comments. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cmd/spec_internal.h"
#include "launcher/launcher.h"

const char *spec_example_program(const char *launcher)
{
    const struct launcher *row = launcher_find(launcher, NULL);
    return (row ? row : launchers_all[0])->example.program;
}

/* --- scalars -------------------------------------------------------------------------------------------- */

/* Is it free of YAML's special characters, and not a word that YAML takes for something other than text? */
static bool is_plain(const char *text)
{
    static const char *const words[] = {"true", "false", "null"};
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_";
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(text, words[i]) == 0) {
            return false;
        }
    }
    if (!*text || !strchr(first, *text) || text_ends(text, " ")) {
        return false;
    }
    for (const char *at = text; *at; at++) {
        if (!strchr(first, *at) && !strchr("-+=@% ", *at)) {
            return false;
        }
    }
    return true;
}

static bool has_control(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f) {
            return true;
        }
    }
    return false;
}

void spec_add_scalar(struct str *out, const char *text)
{
    bool escapes = has_control(text);
    if (is_plain(text)) {
        str_add(out, text);
        return;
    }
    str_add_char(out, escapes ? '"' : '\'');
    for (; *text; text++) {
        if (!escapes && *text == '\'') {
            str_add(out, "''");
        } else if (escapes && (*text == '"' || *text == '\\')) {
            str_addf(out, "\\%c", *text);
        } else if (escapes && ((unsigned char)*text < ' ' || *text == 0x7f)) {
            str_addf(out, "\\x%02x", (unsigned)(unsigned char)*text);
        } else {
            str_add_char(out, *text);
        }
    }
    str_add_char(out, escapes ? '"' : '\'');
}

static void add_setting(struct str *out, const char *key, const char *value)
{
    str_addf(out, "%s: ", key);
    spec_add_scalar(out, value);
    str_add_char(out, '\n');
}

/* --- the file ------------------------------------------------------------------------------------- */

static void add_hosts(const struct spec_answers *answers, struct str *out)
{
    str_add(out, "\n# Hosts in rank order, such as g[0033-0036] or train@10.0.0.7:2222.\n");
    if (answers->hostfile) {
        add_setting(out, "hostfile", answers->hostfile);
    } else if (answers->hosts) {
        add_setting(out, "hosts", answers->hosts);
    } else {
        str_add(
            out,
            "# Not given here: taken from --hosts, --hostfile, $MTLAUNCH_HOSTFILE or a Slurm allocation.\n"
            "# Without any of these, the job runs on this machine alone.\n#hosts: g[0033-0036]\n");
    }
}

static const char tail[] =
    "\n# Arguments of the program: 'key: value' becomes --key value, true becomes --key, a list becomes "
    "--key v1 v2.\n"
    "# Here and in env, ${{name}} stands for a value of the run: run, node_rank, nnodes, artifacts and "
    "others.\n"
    "#args:\n"
    "#  lr: 1e-4\n"
    "#  save: \"${{artifacts}}/checkpoints/${{run}}\"\n"
    "\n# Environment of the program. Variables that match pass_env are taken from your shell.\n"
    "#env: {NCCL_DEBUG: INFO}\n"
    "#pass_env: [\"NCCL_*\", \"GLOO_*\", \"UCX_*\", \"TORCH_NCCL_*\"]\n"
    "\n# On the nodes: working folder, folder for logs and records, shell lines to run first (each must end "
    "with 0).\n"
    "#workdir: /data/code\n"
    "#artifacts: ~/.mtlaunch\n"
    "#setup:\n"
    "#  - . /opt/conda/etc/profile.d/conda.sh\n"
    "#  - conda activate train\n"
    "#nproc_per_node: auto            # slots or gpus of the host list, else the GPUs found, else 1\n"
    "#master: {addr: auto, port: auto, interface: auto}\n"
    "\n# How to reach the nodes, in addition to your ssh_config.\n"
    "#ssh: {user: train, port: 22}\n"
    "\n# What to do about failures, and when a run ends.\n"
    "#on_failure: stop                # when a node fails: stop | keep | restart\n"
    "#on_lost: keep                   # when a node has not answered for lost_after: keep | stop | restart\n"
    "#lost_after: 5m\n"
    "#restart: {max: 0, backoff: 10s} # also no_restart_on: [\"CUDA out of memory\"], spares: [g0037]\n"
    "#finish_on: all                  # all | rank0: the run has finished when node 0 has ended with 0\n"
    "#time_limit: off                 # for example 8h: stop the run then\n"
    "#stall: off                      # for example 20m: report when no log has grown for this long\n"
    "#on_stall: keep                  # keep | stop\n"
    "#start_timeout: 2m\n"
    "#stop: {signal: TERM, grace: 40s}\n"
    "\n# Notifications to a webhook: json, slack or feishu.\n"
    "#notify: [{url: \"https://hooks.example.org/XXXX\", on: [failed, finished, stalled], format: json}]\n"
    "\n# Variants of this job: mtlaunch start JOB RUN --profile smoke\n"
    "#profiles:\n"
    "#  smoke: {env: {NCCL_DEBUG: WARN}, nproc_per_node: 1}\n";

void spec_render(const struct spec_answers *answers, struct str *out)
{
    const struct launcher *launcher = launcher_find(answers->launcher, NULL);
    const struct launcher_example *example = &(launcher ? launcher : launchers_all[0])->example;
    str_addf(
        out,
        "# A job for mtlaunch. To see what it would run and where: mtlaunch start %s RUN --dry-run\n"
        "# Lines that start with '#' and no blank are defaults or examples. Remove the '#' to use them.\n"
        "# 'mtlaunch help KEY' explains a key.\n",
        answers->job);
    add_hosts(answers, out);
    str_add(out, "\n# The program.\n");
    add_setting(out, "launcher", answers->launcher);
    str_add(out, example->about);
    add_setting(out, "program", answers->program ? answers->program : example->program);
    str_add(out, example->settings);
    str_add(out, tail);
}
