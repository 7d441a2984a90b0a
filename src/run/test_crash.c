/* Kills this process at a chosen point, for tests of crashes. */
#include <signal.h>
#include <unistd.h>

#include "test_crash_internal.h"

void test_crash_point(struct run_context *context)
{
    context->steps++;
    if (context->die_armed && context->die_at == context->steps) {
        kill(getpid(), SIGKILL);
    }
}
