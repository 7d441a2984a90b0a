/* Answers of each verb, from fields to values. */
#include "node/answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "node/node_internal.h"

#define PID_MAX   4194304u    /* the kernel's PID_MAX_LIMIT */
#define TIME_MAX  4102444800u /* the year 2100 */
#define PORT_MAX  65535
#define GPUS_MAX  1024
#define CORES_MAX 65536
#define COUNT_MAX 1000000

/* What came instead of an answer, for people: the last line that holds anything. */
static int no_answer(const char *bytes, size_t len, const char *what, struct error *err)
{
    AUTO_STR struct str shown = STR_INIT;
    size_t line_len = 0;
    const char *line = node_last_line(bytes, len, &line_len);

    error_set(err, &kind_node_answer, "%s", what);
    if (line_len == 0) {
        return error_hint(err, "look at the login's start-up files: nothing came back at all");
    }
    text_add_utf8(&shown, line, line_len);
    return error_hint(err, "look at the login's start-up files: what came last was '%s'", str_text(&shown));
}

/* Read frames up to the end frame: 1 when it came, 0 when not, -1 with err. */
static int read_frames(struct node_fields *fields, const char *bytes, size_t len, const char *nonce,
                       struct error *err)
{
    struct node_reader reader = {.nonce = nonce, .limit = NODE_ANSWER_MAX};
    size_t at = 0, used = 0, frame_len = 0;
    int result = 0;

    while (result == 0 && node_reader_take(&reader, bytes + at, len - at, &used)) {
        const char *frame = node_reader_frame(&reader, &frame_len);
        result = node_fields_add(fields, frame, frame_len, "end", err);
        at += used;
    }
    node_reader_release(&reader);
    return result;
}

int node_fields_read(struct node_fields *fields, const char *bytes, size_t len, const char *nonce,
                     struct error *err)
{
    *fields = (struct node_fields){0};
    int found = read_frames(fields, bytes, len, nonce, err);
    if (found < 0) {
        return -1;
    }
    if (found == 0) {
        return no_answer(bytes, len,
                         fields->len > 0 ? "the node's answer has no end"
                                         : "the node gave no answer that can be understood",
                         err);
    }
    return node_fields_check(fields, err);
}

static int read_number(const struct node_fields *fields, const char *key, uint64_t max, int64_t *out,
                       struct error *err)
{
    uint64_t value = (uint64_t)*out;

    if (node_field_number(fields, key, max, &value, err) != 0) {
        return -1;
    }
    *out = (int64_t)value;
    return 0;
}

static int read_unsigned(const struct node_fields *fields, const char *key, unsigned max, unsigned *out,
                         struct error *err)
{
    uint64_t value = *out;

    if (node_field_number(fields, key, max, &value, err) != 0) {
        return -1;
    }
    *out = (unsigned)value;
    return 0;
}

/* -1 is said for an unknown status. */
static int read_status(const struct node_fields *fields, const char *key, int *out, struct error *err)
{
    const char *value = node_field_text(fields, key);
    uint64_t number = 0;

    *out = -1;
    if (!value || value[0] == '\0' || strcmp(value, "-1") == 0) {
        return 0;
    }
    if (node_field_number(fields, key, 255, &number, err) != 0) {
        return -1;
    }
    *out = (int)number;
    return 0;
}

/* "12345.67", as /proc/uptime has it, in milliseconds. */
static int read_uptime(const struct node_fields *fields, const char *key, int64_t *out, struct error *err)
{
    const char *value = node_field_text(fields, key);
    uint64_t whole = 0;
    uint64_t hundredths = 0;

    if (!value || value[0] == '\0') {
        return 0;
    }
    const char *dot = strchr(value, '.');
    AUTO_FREE char *first = dot ? xstrndup(value, (size_t)(dot - value)) : xstrdup(value);
    if (!text_to_uint(first, 0, TIME_MAX, &whole) ||
        (dot && (strlen(dot) != 3 || !text_to_uint(dot + 1, 0, 99, &hundredths)))) {
        return error_set(err, &kind_node_answer, "the node's answer says '%s' for '%s', a time is needed",
                         value, key);
    }
    *out = (int64_t)(whole * 1000 + hundredths * 10);
    return 0;
}

/* A name of letters, digits, + and - ("TERM", "RTMIN+1"); anything else is as good as none. */
static char *copy_signal(const struct node_fields *fields)
{
    const char *value = node_field_text(fields, "signal");

    if (!value || value[0] == '\0' || strlen(value) > 16 ||
        value[strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-")] != '\0') {
        return NULL;
    }
    return xstrdup(value);
}

/* Fields key="PID STATE COMMAND", and key_total. */
static int read_processes(const struct node_fields *fields, const char *key, struct node_processes *out,
                          struct error *err)
{
    AUTO_FREE char *total_key = xasprintf("%s_total", key);

    for (size_t i = 0; i < fields->len && out->len < 64; i++) {
        if (strcmp(fields->items[i].key, key) != 0) {
            continue;
        }
        const char *value = fields->items[i].value;
        size_t digits = strspn(value, "0123456789");
        AUTO_FREE char *number = xstrndup(value, digits);
        uint64_t pid = 0;
        if (!text_to_uint(number, 1, PID_MAX, &pid) || value[digits] != ' ' ||
            !(isalpha((unsigned char)value[digits + 1]) || value[digits + 1] == '?')) {
            return error_set(err, &kind_node_answer, "the node's answer says '%s' for a process", value);
        }
        out->items = xgrow(out->items, out->len, &out->cap, sizeof(*out->items));
        const char *rest = value + digits + 2;
        rest += rest[0] == ' ';
        size_t len = strlen(rest); /* /proc/PID/cmdline ends every word, the last one too */
        while (len > 0 && rest[len - 1] == ' ') {
            len--;
        }
        out->items[out->len++] = (struct node_process){
            .pid = (int64_t)pid,
            .state = value[digits + 1],
            .command = xstrndup(rest, len),
        };
    }
    out->total = out->len;
    if (node_field_number(fields, total_key, PID_MAX, &out->total, err) != 0) {
        return -1;
    }
    if (out->total < out->len) {
        out->total = out->len;
    }
    return 0;
}

static void processes_release(struct node_processes *list)
{
    for (size_t i = 0; i < list->len; i++) {
        free(list->items[i].command);
    }
    free(list->items);
    *list = (struct node_processes){0};
}

static int read_foreign(const struct node_fields *fields, struct node_foreign *out, struct error *err)
{
    const char *verdict = node_field_text(fields, "foreign");

    if (!verdict) {
        return 0;
    }
    const char *run_id = node_field_text(fields, "foreign_run_id");
    out->run_id = xstrdup(run_id ? run_id : "");
    out->host = node_field_copy(fields, "foreign_host");
    out->user = node_field_copy(fields, "foreign_user");
    out->lives = strcmp(verdict, "lives") == 0;
    return read_number(fields, "foreign_pid", PID_MAX, &out->pid, err);
}

static void foreign_release(struct node_foreign *foreign)
{
    free(foreign->run_id);
    free(foreign->host);
    free(foreign->user);
    *foreign = (struct node_foreign){0};
}

static int read_setup(const struct node_fields *fields, struct node_setup_failure *out, struct error *err)
{
    if (!node_field_text(fields, "setup_failed")) {
        return 0;
    }
    out->failed = true;
    out->output = node_field_copy(fields, "setup_output");
    node_drop_shell_place(out->output);
    if (read_unsigned(fields, "setup_failed", COUNT_MAX, &out->line, err) != 0) {
        return -1;
    }
    return read_status(fields, "setup_status", &out->status, err);
}

/* No leftovers and no survivors count only together with the node's word that it has seen all. */
static bool scan_is_whole(const struct node_fields *fields)
{
    const char *value = node_field_text(fields, "scan");

    return value && strcmp(value, "ok") == 0;
}

static int no_proof(const char *what, struct error *err)
{
    return error_set(err, &kind_node_answer,
                     "the node's answer to %s does not prove that it saw all processes", what);
}

static int fill_probe(const struct node_fields *fields, struct node_probe *out, struct error *err)
{
    int64_t uid = 0;

    out->home = node_field_copy(fields, "home");
    out->host = node_field_copy(fields, "host");
    out->user = node_field_copy(fields, "user");
    out->boot_id = node_field_copy(fields, "boot_id");
    out->artifacts = node_field_copy(fields, "artifacts");
    out->artifacts_problem = node_field_copy(fields, "artifacts_problem");
    out->artifacts_writable = node_field_is_set(fields, "writable");
    out->workdir = node_field_copy(fields, "workdir");
    out->workdir_exists = !node_field_is_set(fields, "workdir_missing");
    out->program_exists = !node_field_is_set(fields, "program_missing");
    out->interpreter_found = !node_field_is_set(fields, "interpreter_missing");
    out->interpreter = node_field_copy(fields, "interpreter");
    out->module_found = !node_field_is_set(fields, "module_missing");
    out->fault = node_field_copy(fields, "fault");
    out->fault_file = node_field_copy(fields, "fault_file");
    out->fault_detail = node_field_copy(fields, "fault_detail");
    out->path = node_field_copy(fields, "path");
    out->port_taken = node_field_is_set(fields, "port_taken");
    out->port_command = node_field_copy(fields, "port_command");
    out->interface = node_field_copy(fields, "interface");
    out->gpus_problem = node_field_copy(fields, "gpus_problem");
    out->has_python = node_field_is_set(fields, "python");
    out->has_perl = node_field_is_set(fields, "perl");
    out->logout_kills = node_field_is_set(fields, "logout_kills");
    out->artifacts_unmounted = node_field_copy(fields, "artifacts_unmounted");
    out->container_id = node_field_copy(fields, "container_id");
    out->container_started = node_field_copy(fields, "container_started");
    if (!out->host || !out->artifacts) {
        return error_set(err, &kind_node_answer, "the node's answer lacks its name or its artifacts folder");
    }
    if (read_number(fields, "uid", UINT32_MAX, &uid, err) != 0 ||
        read_unsigned(fields, "cores", CORES_MAX, &out->cores, err) != 0 ||
        read_unsigned(fields, "gpus", GPUS_MAX, &out->gpus, err) != 0 ||
        read_unsigned(fields, "gpus_present", GPUS_MAX, &out->gpus_present, err) != 0 ||
        read_unsigned(fields, "port", PORT_MAX, &out->port, err) != 0 ||
        read_number(fields, "port_pid", PID_MAX, &out->port_pid, err) != 0 ||
        read_setup(fields, &out->setup, err) != 0 || read_foreign(fields, &out->foreign, err) != 0 ||
        node_others_from_fields(fields, &out->others, err) != 0) {
        return -1;
    }
    if (out->artifacts_writable && !out->foreign.run_id && !scan_is_whole(fields)) {
        return no_proof("a probe", err);
    }
    out->uid = (uint64_t)uid;
    return read_processes(fields, "live", &out->live, err);
}

int node_answer_probe(const char *bytes, size_t len, const char *nonce, struct node_probe *out,
                      struct error *err)
{
    struct node_fields fields = {0};

    *out = (struct node_probe){0};
    int result = node_fields_read(&fields, bytes, len, nonce, err);
    if (result == 0) {
        result = fill_probe(&fields, out, err);
    }
    node_fields_release(&fields);
    return result;
}

void node_probe_release(struct node_probe *probe)
{
    free(probe->home);
    free(probe->host);
    free(probe->user);
    free(probe->boot_id);
    free(probe->artifacts);
    free(probe->artifacts_problem);
    free(probe->gpus_problem);
    free(probe->fault);
    free(probe->fault_file);
    free(probe->fault_detail);
    free(probe->setup.signal);
    free(probe->setup.output);
    free(probe->workdir);
    free(probe->interpreter);
    free(probe->path);
    free(probe->port_command);
    free(probe->interface);
    free(probe->artifacts_unmounted);
    free(probe->container_id);
    free(probe->container_started);
    processes_release(&probe->live);
    foreign_release(&probe->foreign);
    node_others_release(&probe->others);
    *probe = (struct node_probe){0};
}

static int read_stage(const struct node_fields *fields, enum node_start_stage *out, struct error *err)
{
    static const char *const names[] = {
        [NODE_START_STARTED] = "started", [NODE_START_FOREIGN] = "foreign", [NODE_START_LIVE] = "live",
        [NODE_START_PORT] = "port",       [NODE_START_CLAIM] = "claim",     [NODE_START_SETUP] = "setup",
        [NODE_START_EXEC] = "exec",       [NODE_START_COMMAND] = "command", [NODE_START_TIMEOUT] = "timeout",
    };
    const char *value = node_field_text(fields, "stage");

    for (size_t i = 0; value && i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], value) == 0) {
            *out = (enum node_start_stage)i;
            return 0;
        }
    }
    return error_set(err, &kind_node_answer, "the node's answer to a start says '%s'",
                     value ? value : "nothing");
}

static int fill_start(const struct node_fields *fields, struct node_start *out, struct error *err)
{
    out->log = node_field_copy(fields, "log");
    out->host = node_field_copy(fields, "host");
    out->ended = node_field_is_set(fields, "ended");
    out->signal = copy_signal(fields);
    out->output = node_field_copy(fields, "output");
    node_drop_shell_place(out->output);
    out->problem = node_field_copy(fields, "problem");
    if (read_stage(fields, &out->stage, err) != 0 ||
        read_number(fields, "pid", PID_MAX, &out->pid, err) != 0 ||
        read_unsigned(fields, "setup_line", COUNT_MAX, &out->setup_line, err) != 0 ||
        read_status(fields, "status", &out->status, err) != 0 ||
        read_number(fields, "started", TIME_MAX, &out->started_s, err) != 0) {
        return -1;
    }
    return read_foreign(fields, &out->foreign, err);
}

int node_answer_start(const char *bytes, size_t len, const char *nonce, struct node_start *out,
                      struct error *err)
{
    struct node_fields fields = {0};

    *out = (struct node_start){.status = -1};
    int result = node_fields_read(&fields, bytes, len, nonce, err);
    if (result == 0) {
        result = fill_start(&fields, out, err);
    }
    node_fields_release(&fields);
    return result;
}

void node_start_release(struct node_start *start)
{
    free(start->log);
    free(start->host);
    free(start->signal);
    free(start->output);
    free(start->problem);
    free(start->setup_text);
    foreign_release(&start->foreign);
    *start = (struct node_start){0};
}

static int read_life(const struct node_fields *fields, enum node_life *out, struct error *err)
{
    static const char *const names[] = {
        [NODE_LIFE_NONE] = "none",
        [NODE_LIFE_STARTING] = "starting",
        [NODE_LIFE_RUNNING] = "running",
        [NODE_LIFE_EXITED] = "exited",
        [NODE_LIFE_GONE] = "gone",
        [NODE_LIFE_ELSEWHERE] = "elsewhere",
        [NODE_LIFE_UNRECORDED] = "unrecorded",
    };
    const char *value = node_field_text(fields, "life");

    for (size_t i = 0; value && i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], value) == 0) {
            *out = (enum node_life)i;
            return 0;
        }
    }
    return error_set(err, &kind_node_answer, "the node's answer about a run says '%s'",
                     value ? value : "nothing");
}

static int fill_observation(const struct node_fields *fields, struct node_observation *out, struct error *err)
{
    out->rebooted = node_field_is_set(fields, "rebooted");
    out->pid_reused = node_field_is_set(fields, "pid_reused");
    out->keeper_alive = node_field_is_set(fields, "keeper");
    out->signal = copy_signal(fields);
    out->host = node_field_copy(fields, "host");
    out->found_run_id = node_field_copy(fields, "found_run_id");
    out->log = node_field_copy(fields, "log");
    out->container_lost = node_field_copy(fields, "container_lost");
    out->ending = node_field_copy(fields, "ending");
    if (read_life(fields, &out->life, err) != 0 || read_number(fields, "pid", PID_MAX, &out->pid, err) != 0 ||
        read_status(fields, "status", &out->status, err) != 0 ||
        read_unsigned(fields, "setup_line", COUNT_MAX, &out->setup_line, err) != 0 ||
        read_number(fields, "started", TIME_MAX, &out->started_s, err) != 0 ||
        read_number(fields, "ended", TIME_MAX, &out->ended_s, err) != 0 ||
        read_uptime(fields, "ended_uptime", &out->ended_uptime_ms, err) != 0 ||
        read_number(fields, "now", TIME_MAX, &out->now_s, err) != 0 ||
        read_uptime(fields, "uptime", &out->uptime_ms, err) != 0 ||
        read_unsigned(fields, "found_attempt", COUNT_MAX, &out->found_attempt, err) != 0 ||
        read_number(fields, "log_time", TIME_MAX, &out->log_s, err) != 0 ||
        node_field_number(fields, "log_size", UINT64_MAX, &out->log_size, err) != 0) {
        return -1;
    }
    out->unproven = node_field_copy(fields, "unproven");
    out->scanned = !out->unproven && scan_is_whole(fields);
    out->never_ran = out->life == NODE_LIFE_EXITED && node_field_text(fields, "setup_line");
    node_gpus_parse(node_field_text(fields, "gpus"), &out->gpus);
    out->own_gpus = node_field_copy(fields, "gpus_own");
    node_gpus_set_own(&out->gpus, out->own_gpus);
    return read_processes(fields, "leftover", &out->leftovers, err);
}

int node_answer_observe(const char *bytes, size_t len, const char *nonce, struct node_observation *out,
                        struct error *err)
{
    struct node_fields fields = {0};

    *out = (struct node_observation){.status = -1};
    int result = node_fields_read(&fields, bytes, len, nonce, err);
    if (result == 0) {
        result = fill_observation(&fields, out, err);
    }
    node_fields_release(&fields);
    return result;
}

int node_observation_from_fields(const struct node_fields *fields, struct node_observation *out,
                                 struct error *err)
{
    *out = (struct node_observation){.status = -1};
    return node_fields_check(fields, err) != 0 ? -1 : fill_observation(fields, out, err);
}

void node_observation_release(struct node_observation *observation)
{
    free(observation->signal);
    free(observation->host);
    free(observation->found_run_id);
    free(observation->log);
    free(observation->container_lost);
    free(observation->ending);
    free(observation->unproven);
    free(observation->gpus.items);
    free(observation->own_gpus);
    processes_release(&observation->leftovers);
    *observation = (struct node_observation){0};
}

static int fill_stop(const struct node_fields *fields, struct node_stop *out, struct error *err)
{
    if (!node_field_text(fields, "survivor_total")) {
        return error_set(err, &kind_node_answer, "the node's answer to a stop does not say what survived");
    }
    out->unproven = node_field_copy(fields, "unproven");
    if (!out->unproven && !scan_is_whole(fields)) {
        return no_proof("a stop", err);
    }
    node_inner_from_fields(fields, &out->inner);
    out->was_alive = node_field_is_set(fields, "was_alive");
    out->signal = copy_signal(fields);
    out->container_lost = node_field_copy(fields, "container_lost");
    if (node_field_number(fields, "signalled", PID_MAX, &out->signalled, err) != 0 ||
        node_field_number(fields, "killed", PID_MAX, &out->killed, err) != 0 ||
        read_status(fields, "status", &out->status, err) != 0 ||
        read_number(fields, "ended", TIME_MAX, &out->ended_s, err) != 0 ||
        read_uptime(fields, "ended_uptime", &out->ended_uptime_ms, err) != 0 ||
        read_processes(fields, "leftover", &out->leftovers, err) != 0) {
        return -1;
    }
    return read_processes(fields, "survivor", &out->survivors, err);
}

int node_answer_stop(const char *bytes, size_t len, const char *nonce, struct node_stop *out,
                     struct error *err)
{
    struct node_fields fields = {0};

    *out = (struct node_stop){.status = -1};
    int result = node_fields_read(&fields, bytes, len, nonce, err);
    if (result == 0) {
        result = fill_stop(&fields, out, err);
    }
    node_fields_release(&fields);
    return result;
}

void node_stop_release(struct node_stop *stop)
{
    free(stop->signal);
    free(stop->container_lost);
    free(stop->unproven);
    strlist_release(&stop->inner);
    processes_release(&stop->leftovers);
    processes_release(&stop->survivors);
    *stop = (struct node_stop){0};
}

static int fill_signal(const struct node_fields *fields, struct node_signal *out, struct error *err)
{
    out->delivered = node_field_is_set(fields, "delivered");
    out->problem = node_field_copy(fields, "problem");
    if (out->problem) {
        out->life = NODE_LIFE_RUNNING;
        return 0;
    }
    if (read_life(fields, &out->life, err) != 0) {
        return -1;
    }
    return read_number(fields, "pid", PID_MAX, &out->pid, err);
}

int node_answer_signal(const char *bytes, size_t len, const char *nonce, struct node_signal *out,
                       struct error *err)
{
    struct node_fields fields = {0};

    *out = (struct node_signal){0};
    int result = node_fields_read(&fields, bytes, len, nonce, err);
    if (result == 0) {
        result = fill_signal(&fields, out, err);
    }
    node_fields_release(&fields);
    return result;
}

int node_answer_remove(const char *bytes, size_t len, const char *nonce, struct node_removal *out,
                       struct error *err)
{
    struct node_fields fields = {0};

    *out = (struct node_removal){0};
    int result = node_fields_read(&fields, bytes, len, nonce, err);
    if (result == 0) {
        out->removed = node_field_is_set(&fields, "removed");
        result = read_processes(&fields, "live", &out->live, err);
        if (result == 0 && out->removed && !scan_is_whole(&fields)) {
            result = no_proof("a removal", err);
        }
    }
    node_fields_release(&fields);
    return result;
}

void node_signal_release(struct node_signal *signal)
{
    free(signal->problem);
    *signal = (struct node_signal){0};
}

void node_removal_release(struct node_removal *removal)
{
    processes_release(&removal->live);
    *removal = (struct node_removal){0};
}
