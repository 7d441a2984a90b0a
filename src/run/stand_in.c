/* Leaves a process that continues a stop, or the supervision, if this command ends too early. */
#include <unistd.h>

#include "run/supervisor.h"
#include "stand_in_internal.h"

void run_leave_stand_in(struct run_context *context, const char *name)
{
    if (!context->leave_stand_in || context->stand_in_left) {
        return;
    }
    struct run_supervisor found;
    run_supervisor_find(context->store, name, &found);
    bool other = found.alive && !(found.here && found.pid == getpid());
    run_supervisor_release(&found);
    if (!other) {
        context->stand_in_left = true;
        context->leave_stand_in(context->stand_in_ctx, name);
    }
}
