/* Converts a run to the JSON text of run.json, and back. */
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "model/kind.h"
#include "record_internal.h"
#include "run/store.h"

/* --- writing ------------------------------------------------------------------------------------ */

json_t *run_host_to_json(const struct host *host)
{
    json_t *object = json_object();
    js_put_text(object, "name", host->name);
    js_put_text(object, "user", host->user);
    js_put_number(object, "port", host->port);
    js_put_text(object, "addr", host->addr);
    js_put_text(object, "ifname", host->ifname);
    js_put_text(object, "workdir", host->workdir);
    js_put_text(object, "python", host->python);
    js_put_number(object, "slots", host->slots);
    js_put_text(object, "gpus", host->gpus);
    js_put_flag(object, "ssh_always", host->ssh_always);
    js_put_flag(object, "here", host->here);
    return object;
}

static json_t *node_to_json(const struct run_node *node)
{
    json_t *object = json_object();
    json_object_set_new(object, "host", run_host_to_json(&node->host));
    js_put_text(object, "label", node->label);
    js_put_text(object, "addr", node->addr);
    js_put_flag(object, "local", node->local);
    js_put_text(object, "artifacts", node->artifacts);
    js_put_text(object, "log", node->log);
    js_put_text(object, "container_id", node->container_id);
    js_put_text(object, "container_started", node->container_started);
    js_put_text(object, "state", node_state_name(node->state));
    js_put_text(object, "reason", node->reason);
    js_put_number(object, "pid", node->pid);
    js_put_number(object, "exit_status", node->exit_status);
    js_put_text(object, "signal", node->signal);
    js_put_number(object, "started_ms", node->started_ms);
    js_put_number(object, "last_output_ms", node->last_output_ms);
    js_put_number(object, "ended_ms", node->ended_ms);
    js_put_number(object, "ended_uptime_ms", node->ended_uptime_ms);
    js_put_number(object, "clock_ms", node->clock_ms);
    js_put_flag(object, "signalled", node->signalled);
    js_put_flag(object, "stop_missed", node->stop_missed);
    js_put_flag(object, "written_off", node->written_off);
    return object;
}

static json_t *cleanup_to_json(const struct run_cleanup *cleanup)
{
    json_t *object = json_object();
    json_object_set_new(object, "host", run_host_to_json(&cleanup->host));
    js_put_text(object, "label", cleanup->label);
    js_put_flag(object, "local", cleanup->local);
    js_put_text(object, "artifacts", cleanup->artifacts);
    if (cleanup->place_known) {
        json_t *place = cleanup->place.container ? json_object() : json_null();
        json_t *reach = json_object();
        place_to_json(&cleanup->place, place, "");
        reach_to_json(&cleanup->reach, reach, "");
        json_object_set_new(object, "place", place);
        json_object_set_new(object, "reach", reach);
    }
    js_put_number(object, "rank", cleanup->rank);
    js_put_number(object, "attempt", cleanup->attempt);
    return object;
}

static json_t *synced_to_json(const struct run_synced *synced)
{
    if (!synced->done) {
        return json_null();
    }
    json_t *object = json_object();
    js_put_number(object, "files", (int64_t)synced->files);
    js_put_number(object, "bytes", (int64_t)synced->bytes);
    js_put_number(object, "took_ms", synced->took_ms);
    js_put_text(object, "commit", synced->commit);
    js_put_flag(object, "dirty", synced->dirty);
    return object;
}

static void synced_from_json(const json_t *object, struct run_synced *synced)
{
    if (!json_is_object(object)) {
        return;
    }
    *synced = (struct run_synced){.done = true,
                                  .files = (uint64_t)js_get_number(object, "files", 0),
                                  .bytes = (uint64_t)js_get_number(object, "bytes", 0),
                                  .took_ms = (unsigned)js_get_number(object, "took_ms", 0),
                                  .commit = js_get_text(object, "commit"),
                                  .dirty = js_get_flag(object, "dirty")};
}

static json_t *policy_to_json(const struct policy *policy)
{
    json_t *object = json_object();
    js_put_text(object, "on_failure", policy_act_name(policy->on_failure));
    js_put_text(object, "on_lost", policy_act_name(policy->on_lost));
    js_put_text(object, "on_stall", policy_act_name(policy->on_stall));
    js_put_number(object, "lost_after_s", (int64_t)policy->lost_after_s);
    js_put_number(object, "stall_s", (int64_t)policy->stall_s);
    js_put_text(object, "finish_on", policy->finish_on == POLICY_FINISH_RANK0 ? "rank0" : "all");
    js_put_number(object, "time_limit_s", (int64_t)policy->time_limit_s);
    js_put_number(object, "restart_max", policy->restart_max);
    js_put_number(object, "backoff_s", (int64_t)policy->backoff_s);
    json_object_set_new(object, "no_restart_on", js_exact_list(&policy->no_restart_on));
    json_object_set_new(object, "spares", js_exact_list(&policy->spares));
    js_put_text(object, "progress_pattern", policy->progress_pattern);
    return object;
}

static json_t *left_over_to_json(const struct run *run)
{
    json_t *array = json_array();
    for (size_t i = 0; i < run->left_over_len; i++) {
        json_t *object = json_object();
        js_put_text(object, "host", run->left_over[i].host);
        js_put_number(object, "pid", run->left_over[i].pid);
        js_put_text(object, "command", run->left_over[i].command);
        json_array_append_new(array, object);
    }
    return array;
}

static void left_over_from_json(const json_t *array, struct run *run)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *object = json_array_get(array, i);
        const char *host = json_string_value(json_object_get(object, "host"));
        const char *command = json_string_value(json_object_get(object, "command"));
        if (host) {
            run_add_left_over(run, host, json_integer_value(json_object_get(object, "pid")),
                              command ? command : "?");
        }
    }
}

static json_t *attempt_to_json(const struct run_attempt *attempt)
{
    json_t *object = json_object();
    js_put_number(object, "number", attempt->number);
    js_put_text(object, "state", run_state_name(attempt->state));
    js_put_number(object, "started_ms", attempt->started_ms);
    js_put_number(object, "ended_ms", attempt->ended_ms);
    js_put_text(object, "reason", attempt->reason);
    json_object_set_new(object, "nodes", js_exact_list(&attempt->nodes));
    return object;
}

static json_t *progress_to_json(const struct training_progress *progress)
{
    if (!progress->known) {
        return json_null();
    }
    return json_pack(
        "{s:I, s:I, s:o, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "iteration",
        (json_int_t)progress->iteration, "total", (json_int_t)progress->total, "loss",
        progress->has_loss ? json_real(progress->loss) : json_null(), "step_time", progress->step_time_s,
        "tokens_per_second", progress->tokens_per_second, "samples_per_second", progress->samples_per_second,
        "tflops_per_gpu", progress->tflops_per_gpu, "nan", (json_int_t)progress->nan, "skipped",
        (json_int_t)progress->skipped, "checkpoint", (json_int_t)progress->checkpoint, "world_size",
        (json_int_t)progress->world_size, "updated_ms", (json_int_t)progress->updated_ms, "global_batch",
        (json_int_t)progress->global_batch, "sequence", (json_int_t)progress->sequence);
}

static json_t *cause_to_json(const struct run_cause *cause)
{
    json_t *object = json_object();
    json_object_set_new(object, "hosts", js_exact_list(&cause->hosts));
    js_put_text(object, "log_lines", cause->log_lines);
    js_put_text(object, "hint", cause->hint);
    return object;
}

/*
 * The data that the list of runs shows. It is the first line of the file, so that a list reads only this line
 * of a record.
 */
static json_t *heading_to_json(const struct run *run)
{
    json_t *object = json_object();
    js_put_number(object, "format", RUN_FORMAT);
    js_put_text(object, "run", run->name);
    js_put_text(object, "job", run->job);
    js_put_text(object, "run_id", run->id);
    js_put_number(object, "attempt", run->attempt);
    js_put_text(object, "state", run_state_name(run->state));
    js_put_text(object, "reason", run->reason);
    js_put_number(object, "exit_status", run->exit_status);
    js_put_number(object, "started_ms", run->started_ms);
    js_put_number(object, "ended_ms", run->ended_ms);
    js_put_number(object, "node_count", (int64_t)run->nodes_len);
    json_object_set_new(object, "left_over", left_over_to_json(run));
    json_object_set_new(object, "progress", progress_to_json(&run->progress));
    return object;
}

static json_t *rest_to_json(const struct run *run)
{
    json_t *object = json_object();
    json_object_set_new(object, "cause", cause_to_json(&run->cause));
    js_put_text(object, "job_file", run->job_file);
    js_put_number(object, "revision", run->revision);
    js_put_flag(object, "starting", run->starting);
    js_put_flag(object, "stopping", run->stopping);
    js_put_flag(object, "unstarted", run->unstarted);
    json_t *findings = run->findings ? json_loads(run->findings, 0, NULL) : NULL;
    json_object_set_new(object, "findings", findings ? findings : json_array());
    js_put_flag(object, "restarting", run->restarting);
    js_put_text(object, "master_addr", run->master_addr);
    js_put_number(object, "master_port", run->master_port);
    js_put_number(object, "restarts", run->restarts);
    json_object_set_new(object, "policy", policy_to_json(&run->policy));
    js_put_number(object, "limit_ms", run->limit_ms);
    js_put_flag(object, "timed_out", run->timed_out);
    json_object_set_new(object, "synced", synced_to_json(&run->synced));
    js_put_number(object, "timed_out_after_s", (int64_t)run->timed_out_after_s);
    js_put_text(object, "stop_signal", run->stop_signal);
    js_put_number(object, "stop_grace_s", (int64_t)run->stop_grace_s);
    js_put_number(object, "nproc_per_node", run->nproc_per_node);
    js_put_number(object, "global_batch", run->global_batch);
    js_put_number(object, "sequence", run->sequence);
    json_object_set_new(object, "inventory", inventory_to_json(&run->inventory));
    reach_to_json(&run->reach, object, "ssh_");
    place_to_json(&run->place, object, "container_");
    js_put_text(object, "head_host", run->head_host);
    js_put_text(object, "head_boot_id", run->head_boot_id);

    json_t *nodes = json_array();
    for (size_t i = 0; i < run->nodes_len; i++) {
        json_array_append_new(nodes, node_to_json(&run->nodes[i]));
    }
    json_object_set_new(object, "nodes", nodes);
    json_t *cleanups = json_array();
    for (size_t i = 0; i < run->cleanups_len; i++) {
        json_array_append_new(cleanups, cleanup_to_json(&run->cleanups[i]));
    }
    json_object_set_new(object, "debts", cleanups);
    json_t *attempts = json_array();
    for (size_t i = 0; i < run->attempts_len; i++) {
        json_array_append_new(attempts, attempt_to_json(&run->attempts[i]));
    }
    json_object_set_new(object, "attempts", attempts);
    json_t *spec = run->spec ? json_loads(run->spec, 0, NULL) : NULL;
    json_object_set_new(object, "spec", spec ? spec : json_null());
    json_t *job_spec = run->job_spec ? json_loads(run->job_spec, 0, NULL) : NULL;
    json_object_set_new(object, "job_spec", job_spec ? job_spec : json_null());
    return object;
}

char *run_record_write(const struct run *run)
{
    json_t *heading = heading_to_json(run);
    json_t *rest = rest_to_json(run);
    AUTO_FREE char *first = json_dumps(heading, JSON_COMPACT);
    AUTO_FREE char *others = json_dumps(rest, JSON_INDENT(1));
    json_decref(heading);
    json_decref(rest);
    if (!first || !others) {
        return NULL;
    }
    /* Two objects become one: the first without its closing brace, the second without its opening one. */
    return xasprintf("%.*s,%s", (int)strlen(first) - 1, first, others + 1);
}

/* --- reading ------------------------------------------------------------------------------------ */

void run_host_from_json(const json_t *object, struct host *host)
{
    *host = (struct host){
        .name = js_get_text(object, "name"),
        .user = js_get_text(object, "user"),
        .port = (unsigned)js_get_number(object, "port", 0),
        .addr = js_get_text(object, "addr"),
        .ifname = js_get_text(object, "ifname"),
        .workdir = js_get_text(object, "workdir"),
        .python = js_get_text(object, "python"),
        .slots = (unsigned)js_get_number(object, "slots", 0),
        .gpus = js_get_text(object, "gpus"),
        .ssh_always = js_get_flag(object, "ssh_always"),
        .here = js_get_flag(object, "here"),
    };
}

static bool node_from_json(const json_t *object, struct run_node *node)
{
    run_host_from_json(json_object_get(object, "host"), &node->host);
    node->label = js_get_text(object, "label");
    node->addr = js_get_text(object, "addr");
    node->local = js_get_flag(object, "local");
    node->artifacts = js_get_text(object, "artifacts");
    node->log = js_get_text(object, "log");
    node->container_id = js_get_text(object, "container_id");
    node->container_started = js_get_text(object, "container_started");
    node->reason = js_get_text(object, "reason");
    node->pid = js_get_number(object, "pid", 0);
    node->exit_status = (int)js_get_number(object, "exit_status", -1);
    node->signal = js_get_text(object, "signal");
    node->started_ms = js_get_number(object, "started_ms", 0);
    node->last_output_ms = js_get_number(object, "last_output_ms", 0);
    node->ended_ms = js_get_number(object, "ended_ms", 0);
    node->ended_uptime_ms = js_get_number(object, "ended_uptime_ms", 0);
    node->clock_ms = js_get_number(object, "clock_ms", 0);
    node->signalled = js_get_flag(object, "signalled");
    node->stop_missed = js_get_flag(object, "stop_missed");
    node->written_off = js_get_flag(object, "written_off");
    AUTO_FREE char *state = js_get_text(object, "state");
    return node->host.name && node->label && state && node_state_from_name(state, &node->state);
}

static bool cleanup_from_json(const json_t *object, struct run_cleanup *cleanup)
{
    const json_t *place = json_object_get(object, "place");
    cleanup->place_known = place;
    place_from_json(&cleanup->place, place, "");
    if (place && !json_is_null(place) && (!cleanup->place.container || !cleanup->place.engine)) {
        return false;
    }
    reach_from_json(&cleanup->reach, json_object_get(object, "reach"), "");
    run_host_from_json(json_object_get(object, "host"), &cleanup->host);
    cleanup->label = js_get_text(object, "label");
    cleanup->local = js_get_flag(object, "local");
    cleanup->artifacts = js_get_text(object, "artifacts");
    cleanup->rank = (unsigned)js_get_number(object, "rank", 0);
    cleanup->attempt = (unsigned)js_get_number(object, "attempt", 0);
    return cleanup->host.name && cleanup->label && cleanup->attempt > 0;
}

static void get_act(const json_t *object, const char *key, enum policy_act *act)
{
    const char *name = json_string_value(json_object_get(object, key));
    if (name) {
        policy_act_from_name(name, act);
    }
}

static double get_figure(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : -1;
}

static void progress_from_json(const json_t *object, struct training_progress *progress)
{
    *progress = PROGRESS_NONE;
    if (!json_is_object(object)) {
        return;
    }
    progress->known = true;
    progress->iteration = js_get_number(object, "iteration", -1);
    progress->total = js_get_number(object, "total", -1);
    progress->has_loss = json_is_number(json_object_get(object, "loss"));
    progress->loss = json_number_value(json_object_get(object, "loss"));
    progress->step_time_s = get_figure(object, "step_time");
    progress->tokens_per_second = get_figure(object, "tokens_per_second");
    progress->samples_per_second = get_figure(object, "samples_per_second");
    progress->tflops_per_gpu = get_figure(object, "tflops_per_gpu");
    progress->nan = js_get_number(object, "nan", -1);
    progress->skipped = js_get_number(object, "skipped", -1);
    progress->checkpoint = js_get_number(object, "checkpoint", -1);
    progress->world_size = js_get_number(object, "world_size", -1);
    progress->updated_ms = js_get_number(object, "updated_ms", 0);
    progress->global_batch = js_get_number(object, "global_batch", -1);
    progress->sequence = js_get_number(object, "sequence", -1);
    progress_estimate(progress);
}

/* A record of an earlier version has only on_failure and lost_after_s of the policy, in the run object. */
static void policy_from_json(const json_t *run, struct policy *policy)
{
    const json_t *object = json_object_get(run, "policy");
    if (!object) {
        object = run;
    }
    get_act(object, "on_failure", &policy->on_failure);
    get_act(object, "on_lost", &policy->on_lost);
    get_act(object, "on_stall", &policy->on_stall);
    policy->lost_after_s =
        (unsigned long)js_get_number(object, "lost_after_s", (int64_t)policy->lost_after_s);
    policy->stall_s = (unsigned long)js_get_number(object, "stall_s", 0);
    const char *finish_on = json_string_value(json_object_get(object, "finish_on"));
    if (finish_on && strcmp(finish_on, "rank0") == 0) {
        policy->finish_on = POLICY_FINISH_RANK0;
    }
    policy->time_limit_s = (unsigned long)js_get_number(object, "time_limit_s", 0);
    policy->restart_max = (unsigned)js_get_number(object, "restart_max", 0);
    policy->backoff_s = (unsigned long)js_get_number(object, "backoff_s", (int64_t)policy->backoff_s);
    js_get_list(object, "no_restart_on", &policy->no_restart_on);
    js_get_list(object, "spares", &policy->spares);
    free(policy->progress_pattern);
    policy->progress_pattern = js_get_text(object, "progress_pattern");
}

static bool attempt_from_json(const json_t *object, struct run_attempt *attempt)
{
    attempt->number = (unsigned)js_get_number(object, "number", 0);
    attempt->started_ms = js_get_number(object, "started_ms", 0);
    attempt->ended_ms = js_get_number(object, "ended_ms", 0);
    attempt->reason = js_get_text(object, "reason");
    js_get_list(object, "nodes", &attempt->nodes);
    AUTO_FREE char *state = js_get_text(object, "state");
    return attempt->number > 0 && state && run_state_from_name(state, &attempt->state);
}

static bool lists_from_json(const json_t *object, struct run *run)
{
    bool whole = true;
    const json_t *nodes = json_object_get(object, "nodes");
    run_nodes_alloc(run, json_array_size(nodes));
    for (size_t i = 0; i < run->nodes_len; i++) {
        whole = node_from_json(json_array_get(nodes, i), &run->nodes[i]) && whole;
    }
    const json_t *cleanups = json_object_get(object, "debts");
    for (size_t i = 0; i < json_array_size(cleanups); i++) {
        whole = cleanup_from_json(json_array_get(cleanups, i), run_add_cleanup(run)) && whole;
    }
    const json_t *attempts = json_object_get(object, "attempts");
    for (size_t i = 0; i < json_array_size(attempts); i++) {
        whole = attempt_from_json(json_array_get(attempts, i), run_add_attempt(run)) && whole;
    }
    return whole && run->nodes_len > 0 && run->attempts_len > 0;
}

/* A record of an earlier version has no cause. */
static void cause_from_json(const json_t *object, struct run_cause *cause)
{
    if (object) {
        free(cause->log_lines);
        js_get_list(object, "hosts", &cause->hosts);
        cause->log_lines = js_get_text(object, "log_lines");
        cause->hint = js_get_text(object, "hint");
    }
}

static bool heading_from_json(const json_t *object, struct run *run)
{
    run->name = js_get_text(object, "run");
    run->job = js_get_text(object, "job");
    AUTO_FREE char *id = js_get_text(object, "run_id");
    AUTO_FREE char *state = js_get_text(object, "state");
    if (!run->name || !run->job || !id || strlen(id) >= sizeof(run->id) || !state ||
        !run_state_from_name(state, &run->state)) {
        return false;
    }
    memcpy(run->id, id, strlen(id) + 1);
    run->attempt = (unsigned)js_get_number(object, "attempt", 0);
    run_set_reason(run, js_get_text(object, "reason"));
    run->exit_status = (int)js_get_number(object, "exit_status", -1);
    run->started_ms = js_get_number(object, "started_ms", 0);
    run->ended_ms = js_get_number(object, "ended_ms", 0);
    left_over_from_json(json_object_get(object, "left_over"), run);
    progress_from_json(json_object_get(object, "progress"), &run->progress);
    return run->attempt > 0;
}

static bool run_from_json(const json_t *object, struct run *run)
{
    if (!heading_from_json(object, run)) {
        return false;
    }
    cause_from_json(json_object_get(object, "cause"), &run->cause);
    run->job_file = js_get_text(object, "job_file");
    run->revision = js_get_number(object, "revision", 0);
    run->starting = js_get_flag(object, "starting");
    run->stopping = js_get_flag(object, "stopping");
    run->unstarted = js_get_flag(object, "unstarted");
    run->restarting = js_get_flag(object, "restarting");
    run->master_addr = js_get_text(object, "master_addr");
    run->master_port = (unsigned)js_get_number(object, "master_port", 0);
    run->restarts = (unsigned)js_get_number(object, "restarts", 0);
    policy_from_json(object, &run->policy);
    run->limit_ms = js_get_number(object, "limit_ms", 0);
    run->timed_out = js_get_flag(object, "timed_out");
    synced_from_json(json_object_get(object, "synced"), &run->synced);
    run->timed_out_after_s =
        (unsigned long)js_get_number(object, "timed_out_after_s", (int64_t)run->policy.time_limit_s);
    run->stop_signal = js_get_text(object, "stop_signal");
    run->stop_grace_s = (unsigned long)js_get_number(object, "stop_grace_s", 0);
    run->nproc_per_node = (unsigned)js_get_number(object, "nproc_per_node", 0);
    run->global_batch = (unsigned)js_get_number(object, "global_batch", 0);
    run->sequence = (unsigned)js_get_number(object, "sequence", 0);
    inventory_from_json(json_object_get(object, "inventory"), &run->inventory);
    reach_from_json(&run->reach, object, "ssh_");
    place_from_json(&run->place, object, "container_");
    run->head_host = js_get_text(object, "head_host");
    run->head_boot_id = js_get_text(object, "head_boot_id");
    const json_t *spec = json_object_get(object, "spec");
    run->spec = json_is_object(spec) ? json_dumps(spec, JSON_COMPACT) : NULL;
    const json_t *job_spec = json_object_get(object, "job_spec");
    run->job_spec = json_is_object(job_spec) ? json_dumps(job_spec, JSON_COMPACT) : NULL;
    const json_t *findings = json_object_get(object, "findings");
    run->findings = json_array_size(findings) > 0 ? json_dumps(findings, JSON_COMPACT) : NULL;
    return lists_from_json(object, run);
}

int run_record_read(const char *text, size_t len, const char *path, struct run *run, struct error *err)
{
    json_error_t why;
    json_t *object = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
    if (!object) {
        error_set(err, &kind_record_damaged, "the record '%s' is damaged: %s", path, why.text);
        return error_hint(err, "look at the file; without it the run's processes must be ended by hand");
    }
    int64_t format = js_get_number(object, "format", 0);
    int result = 0;
    run_init(run);
    if (format > RUN_FORMAT) {
        result = error_set(err, &kind_record_newer, "the record '%s' has format %lld, this version reads %d",
                           path, (long long)format, RUN_FORMAT);
        error_hint(err, "use the mtlaunch that wrote it, or a newer one");
    } else if (format != RUN_FORMAT || !run_from_json(object, run)) {
        result = error_set(err, &kind_record_damaged, "the record '%s' is incomplete", path);
        error_hint(err, "look at the file; without it the run's processes must be ended by hand");
    }
    json_decref(object);
    if (result != 0) {
        run_release(run);
    }
    return result;
}

bool run_record_read_heading(const char *line, size_t len, struct run *run, size_t *node_count)
{
    run_init(run);
    if (len < 2 || line[len - 1] != ',') {
        return false;
    }
    AUTO_FREE char *whole = xasprintf("%.*s}", (int)len - 1, line);
    json_t *object = json_loads(whole, JSON_REJECT_DUPLICATES, NULL);
    *node_count = (size_t)js_get_number(object, "node_count", 0);
    bool read =
        *node_count > 0 && js_get_number(object, "format", 0) == RUN_FORMAT && heading_from_json(object, run);
    json_decref(object);
    if (!read) {
        run_release(run);
        run_init(run);
    }
    return read;
}
