/*
 * Ranges in a name. Widths are those of pdsh, ClusterShell and Slurm: a lower bound that starts with 0 pads
 * to its width; a bound with a leading zero must be as wide as the other one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/hostlist_internal.h"
#include "model/kind.h"

struct digits {
    const char *text;
    size_t len;
    uint64_t value;
};

/* The bracket that is being read, for messages. */
struct bracket {
    const char *text; /* from '[' to ']' */
    size_t len;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_character(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
           c == '-';
}

/* Neither is 0: a group names at least one. */
static uint64_t multiply_bounded(uint64_t a, uint64_t b)
{
    const uint64_t limit = (uint64_t)HOSTLIST_MAX + 1;

    return a > limit / b ? limit : a * b;
}

void hostlist_pattern_release(struct hostlist_pattern *pattern)
{
    for (size_t i = 0; i < pattern->len; i++) {
        free(pattern->pieces[i].text);
        free(pattern->pieces[i].group.items);
    }
    free(pattern->pieces);
    *pattern = (struct hostlist_pattern){0};
}

static void add_piece(struct hostlist_pattern *pattern, const char *text, size_t len,
                      struct hostlist_group group)
{
    pattern->pieces = xgrow(pattern->pieces, pattern->len, &pattern->cap, sizeof *pattern->pieces);
    pattern->pieces[pattern->len++] = (struct hostlist_piece){.text = xstrndup(text, len), .group = group};
}

void hostlist_pattern_set(struct hostlist_pattern *pattern, const char *name, size_t len)
{
    hostlist_pattern_release(pattern);
    add_piece(pattern, name, len, (struct hostlist_group){0});
    pattern->count = 1;
}

/* Take digits from the front of [*at, end). */
static int take_digits(const char **at, const char *end, const struct bracket *in, struct digits *out,
                       struct error *err)
{
    *out = (struct digits){.text = *at};
    for (; *at < end && is_digit(**at); (*at)++) {
        if (++out->len > HOSTLIST_DIGITS_MAX) {
            error_set(err, &kind_host_list, "a number of more than %d digits in '%s'", HOSTLIST_DIGITS_MAX,
                      hostlist_token(in->text, in->len).text);
            return error_hint(err, "put the digits that do not change before the bracket");
        }
        out->value = out->value * 10 + (uint64_t)(**at - '0');
    }
    if (out->len > 0) {
        return 0;
    }
    error_set(err, &kind_host_list, "'%s' is not a valid range", hostlist_token(in->text, in->len).text);
    return error_hint(err, "ranges look like [0033-0036], [1,3,7-9] or [0-30/2]");
}

static bool is_padded(const struct digits *digits)
{
    return digits->len > 1 && digits->text[0] == '0';
}

static int check_bounds(const struct digits *low, const struct digits *high, const struct bracket *in,
                        struct error *err)
{
    struct hostlist_token whole = hostlist_token(in->text, in->len);
    struct hostlist_token first = hostlist_token(low->text, low->len);
    struct hostlist_token last = hostlist_token(high->text, high->len);

    if ((is_padded(low) || is_padded(high)) && low->len != high->len) {
        int width = (int)(low->len > high->len ? low->len : high->len);
        error_set(err, &kind_host_list, "bounds of unequal width in '%s': '%s' and '%s'", whole.text,
                  first.text, last.text);
        return error_hint(err, "write both with the same number of digits: [%0*" PRIu64 "-%0*" PRIu64 "]",
                          width, low->value, width, high->value);
    }
    if (high->value < low->value) {
        error_set(err, &kind_host_list, "the range '%s' is reversed: '%s' is above '%s'", whole.text,
                  first.text, last.text);
        return error_hint(err, "write [%s-%s], or list single numbers in the order you want", last.text,
                          first.text);
    }
    return 0;
}

/* One item between commas: 7, 7-9 or 0-30/2. */
static int add_range(struct hostlist_group *group, const char *at, const char *end, const struct bracket *in,
                     struct error *err)
{
    struct digits low, high, step = {.value = 1};

    if (take_digits(&at, end, in, &low, err) < 0) {
        return -1;
    }
    high = low;
    if (at < end && *at == '-') {
        at++;
        if (take_digits(&at, end, in, &high, err) < 0) {
            return -1;
        }
        if (at < end && *at == '/') {
            at++;
            if (take_digits(&at, end, in, &step, err) < 0) {
                return -1;
            }
        }
    }
    if (at < end) {
        error_set(err, &kind_host_list, "'%s' is not a valid range", hostlist_token(in->text, in->len).text);
        return error_hint(err, "ranges look like [0033-0036], [1,3,7-9] or [0-30/2]");
    }
    if (step.value == 0) {
        error_set(err, &kind_host_list, "step 0 in '%s'", hostlist_token(in->text, in->len).text);
        return error_hint(err, "a step is 1 or more: [0-30/2]");
    }
    if (check_bounds(&low, &high, in, err) < 0) {
        return -1;
    }
    group->items = xgrow(group->items, group->len, &group->cap, sizeof *group->items);
    group->items[group->len++] = (struct hostlist_range){
        .low = low.value,
        .step = step.value,
        .before = group->count,
        .width = is_padded(&low) ? (int)low.len : 0,
    };
    /* Each item is bounded by 10^18; a text of HOSTLIST_TEXT_MAX bytes could still overflow the sum. */
    uint64_t names = (high.value - low.value) / step.value + 1;
    group->count = names > HOSTLIST_MAX || group->count > HOSTLIST_MAX ? (uint64_t)HOSTLIST_MAX + 1
                                                                       : group->count + names;
    return 0;
}

/* The inside of a bracket. */
static int read_group(struct hostlist_group *group, const struct bracket *in, struct error *err)
{
    const char *at = in->text + 1;
    const char *end = in->text + in->len - 1;

    if (at == end) {
        error_set(err, &kind_host_list, "empty range '[]'");
        return error_hint(err, "ranges look like [0033-0036], [1,3,7-9] or [0-30/2]");
    }
    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        if (add_range(group, at, comma ? comma : end, in, err) < 0) {
            return -1;
        }
        if (!comma) {
            return 0;
        }
        at = comma + 1;
    }
}

/* The bracket that opens at text[from]. */
static int find_bracket(const char *text, size_t len, size_t from, struct bracket *out, struct error *err)
{
    size_t at = from + 1;

    while (at < len && text[at] != ']' && text[at] != '[') {
        at++;
    }
    if (at == len) {
        error_set(err, &kind_host_list, "unclosed '[' in '%s'", hostlist_token(text, len).text);
        return error_hint(err, "close the range with ']' and leave no blank inside: g[0033-0036]");
    }
    if (text[at] == '[') {
        error_set(err, &kind_host_list, "'[' inside '[' in '%s'", hostlist_token(text, len).text);
        return error_hint(err, "brackets do not nest; several may follow each other: r[1-2]n[1-4]");
    }
    *out = (struct bracket){.text = text + from, .len = at + 1 - from};
    return 0;
}

static int bad_character(const char *text, size_t len, size_t at, struct error *err)
{
    size_t size = 1;

    if (text[at] == ']') {
        error_set(err, &kind_host_list, "']' without '[' in '%s'", hostlist_token(text, len).text);
        return error_hint(err, "write a range as g[0033-0036]");
    }
    while (at + size < len && ((unsigned char)text[at + size] & 0xC0) == 0x80) {
        size++;
    }
    error_set(err, &kind_host_list, "'%s' is not allowed in the host name '%s'",
              hostlist_token(text + at, size).text, hostlist_token(text, len).text);
    return error_hint(err, "names consist of letters, digits, '.', '_', '-' and [ranges]");
}

int hostlist_pattern_parse(struct hostlist_pattern *pattern, const char *text, size_t len, size_t *bad,
                           struct error *err)
{
    size_t start = 0;

    hostlist_pattern_release(pattern);
    pattern->count = 1;
    for (*bad = 0; *bad < len; (*bad)++) {
        struct hostlist_group group = {0};
        struct bracket in = {0};

        if (is_name_character(text[*bad])) {
            continue;
        }
        if (text[*bad] != '[') {
            return bad_character(text, len, *bad, err);
        }
        if (find_bracket(text, len, *bad, &in, err) < 0) {
            return -1;
        }
        if (read_group(&group, &in, err) < 0) {
            free(group.items);
            return -1;
        }
        add_piece(pattern, text + start, *bad - start, group);
        pattern->count = multiply_bounded(pattern->count, group.count);
        start = *bad + in.len;
        *bad = start - 1;
    }
    add_piece(pattern, text + start, len - start, (struct hostlist_group){0});
    *bad = 0;
    if (pattern->count <= HOSTLIST_MAX) {
        return 0;
    }
    error_set(err, &kind_host_list, "'%s' names more than %d hosts", hostlist_token(text, len).text,
              HOSTLIST_MAX);
    return error_hint(err, "give a smaller range; a list can have at most %d hosts", HOSTLIST_MAX);
}

/* The range that contains name i of the group. */
static const struct hostlist_range *range_at(const struct hostlist_group *group, uint64_t i)
{
    size_t low = 0;
    size_t high = group->len;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (group->items[middle].before <= i) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &group->items[low];
}

char *hostlist_pattern_name(const struct hostlist_pattern *pattern, uint64_t i)
{
    AUTO_STR struct str name = STR_INIT;
    uint64_t below = pattern->count; /* names per step of the current group */

    for (size_t p = 0; p < pattern->len; p++) {
        const struct hostlist_piece *piece = &pattern->pieces[p];
        str_add(&name, piece->text);
        if (piece->group.count == 0) {
            continue;
        }
        below /= piece->group.count;
        const struct hostlist_range *range = range_at(&piece->group, i / below);
        str_addf(&name, "%0*" PRIu64, range->width, range->low + (i / below - range->before) * range->step);
        i %= below;
    }
    return str_detach(&name);
}
