/* Fills the groups of a signature's pattern into its summary and remedies. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "diagnosis_internal.h"

static int compare_numbers(const void *a, const void *b)
{
    long left = *(const long *)a;
    long right = *(const long *)b;
    return left < right ? -1 : left > right;
}

void ranges_add(const long *numbers, size_t len, struct str *out)
{
    for (size_t i = 0; i < len;) {
        size_t to = i;
        while (to + 1 < len && numbers[to + 1] == numbers[to] + 1) {
            to++;
        }
        str_addf(out, "%s%ld", i > 0 ? "," : "", numbers[i]);
        if (to > i) {
            str_addf(out, "-%ld", numbers[to]);
        }
        i = to + 1;
    }
}

/* Append the numbers of a group in all events that say the same. */
static void add_numbers(size_t group, const struct event *event, const struct event *const *same,
                        size_t same_len, struct str *out)
{
    AUTO_FREE long *numbers = xcalloc(same_len + 1, sizeof(*numbers));
    size_t len = 0;
    for (size_t i = 0; i < same_len; i++) {
        if (same[i]->groups[group]) {
            numbers[len++] = strtol(same[i]->groups[group], NULL, 10);
        }
    }
    if (len == 0) {
        str_add(out, event->groups[group] ? event->groups[group] : "?");
        return;
    }
    qsort(numbers, len, sizeof(numbers[0]), compare_numbers);
    size_t kept = 1;
    for (size_t i = 1; i < len; i++) {
        if (numbers[i] != numbers[kept - 1]) {
            numbers[kept++] = numbers[i];
        }
    }
    str_add(out, kept > 1 ? "[" : "");
    ranges_add(numbers, kept, out);
    str_add(out, kept > 1 ? "]" : "");
}

void expand_template(const char *template, const struct event *event, const struct event *const *same,
                     size_t same_len, struct str *out)
{
    for (const char *at = template; *at != '\0'; at++) {
        if (at[0] == '%' && isdigit((unsigned char)at[1])) {
            size_t group = (size_t)(at[1] - '0');
            str_add(out, group < SIGNATURE_GROUPS && event->groups[group] ? event->groups[group] : "?");
            at++;
        } else if (at[0] == '%' && at[1] == '[' && isdigit((unsigned char)at[2]) && at[3] == ']') {
            add_numbers((size_t)(at[2] - '0'), event, same, same_len, out);
            at += 3;
        } else {
            str_add_char(out, *at);
        }
    }
}
