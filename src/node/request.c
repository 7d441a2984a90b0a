/* Builds calls: the remote command and its standard input. */
#include "node/request.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/quote.h"
#include "node/node_internal.h"

void node_call_release(struct node_call *call)
{
    free(call->command);
    call->command = NULL;
    str_release(&call->input);
}

static void set_text(struct str *out, const char *name, const char *value)
{
    str_addf(out, "mt_%s=", name);
    quote_sh(out, value ? value : "");
    str_add_char(out, '\n');
}

static void set_number(struct str *out, const char *name, unsigned long value)
{
    str_addf(out, "mt_%s=%lu\n", name, value);
}

static void set_flag(struct str *out, const char *name, bool value)
{
    str_addf(out, "mt_%s=%s\n", name, value ? "1" : "");
}

/* Add the lines for the node itself, which enter the container; `sh -s` inside reads what follows them. */
static void add_entry(struct node_call *out, const struct node_target *target, const char *verb)
{
    static const char *const parts[] = {"10-frame", "05-entry", NULL};

    out->command = node_entry_command(out->nonce);
    node_entry_begin(&out->input, &target->place, verb, out->nonce);
    node_entry_add_value(&out->input, "run_id", target->run_id);
    str_addf(&out->input, "mt_attempt=%u\n", target->attempt);
    node_script_add(&out->input, parts);
    str_add(&out->input, "mt_entry /bin/sh -s\n");
    node_entry_end(&out->input, out->nonce);
}

/*
 * The login shell runs a command that means the same to every shell and that execs /bin/sh. It first reads
 * one line: if a start-up file has consumed the nonce from standard input, the call ends with status 97
 * instead of running half a script. The rest is a single function, which a shell runs only once it has read
 * all of it, so a broken connection runs nothing.
 */
static void begin(struct node_call *out, const struct node_target *target, const char *verb,
                  const char *nonce)
{
    *out = (struct node_call)NODE_CALL_INIT;
    for (size_t i = 0; i < NODE_NONCE_LEN && nonce[i] != '\0'; i++) {
        out->nonce[i] = nonce[i];
    }
    bool inside = target->place.container;
    if (inside) {
        add_entry(out, target, verb);
    } else {
        out->command = xasprintf(
            "exec /bin/sh -c 'IFS= read -r l && [ \"$l\" = %s ] || exit 97; exec /bin/sh -s'", out->nonce);
        str_addf(&out->input, "%s\n", out->nonce);
    }
    str_add(&out->input, "mt_all() {\n");
    set_text(&out->input, "nonce", out->nonce);
    set_text(&out->input, "verb", verb);
    set_text(&out->input, "run", target->run);
    set_text(&out->input, "run_id", target->run_id);
    set_number(&out->input, "rank", target->rank);
    set_number(&out->input, "attempt", target->attempt);
    set_text(&out->input, "artifacts", target->artifacts);
    set_flag(&out->input, "inside", inside);
    set_text(&out->input, "container", inside ? target->place.id : NULL);
    set_text(&out->input, "container_began", inside ? target->place.started : NULL);
}

/*
 * Let a call run to its end even if its caller goes away: the script runs in a session of its own, as the
 * child of a shell that waits for it. A signal that comes through the connection ends only that shell. If no
 * process can be forked, the shell's exit trap runs the script instead, so that a stop still signals what it
 * can. wait has no argument, because "$!" would contain a "!" (csh).
 */
static void detach(struct node_call *out, const struct node_target *target)
{
    free(out->command);
    if (target->place.container) {
        out->command = node_entry_command_detached(out->nonce);
    } else {
        out->command = xasprintf(
            "exec /bin/sh -c 'IFS= read -r l && [ \"$l\" = %s ] || exit 97; r() { exec /bin/sh -s; }; "
            "command -v setsid >/dev/null || r; exec 3<&0; trap r EXIT; setsid /bin/sh -s <&3 3<&- & "
            "trap - EXIT; exec 3<&-; wait'",
            out->nonce);
    }
}

static void finish(struct node_call *out, const char *const *parts)
{
    node_script_add(&out->input, parts);
    str_add(&out->input, "}\nmt_all\n");
}

static void set_job(struct node_call *out, const struct node_job *job, const struct node_probe *probe)
{
    static const char *const modes[] = {
        [NODE_ENV_LOGIN] = "login",
        [NODE_ENV_KEEP] = "keep",
        [NODE_ENV_CLEAN] = "clean",
    };
    AUTO_STR struct str text = STR_INIT;

    node_job_text(job, probe, &text);
    set_text(&out->input, "env_mode", modes[job->env_mode]);
    set_text(&out->input, "workdir", job->workdir);
    set_text(&out->input, "shell", job->shell);
    set_text(&out->input, "job", str_text(&text));
}

void node_request_check(const struct node_target *target, const struct node_job *job,
                        const struct node_check_options *options, const char *nonce, struct node_call *out)
{
    /*
     * The parts that a start sends too come last, so that a start on the same compressed connection finds
     * them in the compression window.
     */
    static const char *const before[] = {"29-limit", "30-check", NULL};
    static const char *const after[] = {"15-stat",  "17-write", "20-proc", "10-frame", "22-scan",
                                        "25-place", "27-env",   "35-port", "90-main",  NULL};

    begin(out, target, "check", nonce);
    set_job(out, job, options->probe);
    set_text(&out->input, "lanes", options->lanes);
    set_text(&out->input, "own_checks", options->own);
    for (size_t i = 0; i < options->values->len; i++) {
        set_text(&out->input, options->values->items[i].name, options->values->items[i].value);
    }
    node_script_add(&out->input, before);
    node_script_add(&out->input, (const char *const *)options->parts->items);
    finish(out, after);
}

static void set_parts(struct node_call *out, const char *name, const char *const *parts)
{
    AUTO_STR struct str text = STR_INIT;

    node_script_add(&text, parts);
    set_text(&out->input, name, str_text(&text));
}

/*
 * Add the parts of a start, including the keeper's program (see mt_launch_keeper). The parts that both use
 * are sent once.
 */
static void add_start_parts(struct node_call *out)
{
    static const char *const shared[] = {"15-stat", "17-write", "20-proc", NULL};
    static const char *const parts[] = {"10-frame", "22-scan", "25-place", "27-env", "35-port", NULL};
    static const char *const keeper[] = {"45-keeper", NULL};

    set_parts(out, "shared_text", shared);
    str_add(&out->input, "eval \"$mt_shared_text\"\n");
    node_script_add(&out->input, parts);
    set_parts(out, "keeper_text", keeper);
}

void node_request_start(const struct node_target *target, const struct node_job *job,
                        const struct node_start_options *options, const char *nonce, struct node_call *out)
{
    static const char *const parts[] = {"40-start", "90-main", NULL};

    begin(out, target, "start", nonce);
    set_job(out, job, NULL);
    set_number(&out->input, "master_port", options->master_port);
    set_text(&out->input, "version", options->version);
    set_text(&out->input, "head", options->head ? options->head : "");
    set_number(&out->input, "start_timeout", options->start_timeout_s != 0 ? options->start_timeout_s : 120);
    set_flag(&out->input, "want_recorder",
             job->defaults && env_get(job->defaults, "TORCH_NCCL_DEBUG_INFO_PIPE_FILE"));
    add_start_parts(out);
    finish(out, parts);
}

void node_request_prepare(const struct node_target *target, const struct node_job *job,
                          const struct node_prepare_options *options, const char *nonce,
                          struct node_call *out)
{
    static const char *const parts[] = {"10-frame",   "15-stat",  "17-write", "20-proc",
                                        "22-scan",    "25-place", "27-env",   "29-limit",
                                        "38-prepare", "90-main",  NULL};

    begin(out, target, "prepare", nonce);
    set_job(out, job, NULL);
    set_text(&out->input, "step", options->step);
    set_text(&out->input, "creates", options->creates);
    set_number(&out->input, "step_limit", options->limit_s);
    finish(out, parts);
}

void node_request_comm(const struct node_target *target, const struct node_job *job,
                       const struct node_comm_options *options, const char *nonce, struct node_call *out)
{
    static const char *const program[] = {"comm.py", NULL};
    static const char *const parts[] = {"10-frame", "15-stat", "17-write", "20-proc", "22-scan",
                                        "25-place", "27-env",  "83-comm",  "90-main", NULL};
    AUTO_STR struct str text = STR_INIT;
    AUTO_STRLIST struct strlist argv = STRLIST_INIT;
    struct node_job own = *job;

    begin(out, target, "comm", nonce);
    node_script_add(&text, program);
    strlist_add(&argv, job->argv->items[0]);
    strlist_add(&argv, "-c");
    strlist_add(&argv, str_text(&text));
    strlist_add(&argv, out->nonce);
    strlist_addf(&argv, "%lu", options->limit_s);
    own.argv = &argv;
    own.ready = NULL;
    set_job(out, &own, NULL);
    set_number(&out->input, "limit", options->limit_s);
    set_text(&out->input, "mark", options->mark);
    node_script_add_watchdog(&out->input);
    finish(out, parts);
}

void node_request_observe(const struct node_target *target, const struct node_observe_options *options,
                          const char *nonce, struct node_call *out)
{
    static const char *const parts[] = {"10-frame", "15-stat",  "17-write",   "20-proc", "22-scan",
                                        "25-place", "29-limit", "50-observe", "90-main", NULL};

    begin(out, target, "observe", nonce);
    set_flag(&out->input, "want_leftovers", options->leftovers);
    set_flag(&out->input, "want_gpus", options->gpus);
    finish(out, parts);
}

void node_request_watch(const struct node_target *target, const struct node_watch_options *options,
                        const char *nonce, struct node_call *out)
{
    static const char *const parts[] = {"10-frame", "15-stat",  "17-write", "20-proc",
                                        "22-scan",  "25-place", "29-limit", "50-observe",
                                        "55-watch", "90-main",  NULL};

    begin(out, target, "watch", nonce);
    set_flag(&out->input, "want_leftovers", false);
    set_flag(&out->input, "want_gpus", false);
    set_number(&out->input, "beat", options->beat_s != 0 ? options->beat_s : 10);
    set_number(&out->input, "gpus_every", options->gpus_s);
    set_number(&out->input, "patience", options->patience_s != 0 ? options->patience_s : 300);
    set_number(&out->input, "poll_every", 1);
    finish(out, parts);
}

void node_request_stop(const struct node_target *target, const struct node_stop_options *options,
                       const char *nonce, struct node_call *out)
{
    static const char *const parts[] = {"10-frame", "15-stat", "17-write",   "20-proc", "22-scan", "25-place",
                                        "59-abort", "60-stop", "64-workers", "90-main", NULL};

    begin(out, target, "stop", nonce);
    detach(out, target);
    set_text(&out->input, "signal_name", options->signal ? options->signal : "TERM");
    set_number(&out->input, "grace", options->grace_s);
    set_flag(&out->input, "only_attempt", options->only_attempt);
    finish(out, parts);
}

void node_request_signal(const struct node_target *target, const char *signal, const char *nonce,
                         struct node_call *out)
{
    static const char *const parts[] = {"10-frame", "15-stat",   "17-write", "20-proc", "22-scan",
                                        "25-place", "62-signal", "90-main",  NULL};

    begin(out, target, "signal", nonce);
    set_text(&out->input, "signal_name", signal);
    finish(out, parts);
}

void node_request_stacks(const struct node_target *target, const char *py_spy, bool dumps, const char *nonce,
                         struct node_call *out)
{
    static const char *const parts[] = {"10-frame",  "15-stat",  "17-write", "20-proc",
                                        "22-scan",   "25-place", "29-limit", "64-workers",
                                        "65-stacks", "90-main",  NULL};

    begin(out, target, "stacks", nonce);
    set_text(&out->input, "py_spy", py_spy ? py_spy : "");
    set_flag(&out->input, "want_dumps", dumps);
    finish(out, parts);
}

void node_request_tail(const struct node_target *target, const struct node_tail_options *options,
                       const char *nonce, struct node_call *out)
{
    static const char *const parts[] = {"10-frame", "15-stat",    "17-write", "20-proc", "22-scan",
                                        "25-place", "50-observe", "70-tail",  "90-main", NULL};
    static const char *const from[] = {
        [NODE_TAIL_LINES] = "lines",
        [NODE_TAIL_BYTES] = "bytes",
        [NODE_TAIL_ALL] = "all",
        [NODE_TAIL_OFFSET] = "offset",
    };

    begin(out, target, "tail", nonce);
    set_number(&out->input, "tail_attempt", options->attempt != 0 ? options->attempt : target->attempt);
    set_text(&out->input, "tail_from", from[options->from]);
    str_addf(&out->input, "mt_tail_count=%llu\n", (unsigned long long)options->count);
    set_flag(&out->input, "want_follow", options->follow);
    set_text(&out->input, "tail_filter", options->filter ? options->filter : "");
    set_text(&out->input, "tail_mode", options->filter_fixed ? "F" : "E");
    finish(out, parts);
}

void node_request_grep(const struct node_target *target, unsigned attempt, const struct strlist *literals,
                       const char *python, const char *nonce, struct node_call *out)
{
    static const char *const parts[] = {"10-frame", "15-stat",  "17-write",   "20-proc", "22-scan",
                                        "25-place", "29-limit", "50-observe", "70-tail", "72-grep",
                                        "73-dumps", "90-main",  NULL};
    AUTO_FREE char *lines = strlist_join(literals, "\n");

    begin(out, target, "grep", nonce);
    set_number(&out->input, "tail_attempt", attempt != 0 ? attempt : target->attempt);
    set_text(&out->input, "grep_literals", lines);
    static const char *const reader[] = {"dumps.py", NULL};
    AUTO_STR struct str text = STR_INIT;
    node_script_add(&text, reader);
    set_text(&out->input, "grep_python", python ? python : "");
    set_text(&out->input, "dumps_py", str_text(&text));
    finish(out, parts);
}

void node_request_inventory(const struct node_target *target, const struct strlist *literals,
                            const char *nonce, struct node_call *out)
{
    static const char *const parts[] = {"10-frame",     "15-stat",  "17-write", "20-proc",  "22-scan",
                                        "25-place",     "29-limit", "70-tail",  "check/ib", "check/nic",
                                        "74-inventory", "90-main",  NULL};
    AUTO_FREE char *lines = strlist_join(literals, "\n");

    begin(out, target, "inventory", nonce);
    set_number(&out->input, "tail_attempt", target->attempt);
    set_text(&out->input, "literals", lines);
    finish(out, parts);
}

void node_request_ping(struct node_call *out)
{
    *out = (struct node_call)NODE_CALL_INIT;
    out->command = xstrdup("true");
}

void node_request_remove(const struct node_target *target, bool logs, const char *nonce,
                         struct node_call *out)
{
    static const char *const parts[] = {"10-frame", "15-stat",   "17-write", "20-proc", "22-scan",
                                        "25-place", "80-remove", "90-main",  NULL};

    begin(out, target, "remove", nonce);
    set_flag(&out->input, "want_logs", logs);
    finish(out, parts);
}
