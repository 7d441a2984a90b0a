#include <signal.h>
#include <unistd.h>

#include "step_internal.h"

void run_step(struct run_context *context)
{
    context->steps++;
    if (context->die_armed && context->die_at == context->steps) {
        kill(getpid(), SIGKILL);
    }
}
