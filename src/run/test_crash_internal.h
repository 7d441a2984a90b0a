/*
 * A hook for tests: MTLAUNCH_TEST_DIE_AT=n makes the command kill itself with SIGKILL at its n-th step, as if
 * the head had crashed there; 0 only counts the steps.
 */
#ifndef MTLAUNCH_RUN_TEST_CRASH_INTERNAL_H
#define MTLAUNCH_RUN_TEST_CRASH_INTERNAL_H

#include "run/usecase.h"

/*
 * Mark a step of start, stop or wait: a question sent, an answer received, before and after the record is
 * written.
 */
void test_crash_point(struct run_context *context);

#endif
