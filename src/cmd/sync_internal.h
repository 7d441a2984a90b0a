/* Shows the push before a start: its bar, what failed, and what was sent. */
#ifndef MTLAUNCH_CMD_SYNC_INTERNAL_H
#define MTLAUNCH_CMD_SYNC_INTERNAL_H

#include "cmd/cmd.h"
#include "report/copy.h"
#include "run/usecase.h"

struct sync_display {
    struct cmd_call *call; /* borrowed; the other members are zero at first */
    struct strlist labels;
    struct report_copy report;
};

/* display must exist until the start is over. */
struct run_start_sync sync_show(struct sync_display *display);

#endif
