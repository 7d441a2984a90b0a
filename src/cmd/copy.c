/* What push and pull share: hosts, folders and options of a copy, and its result. */
#include "report/copy.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "cmd/copy_internal.h"
#include "cmd/setup_internal.h"
#include "model/skip.h"
#include "report/output.h"
#include "run/workdir.h"

static int check_words(const struct cmd_call *call, struct error *err)
{
    const struct cmd_options *options = &call->options;

    if (options->job && options->run) {
        error_set(err, &kind_usage, "'--job' and '--run' cannot be used together");
        return error_hint(err, "use --job for the hosts of a spec, or --run for the nodes of a run");
    }
    for (size_t i = 0; i < options->skip.len; i++) {
        if (skip_check(options->skip.items[i], err) != 0) {
            return error_at(err, "--skip", 0, 0);
        }
    }
    for (size_t i = 0; i < call->operands.len; i++) {
        if (call->operands.items[i][0] == '\0') {
            error_set(err, &kind_usage, "a path is empty");
            return error_hint(err, "'.' stands for the folder that relative paths are in");
        }
    }
    for (size_t i = 0; i < call->operands.len; i++) {
        const char *path = call->operands.items[i];
        if (path[0] == '~' && path[1] != '\0' && path[1] != '/') {
            error_set(err, &kind_usage, "'%s': only '~' and '~/' stand for a home folder", path);
            return error_hint(err, "give the whole path; a folder of that name is './%s'", path);
        }
    }
    return options->run ? job_check_run_name(options->run, err) : 0;
}

static const struct place *place_of(const struct setup *setup)
{
    return setup->has_job ? &setup->job.place : &setup->run.place;
}

/* All hosts have been reported: their failures become the command's. */
static int finish(struct cmd_call *call, struct report_copy *report, int result, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    struct error output = ERROR_INIT;

    report_copy_finish(report, &text);
    call->answered = true;
    if (output_print(&text, &output) != 0 && result == 0) {
        *err = output;
        return -1;
    }
    return result == 0 ? failures_code(&call->failures) : result;
}

static int copy(struct cmd_call *call, const struct setup *setup,
                int (*work)(const struct run_copy_request *, struct error *), const char *verb,
                struct error *err)
{
    AUTO_STRLIST struct strlist labels = STRLIST_INIT, folders = STRLIST_INIT, sources = STRLIST_INIT;
    const struct place *place = place_of(setup);
    const size_t last = call->operands.len - 1;
    AUTO_FREE const char **addresses = xcalloc(setup->hosts.len, sizeof(*addresses));
    struct report_copy report;

    if ((setup->has_job && workdir_of_job(&setup->job, &setup->hosts, NULL, &folders, err) != 0) ||
        (setup->has_run && workdir_of_run(&setup->run, &setup->hosts, &folders, err) != 0)) {
        return -1;
    }
    for (size_t i = 0; i < last; i++) {
        strlist_add(&sources, call->operands.items[i]);
    }
    for (size_t i = 0; i < setup->hosts.len; i++) {
        addresses[i] = setup->hosts.items[i].addr;
    }
    hostlist_labels(&setup->hosts, &labels);
    report_copy_init(&report, verb, &call->style, &labels, &call->failures, call->options.dry_run,
                     call->options.quiet);
    const struct run_copy_request request = {
        .endpoints = setup->endpoints,
        .labels = &labels,
        .count = setup->hosts.len,
        .sources = &sources,
        .target = call->operands.items[last],
        .bases = folders.len > 0 ? (const char *const *)folders.items : NULL,
        .container = place->container ? place : NULL,
        .skip = &call->options.skip,
        .delete_ = call->options.delete_,
        .checksum = call->options.checksum,
        .relay = call->options.relay,
        .addresses = addresses,
        .dry_run = call->options.dry_run,
        .fanout = cmd_fanout(call),
        .connect_timeout_ms = cmd_connect_timeout_ms(call),
        .observer = &report.observer,
    };
    int result = work(&request, err);
    if (result == 0 || err->kind->exit_code > 128) {
        result = finish(call, &report, result, err);
    }
    report_copy_release(&report);
    return result;
}

int cmd_copy(struct cmd_call *call, int (*work)(const struct run_copy_request *, struct error *),
             const char *verb, struct error *err)
{
    AUTO_SETUP struct setup setup = {0};

    if (check_words(call, err) != 0 || setup_load_hosts(&setup, call, err) != 0) {
        return -1;
    }
    return copy(call, &setup, work, verb, err);
}
