/* Sums up the figures of runs in a sentence. */
#include <string.h>

#include "base/alloc.h"
#include "comparison_internal.h"

#define RUNS_SAID  3 /* names in a sentence */
#define DIFFS_SAID 2 /* more differences than this explain nothing */

/* What went wrong in the run; NULL: nothing. */
static const char *failure(const struct comparison_row *row)
{
    switch (row->run->state) {
    case RUN_FAILED:
        return "failed";
    case RUN_LOST:
        return "is lost";
    case RUN_DEGRADED:
        return "is degraded";
    case RUN_STARTING:
    case RUN_RUNNING:
    case RUN_STOPPING:
    case RUN_STOPPED:
    case RUN_FINISHED:
        break;
    }
    return row->run->progress.nan > 0 ? "has a loss that is not finite" : NULL;
}

const char *comparison_flaw(const struct comparison_row *row)
{
    const char *flaw = failure(row);
    if (flaw || row->samples_per_second > 0) {
        return flaw;
    }
    return row->tokens_per_second > 0 ? "tells tokens but no samples per second in its logs"
                                      : "tells no samples per second in its logs";
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

/* "2 nodes": the size of a run as it differs from that of the other; GPUs, if both have as many nodes. */
static void add_size(const struct comparison_row *row, const struct comparison_row *other, struct str *out)
{
    if (row->nodes == other->nodes && row->gpus != other->gpus) {
        str_addf(out, "%lld GPU%s", (long long)row->gpus, plural((size_t)row->gpus));
    } else {
        str_addf(out, "%zu node%s", row->nodes, plural(row->nodes));
    }
}

/* "2 nodes are", or "'b' on 2 nodes is". */
static void add_subject(const struct comparison *comparison, const struct comparison_row *row,
                        const struct comparison_row *other, struct str *out)
{
    bool named = !nodes_tell(comparison);
    if (named) {
        str_addf(out, "'%s' on ", row->run->name);
    }
    add_size(row, other, out);
    str_add(out, named || row->nodes == 1 ? " is" : " are");
}

/* "1", or "'a' on 1"; with GPUs "'a' on 8 GPUs". */
static void add_other(const struct comparison *comparison, const struct comparison_row *row,
                      const struct comparison_row *other, struct str *out)
{
    if (nodes_tell(comparison)) {
        str_addf(out, "%zu", row->nodes);
        return;
    }
    str_addf(out, "'%s' on ", row->run->name);
    if (row->nodes == other->nodes) {
        add_size(row, other, out);
    } else {
        str_addf(out, "%zu", row->nodes);
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
        if (comparison_flaw(row) || comparison_size(row, reference) <= 1) {
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
    add_subject(comparison, row, reference, &text);
    if (row->speedup < 1 - COMPARISON_EVEN) {
        str_add(&text, " slower than ");
        add_other(comparison, reference, row, &text);
    } else {
        if (row->speedup - 1 < COMPARISON_EVEN) {
            str_add(&text, " as fast as ");
        } else {
            str_addf(&text, " %.3g times as fast as ", row->speedup);
        }
        add_other(comparison, reference, row, &text);
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
        if (!comparison_flaw(&rows[i])) {
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

/* --- runs that are not judged --------------------------------------------------------------------------- */

/* "'a' failed; 'b' tells no samples per second in its logs". Returns how many there are. */
static size_t add_flawed(const struct comparison *comparison, struct str *out)
{
    size_t count = 0;
    for (size_t i = 0; i < comparison->len; i++) {
        const char *flaw = comparison_flaw(&comparison->rows[i]);
        if (flaw && count < RUNS_SAID) {
            str_addf(out, "%s'%s' %s", count ? "; " : "", comparison->rows[i].run->name, flaw);
        }
        count += flaw ? 1 : 0;
    }
    if (count > RUNS_SAID) {
        str_addf(out, "; and %zu more", count - RUNS_SAID);
    }
    return count;
}

/* How to get a verdict if only a rate is missing; "" if more is. */
static const char *find_remedy(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->len; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (!failure(row) && row->samples_per_second <= 0) {
            return "; to read them from the program's own lines, set 'progress.pattern' in the job file";
        }
    }
    return "";
}

char *comparison_verdict(const struct comparison *comparison)
{
    AUTO_STR struct str flawed = STR_INIT;
    if (comparison->len < 2) {
        return NULL;
    }
    size_t count = add_flawed(comparison, &flawed);
    if (comparison->len - count < 2) {
        return xasprintf("no verdict: %s%s", str_text(&flawed), find_remedy(comparison));
    }
    const struct comparison_row *reference = &comparison->rows[comparison->reference];
    const struct comparison_row *larger = find_larger(comparison, reference);
    char *text = larger ? compare_sizes(comparison, larger, reference) : compare_equals(comparison);
    if (count == 0) {
        return text;
    }
    AUTO_FREE char *verdict = text;
    return xasprintf("%s (left out: %s)", verdict, str_text(&flawed));
}
