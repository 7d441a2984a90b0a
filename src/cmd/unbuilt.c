/* Commands that users may rely on to come: known by name and usage, refused until they are built. */
#include "cmd/commands_internal.h"

static const char *const ladder_usage[] = {"ladder JOB [PREFIX] [--steps LIST] [--limit DURATION]", NULL};
const struct command command_ladder = {
    .name = "ladder",
    .summary = "run a job on 1, 2, 4 … nodes and compare the runs",
    .usage = ladder_usage,
};
