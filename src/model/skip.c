/* Matches paths against the patterns of what a copy leaves out. */
#include "model/skip.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* The end of a bracket expression that begins after at, or NULL. A ']' that comes first belongs to the set.
 */
static const char *set_end(const char *at)
{
    if (*at == '!' || *at == '^') {
        at++;
    }
    if (*at == ']') {
        at++;
    }
    for (; *at != ']'; at++) {
        if (*at == '\0') {
            return NULL;
        }
    }
    return at;
}

int skip_check(const char *pattern, struct error *err)
{
    const size_t len = strlen(pattern);

    if (len == 0 || strcmp(pattern, "/") == 0) {
        error_set(err, &kind_usage, "the pattern '%s' matches nothing", pattern);
        return error_hint(
            err, "give a name or a path from the top of the copy, such as --skip '*.pyc' --skip /data");
    }
    if (len > SKIP_PATTERN_MAX) {
        return error_set(err, &kind_usage, "a pattern of %zu bytes is longer than the %d that are allowed",
                         len, SKIP_PATTERN_MAX);
    }
    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0') {
            at++;
        } else if (*at == '[') {
            at = set_end(at + 1);
            if (!at) {
                error_set(err, &kind_usage, "the pattern '%s' has a '[' without its ']'", pattern);
                return error_hint(err, "write \\[ for the character itself");
            }
        }
    }
    return 0;
}

/* Does the set after '[' contain the character? */
static bool in_set(const char *set, const char *end, unsigned char c)
{
    const bool negated = *set == '!' || *set == '^';
    bool found = false;

    if (negated) {
        set++;
    }
    for (const char *at = set; at < end; at++) {
        const unsigned char from = (unsigned char)*at;
        if (at + 2 < end && at[1] == '-') {
            found |= c >= from && c <= (unsigned char)at[2];
            at += 2;
        } else {
            found |= c == from;
        }
    }
    return found != negated;
}

/*
 * Match one element of the pattern that is not a star against one character. Returns the rest of the pattern,
 * or NULL when they differ.
 */
static const char *match_one(const char *pattern, char c)
{
    if (*pattern == '?') {
        return c != '/' ? pattern + 1 : NULL;
    }
    if (*pattern == '[') {
        const char *end = set_end(pattern + 1);
        return end && c != '/' && in_set(pattern + 1, end, (unsigned char)c) ? end + 1 : NULL;
    }
    if (*pattern == '\\' && pattern[1] != '\0') {
        pattern++;
    }
    return *pattern == c ? pattern + 1 : NULL;
}

/* A place to which matching returns: a star, and how much of the text it has taken. */
struct star {
    const char *pattern; /* behind it; NULL: none */
    const char *text;
};

/*
 * Two stars are remembered: the last "*", and the last "**", to which matching returns when "*" would have to
 * match a '/'. Both only move forward in the text, so the time is at most proportional to the pattern's
 * length times the square of the text's.
 */
static bool glob(const char *pattern, const char *text)
{
    struct star one = {0}, two = {0};

    while (*text != '\0' || *pattern != '\0') {
        if (pattern[0] == '*' && pattern[1] == '*') {
            pattern += strspn(pattern, "*");
            two = (struct star){pattern, text};
            one = (struct star){0};
            continue;
        }
        if (*pattern == '*') {
            pattern++;
            one = (struct star){pattern, text};
            continue;
        }
        const char *next = *text != '\0' && *pattern != '\0' ? match_one(pattern, *text) : NULL;
        if (next) {
            pattern = next;
            text++;
        } else if (one.pattern && *one.text != '\0' && *one.text != '/') {
            text = ++one.text;
            pattern = one.pattern;
        } else if (two.pattern && *two.text != '\0') {
            text = ++two.text;
            pattern = two.pattern;
            one = (struct star){0};
        } else {
            return false;
        }
    }
    return true;
}

/* A pattern without its last '/' against a path; one that is not anchored may match its last parts. */
static bool matches(const char *pattern, const char *path)
{
    if (*pattern == '/') {
        return glob(pattern + 1, path);
    }
    if (!strchr(pattern, '/') && !strstr(pattern, "**")) {
        const char *last = strrchr(path, '/');
        return glob(pattern, last ? last + 1 : path);
    }
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/' ? 1 : 0;
        if (glob(pattern, at)) {
            return true;
        }
    }
    return false;
}

bool skip_matches(const struct strlist *patterns, const char *path, bool is_folder)
{
    for (size_t i = 0; i < patterns->len; i++) {
        const char *pattern = patterns->items[i];
        const size_t len = strlen(pattern);
        const bool for_folders = len > 1 && pattern[len - 1] == '/';
        if (for_folders && !is_folder) {
            continue;
        }
        AUTO_FREE char *bare = xstrndup(pattern, for_folders ? len - 1 : len);
        if (matches(bare, path)) {
            return true;
        }
    }
    return false;
}

bool skip_covers(const struct strlist *patterns, const char *path, bool is_folder)
{
    for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/')) {
        AUTO_FREE char *above = xstrndup(path, (size_t)(end - path));
        if (skip_matches(patterns, above, true)) {
            return true;
        }
    }
    return skip_matches(patterns, path, is_folder);
}
