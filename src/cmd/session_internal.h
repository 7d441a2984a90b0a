/* What commands about runs share: the store, the observer and the context of the use cases. */
#ifndef MTLAUNCH_CMD_SESSION_INTERNAL_H
#define MTLAUNCH_CMD_SESSION_INTERNAL_H

#include "cmd/cmd.h"
#include "reach/endpoint.h"
#include "report/console.h"
#include "report/status.h"
#include "run/usecase.h"

struct session {
    struct cmd_call *call; /* borrowed */
    struct machine machine;
    struct run_store store;
    struct console console;
    struct run_context context;
    struct report_many *many; /* answers go there rather than to stdout; NULL: one run. Borrowed */
};

#define AUTO_SESSION __attribute__((cleanup(session_close)))
void session_close(struct session *session);

/*
 * Call it first in a command that supervises in the foreground. Inside another run's job it starts the
 * program again without that job's mark, so that a stop of that run does not take the program for one of its
 * processes.
 */
void session_oversee(const struct cmd_call *call);

/*
 * Open the store and connect the observer; logs go to log_fd. session is zero before the call. Close it in
 * any case.
 */
int session_open(struct session *session, struct cmd_call *call, int log_fd, struct error *err);

/*
 * Print the view of a run. result is what the use case returned, err its error. stop: the result of a stop,
 * or NULL. The JSON object contains err too, unless err only tells the state of the run. Returns result, or
 * -1 when that was 0 and the output failed.
 */
int session_answer(struct session *session, const struct run *run, const struct run_stop_result *stop,
                   int result, struct error *err);

/* Append the view of a run as text. */
void session_picture(struct session *session, const struct run *run, struct str *text);

#endif
