/*
 * Check: no process of an earlier attempt, and no other run under this name. The scan must have seen all
 * processes.
 */
#include <string.h>

#include "check/check_internal.h"
#include "model/kind.h"

int check_foreign_error(const struct check_foreign *foreign, const char *run, struct error *err)
{
    error_set(err, &kind_run_foreign, "another run named '%s' %s: id %s, host %s, user %s, pid %lld%s%s", run,
              foreign->lives ? "is running there" : "was there and may still be running",
              foreign->run_id ? foreign->run_id : "?", foreign->host ? foreign->host : "?",
              foreign->user ? foreign->user : "?", (long long)foreign->pid,
              foreign->head ? ", started from " : "", foreign->head ? foreign->head : "");
    return foreign->head
               ? error_hint(
                     err,
                     "choose another run name or artifacts folder, or stop that run on %s: mtlaunch stop %s",
                     foreign->head, run)
               : error_hint(
                     err,
                     "choose another run name or artifacts folder, or stop that run where it was started");
}

static void judge_foreign(const struct check_subject *subject, const struct facts *facts, const char *verdict,
                          struct findings *out)
{
    const struct check_foreign foreign = {
        .run_id = facts_text(facts, "earlier.foreign_run_id"),
        .host = check_shown(facts, "earlier.foreign_host"),
        .user = check_shown(facts, "earlier.foreign_user"),
        .head = facts_text(facts, "earlier.foreign_head"),
        .pid = (int64_t)facts_uint(facts, "earlier.foreign_pid", 0),
        .lives = strcmp(verdict, "lives") == 0,
    };
    struct error err = ERROR_INIT;
    check_foreign_error(&foreign, subject->run, &err);
    findings_fail_error(out, "earlier", &err);
}

static void judge(const struct check_subject *subject, const struct facts *facts, struct findings *out)
{
    const char *verdict = facts_text(facts, "earlier.foreign");
    const char *scan = facts_text(facts, "earlier.scan");
    const char *first = facts_text(facts, "earlier.live");
    uint64_t total = facts_uint(facts, "earlier.live_total", 0);
    struct fact_process process = {.command = "?", .command_len = 1};
    if (verdict) {
        judge_foreign(subject, facts, verdict, out);
        return;
    }
    if (!facts_is_set(facts, "artifacts.writable")) {
        return; /* the check 'artifacts' failed: nothing starts there */
    }
    if (!scan || strcmp(scan, "ok") != 0) {
        findings_fail(out, "earlier", &kind_node_answer,
                      "the node's answer to a probe does not prove that it saw all processes");
        return;
    }
    if (first) {
        fact_read_process(first, &process);
        total = total > 0 ? total : 1;
    }
    if (total == 0 || !subject->run) {
        findings_add(out, "earlier", FINDING_OK, "no process of an earlier attempt is running there");
        return;
    }
    struct finding *finding =
        findings_fail(out, "earlier", &kind_run_live,
                      "%llu processes of an earlier attempt of '%s' are still running there (pid %lld: %.*s)",
                      (unsigned long long)total, subject->run, (long long)process.pid,
                      (int)process.command_len, process.command);
    finding_set_remedy(finding, "`mtlaunch stop %s` ends them", subject->run);
}

static const struct check_fact forms[] = {
    {"live", CHECK_PROCESS, 0},
    {"live_total", CHECK_NUMBER, FACT_PID_MAX},
    {"foreign_pid", CHECK_NUMBER, FACT_PID_MAX},
    {NULL, CHECK_TEXT, 0},
};

const struct check check_earlier = {
    .id = "earlier",
    .title = "earlier processes",
    .why = "a second attempt beside a live one mixes logs, ports and signals",
    .needs = "artifacts",
    .when = CHECK_ALWAYS,
    .late = &kind_scan_failed,
    .facts = forms,
    .ask = check_ask_nothing,
    .judge = judge,
};
