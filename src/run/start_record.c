/* Fills in the record of a new attempt: its nodes and paths, and the resolved spec. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "ask_internal.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "input/jobfile.h"
#include "launcher/launcher.h"
#include "start_internal.h"

/* The environment of the first node, with secrets masked. Differences between nodes are in the plan. */
static json_t *env_json(const struct plan_node *node)
{
    json_t *object = json_object();
    struct env env = ENV_INIT;
    plan_node_env(node, &env);
    for (size_t i = 0; i < env.len; i++) {
        json_object_set_new(object, env.items[i].name,
                            js_text(env.items[i].secret ? "***" : env.items[i].value));
    }
    env_release(&env);
    return object;
}

/*
 * Names of the variables of the first node that the user set, without those that mtlaunch and the launcher
 * add.
 */
static json_t *given_json(const struct plan_node *node)
{
    json_t *array = json_array();
    for (size_t i = 0; i < node->env.len; i++) {
        const struct env_var *var = &node->env.items[i];
        if (!var->source || !text_starts(var->source, "launcher ")) {
            json_array_append_new(array, js_text(var->name));
        }
    }
    return array;
}

/* The arguments as given, with unfilled placeholders. */
static json_t *args_json(const struct job *job)
{
    AUTO_STRLIST struct strlist words = STRLIST_INIT;
    const struct launcher *launcher = launcher_find(job->launcher, NULL);
    launcher_map_args(&job->args, launcher && launcher->bool_values, &words);
    strlist_copy(&words, &job->extra_args);
    return js_list(&words);
}

static char *spec_text(const struct start *start)
{
    const struct job *job = start->request->job;
    const struct plan *plan = &start->plan;
    json_t *object = json_object();
    json_object_set_new(object, "job", js_text(job->name));
    json_object_set_new(object, "file", js_text(job->file));
    json_object_set_new(object, "launcher", js_text(job->launcher));
    json_object_set_new(object, "nproc_per_node", json_integer(plan->nproc_per_node));
    json_object_set_new(object, "master_addr", js_text(plan->master_addr));
    json_object_set_new(object, "rendezvous",
                        json_string(job->rendezvous == RENDEZVOUS_C10D ? "c10d" : "static"));
    json_object_set_new(object, "workdir", js_text(job->workdir));
    json_object_set_new(object, "artifacts", js_text(job->artifacts));
    json_object_set_new(object, "python", js_text(job->python));
    json_object_set_new(object, "shell", js_text(job->shell));
    json_object_set_new(object, "setup", js_list(&job->setup));
    json_object_set_new(object, "launcher_args", js_list(&job->launcher_args));
    json_object_set_new(object, "program", js_list(&job->program));
    json_object_set_new(object, "args", args_json(job));
    json_object_set_new(object, "command", js_list(&plan->nodes[0].argv));
    json_object_set_new(object, "env", env_json(&plan->nodes[0]));
    json_object_set_new(object, "given", given_json(&plan->nodes[0]));
    json_object_set_new(object, "zero_stage", json_integer(job->zero_stage));
    json_object_set_new(object, "start_timeout", json_integer((json_int_t)job->start_timeout_s));
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return text;
}

/* A job file that starts the same run: values that only this start could determine are included. */
static char *job_spec_text(const struct start *start)
{
    json_t *object = jobfile_to_json(start->request->job, start->hosts);
    json_object_set_new(object, "nproc_per_node", json_integer(start->plan.nproc_per_node));
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return text;
}

static void replace(char **place, const char *text)
{
    char *copy = xstrdup(text); /* text may be the old value of place */
    free(*place);
    *place = copy;
}

static void fill_head(struct run *run)
{
    struct utsname names;
    AUTO_STR struct str boot_id = STR_INIT;
    if (uname(&names) == 0) {
        replace(&run->head_host, names.nodename);
    }
    if (file_read("/proc/sys/kernel/random/boot_id", 128, &boot_id, NULL) == 0 && boot_id.len > 0) {
        str_truncate(&boot_id, strcspn(boot_id.data, "\n"));
        replace(&run->head_boot_id, boot_id.data);
    }
}

static void fill_nodes(struct start *start)
{
    struct run *run = start->run;
    struct run_attempt *attempt = run_current_attempt(run);
    run_nodes_alloc(run, start->plan.nnodes);
    for (size_t i = 0; i < run->nodes_len; i++) {
        const struct plan_node *from = &start->plan.nodes[i];
        struct run_node *node = &run->nodes[i];
        host_copy(&node->host, &start->hosts->items[from->host]);
        node->label = xstrdup(from->label);
        node->addr = xstrdup(from->addr);
        node->local = from->local;
        node->artifacts = xstrdup(from->artifacts);
        node->log = xstrdup(from->log);
        strlist_add(&attempt->nodes, from->label);
    }
}

void start_record_findings(const struct start *start, const struct findings *findings)
{
    json_t *array = json_array();
    for (size_t i = 0; i < findings->len; i++) {
        const struct finding *finding = &findings->items[i];
        if (finding->severity >= FINDING_WARN) {
            json_array_append_new(array, finding_to_json(finding));
        }
    }
    free(start->run->findings);
    start->run->findings = json_array_size(array) > 0 ? json_dumps(array, JSON_COMPACT) : NULL;
    json_decref(array);
}

void start_fill_record(struct start *start)
{
    struct run *run = start->run;
    const struct job *job = start->request->job;
    replace(&run->job, job->name);
    replace(&run->job_file, job->file);
    replace(&run->findings, NULL);
    if (run->id[0] == '\0') {
        ask_make_run_id(run->name, run->id, sizeof(run->id));
    }
    if (run->unstarted) {
        /* a start that failed before it started anything does not count as an attempt */
        run_drop_attempt(run);
    } else {
        run->attempt++;
    }
    run->unstarted = true;
    run->state = RUN_STARTING;
    run->starting = true;
    run->stopping = false;
    run_set_reason(run, NULL);
    run->progress = PROGRESS_NONE;
    inventory_release(&run->inventory);
    run->exit_status = -1;
    run->started_ms = clock_real_ms();
    run->ended_ms = 0;
    run->master_port = 0;
    if (start->recorded) {
        /* this is another try of the same start */
    } else if (start->request->is_restart) {
        run->restarts++; /* keep the record's policy: spares may have been taken from it */
    } else {
        policy_copy(&run->policy, &job->policy);
        run->restarts = 0;
        run->limit_ms =
            job->policy.time_limit_s > 0 ? run->started_ms + (int64_t)job->policy.time_limit_s * 1000 : 0;
        run->timed_out = false;
        run->restarting = false;
    }
    start->recorded = true;
    replace(&run->stop_signal, job->stop_signal);
    run->stop_grace_s = job->stop_grace_s;
    reach_release(&run->reach);
    reach_copy(&run->reach, &job->reach);
    place_release(&run->place);
    if (job->place.container) {
        place_copy(&run->place, &job->place);
    }
    fill_head(run);
    struct run_attempt *attempt = run_add_attempt(run);
    attempt->number = run->attempt;
    attempt->state = RUN_STARTING;
    attempt->started_ms = run->started_ms;
    fill_nodes(start);
    replace(&run->master_addr, start->plan.master_addr);
    run->nproc_per_node = start->plan.nproc_per_node;
    run->global_batch = run->sequence = 0;
}

void start_complete_record(struct start *start)
{
    struct run *run = start->run;
    /* the probe has shown that no process of the run is alive on these nodes */
    run_forget_left_over(run, NULL);
    run->master_port = start->plan.master_port;
    run->nproc_per_node = start->plan.nproc_per_node;
    run->global_batch = start->plan.step.global_batch;
    run->sequence = start->plan.step.sequence;
    for (size_t i = 0; i < run->nodes_len; i++) {
        replace(&run->nodes[i].artifacts, start->plan.nodes[i].artifacts);
        replace(&run->nodes[i].log, start->plan.nodes[i].log);
        replace(&run->nodes[i].container_id, facts_some(&start->checks[i].facts, "container_id"));
        replace(&run->nodes[i].container_started, facts_some(&start->checks[i].facts, "container_started"));
    }
    free(run->spec);
    run->spec = spec_text(start);
    free(run->job_spec);
    run->job_spec = job_spec_text(start);
}
