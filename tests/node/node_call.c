/*
 * The node layer on a command line, for the tests of this folder.
 *   node_call build VERB [name=value]...   prints the bytes for standard input of a call
 *   node_call command NONCE                prints the remote command
 *   node_call parse VERB NONCE             reads an answer, prints it as JSON
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/text.h"
#include "check/check.h"
#include "model/kind.h"
#include "node/answer.h"
#include "node/request.h"

struct options {
    struct node_target target;
    struct node_job job;
    struct check_subject subject;
    bool job_checks, port, is_master;
    const char *limit; /* of every check that runs in a lane; NULL: as the table has it */
    const char *look_exec, *look_shell, *look_read;
    struct node_probe probe;
    struct node_start_options start;
    struct node_stop_options stop;
    struct node_tail_options tail;
    struct strlist literals; /* for grep and inventory */
    const char *python;      /* for grep */
    struct node_watch_options watch;
    struct strlist setup, argv, unset;
    struct env defaults, env, computed;
    const char *nonce;
    bool leftovers, logs;
    size_t home_words[2];
};

static unsigned long number(const char *text)
{
    return strtoul(text, NULL, 10);
}

static void set_var(struct env *env, const char *text)
{
    const char *equals = strchr(text, '=');
    AUTO_FREE char *name = xstrndup(text, (size_t)(equals - text));

    env_set(env, name, equals + 1, "test");
}

static bool take_job(struct options *w, const char *key, const char *value)
{
    if (strcmp(key, "workdir") == 0) {
        w->job.workdir = value;
    } else if (strcmp(key, "shell") == 0) {
        w->job.shell = value;
    } else if (strcmp(key, "mode") == 0) {
        w->job.env_mode = strcmp(value, "keep") == 0    ? NODE_ENV_KEEP
                          : strcmp(value, "clean") == 0 ? NODE_ENV_CLEAN
                                                        : NODE_ENV_LOGIN;
    } else if (strcmp(key, "setup") == 0) {
        strlist_add(&w->setup, value);
    } else if (strcmp(key, "arg") == 0) {
        strlist_add(&w->argv, value);
    } else if (strcmp(key, "home_word") == 0) {
        w->home_words[w->job.home_words_len++ % ARRAY_LEN(w->home_words)] = number(value);
    } else if (strcmp(key, "unset") == 0) {
        strlist_add(&w->unset, value);
    } else if (strcmp(key, "default") == 0) {
        set_var(&w->defaults, value);
    } else if (strcmp(key, "env") == 0) {
        set_var(&w->env, value);
    } else if (strcmp(key, "computed") == 0) {
        set_var(&w->computed, value);
    } else {
        return false;
    }
    return true;
}

static bool take_look(struct options *w, const char *key, const char *value)
{
    if (strcmp(key, "program") == 0) {
        w->probe.program = value;
    } else if (strcmp(key, "command") == 0) {
        w->probe.command = value;
    } else if (strcmp(key, "interpreter") == 0) {
        w->probe.interpreter = value;
    } else if (strcmp(key, "module") == 0) {
        w->probe.module = value;
    } else if (strcmp(key, "look_exec") == 0) {
        w->look_exec = value;
    } else if (strcmp(key, "look_shell") == 0) {
        w->look_shell = value;
    } else if (strcmp(key, "look_read") == 0) {
        w->look_read = value;
    } else {
        return false;
    }
    return true;
}

static bool take_check(struct options *w, const char *key, const char *value)
{
    if (strcmp(key, "look_job") == 0) {
        w->job_checks = true;
    } else if (strcmp(key, "look_gpus") == 0) {
        w->subject.counts_gpus = true;
    } else if (strcmp(key, "look_port") == 0) {
        w->port = true;
    } else if (strcmp(key, "master_addr") == 0) {
        w->subject.nnodes = 2;
        w->subject.master_addr = value;
    } else if (strcmp(key, "is_master") == 0) {
        w->is_master = true;
    } else if (strcmp(key, "row_limit") == 0) {
        w->limit = value;
    } else if (strcmp(key, "setup_timeout") == 0) {
        w->subject.start_timeout_s = number(value);
    } else {
        return take_look(w, key, value);
    }
    return true;
}

static void take_other(struct options *w, const char *key, const char *value)
{
    if (strcmp(key, "run") == 0) {
        w->target.run = value;
    } else if (strcmp(key, "run_id") == 0) {
        w->target.run_id = value;
    } else if (strcmp(key, "rank") == 0) {
        w->target.rank = (unsigned)number(value);
    } else if (strcmp(key, "attempt") == 0) {
        w->target.attempt = (unsigned)number(value);
    } else if (strcmp(key, "artifacts") == 0) {
        w->target.artifacts = value;
    } else if (strcmp(key, "nonce") == 0) {
        w->nonce = value;
    } else if (strcmp(key, "master_port") == 0) {
        w->subject.master_port = w->start.master_port = (unsigned)number(value);
    } else if (strcmp(key, "timeout") == 0) {
        w->start.start_timeout_s = number(value);
    } else if (strcmp(key, "signal") == 0) {
        w->stop.signal = value;
    } else if (strcmp(key, "grace") == 0) {
        w->stop.grace_s = number(value);
    } else if (strcmp(key, "only_attempt") == 0) {
        w->stop.only_attempt = true;
    } else if (strcmp(key, "leftovers") == 0) {
        w->leftovers = true;
    } else if (strcmp(key, "logs") == 0) {
        w->logs = true;
    } else if (strcmp(key, "literal") == 0) {
        strlist_add(&w->literals, value);
    } else if (strcmp(key, "python") == 0) {
        w->python = value;
    } else if (strcmp(key, "tail_attempt") == 0) {
        w->tail.attempt = (unsigned)number(value);
    } else if (strcmp(key, "lines") == 0 || strcmp(key, "offset") == 0 || strcmp(key, "bytes") == 0) {
        w->tail.from = key[0] == 'l' ? NODE_TAIL_LINES : key[0] == 'b' ? NODE_TAIL_BYTES : NODE_TAIL_OFFSET;
        w->tail.count = number(value);
    } else if (strcmp(key, "follow") == 0) {
        w->tail.follow = true;
    } else if (strcmp(key, "filter_fixed") == 0 || strcmp(key, "filter_extended") == 0) {
        w->tail.filter = value;
        w->tail.filter_fixed = strcmp(key, "filter_fixed") == 0;
    } else if (strcmp(key, "beat") == 0) {
        w->watch.beat_s = (unsigned)number(value);
    } else if (strcmp(key, "patience") == 0) {
        w->watch.patience_s = (unsigned)number(value);
    } else if (strcmp(key, "gpus_every") == 0) {
        w->watch.gpus_s = (unsigned)number(value);
    } else {
        fprintf(stderr, "unknown '%s'\n", key);
        exit(2);
    }
}

/* "ID:30,ID:30 …" with another limit. The caller frees it. */
static char *with_limit(const char *lanes, const char *limit)
{
    AUTO_STR struct str out = STR_INIT;
    for (const char *at = lanes; *at != '\0'; at++) {
        str_add_char(&out, *at);
        if (*at == ':' && limit) {
            str_add(&out, limit);
            at += strspn(at + 1, "0123456789");
        }
    }
    return str_detach(&out);
}

/* The checks of a start (with look_job: all of them), asked of one node. */
static void build_check(struct options *w, struct node_call *call)
{
    struct check_subject *subject = &w->subject;
    struct check_choice choice;
    struct check_request request;
    const struct env_var *visible = env_get(&w->env, "CUDA_VISIBLE_DEVICES");

    check_choose_start(&choice, !w->job_checks);
    for (size_t i = 0; i < checks_count; i++) {
        if (strcmp(checks_all[i]->id, "port") == 0) {
            choice.wanted[i] = w->port;
        }
    }
    const struct job_require require = {0};
    subject->run = w->target.run;
    subject->require = &require;
    subject->starting = true;
    subject->rank = w->is_master || w->port ? 0 : 1;
    subject->program = w->probe.program ? w->probe.program : w->probe.command;
    subject->program_type = w->probe.program   ? CHECK_PROGRAM_FILE
                            : w->probe.command ? CHECK_PROGRAM_COMMAND
                                               : CHECK_PROGRAM_NONE;
    subject->interpreter = w->probe.interpreter;
    subject->module = w->probe.module;
    subject->argv = &w->argv;
    subject->visible = visible ? visible->value : NULL;
    check_ask(subject, &choice, &request);
    env_set(&request.values, "look_exec", w->look_exec ? w->look_exec : "", NULL);
    env_set(&request.values, "look_shell", w->look_shell ? w->look_shell : "", NULL);
    env_set(&request.values, "look_read", w->look_read ? w->look_read : "", NULL);
    AUTO_FREE char *lanes = with_limit(str_text(&request.lanes), w->limit);
    const struct node_check_options options = {
        .probe = &w->probe,
        .lanes = lanes,
        .own = str_text(&request.own),
        .parts = &request.parts,
        .values = &request.values,
    };
    node_request_check(&w->target, &w->job, &options, w->nonce, call);
    check_request_release(&request);
}

static int build(const char *verb, int argc, char **argv)
{
    struct options w = {.target = {.run = "r", .run_id = "r-00000000", .attempt = 1},
                        .start = {.version = "test"},
                        .stop = {.signal = "TERM", .grace_s = 5},
                        .tail = {.from = NODE_TAIL_ALL},
                        .nonce = "0123456789abcdef0123456789abcdef"};
    struct node_call call = NODE_CALL_INIT;

    for (int i = 0; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        AUTO_FREE char *key = xstrndup(argv[i], (size_t)(equals - argv[i]));
        if (!take_job(&w, key, equals + 1) && !take_check(&w, key, equals + 1)) {
            take_other(&w, key, equals + 1);
        }
    }
    w.job.setup = &w.setup;
    w.job.argv = &w.argv;
    w.job.home_words = w.home_words;
    w.job.unset = &w.unset;
    w.job.defaults = &w.defaults;
    w.job.env = &w.env;
    w.job.computed = &w.computed;
    if (strcmp(verb, "probe") == 0) {
        build_check(&w, &call);
    } else if (strcmp(verb, "start") == 0) {
        node_request_start(&w.target, &w.job, &w.start, w.nonce, &call);
    } else if (strcmp(verb, "observe") == 0) {
        node_request_observe(&w.target, &(struct node_observe_options){.leftovers = w.leftovers}, w.nonce,
                             &call);
    } else if (strcmp(verb, "watch") == 0) {
        node_request_watch(&w.target, &w.watch, w.nonce, &call);
    } else if (strcmp(verb, "stop") == 0) {
        node_request_stop(&w.target, &w.stop, w.nonce, &call);
    } else if (strcmp(verb, "signal") == 0) {
        node_request_signal(&w.target, w.stop.signal, w.nonce, &call);
    } else if (strcmp(verb, "grep") == 0) {
        node_request_grep(&w.target, 0, &w.literals, w.python, w.nonce, &call);
    } else if (strcmp(verb, "inventory") == 0) {
        node_request_inventory(&w.target, &w.literals, w.nonce, &call);
    } else if (strcmp(verb, "tail") == 0) {
        node_request_tail(&w.target, &w.tail, w.nonce, &call);
    } else {
        node_request_remove(&w.target, w.logs, w.nonce, &call);
    }
    fwrite(call.input.data, 1, call.input.len, stdout);
    node_call_release(&call);
    strlist_release(&w.setup);
    strlist_release(&w.argv);
    strlist_release(&w.literals);
    strlist_release(&w.unset);
    env_release(&w.defaults);
    env_release(&w.env);
    env_release(&w.computed);
    return 0;
}

static int print_command(const char *nonce)
{
    struct node_target target = {.run = "r", .run_id = "r-00000000", .attempt = 1};
    struct node_call call = NODE_CALL_INIT;

    node_request_observe(&target, &(struct node_observe_options){0}, nonce, &call);
    puts(call.command);
    node_call_release(&call);
    return 0;
}

/* Bytes that are no UTF-8 stand as one character each, so that a test can compare them. */
static json_t *text(const char *value)
{
    AUTO_STR struct str out = STR_INIT;

    if (value == NULL) {
        return json_null();
    }
    json_t *exact = json_string(value);
    if (exact != NULL) {
        return exact;
    }
    for (; *value != '\0'; value++) {
        unsigned char c = (unsigned char)*value;
        if (c < 0x80) {
            str_add_char(&out, (char)c);
        } else {
            str_add_char(&out, (char)(0xc0 | (c >> 6)));
            str_add_char(&out, (char)(0x80 | (c & 0x3f)));
        }
    }
    return json_string(str_text(&out));
}

static json_t *processes(const struct node_processes *list)
{
    json_t *array = json_array();

    for (size_t i = 0; i < list->len; i++) {
        json_array_append_new(array, json_pack("{s:I, s:s%, s:o}", "pid", (json_int_t)list->items[i].pid,
                                               "state", &list->items[i].state, (size_t)1, "command",
                                               text(list->items[i].command)));
    }
    return json_pack("{s:I, s:o}", "total", (json_int_t)list->total, "items", array);
}

static json_t *foreign(const struct node_foreign *f)
{
    return json_pack("{s:o, s:o, s:o, s:I, s:b}", "run_id", text(f->run_id), "host", text(f->host), "user",
                     text(f->user), "pid", (json_int_t)f->pid, "lives", f->lives);
}

static json_t *fact(const struct facts *f, const char *key)
{
    return text(facts_some(f, key));
}

static json_t *fact_number(const struct facts *f, const char *key)
{
    return json_integer((json_int_t)facts_uint(f, key, 0));
}

static json_t *fact_list(const struct facts *f, const char *key, bool is_process)
{
    json_t *array = json_array();
    size_t at = 0;

    for (const char *value = NULL; (value = facts_next(f, key, &at)) != NULL;) {
        struct fact_process p;
        if (is_process && fact_read_process(value, &p)) {
            AUTO_FREE char *command = xstrndup(p.command, p.command_len);
            json_array_append_new(array, json_pack("{s:I, s:s%, s:o}", "pid", (json_int_t)p.pid, "state",
                                                   &p.state, (size_t)1, "command", text(command)));
        } else if (!is_process) {
            AUTO_FREE char *first = xstrndup(value, strcspn(value, " "));
            json_array_append_new(array, json_pack("[o, o]", text(first), text(value + strlen(first) + 1)));
        }
    }
    return array;
}

/* The ids of checks that say this of themselves. */
static json_t *ids_with(const struct facts *f, const char *suffix)
{
    json_t *array = json_array();
    for (size_t i = 0; i < f->len; i++) {
        const char *key = f->items[i].key;
        if (text_ends(key, suffix)) {
            json_array_append_new(array, json_stringn(key, strlen(key) - strlen(suffix)));
        }
    }
    return array;
}

static json_t *parse_check(const char *bytes, size_t len, const char *nonce, struct error *err)
{
    AUTO_FACTS struct facts f = FACTS_INIT;
    json_t *out = NULL;

    if (node_answer_facts(bytes, len, nonce, &f, err) != 0 || check_verify(&f, err) != 0) {
        return NULL;
    }
    if (facts_is_set(&f, "artifacts.writable") && facts_text(&f, "earlier.foreign") == NULL &&
        facts_text(&f, "earlier.scan") == NULL) {
        error_set(err, &kind_node_answer, "no proof");
        return NULL;
    }
    bool found = facts_some(&f, "interpreter.found") != NULL;
    const char *status = facts_some(&f, "setup.status");
    out = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "home", fact(&f, "node.home"), "host",
                    fact(&f, "node.host"), "user", fact(&f, "node.user"), "boot_id", fact(&f, "node.boot_id"),
                    "uid", fact_number(&f, "node.uid"), "cores", fact_number(&f, "node.cores"), "gpus",
                    fact_number(&f, "gpus.visible"), "gpus_problem", fact(&f, "gpus.problem"));
    json_object_update_new(
        out,
        json_pack("{s:o, s:b, s:o, s:b, s:o, s:b, s:b, s:b, s:o, s:o}", "artifacts",
                  fact(&f, "node.artifacts"), "writable", facts_is_set(&f, "artifacts.writable"), "problem",
                  fact(&f, "artifacts.problem"), "workdir_exists", !facts_is_set(&f, "workdir.missing"),
                  "workdir", fact(&f, "workdir.path"), "program_exists", !facts_is_set(&f, "program.missing"),
                  "interpreter_found", found, "module_found", !facts_is_set(&f, "module.missing"),
                  "interpreter", fact(&f, "interpreter.found"), "path", fact(&f, "setup.path")));
    json_object_update_new(
        out, json_pack("{s:o, s:o, s:o, s:b, s:o, s:i, s:o}", "fault", fact(&f, "fault.kind"), "fault_file",
                       fact(&f, "fault.file"), "fault_detail", fact(&f, "fault.detail"), "setup_failed",
                       facts_text(&f, "setup.failed") != NULL, "setup_line", fact_number(&f, "setup.failed"),
                       "setup_status", status != NULL ? atoi(status) : -1, "setup_output",
                       fact(&f, "setup.output")));
    json_object_update_new(
        out,
        json_pack("{s:o, s:b, s:o, s:o, s:o, s:{s:o, s:o}, s:b, s:b, s:o}", "port",
                  fact_number(&f, "port.number"), "port_taken", facts_is_set(&f, "port.taken"), "port_pid",
                  fact_number(&f, "port.pid"), "port_command", fact(&f, "port.command"), "interface",
                  fact(&f, "route.interface"), "live", "total", fact_number(&f, "earlier.live_total"),
                  "items", fact_list(&f, "earlier.live", true), "python", facts_is_set(&f, "node.python"),
                  "perl", facts_is_set(&f, "node.perl"), "others", fact_list(&f, "others.run", false)));
    const char *verdict = facts_text(&f, "earlier.foreign");
    json_object_set_new(out, "foreign",
                        json_pack("{s:o, s:o, s:o, s:o, s:b}", "run_id", fact(&f, "earlier.foreign_run_id"),
                                  "host", fact(&f, "earlier.foreign_host"), "user",
                                  fact(&f, "earlier.foreign_user"), "pid",
                                  fact_number(&f, "earlier.foreign_pid"), "lives",
                                  verdict != NULL && strcmp(verdict, "lives") == 0));
    json_object_set_new(out, "late", ids_with(&f, ".late"));
    json_object_set_new(out, "ran", ids_with(&f, ".ran"));
    return out;
}

static json_t *parse_start(const char *bytes, size_t len, const char *nonce, struct error *err)
{
    static const char *const stages[] = {"started", "foreign", "live",    "port",   "claim",
                                         "setup",   "exec",    "command", "timeout"};
    struct node_start s;
    json_t *out = NULL;

    if (node_answer_start(bytes, len, nonce, &s, err) == 0) {
        out = json_pack("{s:s, s:I, s:o, s:o, s:b, s:i, s:i, s:o, s:o, s:o, s:I, s:o}", "stage",
                        stages[s.stage], "pid", (json_int_t)s.pid, "log", text(s.log), "host", text(s.host),
                        "ended", s.ended, "setup_line", (int)s.setup_line, "status", s.status, "signal",
                        text(s.signal), "output", text(s.output), "problem", text(s.problem), "started",
                        (json_int_t)s.started_s, "foreign", foreign(&s.foreign));
    }
    node_start_release(&s);
    return out;
}

static json_t *parse_observe(const char *bytes, size_t len, const char *nonce, struct error *err)
{
    static const char *const lives[] = {"none", "starting",  "running",   "exited",
                                        "gone", "elsewhere", "unrecorded"};
    struct node_observation o;
    json_t *out = NULL;

    if (node_answer_observe(bytes, len, nonce, &o, err) == 0) {
        out = json_pack("{s:s, s:b, s:b, s:b, s:I, s:i, s:o, s:b, s:i, s:I, s:I, s:I}", "life", lives[o.life],
                        "rebooted", o.rebooted, "pid_reused", o.pid_reused, "keeper", o.keeper_alive, "pid",
                        (json_int_t)o.pid, "status", o.status, "signal", text(o.signal), "never_ran",
                        o.never_ran, "setup_line", (int)o.setup_line, "started", (json_int_t)o.started_s,
                        "ended", (json_int_t)o.ended_s, "uptime", (json_int_t)o.ended_uptime_ms);
        json_object_set_new(out, "ending", text(o.ending));
        json_object_update_new(
            out, json_pack("{s:I, s:I, s:o, s:o, s:i, s:o, s:I, s:o}", "now", (json_int_t)o.now_s,
                           "uptime_now", (json_int_t)o.uptime_ms, "host", text(o.host), "found_run_id",
                           text(o.found_run_id), "found_attempt", (int)o.found_attempt, "log", text(o.log),
                           "log_size", (json_int_t)o.log_size, "leftovers", processes(&o.leftovers)));
        json_object_update_new(out,
                               json_pack("{s:b, s:o}", "scanned", o.scanned, "unproven", text(o.unproven)));
    }
    node_observation_release(&o);
    return out;
}

static json_t *parse_stop(const char *bytes, size_t len, const char *nonce, struct error *err)
{
    struct node_stop s;
    json_t *out = NULL;

    if (node_answer_stop(bytes, len, nonce, &s, err) == 0) {
        out = json_pack("{s:b, s:I, s:I, s:o, s:o, s:i, s:o}", "was_alive", s.was_alive, "signalled",
                        (json_int_t)s.signalled, "killed", (json_int_t)s.killed, "leftovers",
                        processes(&s.leftovers), "survivors", processes(&s.survivors), "status", s.status,
                        "signal", text(s.signal));
    }
    if (out != NULL) {
        json_t *inner = json_array();
        for (size_t i = 0; i < s.inner.len; i++) {
            json_array_append_new(inner, json_string(s.inner.items[i]));
        }
        json_object_update_new(out, json_pack("{s:o, s:o}", "unproven", text(s.unproven), "inner", inner));
    }
    node_stop_release(&s);
    return out;
}

static json_t *parse_signal(const char *bytes, size_t len, const char *nonce, struct error *err)
{
    static const char *const lives[] = {"none", "starting",  "running",   "exited",
                                        "gone", "elsewhere", "unrecorded"};
    struct node_signal s;
    json_t *out = NULL;

    if (node_answer_signal(bytes, len, nonce, &s, err) == 0) {
        out = json_pack("{s:b, s:s, s:I, s:o}", "delivered", s.delivered, "life", lives[s.life], "pid",
                        (json_int_t)s.pid, "problem", text(s.problem));
    }
    node_signal_release(&s);
    return out;
}

static json_t *parse_remove(const char *bytes, size_t len, const char *nonce, struct error *err)
{
    struct node_removal r;
    json_t *out = NULL;

    if (node_answer_remove(bytes, len, nonce, &r, err) == 0) {
        out = json_pack("{s:b, s:o}", "removed", r.removed, "live", processes(&r.live));
    }
    node_removal_release(&r);
    return out;
}

/* Facts: a list of values a key. */
static json_t *parse_facts(const char *bytes, size_t len, const char *nonce, struct error *err)
{
    AUTO_FACTS struct facts facts = FACTS_INIT;
    json_t *out = json_object();

    if (node_answer_facts(bytes, len, nonce, &facts, err) != 0) {
        json_decref(out);
        return NULL;
    }
    for (size_t i = 0; i < facts.len; i++) {
        json_t *list = json_object_get(out, facts.items[i].key);
        if (list == NULL) {
            list = json_array();
            json_object_set_new(out, facts.items[i].key, list);
        }
        json_array_append_new(list, text(facts.items[i].value));
    }
    return out;
}

/* A tail: its header as JSON on the first line, then the body. */
static int parse_tail(const struct str *in, const char *nonce)
{
    struct node_tail tail;
    struct error err = ERROR_INIT;
    const char *body = NULL;
    size_t body_len = 0;

    node_tail_init(&tail, nonce);
    if (node_tail_feed(&tail, str_text(in), in->len, &body, &body_len, &err) != 0 ||
        node_tail_end(&tail, true, &err) != 0) {
        printf("{\"error\": \"%s\"}\n", err.kind->name);
        node_tail_release(&tail);
        return 1;
    }
    json_t *header =
        json_pack("{s:b, s:b, s:o, s:I, s:I}", "missing", tail.missing, "filtered", tail.filtered, "log",
                  text(tail.log), "offset", (json_int_t)tail.offset, "size", (json_int_t)tail.size);
    json_dumpf(header, stdout, JSON_COMPACT);
    putchar('\n');
    fwrite(body, 1, body_len, stdout);
    json_decref(header);
    node_tail_release(&tail);
    return 0;
}

static int parse(const char *verb, const char *nonce)
{
    AUTO_STR struct str in = STR_INIT;
    struct error err = ERROR_INIT;
    char piece[65536];
    json_t *out = NULL;

    for (ssize_t got; (got = read(0, piece, sizeof(piece))) > 0;) {
        str_add_mem(&in, piece, (size_t)got);
    }
    if (strcmp(verb, "tail") == 0 || strcmp(verb, "grep") == 0) {
        return parse_tail(&in, nonce);
    }
    if (strcmp(verb, "probe") == 0) {
        out = parse_check(str_text(&in), in.len, nonce, &err);
    } else if (strcmp(verb, "start") == 0) {
        out = parse_start(str_text(&in), in.len, nonce, &err);
    } else if (strcmp(verb, "observe") == 0) {
        out = parse_observe(str_text(&in), in.len, nonce, &err);
    } else if (strcmp(verb, "stop") == 0) {
        out = parse_stop(str_text(&in), in.len, nonce, &err);
    } else if (strcmp(verb, "signal") == 0) {
        out = parse_signal(str_text(&in), in.len, nonce, &err);
    } else if (strcmp(verb, "inventory") == 0) {
        out = parse_facts(str_text(&in), in.len, nonce, &err);
    } else {
        out = parse_remove(str_text(&in), in.len, nonce, &err);
    }
    if (out == NULL) {
        out = json_pack("{s:s, s:o, s:o}", "error", err.kind->name, "text", text(err.text), "hint",
                        text(err.hint));
    }
    json_dumpf(out, stdout, JSON_COMPACT);
    json_decref(out);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "build") == 0) {
        return build(argv[2], argc - 3, argv + 3);
    }
    if (argc == 3 && strcmp(argv[1], "command") == 0) {
        return print_command(argv[2]);
    }
    if (argc == 4 && strcmp(argv[1], "parse") == 0) {
        return parse(argv[2], argv[3]);
    }
    return 2;
}
