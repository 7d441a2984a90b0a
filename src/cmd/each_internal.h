/*
 * Commands on several runs (stop, wait, remove): RUN... with `*` and `?`, which choose among live or ended
 * runs.
 */
#ifndef MTLAUNCH_CMD_EACH_INTERNAL_H
#define MTLAUNCH_CMD_EACH_INTERNAL_H

#include <stdint.h>

#include "cmd/cmd.h"
#include "report/status.h"

struct each_work {
    bool live;      /* patterns choose live runs; false: ended ones */
    bool all;       /* every run of that kind, without operands */
    bool survivors; /* the JSON of a run holds survivors */
    int64_t until;  /* all: only runs that had ended by then (epoch ms); 0: any */
    /*
     * Work on one run. many: where its JSON goes; NULL when it is the only run and its answer is the whole
     * answer. Returns the exit code, or -1 with err, which the caller reports.
     */
    int (*one)(struct cmd_call *call, const char *name, struct report_many *many, struct error *err);
};

/*
 * Work on every run that the operands name, even if some fail. Returns the combined exit code, or -1 with
 * err. Errors: kind_usage before any run is touched; kind_no_such_run when a pattern matches none.
 */
int each_run(struct cmd_call *call, const struct each_work *work, struct error *err);

#endif
