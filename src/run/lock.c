/* The lock of a run: commands that change it wait for one another. */
#include "lock_internal.h"
#include "model/kind.h"
#include "observer_internal.h"

#define LOCK_NOTICE_MS 1000 /* if another command holds the lock for longer, report it */
#define LOCK_MAX_MS    (24u * 3600 * 1000)

int run_lock(const struct run_context *context, const char *name, bool wait, struct error *err)
{
    int lock = run_store_lock(context->store, name, wait ? LOCK_NOTICE_MS : 0, err);
    if (lock == -2 && wait) {
        report_info(context, "waiting for another command on run '%s'", name);
        lock = run_store_lock(context->store, name, LOCK_MAX_MS, err);
        if (lock == -2) {
            return error_set(err, &kind_run_live, "another command is still working on run '%s'", name);
        }
    }
    return lock;
}
