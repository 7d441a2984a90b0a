/*
 * Stores the targets of the spec's `notify` for later commands on a run: file "notify" in the run's folder,
 * mode 0600. Their URLs are secret, so the file is removed together with the run's secrets.
 */
#ifndef MTLAUNCH_RUN_NOTIFY_STORE_H
#define MTLAUNCH_RUN_NOTIFY_STORE_H

#include "base/error.h"
#include "base/strlist.h"
#include "model/notify.h"
#include "run/store.h"

/* Save the targets. If there are none, an older file is removed. */
int run_store_save_notify(const struct run_store *store, const char *name,
                          const struct notify_targets *targets, struct error *err);

/* Append the saved targets; no file means none. Errors: kind_record_damaged, kind_local. */
int run_store_load_notify(const struct run_store *store, const char *name, struct notify_targets *targets,
                          struct error *err);

/*
 * Append the values of the run's secrets, so that they can be masked in texts that are shown elsewhere.
 * Values that cannot be read are left out.
 */
void run_store_load_secret_values(const struct run_store *store, const char *name, struct strlist *values);

#endif
