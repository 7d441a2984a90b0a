/* The probe before a start: what every node is asked, and what in its answer forbids the start. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "judge_internal.h"
#include "model/hostlist.h"
#include "model/kind.h"
#include "node_failures_internal.h"
#include "node_set_internal.h"
#include "node_target_internal.h"
#include "observer_internal.h"
#include "start_internal.h"

#define PROBE_MARGIN_MS 30000
#define SETUP_LINE_MAX  160 /* bytes of a setup line in a message */

static enum node_env_mode node_env_mode(enum plan_env_mode mode)
{
    switch (mode) {
    case PLAN_ENV_KEEP:
        return NODE_ENV_KEEP;
    case PLAN_ENV_CLEAN:
        return NODE_ENV_CLEAN;
    case PLAN_ENV_LOGIN:
        break;
    }
    return NODE_ENV_LOGIN;
}

struct node_job start_node_job(const struct start *start, size_t node)
{
    const struct plan_node *from = &start->plan.nodes[node];
    return (struct node_job){
        .env_mode = node_env_mode(from->env_mode),
        .workdir = from->workdir,
        .shell = start->plan.shell,
        .setup = &start->plan.setup,
        .argv = &from->argv,
        .home_words = from->probe.home_words,
        .home_words_len = from->probe.home_words_len,
        .defaults = &from->defaults,
        .env = &from->env,
        .computed = &from->computed,
    };
}

static bool probe_build(void *ctx, size_t node, const char *nonce, struct node_call *call)
{
    struct start *start = ctx;
    const struct plan_node *from = &start->plan.nodes[node];
    const struct launch_probe *probe = &from->probe;
    const struct job *job = start->request->job;
    const struct node_target target = run_node_target(start->run, node);
    const struct node_job node_job = start_node_job(start, node);
    bool is_command = probe->program_type == LAUNCH_PROGRAM_COMMAND;
    struct start_look look = {0};
    start_look_find(from, &look);
    const struct node_probe_options options = {
        .look_exec = look.exec,
        .look_shell = look.shell,
        .look_read = look.read,
        .program = probe->program_type == LAUNCH_PROGRAM_FILE ? probe->program : NULL,
        .command = is_command ? probe->program : NULL,
        .interpreter = probe->interpreter,
        .module = probe->module,
        .job = !start->request->no_check,
        .gpus = job->nproc_per_node == 0,
        .port = node == 0,
        .master_port = job->master_port,
        .master_addr = start->plan.nnodes > 1 ? start->plan.master_addr : NULL,
        .is_master = node == 0,
        .setup_timeout_s = start->request->job->start_timeout_s,
    };
    node_request_probe(&target, &node_job, &options, nonce, call);
    start_look_release(&look);
    start->touched[node] = true;
    return true;
}

/* --- judging ------------------------------------------------------------------------------------ */

static int judge_claims(const struct start *start, const struct node_probe *probe, struct error *err)
{
    if (probe->foreign.run_id) {
        return judge_foreign(&probe->foreign, start->run->name, err);
    }
    if (probe->live.total > 0) {
        const struct node_process *first = probe->live.len > 0 ? &probe->live.items[0] : NULL;
        error_set(err, &kind_run_live,
                  "%llu processes of an earlier attempt of '%s' live there (pid %lld: %s)",
                  (unsigned long long)probe->live.total, start->run->name, !first ? 0 : (long long)first->pid,
                  !first || !first->command ? "?" : first->command);
        return error_hint(err, "`mtlaunch stop %s` ends them", start->run->name);
    }
    if (!probe->artifacts_writable) {
        error_set(err, &kind_artifacts_unwritable, "the artifacts folder '%s' is not writable: %s",
                  probe->artifacts ? probe->artifacts : "?",
                  probe->artifacts_problem ? probe->artifacts_problem : "unknown reason");
        return error_hint(err, "make it, or name another with 'artifacts' in the spec or --artifacts");
    }
    return 0;
}

#define AUTO_PORT_MIN 29500u
#define AUTO_PORT_MAX 29999u

static int judge_port(const struct start *start, const struct node_probe *probe, struct error *err)
{
    unsigned wanted = start->request->job->master_port;
    if (wanted != 0 && probe->port_taken) {
        error_set(err, &kind_port_taken, "master port %u is taken there", wanted);
        if (probe->port_pid > 0) {
            AUTO_FREE char *text = xstrdup(err->text);
            error_set(err, &kind_port_taken, "%s by pid %lld (%s)", text, (long long)probe->port_pid,
                      probe->port_command ? probe->port_command : "?");
        }
        return error_hint(err, "use another with --master-port, or leave it out to have a free one chosen");
    }
    if (probe->port != 0 &&
        (wanted == 0 ? probe->port < AUTO_PORT_MIN || probe->port > AUTO_PORT_MAX : probe->port != wanted)) {
        return error_set(err, &kind_node_answer, "the node chose master port %u, expected %u to %u",
                         probe->port, wanted == 0 ? AUTO_PORT_MIN : wanted,
                         wanted == 0 ? AUTO_PORT_MAX : wanted);
    }
    if (wanted == 0 && probe->port == 0) {
        error_set(err, &kind_port_taken, "no port from 29500 to 29999 is free there");
        return error_hint(err, "name a free one with --master-port");
    }
    return 0;
}

/* What the setup lines printed last, on one line behind the error's text. */
static void add_setup_output(struct error *err, const char *printed)
{
    AUTO_STR struct str output = STR_INIT;
    AUTO_FREE char *text = xstrdup(err->text);
    if (printed) {
        text_add_safe(&output, printed, strlen(printed));
    }
    while (output.len > 0 && output.data[output.len - 1] == '\n') {
        str_truncate(&output, output.len - 1);
    }
    if (output.len > 0) {
        error_set(err, err->kind, "%s: %s", text, str_text(&output));
    }
}

char *start_setup_line(const struct start *start, unsigned number)
{
    const struct strlist *setup = &start->plan.setup;
    AUTO_STR struct str quoted = STR_INIT;
    if (number == 0 || number > setup->len) {
        return xstrdup("'?'");
    }
    AUTO_FREE char *line = xstrdup(setup->items[number - 1]);
    run_mask(start->context, &line);
    size_t len = strcspn(line, "\n");
    bool cut = line[len] != '\0' || len > SETUP_LINE_MAX;
    len = len > SETUP_LINE_MAX ? SETUP_LINE_MAX : len;
    while (len > 0 && ((unsigned char)line[len] & 0xC0) == 0x80) {
        len--; /* not in the middle of a character */
    }
    str_add_char(&quoted, '\'');
    text_add_safe(&quoted, line, len);
    str_add(&quoted, cut ? "…'" : "'");
    return str_detach(&quoted);
}

static int judge_setup(const struct start *start, const struct node_probe *probe, struct error *err)
{
    const struct node_setup_failure *setup = &probe->setup;
    if (setup->line == 0 && setup->status == 127) {
        error_set(err, &kind_interpreter_missing, "%s",
                  setup->output ? setup->output : "the shell for setup was not found");
        return error_hint(err, "name one that is there with 'shell'");
    }
    if (setup->line == 0) {
        error_set(err, &kind_workdir_missing, "the folder '%s' can't be entered",
                  probe->workdir ? probe->workdir : "?");
        return error_hint(err, "look at its mode and owner there, or name another with 'workdir'");
    }
    AUTO_FREE char *line = start_setup_line(start, setup->line);
    if (setup->status < 0) {
        error_set(err, &kind_time_limit, "setup line %u (%s) did not end within start_timeout, %lu s",
                  setup->line, line, start->request->job->start_timeout_s);
        add_setup_output(err, setup->output);
        return error_hint(err, "raise start_timeout in the spec, or look at what that line waits for");
    }
    error_set(err, &kind_setup_failed, "setup line %u (%s) ended with status %d", setup->line, line,
              setup->status);
    add_setup_output(err, setup->output);
    return error_hint(err, "every setup line must end with 0; try it there in a plain `sh` or `bash`");
}

static int judge_program(const struct start *start, size_t node, const struct node_probe *probe,
                         struct error *err)
{
    const struct plan_node *plan = &start->plan.nodes[node];
    const char *path = probe->path ? probe->path : "?";
    if (!probe->workdir_exists) {
        error_set(err, &kind_workdir_missing, "%s: no such directory",
                  plan->workdir ? plan->workdir : "the login folder");
        return error_hint(err, "make it there, or give this host its own with workdir= in the host list");
    }
    if (probe->setup.failed) {
        return judge_setup(start, probe, err);
    }
    if (start_look_judge(probe, err) != 0) {
        return -1;
    }
    if (!probe->interpreter_found) {
        error_set(err, &kind_interpreter_missing, "'%s' not found, or not executable (PATH=%s)",
                  plan->probe.interpreter, path);
        return error_hint(err,
                          "activate its environment in 'setup', or name it by its whole path with 'python'");
    }
    if (!probe->module_found) {
        error_set(err, &kind_interpreter_missing, "'%s' has no module '%s' (PATH=%s)",
                  probe->interpreter ? probe->interpreter : plan->probe.interpreter, plan->probe.module,
                  path);
        return error_hint(err, "activate the right environment in 'setup', or name its python with 'python'");
    }
    if (!probe->program_exists && plan->probe.program_type == LAUNCH_PROGRAM_COMMAND) {
        error_set(err, &kind_program_missing, "'%s' not found, or not executable (PATH=%s)",
                  plan->probe.program, path);
        return error_hint(err, "activate its environment in 'setup', or name it by its whole path");
    }
    if (!probe->program_exists && text_starts(plan->probe.program, "~/")) {
        error_set(err, &kind_program_missing, "%s: no such file (the home folder there is '%s')",
                  plan->probe.program, probe->home ? probe->home : "?");
        return error_hint(err, "put it there, or name it by its whole path");
    }
    if (!probe->program_exists) {
        error_set(err, &kind_program_missing, "%s: no such file (in %s)", plan->probe.program,
                  probe->workdir ? probe->workdir : "the login folder");
        return error_hint(err, "put it there, or set 'workdir' to the folder that holds it");
    }
    return 0;
}

/* Only a count that decides how many processes start here is needed. */
static bool needs_gpus(const struct start *start, size_t node)
{
    return start->request->job->nproc_per_node == 0 && start->hosts->items[node].slots == 0;
}

static int judge_gpu_count(const struct start *start, size_t node, const struct node_probe *probe,
                           struct error *err)
{
    if (!probe->gpus_problem || !needs_gpus(start, node)) {
        return 0;
    }
    error_set(err, &kind_gpus_unknown, "the GPUs cannot be counted: %s", probe->gpus_problem);
    return error_hint(
        err, "make `nvidia-smi -L` work there, leave the host out with --exclude, or give the number "
             "with --nproc-per-node or slots=");
}

static int probe_take(void *ctx, size_t node, const char *bytes, size_t len, const char *nonce,
                      struct error *err)
{
    struct start *start = ctx;
    struct node_probe *probe = &start->probes[node];
    start->touched[node] = false;
    if (node_answer_probe(bytes, len, nonce, probe, err) != 0) {
        return -1;
    }
    run_mask(start->context, &probe->setup.output);
    if (judge_claims(start, probe, err) != 0 || (node == 0 && judge_port(start, probe, err) != 0)) {
        return -1;
    }
    if (!start->request->no_check && judge_program(start, node, probe, err) != 0) {
        return -1;
    }
    return judge_gpu_count(start, node, probe, err);
}

/* Is the host away? A wrong key, a refused login or a bad answer says that it is there. */
static bool is_out_of_reach(const struct error_kind *kind)
{
    static const struct error_kind *const kinds[] = {&kind_name_not_resolved, &kind_refused,
                                                     &kind_timed_out,         &kind_unreachable,
                                                     &kind_jump_unreachable,  &kind_connection_lost};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kind == kinds[i]) {
            return true;
        }
    }
    return false;
}

static void probe_failed(void *ctx, size_t node, const struct error *error, bool started)
{
    struct start *start = ctx;
    /* Setup lines may go on there when the probe was cut short; a lost connection leaves nothing to ask. */
    start->touched[node] =
        start->touched[node] && started && error->kind->exit_code != kind_connection_lost.exit_code;
    start->unreached[node] = !started && is_out_of_reach(error->kind);
    node_failures_set(&start->failures, node, error);
    judge_set_reason(&start->run->nodes[node], "%s", error->text);
}

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

void start_warn_unmounted(const struct start *start)
{
    const struct run *run = start->run;
    AUTO_FREE bool *told = xcalloc(run->nodes_len, sizeof(bool));
    for (size_t i = 0; i < run->nodes_len; i++) {
        const struct node_probe *probe = &start->probes[i];
        if (!probe->artifacts_unmounted || told[i]) {
            continue;
        }
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        AUTO_STR struct str folded = STR_INIT;
        for (size_t other = i; other < run->nodes_len; other++) {
            const struct node_probe *same = &start->probes[other];
            if (same_text(same->artifacts_unmounted, probe->artifacts_unmounted) &&
                same_text(same->artifacts, probe->artifacts)) {
                told[other] = true;
                strlist_add(&hosts, run->nodes[other].label);
            }
        }
        hostlist_fold_names(hosts.items, hosts.len, &folded);
        report_warn(
            start->context,
            "%s: artifacts '%s' lie on %s of container '%s': logs and whatever is written there end with "
            "it (name a folder of a volume with 'artifacts')",
            str_text(&folded), probe->artifacts, probe->artifacts_unmounted, run->container_name);
    }
}

void start_warn_logout(const struct start *start)
{
    const struct run *run = start->run;
    AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
    AUTO_STR struct str folded = STR_INIT;
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (start->probes[i].logout_kills && !run->nodes[i].local) {
            strlist_add(&hosts, run->nodes[i].label);
        }
    }
    if (hosts.len > 0) {
        hostlist_fold_names(hosts.items, hosts.len, &folded);
        report_warn(start->context,
                    "%s: systemd-logind ends a user's processes at the last logout (KillUserProcesses=yes); "
                    "`loginctl enable-linger` there lets the run live",
                    str_text(&folded));
    }
}

int start_probe_nodes(struct start *start)
{
    const struct node_question question = {
        .what = "checking",
        .ctx = start,
        .timeout_ms = (unsigned)start->request->job->start_timeout_s * 1000 + PROBE_MARGIN_MS,
        .build = probe_build,
        .take = probe_take,
        .failed = probe_failed,
    };
    return node_set_ask(&start->set, &question);
}
