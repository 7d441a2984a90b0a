/* The command `version`: prints the version. */
#include "cmd/commands_internal.h"
#include "report/answer.h"
#include "report/output.h"

static int run_version(struct cmd_call *call, struct error *err)
{
    AUTO_STR struct str text = STR_INIT;
    if (call->style.json) {
        report_version_json(MTLAUNCH_VERSION, &text);
    } else {
        str_add(&text, "mtlaunch " MTLAUNCH_VERSION "\n");
    }
    return output_print(&text, err);
}

static const char *const usage[] = {"version", NULL};
const struct command command_version = {
    .name = "version",
    .summary = "print the version",
    .usage = usage,
    .run = run_version,
};
