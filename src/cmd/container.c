/* The command `container`: starts, stops and inspects the containers of a job. */
#include "report/container.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cmd/commands_internal.h"
#include "cmd/session_internal.h"
#include "cmd/setup_internal.h"
#include "model/kind.h"
#include "report/output.h"

static int find_verb(const char *word, enum run_container_verb *verb, struct error *err)
{
    static const char *const names[] = {
        [RUN_CONTAINER_UP] = "up",
        [RUN_CONTAINER_STATUS] = "status",
        [RUN_CONTAINER_DOWN] = "down",
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(word, names[i]) == 0) {
            *verb = (enum run_container_verb)i;
            return 0;
        }
    }
    const char *near = text_nearest(word, names, ARRAY_LEN(names));
    error_set(err, &kind_usage, "'container' cannot '%s', allowed: up, status, down", word);
    return error_hint(err, near ? "did you mean '%s'?" : "for example: 'mtlaunch container %s JOB'",
                      near ? near : "up");
}

/* The exit code of `status`: 0 when all containers run as the spec says. */
static int code_of(const struct run_containers *containers)
{
    for (size_t i = 0; i < containers->len; i++) {
        const struct run_container *item = &containers->items[i];
        if (!item->id) {
            return kind_container_missing.exit_code;
        }
        if (strcmp(item->status, "running") != 0) {
            return kind_container_stopped.exit_code;
        }
        if (item->differences.len) {
            return kind_container_differs.exit_code;
        }
    }
    return 0;
}

static int answer(struct session *session, const struct run_containers *containers, const struct job *job,
                  int result, struct error *err)
{
    struct cmd_call *call = session->call;
    AUTO_STR struct str text = STR_INIT;
    if (call->style.json) {
        AUTO_STRLIST struct strlist hosts = STRLIST_INIT;
        failures_hosts(&call->failures, &hosts);
        report_containers_json(containers, job, result == 0 ? NULL : err, &hosts, &text);
        call->answered = true;
    } else {
        report_containers_text(containers, &call->style, &text);
    }
    return output_print_last(&text, result, err);
}

static int run_container_command(struct cmd_call *call, struct error *err)
{
    AUTO_SETUP struct setup setup = {0};
    AUTO_SESSION struct session session = {0};
    struct run_containers containers = {0};
    struct run_container_request request = {.replace = call->options.replace};
    if (find_verb(call->operands.items[0], &request.verb, err) != 0) {
        return -1;
    }
    if (request.replace && request.verb == RUN_CONTAINER_STATUS) {
        error_set(err, &kind_usage, "'--replace' is for 'container up' and 'container down'");
        return error_hint(err, "leave it out");
    }
    if (setup_load(&setup, call, call->operands.items[1], err) != 0 || setup_endpoints(&setup, err) != 0 ||
        session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    request.job = &setup.job;
    request.hosts = &setup.hosts;
    request.host_facts = setup.facts;
    int result = run_container(&session.context, &request, &containers, err);
    if (containers.len) {
        result = answer(&session, &containers, &setup.job, result, err);
    }
    if (result == 0 && request.verb == RUN_CONTAINER_STATUS) {
        result = code_of(&containers);
    }
    run_containers_release(&containers);
    return result;
}

static const char *const usage[] = {
    "container up JOB [HOST OPTION]... [JOB OPTION]... [--replace]",
    "container status JOB [HOST OPTION]... [JOB OPTION]...",
    "container down JOB [HOST OPTION]... [JOB OPTION]... [--replace]",
    NULL,
};
static const struct option own_options[] = {
    {.name = "replace",
     .type = OPTION_FLAG,
     .offset = offsetof(struct cmd_options, replace),
     .help = "up: recreate a container that differs; down: also remove one that was not made by 'up'"},
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] =
    "'up' creates the container that container.run of the job file describes on every\n"
    "host. An equal container is kept, or started if it is stopped. A container that\n"
    "differs is an error that names the differences. Nothing is removed while a run\n"
    "uses it. 'status' exits with 0 if all containers run as described, else with 4.\n";
const struct command command_container = {
    .name = "container",
    .summary = "create, inspect and remove the containers of a job",
    .usage = usage,
    .notes = notes,
    .own = &own,
    .takes_hosts = true,
    .takes_job = true,
    .min_operands = 2,
    .max_operands = 2,
    .operands = "up, status or down, and JOB",
    .run = run_container_command,
};
