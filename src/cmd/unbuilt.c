/* Commands that users may rely on to come: known by name and usage, refused until they are built. */
#include "cmd/commands_internal.h"

static const char *const check_usage[] = {
    "check JOB [HOST OPTION]... [JOB OPTION]... [--only IDS] [--skip IDS] [--comm]",
    NULL,
};
const struct command command_check = {
    .name = "check",
    .summary = "look for what would make a job fail, before it starts",
    .usage = check_usage,
};

static const char *const diagnose_usage[] = {"diagnose RUN", "diagnose --logs FILE...", NULL};
const struct command command_diagnose = {
    .name = "diagnose",
    .summary = "name the cause of a failed run and the node it came from",
    .usage = diagnose_usage,
};

static const char *const compare_usage[] = {"compare RUN...", NULL};
const struct command command_compare = {
    .name = "compare",
    .summary = "show runs side by side",
    .usage = compare_usage,
};

static const char *const report_usage[] = {"report RUN", NULL};
const struct command command_report = {
    .name = "report",
    .summary = "write a report of a run",
    .usage = report_usage,
};
