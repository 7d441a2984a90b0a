/* RUN operands: names, and patterns with `*` and `?`. */
#ifndef MTLAUNCH_CMD_CHOOSE_INTERNAL_H
#define MTLAUNCH_CMD_CHOOSE_INTERNAL_H

#include <stdbool.h>

#include "base/strlist.h"
#include "run/store.h"

bool choose_is_pattern(const char *word);

/* Is every word a run's name, its wildcards taken for letters? Errors: kind_usage. */
int choose_check_words(const struct strlist *words, struct error *err);

/*
 * The runs that words (checked) name, live and ended ones, each once: in the order of the words, of a pattern
 * in the order of the names. A name need not be a run's. Errors: kind_no_such_run for a pattern that matches
 * none.
 */
int choose_runs(const struct run_store *store, const struct strlist *words, struct strlist *names,
                struct error *err);

#endif
