/* The checks of a job's hosts before it is started: the request and the results. */
#ifndef MTLAUNCH_RUN_CHECK_H
#define MTLAUNCH_RUN_CHECK_H

#include "check/check.h"
#include "check/comm.h"
#include "model/finding.h"
#include "run/usecase.h"

struct run_check_request {
    const struct job *job;
    const struct hostlist *hosts;
    const struct plan_host *host_facts; /* per host, as for the plan */
    const struct check_choice *choice;  /* which checks */
    bool comm;                          /* also run the all-reduce test */
};

/* The results. Owned. */
struct run_checked {
    struct strlist labels;     /* of all hosts */
    struct check_choice asked; /* checks that apply to at least one host */
    /* equal ones of several hosts are merged; in the order of the table of checks */
    struct findings findings;
    size_t unreached;        /* hosts that could not be reached */
    bool tried_comm;         /* the all-reduce test was requested */
    struct comm_result comm; /* its result, if so */
};

void run_checked_release(struct run_checked *checked);

/*
 * Check every host. Returns 0 also when checks failed or hosts could not be reached: this is in findings.
 * Errors: 2 (the plan), 130/143 (interrupted), kind_local.
 */
int run_check(struct run_context *context, const struct run_check_request *request, struct run_checked *out,
              struct error *err);

#endif
