#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "common_internal.h"
#include "judge_internal.h"
#include "model/kind.h"

#define LOOK_TRIES 3

void run_note_dead_start(struct run_context *context, struct run *run)
{
    if (run->starting) {
        run->starting = false;
        run_note_event(context, run, "start-interrupted", NULL,
                       "the command that started the run ended before all nodes were started");
    }
}

/* The record again, under the lock. Returns 1 when it has changed since (run is the new one then). */
static int reload_if_changed(const struct run_context *context, struct run *run, struct error *err)
{
    struct run fresh;
    if (run_store_load(context->store, run->name, &fresh, err) != 0) {
        return -1;
    }
    if (fresh.revision == run->revision) {
        run_release(&fresh);
        return 0;
    }
    run_release(run);
    *run = fresh;
    return 1;
}

int run_look(struct crew *crew, struct run *run, int *lock, struct error *err)
{
    struct run_context *context = crew->context;
    const unsigned attempt = run->attempt;
    *lock = -2;
    for (unsigned i = 0; i < LOOK_TRIES && run->attempt == attempt && run_state_is_live(run->state); i++) {
        if (run_observe(crew, run, NULL) != 0) {
            return crew_interrupted_error(crew, err);
        }
        *lock = run_take_turn(context, run->name, false, err);
        if (*lock == -1) {
            return -1;
        }
        if (*lock == -2) {
            judge_run(run, clock_real_ms());
            return 0;
        }
        int changed = reload_if_changed(context, run, err);
        if (changed == 0) {
            run_note_dead_start(context, run);
            return 0;
        }
        close(*lock);
        *lock = -2;
        if (changed < 0) {
            return -1;
        }
    }
    return 0;
}

int run_status(struct run_context *context, const char *name, struct run *run, struct error *err)
{
    struct crew crew;
    if (run_store_load(context->store, name, run, err) != 0) {
        return -1;
    }
    if (!run_state_is_live(run->state)) {
        return 0;
    }
    AUTO_CLOSE int lock = -2;
    int result = crew_open(&crew, context, run, err);
    if (result == 0) {
        result = run_look(&crew, run, &lock, err);
    }
    crew_close(&crew);
    return result == 0 && lock >= 0 ? run_settle(context, run, err) : result;
}
