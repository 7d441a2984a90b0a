/* Numbers, durations, sizes and similar names in text. */
#include "base/text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "base/alloc.h"

bool text_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool text_ends(const char *text, const char *suffix)
{
    size_t len = strlen(text), suffix_len = strlen(suffix);

    return len >= suffix_len && memcmp(text + len - suffix_len, suffix, suffix_len) == 0;
}

void text_lower(char *text)
{
    for (; *text != '\0'; text++) {
        *text = (char)tolower((unsigned char)*text);
    }
}

/* Read the digits at the front of text; *rest points behind them. False: no digit, or too large. */
static bool read_digits(const char *text, uint64_t *out, const char **rest)
{
    uint64_t value = 0;
    const char *p = text;

    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value)) {
            return false;
        }
    }
    *out = value;
    *rest = p;
    return p != text;
}

bool text_to_uint(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    uint64_t value;
    const char *rest;

    if (!read_digits(text, &value, &rest) || *rest != '\0' || value < min || value > max) {
        return false;
    }
    *out = value;
    return true;
}

struct unit {
    char letter;
    uint64_t factor;
};

/* A whole number, alone or with one letter for a unit after it. */
static bool read_with_unit(const char *text, const struct unit *units, size_t count, uint64_t max,
                           uint64_t *out)
{
    uint64_t value, factor = 1;
    const char *rest;

    if (!read_digits(text, &value, &rest)) {
        return false;
    }
    if (*rest != '\0') {
        size_t i = 0;
        while (i < count && units[i].letter != *rest) {
            i++;
        }
        if (i == count || rest[1] != '\0') {
            return false;
        }
        factor = units[i].factor;
    }
    if (__builtin_mul_overflow(value, factor, &value) || value > max) {
        return false;
    }
    *out = value;
    return true;
}

bool text_to_duration(const char *text, uint64_t *seconds)
{
    static const struct unit units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};

    return read_with_unit(text, units, ARRAY_LEN(units), TEXT_DURATION_MAX, seconds);
}

/* Seconds in the unit that the word names; 0 if it names none. */
static uint64_t unit_of_word(const char *word, size_t len)
{
    static const struct {
        const char *names; /* between blanks */
        uint64_t seconds;
    } units[] = {{" s sec secs second seconds ", 1},
                 {" m min mins minute minutes ", 60},
                 {" h hr hrs hour hours ", 3600},
                 {" d day days ", 86400}};
    AUTO_FREE char *name = xasprintf(" %.*s ", (int)len, word);
    text_lower(name);
    for (size_t i = 0; i < ARRAY_LEN(units) && len > 0; i++) {
        if (strstr(units[i].names, name)) {
            return units[i].seconds;
        }
    }
    return 0;
}

char *text_duration_meant(const char *text)
{
    uint64_t total = 0, value;
    const char *at = text + strspn(text, " ");
    while (*at != '\0') {
        if (!read_digits(at, &value, &at)) {
            return NULL;
        }
        at += strspn(at, " ");
        size_t len = 0;
        while ((at[len] >= 'a' && at[len] <= 'z') || (at[len] >= 'A' && at[len] <= 'Z')) {
            len++;
        }
        uint64_t factor = len > 8 ? 0 : unit_of_word(at, len);
        if (factor == 0 || __builtin_mul_overflow(value, factor, &value) ||
            __builtin_add_overflow(total, value, &total)) {
            return NULL;
        }
        at += len + strspn(at + len, " ");
    }
    if (total == 0 || total > TEXT_DURATION_MAX) {
        return NULL;
    }
    return total % 86400 == 0  ? xasprintf("%llud", (unsigned long long)(total / 86400))
           : total % 3600 == 0 ? xasprintf("%lluh", (unsigned long long)(total / 3600))
           : total % 60 == 0   ? xasprintf("%llum", (unsigned long long)(total / 60))
                               : xasprintf("%llus", (unsigned long long)total);
}

bool text_to_size(const char *text, uint64_t *bytes)
{
    static const struct unit units[] = {{'K', UINT64_C(1) << 10},
                                        {'M', UINT64_C(1) << 20},
                                        {'G', UINT64_C(1) << 30},
                                        {'T', UINT64_C(1) << 40}};

    return read_with_unit(text, units, ARRAY_LEN(units), INT64_MAX, bytes);
}

bool text_matches_any(const char *text, char *const *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fnmatch(patterns[i], text, 0) == 0) {
            return true;
        }
    }
    return false;
}

/* Longest word that is compared; longer words are not typing mistakes. */
#define NEAREST_MAX 64

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * Damerau-Levenshtein distance in its optimal string alignment form: insertions, deletions, substitutions and
 * transpositions of neighbours count 1 each; case of ASCII letters does not count. Only three rows of the
 * table are kept. Both lengths are at most NEAREST_MAX.
 */
static size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][NEAREST_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    for (size_t j = 0; j <= b_len; j++) {
        last[j] = j;
    }
    for (size_t i = 1; i <= a_len; i++) {
        int ca = tolower((unsigned char)a[i - 1]);
        now[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            int cb = tolower((unsigned char)b[j - 1]);
            now[j] = smaller(smaller(last[j], now[j - 1]) + 1, last[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
                cb == tolower((unsigned char)a[i - 2])) {
                now[j] = smaller(now[j], before[j - 2] + 1);
            }
        }
        size_t *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[b_len];
}

const char *text_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t len = strlen(word);
    if (len > NEAREST_MAX) {
        return NULL;
    }

    size_t limit = len <= 3 ? 1 : len < 9 ? 2 : len / 3;
    const char *nearest = NULL, *beginning = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *candidate = candidates[i];
        size_t candidate_len = candidate ? strlen(candidate) : 0;
        if (candidate_len == 0 || candidate_len > NEAREST_MAX) {
            continue;
        }
        size_t distance = edit_distance(word, len, candidate, candidate_len);
        /* With as many edits as characters, the two have nothing in common. */
        if (distance <= limit && distance < smaller(len, candidate_len)) {
            nearest = candidate;
            if (distance == 0) {
                break;
            }
            limit = distance - 1;
        }
        if (!beginning && len >= 3 && strncasecmp(word, candidate, len) == 0) {
            beginning = candidate;
        }
    }
    return nearest ? nearest : beginning;
}
