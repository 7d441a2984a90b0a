/* Finds the runs that operands name. */
#include <fnmatch.h>
#include <string.h>

#include "base/alloc.h"
#include "cmd/choose_internal.h"
#include "model/job.h"
#include "model/kind.h"

bool choose_is_pattern(const char *word)
{
    return strpbrk(word, "*?");
}

/* A pattern may contain only letters of names and wildcards. */
static int check_word(const char *word, struct error *err)
{
    AUTO_FREE char *plain = xstrdup(word);
    for (char *at = plain; *at; at++) {
        if (*at == '*' || *at == '?') {
            *at = 'x';
        }
    }
    if (job_check_run_name(plain, NULL) == 0) {
        return 0;
    }
    return job_check_run_name(word, err);
}

int choose_check_words(const struct strlist *words, struct error *err)
{
    for (size_t i = 0; i < words->len; i++) {
        if (check_word(words->items[i], err) != 0) {
            return -1;
        }
    }
    return 0;
}

int choose_runs(const struct run_store *store, const struct strlist *words, struct strlist *names,
                struct error *err)
{
    AUTO_STRLIST struct strlist all = STRLIST_INIT;
    if (run_store_names(store, &all, err) != 0) {
        return -1;
    }
    for (size_t i = 0; i < words->len; i++) {
        const char *word = words->items[i];
        size_t found = 0;
        if (!choose_is_pattern(word)) {
            found = 1;
            if (!strlist_has(names, word)) {
                strlist_add(names, word);
            }
        }
        for (size_t k = 0; choose_is_pattern(word) && k < all.len; k++) {
            if (fnmatch(word, all.items[k], FNM_NOESCAPE) == 0) {
                found++;
                if (!strlist_has(names, all.items[k])) {
                    strlist_add(names, all.items[k]);
                }
            }
        }
        if (found == 0) {
            error_set(err, &kind_no_such_run, "no run matches '%s'", word);
            return error_hint(err, "`mtlaunch list` prints the runs");
        }
    }
    return 0;
}
