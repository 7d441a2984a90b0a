/* Parses the answer of each verb into values. */
#include "node/answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/kind.h"
#include "node/node_internal.h"

#define TIME_MAX  4102444800u /* the year 2100 */
#define COUNT_MAX 1000000

/* The error for output that is no answer; the hint quotes its last non-blank line. */
static int no_answer(const char *bytes, size_t len, const char *what, struct error *err)
{
    AUTO_STR struct str shown = STR_INIT;
    size_t line_len = 0;
    const char *line = node_last_line(bytes, len, &line_len);

    error_set(err, &kind_node_answer, "%s", what);
    if (line_len == 0) {
        return error_hint(err, "look at the login's start-up files: nothing came back");
    }
    text_add_utf8(&shown, line, line_len);
    return error_hint(err, "look at the login's start-up files: the last output was '%s'", str_text(&shown));
}

/* Read frames up to the end frame: 1 when there is one, 0 when not, -1 with err. */
static int read_frames(struct facts *facts, const char *bytes, size_t len, const char *nonce,
                       struct error *err)
{
    struct node_reader reader = {.nonce = nonce, .limit = NODE_ANSWER_MAX};
    size_t at = 0, used = 0, frame_len = 0;
    int result = 0;

    while (result == 0 && node_reader_take(&reader, bytes + at, len - at, &used)) {
        const char *frame = node_reader_frame(&reader, &frame_len);
        result = node_facts_add(facts, frame, frame_len, "end", err);
        at += used;
    }
    node_reader_release(&reader);
    return result;
}

int node_facts_read(struct facts *facts, const char *bytes, size_t len, const char *nonce, struct error *err)
{
    *facts = (struct facts){0};
    int found = read_frames(facts, bytes, len, nonce, err);
    if (found < 0) {
        return -1;
    }
    if (found == 0) {
        return no_answer(bytes, len,
                         facts->len > 0 ? "the node's answer has no end"
                                        : "the node's answer could not be understood",
                         err);
    }
    return node_facts_check(facts, err);
}

int node_answer_facts(const char *bytes, size_t len, const char *nonce, struct facts *out, struct error *err)
{
    return node_facts_read(out, bytes, len, nonce, err);
}

static int read_number(const struct facts *facts, const char *key, uint64_t max, int64_t *out,
                       struct error *err)
{
    uint64_t value = (uint64_t)*out;

    if (facts_number(facts, key, max, &value, err) != 0) {
        return -1;
    }
    *out = (int64_t)value;
    return 0;
}

static int read_unsigned(const struct facts *facts, const char *key, unsigned max, unsigned *out,
                         struct error *err)
{
    uint64_t value = *out;

    if (facts_number(facts, key, max, &value, err) != 0) {
        return -1;
    }
    *out = (unsigned)value;
    return 0;
}

/* The script sends -1 for an unknown status. */
static int read_status(const struct facts *facts, const char *key, int *out, struct error *err)
{
    const char *value = facts_text(facts, key);
    uint64_t number = 0;

    *out = -1;
    if (!value || value[0] == '\0' || strcmp(value, "-1") == 0) {
        return 0;
    }
    if (facts_number(facts, key, 255, &number, err) != 0) {
        return -1;
    }
    *out = (int)number;
    return 0;
}

/* Read "12345.67", the format of /proc/uptime, as milliseconds. */
static int read_uptime(const struct facts *facts, const char *key, int64_t *out, struct error *err)
{
    const char *value = facts_text(facts, key);
    uint64_t whole = 0;
    uint64_t hundredths = 0;

    if (!value || value[0] == '\0') {
        return 0;
    }
    const char *dot = strchr(value, '.');
    AUTO_FREE char *first = dot ? xstrndup(value, (size_t)(dot - value)) : xstrdup(value);
    if (!text_to_uint(first, 0, TIME_MAX, &whole) ||
        (dot && (strlen(dot) != 3 || !text_to_uint(dot + 1, 0, 99, &hundredths)))) {
        return error_set(err, &kind_node_answer, "the node's answer says '%s' for '%s', expected a time",
                         value, key);
    }
    *out = (int64_t)(whole * 1000 + hundredths * 10);
    return 0;
}

/* A name of letters, digits, + and - ("TERM", "RTMIN+1"); anything else counts as none. */
static char *copy_signal(const struct facts *facts)
{
    const char *value = facts_text(facts, "signal");

    if (!value || value[0] == '\0' || strlen(value) > 16 ||
        value[strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-")] != '\0') {
        return NULL;
    }
    return xstrdup(value);
}

/* Read the fields key="PID STATE COMMAND", and key_total. */
static int read_processes(const struct facts *facts, const char *key, struct node_processes *out,
                          struct error *err)
{
    AUTO_FREE char *total_key = xasprintf("%s_total", key);

    for (size_t i = 0; i < facts->len && out->len < 64; i++) {
        if (strcmp(facts->items[i].key, key) != 0) {
            continue;
        }
        struct fact_process process;
        if (!fact_read_process(facts->items[i].value, &process)) {
            return error_set(err, &kind_node_answer, "the node's answer says '%s' for a process",
                             facts->items[i].value);
        }
        out->items = xgrow(out->items, out->len, &out->cap, sizeof(*out->items));
        out->items[out->len++] = (struct node_process){
            .pid = process.pid,
            .state = process.state,
            .command = xstrndup(process.command, process.command_len),
        };
        out->total = out->len;
    }
    if (facts_number(facts, total_key, FACT_PID_MAX, &out->total, err) != 0) {
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

static int read_foreign(const struct facts *facts, struct node_foreign *out, struct error *err)
{
    const char *verdict = facts_text(facts, "foreign");

    if (!verdict) {
        return 0;
    }
    const char *run_id = facts_text(facts, "foreign_run_id");
    out->run_id = xstrdup(run_id ? run_id : "");
    out->host = facts_copy(facts, "foreign_host");
    out->user = facts_copy(facts, "foreign_user");
    out->head = facts_copy(facts, "foreign_head");
    out->lives = strcmp(verdict, "lives") == 0;
    return read_number(facts, "foreign_pid", FACT_PID_MAX, &out->pid, err);
}

static void foreign_release(struct node_foreign *foreign)
{
    free(foreign->run_id);
    free(foreign->host);
    free(foreign->user);
    free(foreign->head);
    *foreign = (struct node_foreign){0};
}

/* An empty list of leftovers or survivors counts only if the node states that its scan was complete. */
static bool scan_is_whole(const struct facts *facts)
{
    const char *value = facts_text(facts, "scan");

    return value && strcmp(value, "ok") == 0;
}

static int no_proof(const char *what, struct error *err)
{
    return error_set(err, &kind_node_answer,
                     "the node's answer to %s does not prove that it saw all processes", what);
}

static int read_stage(const struct facts *facts, enum node_start_stage *out, struct error *err)
{
    static const char *const names[] = {
        [NODE_START_STARTED] = "started", [NODE_START_FOREIGN] = "foreign", [NODE_START_LIVE] = "live",
        [NODE_START_PORT] = "port",       [NODE_START_CLAIM] = "claim",     [NODE_START_SETUP] = "setup",
        [NODE_START_EXEC] = "exec",       [NODE_START_COMMAND] = "command", [NODE_START_TIMEOUT] = "timeout",
    };
    const char *value = facts_text(facts, "stage");

    for (size_t i = 0; value && i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], value) == 0) {
            *out = (enum node_start_stage)i;
            return 0;
        }
    }
    return error_set(err, &kind_node_answer, "the node's answer to a start says '%s'",
                     value ? value : "nothing");
}

static int fill_start(const struct facts *facts, struct node_start *out, struct error *err)
{
    out->log = facts_copy(facts, "log");
    out->host = facts_copy(facts, "host");
    out->ended = facts_is_set(facts, "ended");
    out->signal = copy_signal(facts);
    out->output = facts_copy(facts, "output");
    node_drop_shell_place(out->output);
    out->problem = facts_copy(facts, "problem");
    if (read_stage(facts, &out->stage, err) != 0 ||
        read_number(facts, "pid", FACT_PID_MAX, &out->pid, err) != 0 ||
        read_unsigned(facts, "setup_line", COUNT_MAX, &out->setup_line, err) != 0 ||
        read_status(facts, "status", &out->status, err) != 0 ||
        read_number(facts, "started", TIME_MAX, &out->started_s, err) != 0) {
        return -1;
    }
    return read_foreign(facts, &out->foreign, err);
}

int node_answer_start(const char *bytes, size_t len, const char *nonce, struct node_start *out,
                      struct error *err)
{
    struct facts facts = {0};

    *out = (struct node_start){.status = -1};
    int result = node_facts_read(&facts, bytes, len, nonce, err);
    if (result == 0) {
        result = fill_start(&facts, out, err);
    }
    facts_release(&facts);
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

static int read_life(const struct facts *facts, enum node_life *out, struct error *err)
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
    const char *value = facts_text(facts, "life");

    for (size_t i = 0; value && i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], value) == 0) {
            *out = (enum node_life)i;
            return 0;
        }
    }
    return error_set(err, &kind_node_answer, "the node's answer about a run says '%s'",
                     value ? value : "nothing");
}

void node_observation_take_gpus(const struct facts *facts, struct node_observation *out)
{
    node_gpus_parse(facts_text(facts, "gpus"), &out->gpus);
    out->own_gpus = facts_copy(facts, "gpus_own");
    node_gpus_set_own(&out->gpus, out->own_gpus);
}

static int fill_observation(const struct facts *facts, struct node_observation *out, struct error *err)
{
    out->rebooted = facts_is_set(facts, "rebooted");
    out->pid_reused = facts_is_set(facts, "pid_reused");
    out->keeper_alive = facts_is_set(facts, "keeper");
    out->signal = copy_signal(facts);
    out->host = facts_copy(facts, "host");
    out->found_run_id = facts_copy(facts, "found_run_id");
    out->log = facts_copy(facts, "log");
    out->container_lost = facts_copy(facts, "container_lost");
    out->ending = facts_copy(facts, "ending");
    if (read_life(facts, &out->life, err) != 0 ||
        read_number(facts, "pid", FACT_PID_MAX, &out->pid, err) != 0 ||
        read_status(facts, "status", &out->status, err) != 0 ||
        read_unsigned(facts, "setup_line", COUNT_MAX, &out->setup_line, err) != 0 ||
        read_number(facts, "started", TIME_MAX, &out->started_s, err) != 0 ||
        read_number(facts, "ended", TIME_MAX, &out->ended_s, err) != 0 ||
        read_uptime(facts, "ended_uptime", &out->ended_uptime_ms, err) != 0 ||
        read_number(facts, "now", TIME_MAX, &out->now_s, err) != 0 ||
        read_uptime(facts, "uptime", &out->uptime_ms, err) != 0 ||
        read_unsigned(facts, "found_attempt", COUNT_MAX, &out->found_attempt, err) != 0 ||
        read_number(facts, "log_time", TIME_MAX, &out->log_s, err) != 0 ||
        facts_number(facts, "log_size", UINT64_MAX, &out->log_size, err) != 0) {
        return -1;
    }
    out->unproven = facts_copy(facts, "unproven");
    out->scanned = !out->unproven && scan_is_whole(facts);
    out->never_ran = out->life == NODE_LIFE_EXITED && facts_text(facts, "setup_line");
    node_observation_take_gpus(facts, out);
    return read_processes(facts, "leftover", &out->leftovers, err);
}

int node_answer_observe(const char *bytes, size_t len, const char *nonce, struct node_observation *out,
                        struct error *err)
{
    struct facts facts = {0};

    *out = (struct node_observation){.status = -1};
    int result = node_facts_read(&facts, bytes, len, nonce, err);
    if (result == 0) {
        result = fill_observation(&facts, out, err);
    }
    facts_release(&facts);
    return result;
}

int node_observation_from_facts(const struct facts *facts, struct node_observation *out, struct error *err)
{
    *out = (struct node_observation){.status = -1};
    return node_facts_check(facts, err) != 0 ? -1 : fill_observation(facts, out, err);
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

static int fill_stop(const struct facts *facts, struct node_stop *out, struct error *err)
{
    if (!facts_text(facts, "survivor_total")) {
        return error_set(err, &kind_node_answer, "the node's answer to a stop does not say what survived");
    }
    out->unproven = facts_copy(facts, "unproven");
    if (!out->unproven && !scan_is_whole(facts)) {
        return no_proof("a stop", err);
    }
    node_inner_from_facts(facts, &out->inner);
    out->was_alive = facts_is_set(facts, "was_alive");
    out->signal = copy_signal(facts);
    out->container_lost = facts_copy(facts, "container_lost");
    if (facts_number(facts, "signalled", FACT_PID_MAX, &out->signalled, err) != 0 ||
        facts_number(facts, "killed", FACT_PID_MAX, &out->killed, err) != 0 ||
        read_status(facts, "status", &out->status, err) != 0 ||
        read_number(facts, "ended", TIME_MAX, &out->ended_s, err) != 0 ||
        read_uptime(facts, "ended_uptime", &out->ended_uptime_ms, err) != 0 ||
        read_processes(facts, "leftover", &out->leftovers, err) != 0) {
        return -1;
    }
    return read_processes(facts, "survivor", &out->survivors, err);
}

int node_answer_stop(const char *bytes, size_t len, const char *nonce, struct node_stop *out,
                     struct error *err)
{
    struct facts facts = {0};

    *out = (struct node_stop){.status = -1};
    int result = node_facts_read(&facts, bytes, len, nonce, err);
    if (result == 0) {
        result = fill_stop(&facts, out, err);
    }
    facts_release(&facts);
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

static int fill_signal(const struct facts *facts, struct node_signal *out, struct error *err)
{
    out->delivered = facts_is_set(facts, "delivered");
    out->problem = facts_copy(facts, "problem");
    if (out->problem) {
        out->life = NODE_LIFE_RUNNING;
        return 0;
    }
    if (read_life(facts, &out->life, err) != 0) {
        return -1;
    }
    return read_number(facts, "pid", FACT_PID_MAX, &out->pid, err);
}

int node_answer_signal(const char *bytes, size_t len, const char *nonce, struct node_signal *out,
                       struct error *err)
{
    struct facts facts = {0};

    *out = (struct node_signal){0};
    int result = node_facts_read(&facts, bytes, len, nonce, err);
    if (result == 0) {
        result = fill_signal(&facts, out, err);
    }
    facts_release(&facts);
    return result;
}

int node_answer_remove(const char *bytes, size_t len, const char *nonce, struct node_removal *out,
                       struct error *err)
{
    struct facts facts = {0};

    *out = (struct node_removal){0};
    int result = node_facts_read(&facts, bytes, len, nonce, err);
    if (result == 0) {
        out->removed = facts_is_set(&facts, "removed");
        result = read_processes(&facts, "live", &out->live, err);
        if (result == 0 && out->removed && !scan_is_whole(&facts)) {
            result = no_proof("a removal", err);
        }
    }
    facts_release(&facts);
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
/* Ids have the characters that model/job allows; anything else is skipped. */
void node_inner_from_facts(const struct facts *facts, struct strlist *out)
{
    for (size_t i = 0; i < facts->len && out->len < 16; i++) {
        const char *value = facts->items[i].value;
        if (strcmp(facts->items[i].key, "inner") != 0 || value[0] == '\0' || strlen(value) > 128 ||
            value[strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")] !=
                '\0') {
            continue;
        }
        strlist_add(out, value);
    }
}
