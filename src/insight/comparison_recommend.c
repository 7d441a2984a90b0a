/* Recommends one of several runs. */
#include <string.h>

#include "comparison_internal.h"

#define GIB         ((double)((int64_t)1 << 30))
#define MEMORY_LESS 0.95 /* of the fastest run's memory: a run with less is worth choosing */

struct choice {
    const struct comparison *comparison;
    const bool *trial;
};

/* Does run i count? Those that are not trials do, or all runs if there are no others. */
static bool counts(const struct choice *choice, size_t i)
{
    bool others = false;
    for (size_t k = 0; k < choice->comparison->len; k++) {
        others =
            others || (!comparison_flaw(&choice->comparison->rows[k]) && choice->trial && !choice->trial[k]);
    }
    return !comparison_flaw(&choice->comparison->rows[i]) && (!others || !choice->trial[i]);
}

static const struct comparison_row *find_fastest(const struct choice *choice)
{
    const struct comparison_row *fastest = NULL;
    for (size_t i = 0; i < choice->comparison->len; i++) {
        const struct comparison_row *row = &choice->comparison->rows[i];
        if (counts(choice, i) && (!fastest || row->samples_per_second > fastest->samples_per_second)) {
            fastest = row;
        }
    }
    return fastest;
}

/*
 * Of the runs that are as fast as the fastest but use clearly less memory, the one that uses least; NULL:
 * none.
 */
static const struct comparison_row *find_leaner(const struct choice *choice,
                                                const struct comparison_row *fastest)
{
    const struct comparison_row *leanest = NULL;
    double most = (double)fastest->peak_memory * MEMORY_LESS;
    for (size_t i = 0; i < choice->comparison->len; i++) {
        const struct comparison_row *row = &choice->comparison->rows[i];
        bool as_fast = counts(choice, i) &&
                       row->samples_per_second >= fastest->samples_per_second * (1 - COMPARISON_EVEN);
        bool lean = row->peak_memory >= 0 && (double)row->peak_memory < most;
        if (as_fast && lean && (!leanest || row->peak_memory < leanest->peak_memory)) {
            leanest = row;
        }
    }
    return leanest;
}

/* The fastest of the other runs; NULL: there is none. */
static const struct comparison_row *find_second(const struct choice *choice,
                                                const struct comparison_row *fastest)
{
    const struct comparison_row *second = NULL;
    for (size_t i = 0; i < choice->comparison->len; i++) {
        const struct comparison_row *row = &choice->comparison->rows[i];
        if (row != fastest && counts(choice, i) &&
            (!second || row->samples_per_second > second->samples_per_second)) {
            second = row;
        }
    }
    return second;
}

static bool is_largest(const struct choice *choice, const struct comparison_row *chosen)
{
    for (size_t i = 0; i < choice->comparison->len; i++) {
        if (counts(choice, i) && comparison_size(&choice->comparison->rows[i], chosen) > 1) {
            return false;
        }
    }
    return true;
}

char *comparison_recommend(const struct comparison *comparison, const bool *trial)
{
    const struct choice choice = {.comparison = comparison, .trial = trial};
    const struct comparison_row *fastest = find_fastest(&choice);
    struct str text = STR_INIT;
    if (!fastest) {
        return NULL;
    }
    const struct comparison_row *leaner = find_leaner(&choice, fastest);
    const struct comparison_row *chosen = leaner ? leaner : fastest;
    const struct comparison_row *second = leaner ? NULL : find_second(&choice, fastest);
    str_addf(&text, "continue with '%s': %.4g samples/s on %zu node%s", chosen->run->name,
             chosen->samples_per_second, chosen->nodes, chosen->nodes == 1 ? "" : "s");
    if (leaner) {
        str_addf(&text, ", as fast as '%s' with %.1f GiB less memory a GPU", fastest->run->name,
                 (double)(fastest->peak_memory - leaner->peak_memory) / GIB);
    } else if (second && fastest->samples_per_second / second->samples_per_second - 1 < COMPARISON_EVEN) {
        str_addf(&text, ", as fast as '%s'", second->run->name);
    } else if (second) {
        str_addf(&text, ", %.3g times as fast as '%s'",
                 fastest->samples_per_second / second->samples_per_second, second->run->name);
    }
    if (chosen->peak_memory >= 0) {
        str_addf(&text, ", at most %.1f GiB of a GPU", (double)chosen->peak_memory / GIB);
    }
    if (!is_largest(&choice, chosen)) {
        str_add(&text, "; more nodes are no faster");
    }
    return str_detach(&text);
}
