/* RUN operands: names, and patterns with `*` and `?`. */
#ifndef MTLAUNCH_CMD_CHOOSE_INTERNAL_H
#define MTLAUNCH_CMD_CHOOSE_INTERNAL_H

#include <stdbool.h>

#include "base/strlist.h"
#include "run/store.h"

bool choose_is_pattern(const char *word);

/* Check that every word is a valid name of a run, if wildcards count as letters. Errors: kind_usage. */
int choose_check_words(const struct strlist *words, struct error *err);

/*
 * Append the runs that words (already checked) name, live and ended ones, each once: in the order of the
 * words, those of a pattern in the order of their names. A name need not exist. Errors: kind_no_such_run for
 * a pattern that matches none.
 */
int choose_runs(const struct run_store *store, const struct strlist *words, struct strlist *names,
                struct error *err);

#endif
