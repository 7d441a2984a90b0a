/* `mtlaunch signal`: sends one signal to the job on the nodes of a run. */
#include "report/signal.h"

#include <ctype.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cmd/commands_internal.h"
#include "cmd/session_internal.h"
#include "cmd/signals_internal.h"
#include "report/output.h"

const char *cmd_signal_name(const char *word, const char *where, struct error *err)
{
    const char *name = job_signal_name(word);
    if (name) {
        return name;
    }
    AUTO_FREE char *upper = xstrdup(strncasecmp(word, "SIG", 3) == 0 ? word + 3 : word);
    for (char *at = upper; *at; at++) {
        *at = (char)toupper((unsigned char)*at);
    }
    const char *nearest = text_nearest(upper, job_signal_names, job_signal_names_count);
    error_set(err, &kind_usage, "unknown signal '%s'%s", word, where);
    if (nearest) {
        error_hint(err, "did you mean '%s'?", nearest);
    } else {
        error_hint(err, "use a name such as TERM, INT, HUP or USR1; `kill -l` lists them");
    }
    return NULL;
}

static int run_signal_command(struct cmd_call *call, struct error *err)
{
    AUTO_SESSION struct session session = {0};
    const char *name = call->operands.items[0];
    const struct run_signal_request request = {
        .signal = cmd_signal_name(call->operands.items[1], "", err),
        .nodes = &call->options.log_nodes,
    };
    if (!request.signal || job_check_run_name(name, err) != 0 ||
        session_open(&session, call, STDOUT_FILENO, err) != 0) {
        return -1;
    }
    AUTO_STR struct str text = STR_INIT;
    struct run run;
    struct run_signal_result result;
    run_init(&run);
    int code = run_signal(&session.context, name, &request, &run, &result, err);
    if (result.len > 0 && call->style.json) {
        report_signal_json(name, request.signal, &result, code == 0 ? NULL : err, &text);
        call->answered = true;
    } else if (result.len > 0) {
        report_signal_text(request.signal, &result, &text);
    }
    run_signal_result_release(&result);
    run_release(&run);
    return output_print_last(&text, code, err);
}

static const char *const usage[] = {"signal RUN NAME [--node N|HOST]...", NULL};
static const struct option own_options[] = {
    CMD_OPTION_NODE,
};
static const struct option_group own = {"Options", own_options, ARRAY_LEN(own_options)};
static const char notes[] = "NAME is a signal with or without SIG, such as USR1. It is sent to the job's\n"
                            "process group on every node. The run is not changed otherwise. A program that\n"
                            "does not handle the signal may be killed by it.\n";
const struct command command_signal = {
    .name = "signal",
    .summary = "send a signal to the job on every node, such as USR1 for a checkpoint",
    .usage = usage,
    .notes = notes,
    .own = &own,
    .min_operands = 2,
    .max_operands = 2,
    .operands = "RUN and NAME",
    .run = run_signal_command,
};
