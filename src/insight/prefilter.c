/*
 * Finds the characters that every match of a POSIX extended expression contains (regex(7), and glibc's
 * extensions).
 */
#include "insight/prefilter.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

#define EXPRESSION_MAX   1000 /* bytes; a longer expression is not analysed */
#define DEPTH_MAX        20   /* parentheses within parentheses */
#define ALTERNATIVES_MAX 32

static const char gap[] = {PREFILTER_GAP, '\0'};

/* The state of the parser. Each alternative is a text in which a gap stands for any text. */
struct reading {
    const char *at;
    unsigned depth;
    bool failed; /* the expression is not understood */
};

static void read_alternatives(struct reading *reading, struct strlist *out);

static void set_anything(struct strlist *list)
{
    strlist_release(list);
    strlist_add(list, gap);
}

/* Append each alternative of next to each one of list. If that makes too many, append a gap instead. */
static void join(struct strlist *list, const struct strlist *next)
{
    AUTO_STRLIST struct strlist joined = STRLIST_INIT;
    bool too_many = list->len * next->len > ALTERNATIVES_MAX;
    for (size_t i = 0; i < list->len; i++) {
        for (size_t k = 0; k < (too_many ? 1 : next->len); k++) {
            strlist_addf(&joined, "%s%s", list->items[i], too_many ? gap : next->items[k]);
        }
    }
    struct strlist old = *list;
    *list = joined;
    joined = old;
}

/*
 * The bytes of the character at text, if it is shown as it is written. 0: it may be shown as another
 * character, or another may be shown as it.
 */
static size_t literal_len(const char *text)
{
    unsigned char first = (unsigned char)text[0];
    if (first < 0x80) {
        return (first >= 0x20 && first < 0x7f && first != '?') || first == '\t';
    }
    AUTO_STR struct str shown = STR_INIT;
    size_t len = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (strnlen(text, len) < len) {
        return 0;
    }
    text_add_utf8(&shown, text, len); /* a character that is never shown cannot match, so any piece will do */
    bool same = shown.len == len && memcmp(shown.data, text, len) == 0;
    return same && memcmp(text, "\xEF\xBF\xBD", len < 3 ? len : 3) != 0 ? len : 0;
}

/* The end of the bracket expression at p; NULL: it is not closed. */
static const char *bracket_end(const char *p)
{
    p += p[1] == '^' ? 2 : 1;
    for (bool first = true; *p != ']' || first; first = false) {
        if (*p == '[' && (p[1] == ':' || p[1] == '.' || p[1] == '=')) {
            const char end[] = {p[1], ']', '\0'};
            p = strstr(p + 2, end);
            p = p ? p + 1 : NULL;
        }
        if (!p || *p == '\0') {
            return NULL;
        }
        p++;
    }
    return p + 1;
}

/* Read a character, or what matches a character or a position. */
static void read_simple(struct reading *reading, struct strlist *out)
{
    const char *p = reading->at;
    const char *end = p + 1;
    size_t len = 0;
    if (*p == '[') {
        end = bracket_end(p);
    } else if (*p == '\\') {
        end = p[1] != '\0' ? p + 2 : NULL;
        /* glibc gives other escapes a meaning, or may do so */
        len = strchr(".[]*^$+(){}|\\/-", p[1]) ? 1 : 0;
        p++;
    } else if (!strchr(".^$", *p)) {
        len = literal_len(p);
        end = len > 0 ? p + len : end;
    }
    if (!end) {
        reading->failed = true;
        return;
    }
    if (len > 0) {
        strlist_add_mem(out, p, len);
    } else {
        strlist_add(out, gap);
    }
    reading->at = end;
}

static void read_atom(struct reading *reading, struct strlist *out)
{
    if (*reading->at != '(') {
        read_simple(reading, out);
        return;
    }
    reading->at++;
    if (++reading->depth > DEPTH_MAX) {
        reading->failed = true;
        return;
    }
    read_alternatives(reading, out);
    reading->depth--;
    if (*reading->at != ')') {
        reading->failed = true;
        return;
    }
    reading->at++;
}

/*
 * Read the quantifiers after an atom. An optional atom becomes a gap; one that may repeat is followed by a
 * gap.
 */
static void read_quantifiers(struct reading *reading, struct strlist *atom)
{
    AUTO_STRLIST struct strlist anything = STRLIST_INIT;
    strlist_add(&anything, gap);
    while (*reading->at != '\0' && strchr("*?+{", *reading->at)) {
        const char *p = reading->at;
        bool optional = *p == '*' || *p == '?';
        if (*p == '{') {
            size_t digits = strspn(p + 1, "0123456789");
            size_t len = 1 + strspn(p + 1, "0123456789,");
            if (p[len] != '}' || digits == 0) {
                reading->failed = true;
                return;
            }
            optional = strspn(p + 1, "0") == digits;
            p += len;
        }
        if (optional) {
            set_anything(atom);
        } else {
            join(atom, &anything);
        }
        reading->at = p + 1;
    }
}

static void read_sequence(struct reading *reading, struct strlist *out)
{
    strlist_add(out, "");
    while (!reading->failed && *reading->at != '\0' && *reading->at != '|' && *reading->at != ')') {
        AUTO_STRLIST struct strlist atom = STRLIST_INIT;
        if (strchr("*?+{", *reading->at)) { /* a quantifier without an atom */
            reading->failed = true;
            return;
        }
        read_atom(reading, &atom);
        if (!reading->failed) {
            read_quantifiers(reading, &atom);
        }
        if (!reading->failed) {
            join(out, &atom);
        }
    }
}

static void read_alternatives(struct reading *reading, struct strlist *out)
{
    read_sequence(reading, out);
    while (!reading->failed && *reading->at == '|') {
        AUTO_STRLIST struct strlist more = STRLIST_INIT;
        reading->at++;
        read_sequence(reading, &more);
        strlist_copy(out, &more);
    }
    if (out->len > ALTERNATIVES_MAX) {
        set_anything(out);
    }
}

bool prefilter_find(const char *expression, struct strlist *alternatives)
{
    AUTO_STRLIST struct strlist found = STRLIST_INIT;
    struct reading reading = {.at = expression, .failed = strlen(expression) > EXPRESSION_MAX};
    if (!reading.failed) {
        read_alternatives(&reading, &found);
    }
    if (reading.failed || *reading.at != '\0') {
        return false;
    }
    for (size_t i = 0; i < found.len; i++) {
        if (found.items[i][strspn(found.items[i], gap)] == '\0') {
            return false; /* it may match any text */
        }
    }
    strlist_copy(alternatives, &found);
    return true;
}

/* The next piece of an alternative; NULL: there is none. */
static const char *next_piece(const char *text, size_t *len)
{
    text += strspn(text, gap);
    *len = strcspn(text, gap);
    return *len > 0 ? text : NULL;
}

void prefilter_add_patterns(const struct strlist *alternatives, bool *fixed, struct str *out)
{
    size_t len;
    *fixed = true;
    for (size_t i = 0; i < alternatives->len; i++) {
        const char *piece = next_piece(alternatives->items[i], &len);
        *fixed = *fixed && piece && !next_piece(piece + len, &len);
    }
    for (size_t i = 0; i < alternatives->len; i++) {
        const char *before = i > 0 ? "\n" : "";
        for (const char *at = alternatives->items[i]; (at = next_piece(at, &len)); at += len) {
            str_add(out, before);
            before = ".*";
            for (size_t k = 0; k < len; k++) {
                if (!*fixed && strchr(".[]*^$+(){}|\\", at[k])) {
                    str_add_char(out, '\\');
                }
                str_add_char(out, at[k]);
            }
        }
    }
}
