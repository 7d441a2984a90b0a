/* A run as JSON text and back: what run.json holds. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/kind.h"
#include "record_internal.h"
#include "run/store.h"

/* --- out ---------------------------------------------------------------------------------------- */

static void put_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, text ? json_string(text) : json_null());
}

static void put_number(json_t *object, const char *key, int64_t number)
{
    json_object_set_new(object, key, json_integer(number));
}

static void put_flag(json_t *object, const char *key, bool flag)
{
    json_object_set_new(object, key, json_boolean(flag));
}

static json_t *list_to_json(const struct strlist *list)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->len; i++) {
        json_array_append_new(array, json_string(list->items[i]));
    }
    return array;
}

json_t *run_host_to_json(const struct host *host)
{
    json_t *object = json_object();
    put_text(object, "name", host->name);
    put_text(object, "user", host->user);
    put_number(object, "port", host->port);
    put_text(object, "addr", host->addr);
    put_text(object, "ifname", host->ifname);
    put_text(object, "workdir", host->workdir);
    put_text(object, "python", host->python);
    put_number(object, "slots", host->slots);
    put_text(object, "gpus", host->gpus);
    put_flag(object, "ssh_always", host->ssh_always);
    put_flag(object, "here", host->here);
    return object;
}

static json_t *node_to_json(const struct run_node *node)
{
    json_t *object = json_object();
    json_object_set_new(object, "host", run_host_to_json(&node->host));
    put_text(object, "label", node->label);
    put_text(object, "addr", node->addr);
    put_flag(object, "local", node->local);
    put_text(object, "artifacts", node->artifacts);
    put_text(object, "log", node->log);
    put_text(object, "container_id", node->container_id);
    put_text(object, "container_started", node->container_started);
    put_text(object, "state", node_state_name(node->state));
    put_text(object, "reason", node->reason);
    put_number(object, "pid", node->pid);
    put_number(object, "exit_status", node->exit_status);
    put_text(object, "signal", node->signal);
    put_number(object, "started_ms", node->started_ms);
    put_number(object, "last_output_ms", node->last_output_ms);
    put_number(object, "ended_ms", node->ended_ms);
    put_number(object, "ended_uptime_ms", node->ended_uptime_ms);
    put_number(object, "clock_ms", node->clock_ms);
    put_flag(object, "signalled", node->signalled);
    put_flag(object, "written_off", node->written_off);
    return object;
}

static json_t *place_to_json(const struct place *place)
{
    if (!place->container) {
        return json_null();
    }
    json_t *object = json_object();
    put_text(object, "container", place->container);
    put_text(object, "engine", place->engine);
    put_flag(object, "sudo", place->sudo);
    put_text(object, "user", place->user);
    put_text(object, "id", place->id);
    put_text(object, "started", place->started);
    return object;
}

static json_t *reach_to_json(const struct reach *reach)
{
    json_t *object = json_object();
    put_text(object, "user", reach->user);
    put_number(object, "port", reach->port);
    put_text(object, "identity", reach->identity);
    put_text(object, "config", reach->config);
    put_text(object, "known_hosts", reach->known_hosts);
    put_text(object, "client", reach->client);
    put_text(object, "host_key", reach->host_key);
    put_text(object, "jump", reach->jump);
    return object;
}

static json_t *cleanup_to_json(const struct run_cleanup *cleanup)
{
    json_t *object = json_object();
    json_object_set_new(object, "host", run_host_to_json(&cleanup->host));
    put_text(object, "label", cleanup->label);
    put_flag(object, "local", cleanup->local);
    put_text(object, "artifacts", cleanup->artifacts);
    if (cleanup->place_known) {
        json_object_set_new(object, "place", place_to_json(&cleanup->place));
        json_object_set_new(object, "reach", reach_to_json(&cleanup->reach));
    }
    put_number(object, "rank", cleanup->rank);
    put_number(object, "attempt", cleanup->attempt);
    return object;
}

static json_t *policy_to_json(const struct policy *policy)
{
    json_t *object = json_object();
    put_text(object, "on_failure", policy_act_name(policy->on_failure));
    put_text(object, "on_lost", policy_act_name(policy->on_lost));
    put_text(object, "on_stall", policy_act_name(policy->on_stall));
    put_number(object, "lost_after_s", (int64_t)policy->lost_after_s);
    put_number(object, "stall_s", (int64_t)policy->stall_s);
    put_text(object, "finish_on", policy->finish_on == POLICY_FINISH_RANK0 ? "rank0" : "all");
    put_number(object, "time_limit_s", (int64_t)policy->time_limit_s);
    put_number(object, "restart_max", policy->restart_max);
    put_number(object, "backoff_s", (int64_t)policy->backoff_s);
    json_object_set_new(object, "no_restart_on", list_to_json(&policy->no_restart_on));
    json_object_set_new(object, "spares", list_to_json(&policy->spares));
    return object;
}

static json_t *left_over_to_json(const struct run *run)
{
    json_t *array = json_array();
    for (size_t i = 0; i < run->left_over_len; i++) {
        json_t *object = json_object();
        put_text(object, "host", run->left_over[i].host);
        put_number(object, "pid", run->left_over[i].pid);
        put_text(object, "command", run->left_over[i].command);
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
    put_number(object, "number", attempt->number);
    put_text(object, "state", run_state_name(attempt->state));
    put_number(object, "started_ms", attempt->started_ms);
    put_number(object, "ended_ms", attempt->ended_ms);
    put_text(object, "reason", attempt->reason);
    json_object_set_new(object, "nodes", list_to_json(&attempt->nodes));
    return object;
}

static void put_reach(json_t *object, const struct run *run)
{
    put_text(object, "ssh_user", run->ssh_user);
    put_number(object, "ssh_port", run->ssh_port);
    put_text(object, "ssh_identity", run->ssh_identity);
    put_text(object, "ssh_config", run->ssh_config);
    put_text(object, "ssh_known_hosts", run->ssh_known_hosts);
    put_text(object, "ssh_client", run->ssh_client);
    put_text(object, "ssh_host_key", run->ssh_host_key);
    put_text(object, "ssh_jump", run->ssh_jump);
    put_text(object, "container_name", run->container_name);
    put_text(object, "container_engine", run->container_engine);
    put_text(object, "container_user", run->container_user);
    put_flag(object, "container_sudo", run->container_sudo);
    put_text(object, "head_host", run->head_host);
    put_text(object, "head_boot_id", run->head_boot_id);
}

char *run_record_write(const struct run *run)
{
    json_t *object = json_object();
    put_number(object, "format", RUN_FORMAT);
    put_text(object, "run", run->name);
    put_text(object, "job", run->job);
    put_text(object, "job_file", run->job_file);
    put_text(object, "run_id", run->id);
    put_number(object, "attempt", run->attempt);
    put_number(object, "revision", run->revision);
    put_text(object, "state", run_state_name(run->state));
    put_flag(object, "starting", run->starting);
    put_flag(object, "stopping", run->stopping);
    put_flag(object, "unstarted", run->unstarted);
    json_object_set_new(object, "left_over", left_over_to_json(run));
    put_flag(object, "restarting", run->restarting);
    put_text(object, "reason", run->reason);
    put_number(object, "exit_status", run->exit_status);
    put_number(object, "started_ms", run->started_ms);
    put_number(object, "ended_ms", run->ended_ms);
    put_text(object, "master_addr", run->master_addr);
    put_number(object, "master_port", run->master_port);
    put_number(object, "restarts", run->restarts);
    json_object_set_new(object, "policy", policy_to_json(&run->policy));
    put_number(object, "limit_ms", run->limit_ms);
    json_object_set_new(object, "timed_out", json_boolean(run->timed_out));
    put_text(object, "stop_signal", run->stop_signal);
    put_number(object, "stop_grace_s", (int64_t)run->stop_grace_s);
    put_number(object, "nproc_per_node", run->nproc_per_node);
    put_reach(object, run);

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

    char *text = json_dumps(object, JSON_INDENT(1));
    json_decref(object);
    return text;
}

/* --- in ----------------------------------------------------------------------------------------- */

static char *get_text(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) ? xstrdup(json_string_value(value)) : NULL;
}

static int64_t get_number(const json_t *object, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

static bool get_flag(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

void run_host_from_json(const json_t *object, struct host *host)
{
    *host = (struct host){
        .name = get_text(object, "name"),
        .user = get_text(object, "user"),
        .port = (unsigned)get_number(object, "port", 0),
        .addr = get_text(object, "addr"),
        .ifname = get_text(object, "ifname"),
        .workdir = get_text(object, "workdir"),
        .python = get_text(object, "python"),
        .slots = (unsigned)get_number(object, "slots", 0),
        .gpus = get_text(object, "gpus"),
        .ssh_always = get_flag(object, "ssh_always"),
        .here = get_flag(object, "here"),
    };
}

static bool node_from_json(const json_t *object, struct run_node *node)
{
    run_host_from_json(json_object_get(object, "host"), &node->host);
    node->label = get_text(object, "label");
    node->addr = get_text(object, "addr");
    node->local = get_flag(object, "local");
    node->artifacts = get_text(object, "artifacts");
    node->log = get_text(object, "log");
    node->container_id = get_text(object, "container_id");
    node->container_started = get_text(object, "container_started");
    node->reason = get_text(object, "reason");
    node->pid = get_number(object, "pid", 0);
    node->exit_status = (int)get_number(object, "exit_status", -1);
    node->signal = get_text(object, "signal");
    node->started_ms = get_number(object, "started_ms", 0);
    node->last_output_ms = get_number(object, "last_output_ms", 0);
    node->ended_ms = get_number(object, "ended_ms", 0);
    node->ended_uptime_ms = get_number(object, "ended_uptime_ms", 0);
    node->clock_ms = get_number(object, "clock_ms", 0);
    node->signalled = get_flag(object, "signalled");
    node->written_off = get_flag(object, "written_off");
    AUTO_FREE char *state = get_text(object, "state");
    return node->host.name && node->label && state && node_state_from_name(state, &node->state);
}

static bool place_from_json(const json_t *object, struct place *place)
{
    place->container = get_text(object, "container");
    place->engine = get_text(object, "engine");
    place->sudo = get_flag(object, "sudo");
    place->user = get_text(object, "user");
    place->id = get_text(object, "id");
    place->started = get_text(object, "started");
    return json_is_null(object) || (place->container && place->engine);
}

static void reach_of_cleanup_from_json(const json_t *object, struct reach *reach)
{
    reach->user = get_text(object, "user");
    reach->port = (unsigned)get_number(object, "port", 0);
    reach->identity = get_text(object, "identity");
    reach->config = get_text(object, "config");
    reach->known_hosts = get_text(object, "known_hosts");
    reach->client = get_text(object, "client");
    reach->host_key = get_text(object, "host_key");
    reach->jump = get_text(object, "jump");
}

static bool cleanup_from_json(const json_t *object, struct run_cleanup *cleanup)
{
    const json_t *place = json_object_get(object, "place");
    cleanup->place_known = place;
    if (place && !place_from_json(place, &cleanup->place)) {
        return false;
    }
    reach_of_cleanup_from_json(json_object_get(object, "reach"), &cleanup->reach);
    run_host_from_json(json_object_get(object, "host"), &cleanup->host);
    cleanup->label = get_text(object, "label");
    cleanup->local = get_flag(object, "local");
    cleanup->artifacts = get_text(object, "artifacts");
    cleanup->rank = (unsigned)get_number(object, "rank", 0);
    cleanup->attempt = (unsigned)get_number(object, "attempt", 0);
    return cleanup->host.name && cleanup->label && cleanup->attempt > 0;
}

static void list_from_json(const json_t *array, struct strlist *list)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *text = json_string_value(json_array_get(array, i));
        strlist_add(list, text ? text : "");
    }
}

static void get_act(const json_t *object, const char *key, enum policy_act *act)
{
    const char *name = json_string_value(json_object_get(object, key));
    if (name) {
        policy_act_from_name(name, act);
    }
}

/* A record of an earlier version has no policy but on_failure and lost_after_s, in the run itself. */
static void policy_from_json(const json_t *run, struct policy *policy)
{
    const json_t *object = json_object_get(run, "policy");
    if (!object) {
        object = run;
    }
    get_act(object, "on_failure", &policy->on_failure);
    get_act(object, "on_lost", &policy->on_lost);
    get_act(object, "on_stall", &policy->on_stall);
    policy->lost_after_s = (unsigned long)get_number(object, "lost_after_s", (int64_t)policy->lost_after_s);
    policy->stall_s = (unsigned long)get_number(object, "stall_s", 0);
    const char *finish_on = json_string_value(json_object_get(object, "finish_on"));
    if (finish_on && strcmp(finish_on, "rank0") == 0) {
        policy->finish_on = POLICY_FINISH_RANK0;
    }
    policy->time_limit_s = (unsigned long)get_number(object, "time_limit_s", 0);
    policy->restart_max = (unsigned)get_number(object, "restart_max", 0);
    policy->backoff_s = (unsigned long)get_number(object, "backoff_s", (int64_t)policy->backoff_s);
    list_from_json(json_object_get(object, "no_restart_on"), &policy->no_restart_on);
    list_from_json(json_object_get(object, "spares"), &policy->spares);
}

static bool attempt_from_json(const json_t *object, struct run_attempt *attempt)
{
    attempt->number = (unsigned)get_number(object, "number", 0);
    attempt->started_ms = get_number(object, "started_ms", 0);
    attempt->ended_ms = get_number(object, "ended_ms", 0);
    attempt->reason = get_text(object, "reason");
    list_from_json(json_object_get(object, "nodes"), &attempt->nodes);
    AUTO_FREE char *state = get_text(object, "state");
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

static void reach_from_json(const json_t *object, struct run *run)
{
    run->ssh_user = get_text(object, "ssh_user");
    run->ssh_port = (unsigned)get_number(object, "ssh_port", 0);
    run->ssh_identity = get_text(object, "ssh_identity");
    run->ssh_config = get_text(object, "ssh_config");
    run->ssh_known_hosts = get_text(object, "ssh_known_hosts");
    run->ssh_client = get_text(object, "ssh_client");
    run->ssh_host_key = get_text(object, "ssh_host_key");
    run->ssh_jump = get_text(object, "ssh_jump");
    run->container_name = get_text(object, "container_name");
    run->container_engine = get_text(object, "container_engine");
    run->container_user = get_text(object, "container_user");
    run->container_sudo = get_flag(object, "container_sudo");
    run->head_host = get_text(object, "head_host");
    run->head_boot_id = get_text(object, "head_boot_id");
}

static bool run_from_json(const json_t *object, struct run *run)
{
    run->name = get_text(object, "run");
    run->job = get_text(object, "job");
    run->job_file = get_text(object, "job_file");
    AUTO_FREE char *id = get_text(object, "run_id");
    AUTO_FREE char *state = get_text(object, "state");
    if (!run->name || !run->job || !id || strlen(id) >= sizeof(run->id) || !state ||
        !run_state_from_name(state, &run->state)) {
        return false;
    }
    memcpy(run->id, id, strlen(id) + 1);
    run->attempt = (unsigned)get_number(object, "attempt", 0);
    run->revision = get_number(object, "revision", 0);
    run->starting = get_flag(object, "starting");
    run->stopping = get_flag(object, "stopping");
    run->unstarted = get_flag(object, "unstarted");
    left_over_from_json(json_object_get(object, "left_over"), run);
    run->restarting = get_flag(object, "restarting");
    run->reason = get_text(object, "reason");
    run->exit_status = (int)get_number(object, "exit_status", -1);
    run->started_ms = get_number(object, "started_ms", 0);
    run->ended_ms = get_number(object, "ended_ms", 0);
    run->master_addr = get_text(object, "master_addr");
    run->master_port = (unsigned)get_number(object, "master_port", 0);
    run->restarts = (unsigned)get_number(object, "restarts", 0);
    policy_from_json(object, &run->policy);
    run->limit_ms = get_number(object, "limit_ms", 0);
    run->timed_out = get_flag(object, "timed_out");
    run->stop_signal = get_text(object, "stop_signal");
    run->stop_grace_s = (unsigned long)get_number(object, "stop_grace_s", 0);
    run->nproc_per_node = (unsigned)get_number(object, "nproc_per_node", 0);
    reach_from_json(object, run);
    const json_t *spec = json_object_get(object, "spec");
    run->spec = json_is_object(spec) ? json_dumps(spec, JSON_COMPACT) : NULL;
    return lists_from_json(object, run) && run->attempt > 0;
}

int run_record_read(const char *text, size_t len, const char *path, struct run *run, struct error *err)
{
    json_error_t why;
    json_t *object = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
    if (!object) {
        error_set(err, &kind_record_damaged, "the record '%s' is damaged: %s", path, why.text);
        return error_hint(err, "look at the file; without it the run's processes must be ended by hand");
    }
    int64_t format = get_number(object, "format", 0);
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
