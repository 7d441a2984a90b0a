/* A run and its nodes as values, and the states that follow from them. */
#include "model/run.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

static const char *const node_state_names[] = {
    [NODE_PENDING] = "pending", [NODE_RUNNING] = "running", [NODE_EXITED] = "exited",
    [NODE_FAILED] = "failed",   [NODE_STOPPED] = "stopped", [NODE_LOST] = "lost",
};

static const char *const run_state_names[] = {
    [RUN_STOPPING] = "stopping", [RUN_STARTING] = "starting", [RUN_DEGRADED] = "degraded",
    [RUN_RUNNING] = "running",   [RUN_LOST] = "lost",         [RUN_FAILED] = "failed",
    [RUN_STOPPED] = "stopped",   [RUN_FINISHED] = "finished",
};

const char *node_state_name(enum node_state state)
{
    return node_state_names[state];
}

const char *run_state_name(enum run_state state)
{
    return run_state_names[state];
}

static long name_index(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0) {
            return (long)i;
        }
    }
    return -1;
}

bool node_state_from_name(const char *name, enum node_state *out)
{
    long index = name_index(name, node_state_names, ARRAY_LEN(node_state_names));
    if (index >= 0) {
        *out = (enum node_state)index;
    }
    return index >= 0;
}

bool run_state_from_name(const char *name, enum run_state *out)
{
    long index = name_index(name, run_state_names, ARRAY_LEN(run_state_names));
    if (index >= 0) {
        *out = (enum run_state)index;
    }
    return index >= 0;
}

bool node_state_has_ended(enum node_state state)
{
    return state == NODE_EXITED || state == NODE_FAILED || state == NODE_STOPPED;
}

bool node_state_may_run(enum node_state state)
{
    return state == NODE_RUNNING || state == NODE_LOST;
}

bool run_state_is_live(enum run_state state)
{
    return state != RUN_FAILED && state != RUN_STOPPED && state != RUN_FINISHED;
}

void run_init(struct run *run)
{
    *run = (struct run){.exit_status = -1, .progress = PROGRESS_NONE};
    policy_init(&run->policy);
}

void run_node_release(struct run_node *node)
{
    host_release(&node->host);
    free(node->label);
    free(node->addr);
    free(node->artifacts);
    free(node->log);
    free(node->reason);
    free(node->signal);
    free(node->container_id);
    free(node->container_started);
    free(node->gpus);
    *node = (struct run_node){.exit_status = -1, .silent_s = -1};
}

static void run_drop_nodes(struct run *run)
{
    for (size_t i = 0; i < run->nodes_len; i++) {
        run_node_release(&run->nodes[i]);
    }
    free(run->nodes);
    run->nodes = NULL;
    run->nodes_len = 0;
}

void run_nodes_alloc(struct run *run, size_t count)
{
    run_drop_nodes(run);
    run->nodes = xcalloc(count > 0 ? count : 1, sizeof(*run->nodes));
    run->nodes_len = count;
    for (size_t i = 0; i < count; i++) {
        run->nodes[i].rank = (unsigned)i;
        run->nodes[i].exit_status = -1;
        run->nodes[i].silent_s = -1;
    }
}

/* The last line with a letter or a digit in it, "" when there is none. */
static char *last_line(const char *lines)
{
    size_t end = strlen(lines);
    while (end > 0) {
        size_t from = end;
        bool tells = false;
        while (from > 0 && lines[from - 1] != '\n') {
            unsigned char byte = (unsigned char)lines[--from];
            tells = tells || isalnum(byte) || byte >= 0x80;
        }
        if (tells) {
            from += strspn(lines + from, " ");
            return xstrndup(lines + from, end - from);
        }
        end = from > 0 ? from - 1 : 0;
    }
    return xstrdup("");
}

static char *unquoted(const char *lines)
{
    struct str plain = STR_INIT;
    for (const char *at = lines; *at != '\0';) {
        at += text_starts(at, TEXT_QUOTE_INDENT) ? strlen(TEXT_QUOTE_INDENT) : 0;
        size_t len = strcspn(at, "\n") + (strchr(at, '\n') ? 1 : 0);
        str_add_mem(&plain, at, len);
        at += len;
    }
    return str_detach(&plain);
}

void run_set_reason(struct run *run, char *text)
{
    AUTO_FREE char *whole = text;
    const char *lines = whole ? strchr(whole, '\n') : NULL;
    free(run->reason);
    strlist_release(&run->cause.hosts);
    free(run->cause.log_lines);
    free(run->cause.hint);
    run->cause = (struct run_cause){0};
    run->reason = NULL;
    if (!lines) {
        run->reason = xstrdup(whole);
        return;
    }
    AUTO_FREE char *quoted = unquoted(lines + 1);
    AUTO_FREE char *last = last_line(quoted);
    size_t len = (size_t)(lines - whole);
    len -= len > 0 && whole[len - 1] == ':' ? 1 : 0;
    run->reason = xasprintf("%.*s%s%s", (int)len, whole, *last ? ": " : "", last);
    if (strchr(quoted, '\n')) {
        run->cause.log_lines = xstrdup(quoted);
    }
}

void run_add_reason(const struct run *run, struct str *out)
{
    str_add(out, run->reason ? run->reason : "");
    const char *lines = run->cause.log_lines;
    for (const char *at = lines; at && *at != '\0'; at++) {
        str_add(out, at == lines ? "\n" TEXT_QUOTE_INDENT : "");
        str_add_char(out, *at);
        str_add(out, *at == '\n' ? TEXT_QUOTE_INDENT : "");
    }
}

void run_synced_copy(struct run_synced *to, const struct run_synced *from)
{
    char *commit = from->commit ? xstrdup(from->commit) : NULL;
    free(to->commit);
    *to = *from;
    to->commit = commit;
}

void run_release(struct run *run)
{
    run_drop_nodes(run);
    while (run->cleanups_len > 0) {
        run_drop_cleanup(run, run->cleanups_len - 1);
    }
    free(run->cleanups);
    reach_release(&run->reach);
    place_release(&run->place);
    policy_release(&run->policy);
    run_forget_left_over(run, NULL);
    free(run->left_over);
    free(run->synced.commit);
    inventory_release(&run->inventory);
    while (run->attempts_len > 0) {
        run_drop_attempt(run);
    }
    free(run->attempts);
    run_set_reason(run, NULL);
    char *texts[] = {run->name,      run->job,          run->job_file, run->master_addr, run->stop_signal,
                     run->head_host, run->head_boot_id, run->spec,     run->job_spec,    run->findings};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        free(texts[i]);
    }
    run_init(run);
}

struct run_cleanup *run_add_cleanup(struct run *run)
{
    run->cleanups = xgrow(run->cleanups, run->cleanups_len, &run->cleanups_cap, sizeof(*run->cleanups));
    struct run_cleanup *cleanup = &run->cleanups[run->cleanups_len++];
    *cleanup = (struct run_cleanup){0};
    return cleanup;
}

void run_drop_cleanup(struct run *run, size_t index)
{
    struct run_cleanup *cleanup = &run->cleanups[index];
    host_release(&cleanup->host);
    free(cleanup->label);
    free(cleanup->artifacts);
    place_release(&cleanup->place);
    reach_release(&cleanup->reach);
    run->cleanups_len--;
    memmove(cleanup, cleanup + 1, (run->cleanups_len - index) * sizeof(*cleanup));
}

struct run_attempt *run_add_attempt(struct run *run)
{
    run->attempts = xgrow(run->attempts, run->attempts_len, &run->attempts_cap, sizeof(*run->attempts));
    struct run_attempt *attempt = &run->attempts[run->attempts_len++];
    *attempt = (struct run_attempt){0};
    return attempt;
}

void run_add_left_over(struct run *run, const char *host, int64_t pid, const char *command)
{
    run->left_over = xgrow(run->left_over, run->left_over_len, &run->left_over_cap, sizeof(*run->left_over));
    run->left_over[run->left_over_len++] =
        (struct run_left_over){.host = xstrdup(host), .pid = pid, .command = xstrdup(command)};
}

void run_forget_left_over(struct run *run, const char *host)
{
    size_t kept = 0;
    for (size_t i = 0; i < run->left_over_len; i++) {
        struct run_left_over *item = &run->left_over[i];
        if (host && strcmp(item->host, host) != 0) {
            run->left_over[kept++] = *item;
        } else {
            free(item->host);
            free(item->command);
        }
    }
    run->left_over_len = kept;
}

void run_drop_attempt(struct run *run)
{
    struct run_attempt *attempt = run_current_attempt(run);
    if (attempt) {
        free(attempt->reason);
        strlist_release(&attempt->nodes);
        run->attempts_len--;
    }
}

struct place run_node_place(const struct run *run, size_t node)
{
    struct place place = run->place;
    place.id = run->nodes[node].container_id;
    place.started = run->nodes[node].container_started;
    return place;
}

struct run_attempt *run_current_attempt(struct run *run)
{
    return run->attempts_len == 0 ? NULL : &run->attempts[run->attempts_len - 1];
}

static bool node_counts_as(const struct run_node *node, enum node_state state)
{
    enum node_state own = node->written_off && node->state == NODE_LOST ? NODE_STOPPED : node->state;
    return own == state;
}

static bool run_has(const struct run *run, enum node_state state)
{
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (node_counts_as(&run->nodes[i], state)) {
            return true;
        }
    }
    return false;
}

bool run_has_open_node(const struct run *run)
{
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (!node_state_has_ended(run->nodes[i].state)) {
            return true;
        }
    }
    return false;
}

bool run_has_lost_node(const struct run *run)
{
    for (size_t i = 0; i < run->nodes_len; i++) {
        if (run->nodes[i].state == NODE_LOST) {
            return true;
        }
    }
    return false;
}

enum run_state run_derive_state(const struct run *run)
{
    bool pending = run_has(run, NODE_PENDING);
    bool failed = run_has(run, NODE_FAILED);
    bool lost = run_has(run, NODE_LOST);
    bool stopped = run_has(run, NODE_STOPPED);

    if (run->stopping) {
        return RUN_STOPPING;
    }
    if (run->starting) {
        return RUN_STARTING;
    }
    if (run_has(run, NODE_RUNNING)) {
        return pending || failed || lost || stopped ? RUN_DEGRADED : RUN_RUNNING;
    }
    if (lost) {
        return RUN_LOST;
    }
    if (!pending && run_is_finished_by_rank0(run)) {
        return RUN_FINISHED;
    }
    if (failed || pending) {
        return RUN_FAILED;
    }
    return stopped ? RUN_STOPPED : RUN_FINISHED;
}

bool run_is_finished_by_rank0(const struct run *run)
{
    return run->policy.finish_on == POLICY_FINISH_RANK0 && run->nodes_len > 0 &&
           run->nodes[0].state == NODE_EXITED;
}

long run_first_failure(const struct run *run)
{
    long first = -1;
    for (size_t i = 0; i < run->nodes_len; i++) {
        const struct run_node *node = &run->nodes[i];
        if (node->state != NODE_FAILED) {
            continue;
        }
        int64_t end = policy_end_ms(node);
        int64_t least = first < 0 ? 0 : policy_end_ms(&run->nodes[first]);
        if (first < 0 || (end != 0 && (least == 0 || end < least))) {
            first = (long)i;
        }
    }
    return first;
}
