/* Sums up the figures of runs in a sentence. */
#include <string.h>

#include "base/alloc.h"
#include "comparison_internal.h"

#define RUNS_SAID  3 /* names in a sentence */
#define DIFFS_SAID 2 /* more differences than this explain nothing */

static bool is_rated(const struct comparison_row *row)
{
    return row->samples_per_second > 0;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* --- naming a run ------------------------------------------------------------------------------------- */

/* Does the number of nodes identify each run? */
static bool nodes_tell(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->len; i++) {
        for (size_t k = 0; k < i; k++) {
            if (comparison->rows[i].nodes == comparison->rows[k].nodes) {
                return false;
            }
        }
    }
    return true;
}

/* "2 nodes are", or "'b' on 2 nodes is". */
static void add_subject(const struct comparison *comparison, const struct comparison_row *row,
                        struct str *out)
{
    if (nodes_tell(comparison)) {
        str_addf(out, "%zu node%s %s", row->nodes, plural(row->nodes), row->nodes == 1 ? "is" : "are");
    } else {
        str_addf(out, "'%s' on %zu node%s is", row->run->name, row->nodes, plural(row->nodes));
    }
}

static void add_other(const struct comparison *comparison, const struct comparison_row *row, struct str *out)
{
    if (nodes_tell(comparison)) {
        str_addf(out, "%zu", row->nodes);
    } else {
        str_addf(out, "'%s' on %zu", row->run->name, row->nodes);
    }
}

/* --- larger runs -------------------------------------------------------------------------------------- */

/*
 * The larger run to report: the least efficient if it is bound by communication, else the largest, of equals
 * the fastest.
 */
static const struct comparison_row *find_larger(const struct comparison *comparison,
                                                const struct comparison_row *reference)
{
    const struct comparison_row *worst = NULL, *largest = NULL;
    for (size_t i = 0; i < comparison->len; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (!is_rated(row) || comparison_size(row, reference) <= 1) {
            continue;
        }
        worst = !worst || row->efficiency < worst->efficiency ? row : worst;
        double size = largest ? comparison_size(row, largest) : 2;
        bool faster = largest && size >= 1 && row->samples_per_second > largest->samples_per_second;
        largest = size > 1 || faster ? row : largest;
    }
    return worst && worst->efficiency < COMPARISON_BOUND ? worst : largest;
}

static char *compare_sizes(const struct comparison *comparison, const struct comparison_row *row,
                           const struct comparison_row *reference)
{
    struct str text = STR_INIT;
    AUTO_STR struct str reason = STR_INIT;
    add_subject(comparison, row, &text);
    if (row->speedup < 1) {
        str_add(&text, " slower than ");
        add_other(comparison, reference, &text);
    } else {
        str_addf(&text, " %.3g times as fast as ", row->speedup);
        add_other(comparison, reference, &text);
        str_addf(&text, " (%.0f %% efficiency)", row->efficiency * 100);
        str_add(&text, row->efficiency < COMPARISON_BOUND ? ", bound by communication" : "");
    }
    if (row->efficiency < COMPARISON_EFFICIENT && comparison_add_reason(row->run, &reason)) {
        str_addf(&text, ": %s", str_text(&reason));
    }
    return str_detach(&text);
}

/* --- runs of one size --------------------------------------------------------------------------------- */

/* Name the differences between the two runs as the possible cause, if they are few. */
static void add_differences(const struct comparison *comparison, size_t fast, size_t slow, struct str *out)
{
    const struct differences *all = &comparison->differences;
    AUTO_STR struct str text = STR_INIT;
    size_t count = 0;
    for (size_t i = 0; i < all->len; i++) {
        const char *left = all->items[i].values[fast], *right = all->items[i].values[slow];
        bool same = left && right ? strcmp(left, right) == 0 : left == right;
        if (!same && strcmp(all->items[i].key, "hosts") != 0) {
            str_addf(&text, "%s%s %s instead of %s", count ? ", " : "", all->items[i].key,
                     left ? left : "not set", right ? right : "not set");
            count++;
        }
    }
    if (count > 0 && count <= DIFFS_SAID) {
        str_addf(out, ": %s", str_text(&text));
    }
}

static char *compare_equals(const struct comparison *comparison)
{
    const struct comparison_row *rows = comparison->rows;
    struct str text = STR_INIT;
    size_t fast = (size_t)comparison->reference, slow = fast, count = 0;
    for (size_t i = 0; i < comparison->len; i++) {
        if (is_rated(&rows[i])) {
            fast = rows[i].samples_per_second > rows[fast].samples_per_second ? i : fast;
            slow = rows[i].samples_per_second < rows[slow].samples_per_second ? i : slow;
            count++;
        }
    }
    double ratio = rows[fast].samples_per_second / rows[slow].samples_per_second;
    if (ratio - 1 < COMPARISON_EVEN) {
        str_addf(&text, "the %zu runs are equally fast, within %g %%", count, COMPARISON_EVEN * 100);
        return str_detach(&text);
    }
    str_addf(&text, "'%s' is %.3g times as fast as '%s' on as many nodes", rows[fast].run->name, ratio,
             rows[slow].run->name);
    add_differences(comparison, fast, slow, &text);
    return str_detach(&text);
}

/* --- no rates ----------------------------------------------------------------------------------------- */

static char *tell_missing(const struct comparison *comparison)
{
    struct str text = STR_INIT;
    size_t said = 0, missing = 0;
    for (size_t i = 0; i < comparison->len; i++) {
        missing += is_rated(&comparison->rows[i]) ? 0 : 1;
    }
    str_add(&text, "no verdict: the logs of ");
    for (size_t i = 0; i < comparison->len && said < RUNS_SAID; i++) {
        if (!is_rated(&comparison->rows[i])) {
            str_addf(&text, "%s'%s'", said ? ", " : "", comparison->rows[i].run->name);
            said++;
        }
    }
    if (missing > said) {
        str_addf(&text, " and %zu more", missing - said);
    }
    str_add(&text, " tell no samples per second");
    return str_detach(&text);
}

char *comparison_verdict(const struct comparison *comparison)
{
    size_t rated = 0;
    for (size_t i = 0; i < comparison->len; i++) {
        rated += is_rated(&comparison->rows[i]) ? 1 : 0;
    }
    if (comparison->len < 2) {
        return NULL;
    }
    if (rated < 2) {
        return tell_missing(comparison);
    }
    const struct comparison_row *reference = &comparison->rows[comparison->reference];
    const struct comparison_row *larger = find_larger(comparison, reference);
    return larger ? compare_sizes(comparison, larger, reference) : compare_equals(comparison);
}
