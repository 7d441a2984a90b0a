/* Saves the record of a run, and does what follows from its state. */
#include "base/clock.h"
#include "judge_internal.h"
#include "observer_internal.h"
#include "save_run_internal.h"
#include "test_crash_internal.h"

int run_save_record(struct run_context *context, struct run *run, struct error *err)
{
    run->revision++;
    test_crash_point(context);
    int result = run_store_save(context->store, run, err);
    test_crash_point(context);
    return result;
}

int run_save_state(struct run_context *context, struct run *run, struct error *err)
{
    enum run_state state = judge_run(run, clock_real_ms());
    if (run_save_record(context, run, err) != 0) {
        return -1;
    }
    if (!run_state_is_live(state)) {
        run_store_drop_secrets(context->store, run->name);
        run_note_event(context, run, run_state_name(state), NULL, "%s", run->reason ? run->reason : "");
    }
    return 0;
}
