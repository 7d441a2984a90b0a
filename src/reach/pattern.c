/* Matches names with the patterns of ssh_config and known_hosts. */
#include <string.h>

#include "base/text.h"
#include "reach/pattern_internal.h"

/* Only the last '*' is ever tried again, so the cost is at most the square of the length. */
bool ssh_pattern_matches(const char *text, const char *pattern)
{
    const char *star = NULL, *resume = NULL;

    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}

bool ssh_pattern_list_matches(const char *text, char *const *patterns, size_t count)
{
    bool found = false;

    for (size_t i = 0; i < count; i++) {
        bool negated = patterns[i][0] == '!';
        if (!ssh_pattern_matches(text, patterns[i] + (negated ? 1 : 0))) {
            continue;
        }
        if (negated) {
            return false;
        }
        found = true;
    }
    return found;
}

void ssh_pattern_split(const char *text, bool lower, struct strlist *patterns)
{
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        if (len > 0) {
            strlist_add_mem(patterns, at, len);
            if (lower) {
                text_lower(patterns->items[patterns->len - 1]);
            }
        }
        at += len;
        if (*at == '\0') {
            return;
        }
    }
}
