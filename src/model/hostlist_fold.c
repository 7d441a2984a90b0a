/*
 * Folds names back into ranges. Only neighbours are folded and their order is kept, so that the folded text
 * expands to the same names in the same order. Neighbours fold when they differ in one number: `c09` and
 * `c010` do not, because no range expands to both. IPv6 addresses are not folded; in `name:port` only the
 * name is folded.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/strlist.h"
#include "model/hostlist_internal.h"

/* A number inside a name. */
struct number {
    size_t start, len;
    uint64_t value;
};

/* A run of names that differ in one number, being written. */
struct run {
    const char *first; /* its first name: prefix and suffix come from here */
    struct number number;
    uint64_t low, high; /* the range of the run that is open */
    size_t width;       /* digits to pad the open range to; 0: no padding */
    struct str items;   /* the closed ranges: "0033-0036,0040" */
    bool several;       /* more than one name */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool folds(const char *name)
{
    const char *colon = strchr(name, ':');

    return !strpbrk(name, ",[]@%/ ") &&
           (!colon || (colon > name && colon[1 + strspn(colon + 1, "0123456789")] == '\0'));
}

/* The number in name that includes position at. False if there is none, or if it has too many digits. */
static bool number_at(const char *name, size_t at, struct number *out)
{
    *out = (struct number){.start = at};
    while (out->start > 0 && is_digit(name[out->start - 1])) {
        out->start--;
    }
    for (; is_digit(name[out->start + out->len]); out->len++) {
        if (out->len == HOSTLIST_DIGITS_MAX) {
            return false;
        }
        out->value = out->value * 10 + (uint64_t)(name[out->start + out->len] - '0');
    }
    return out->len > 0;
}

static bool is_padded(const char *name, const struct number *number)
{
    return number->len > 1 && name[number->start] == '0';
}

/* Do the names differ only in one number, and can a range expand to both? */
static bool differ_in_number(const char *a, const char *b, struct number *in_a, struct number *in_b)
{
    size_t at = 0;

    while (a[at] && a[at] == b[at]) {
        at++;
    }
    if (!number_at(a, at, in_a) || !number_at(b, at, in_b) || in_a->start != in_b->start ||
        memchr(a, ':', in_a->start)) { /* the grammar has no range of ports */
        return false;
    }
    if ((is_padded(a, in_a) || is_padded(b, in_b)) && in_a->len != in_b->len) {
        return false;
    }
    return in_a->value != in_b->value &&
           strcmp(a + in_a->start + in_a->len, b + in_b->start + in_b->len) == 0;
}

static void close_range(struct run *run)
{
    str_addf(&run->items, "%s%0*" PRIu64, run->items.len ? "," : "", (int)run->width, run->low);
    if (run->high > run->low) {
        str_addf(&run->items, "-%0*" PRIu64, (int)run->width, run->high);
    }
}

static void close_run(struct run *run, struct str *out)
{
    if (!run->first) {
        return;
    }
    str_add(out, out->len ? "," : "");
    if (!run->several) {
        str_add(out, run->first);
    } else {
        close_range(run);
        str_add_mem(out, run->first, run->number.start);
        str_addf(out, "[%s]%s", str_text(&run->items), run->first + run->number.start + run->number.len);
    }
    str_release(&run->items);
    *run = (struct run){0};
}

static void open_range(struct run *run, const char *name, const struct number *number)
{
    run->low = run->high = number->value;
    run->width = is_padded(name, number) ? number->len : 0;
}

/* Add name to the run if it fits. */
static bool extend_run(struct run *run, const char *name)
{
    struct number here, there;

    if (!run->first || !folds(run->first) || !folds(name) ||
        !differ_in_number(run->first, name, &here, &there)) {
        return false;
    }
    if (!run->several) {
        run->number = here;
        run->several = true;
        open_range(run, run->first, &here);
    } else if (here.start != run->number.start) {
        return false;
    }
    if (there.value == run->high + 1 && (run->width ? there.len == run->width : !is_padded(name, &there))) {
        run->high = there.value;
        return true;
    }
    close_range(run);
    open_range(run, name, &there);
    return true;
}

static void fold(char *const *names, size_t count, struct str *out)
{
    AUTO_STR struct str folded = STR_INIT;
    struct run run = {0};

    for (size_t i = 0; i < count; i++) {
        if (extend_run(&run, names[i])) {
            continue;
        }
        close_run(&run, &folded);
        run.first = names[i];
    }
    close_run(&run, &folded);
    str_add(out, str_text(&folded));
}

void hostlist_fold_names(char *const *names, size_t count, struct str *out)
{
    struct texts seen = {0};
    char **once = xcalloc(count + 1, sizeof *once);
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        if (texts_find(&seen, names[i], NULL)) {
            continue;
        }
        texts_add(&seen, names[i]);
        once[len++] = names[i];
    }
    fold(once, len, out);
    free(once);
    texts_release(&seen);
}

static void note_repeated(const char *text, struct texts *seen, struct texts *repeated)
{
    texts_add(texts_find(seen, text, NULL) ? repeated : seen, text);
}

/* Which names are in the list more than once. */
static void find_repeated(const struct hostlist *list, struct texts *repeated)
{
    struct texts seen = {0};

    for (size_t i = 0; i < list->len; i++) {
        note_repeated(list->items[i].name, &seen, repeated);
    }
    texts_release(&seen);
}

static char *make_label(const struct host *host, bool repeated)
{
    return repeated && host->port ? host_join_port(host->name, host->port) : xstrdup(host->name);
}

void hostlist_labels(const struct hostlist *list, struct strlist *labels)
{
    struct texts repeated = {0}, places = {0}, same_place = {0};
    AUTO_STRLIST struct strlist plain = STRLIST_INIT;

    find_repeated(list, &repeated);
    for (size_t i = 0; i < list->len; i++) {
        const struct host *host = &list->items[i];
        strlist_take(&plain, make_label(host, texts_find(&repeated, host->name, NULL)));
        note_repeated(plain.items[i], &places, &same_place);
    }
    for (size_t i = 0; i < list->len; i++) {
        const char *user = list->items[i].user;
        if (user && texts_find(&same_place, plain.items[i], NULL)) {
            strlist_addf(labels, "%s@%s", user, plain.items[i]);
        } else {
            strlist_add(labels, plain.items[i]);
        }
    }
    texts_release(&repeated);
    texts_release(&places);
    texts_release(&same_place);
}

void hostlist_fold(const struct hostlist *list, struct str *out)
{
    struct texts repeated = {0};
    AUTO_STRLIST struct strlist names = STRLIST_INIT;

    /* A name that repeats is distinguished by user and port, else the text would contain it only once. */
    find_repeated(list, &repeated);
    for (size_t i = 0; i < list->len; i++) {
        const struct host *host = &list->items[i];
        bool apart = texts_find(&repeated, host->name, NULL);
        AUTO_FREE char *label = make_label(host, apart);
        if (apart && host->user) {
            strlist_addf(&names, "%s@%s", host->user, label);
        } else {
            strlist_add(&names, label);
        }
    }
    fold(names.items, names.len, out);
    texts_release(&repeated);
}
