/*
 * The targets of the spec's `notify`, for later commands on a run. They are kept with the run's secrets, as
 * their URLs are secret, and removed with them: file "notify" in the run's folder, mode 0600.
 */
#ifndef MTLAUNCH_RUN_NOTIFY_STORE_H
#define MTLAUNCH_RUN_NOTIFY_STORE_H

#include "base/error.h"
#include "base/strlist.h"
#include "model/notify.h"
#include "run/store.h"

/* No targets: an older file is removed. */
int run_store_save_notify(const struct run_store *store, const char *name,
                          const struct notify_targets *targets, struct error *err);

/* Append the targets; none when there is no file. Errors: kind_record_damaged, kind_local. */
int run_store_load_notify(const struct run_store *store, const char *name, struct notify_targets *targets,
                          struct error *err);

/* Append the values of the run's secrets, for texts that are shown elsewhere. What cannot be read is left
 * out. */
void run_store_load_secret_values(const struct run_store *store, const char *name, struct strlist *values);

#endif
