/* What the parts of a comparison share. */
#ifndef MTLAUNCH_INSIGHT_COMPARISON_INTERNAL_H
#define MTLAUNCH_INSIGHT_COMPARISON_INTERNAL_H

#include "base/str.h"
#include "insight/comparison.h"

#define COMPARISON_EVEN 0.03 /* rates that differ by no more than this fraction are equal */

/* The size of row as a multiple of reference: by GPUs, or by nodes if the GPUs are unknown. */
double comparison_size(const struct comparison_row *row, const struct comparison_row *reference);

/* What keeps a run from being judged: "failed" …; NULL: nothing. */
const char *comparison_flaw(const struct comparison_row *row);

/* The sentence, from rows and differences; the caller frees. NULL: there is nothing to compare. */
char *comparison_verdict(const struct comparison *comparison);

/*
 * Append why the run's communication is slow, as far as its record shows it. Returns false if it shows no
 * reason.
 */
bool comparison_add_reason(const struct run *run, struct str *out);

#endif
